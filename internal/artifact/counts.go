package artifact

import (
	"context"

	"agentd/internal/chat"
)

// Count is how many artifacts are in one state, and their bytes.
type Count struct {
	State chat.ArtifactState `json:"state"`
	Count int                `json:"count"`
	Bytes int64              `json:"bytes"` // 0 while staged: the size is not known
}

// Counts says how much is stored, and never what.
func (s *Store) Counts(ctx context.Context) ([]Count, error) {
	states := []chat.ArtifactState{chat.ArtifactStaged, chat.ArtifactCommitted, chat.ArtifactExpired, chat.ArtifactDeleted}
	out := make([]Count, len(states))
	for i, state := range states {
		list, err := s.index.Artifacts(ctx, chat.ArtifactFilter{States: []chat.ArtifactState{state}, Limit: everything})
		if err != nil {
			return nil, err
		}
		out[i] = Count{State: state, Count: len(list)}
		for _, m := range list {
			out[i].Bytes += m.Size
		}
	}
	return out, nil
}

// Quota is what the store's artifacts may take up.
func (s *Store) Quota() chat.ArtifactQuota { return s.o.Quota }
