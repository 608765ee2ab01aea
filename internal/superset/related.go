package superset

import (
	"context"
	"fmt"

	"agentd/internal/fault"
)

// Owners names the users of these ids, in their order. An id that is no user is Invalid.
func (s *Session) Owners(ctx context.Context, ids []int) ([]Label, error) {
	return s.related(ctx, "owners", ids)
}

// Roles names the roles of these ids, in their order. An id that is no role is Invalid.
func (s *Session) Roles(ctx context.Context, ids []int) ([]Label, error) {
	return s.related(ctx, "roles", ids)
}

func (s *Session) related(ctx context.Context, what string, ids []int) ([]Label, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var got struct {
		Result []struct {
			Text  string `json:"text"`
			Value int    `json:"value"`
		} `json:"result"`
	}
	q := object{{"page", 0}, {"page_size", 1}, {"include_ids", ids}}
	if err := s.get(ctx, "/api/v1/dashboard/related/"+what, "q="+rison(q), &got); err != nil {
		return nil, err
	}
	out := make([]Label, 0, len(ids))
	for _, id := range ids {
		name, ok := "", false
		for _, r := range got.Result {
			if r.Value == id {
				name, ok = r.Text, true
			}
		}
		if !ok {
			return nil, fault.New(fault.Invalid, fmt.Sprintf("Superset has no entry with id %d among the %s.", id, what))
		}
		out = append(out, Label{id, name})
	}
	return out, nil
}
