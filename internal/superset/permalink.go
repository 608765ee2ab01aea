package superset

import (
	"context"
	"net/http"
	"strings"

	"agentd/internal/fault"
)

// resolve finds what a permalink leads to; every other reference stays as it is. A link that leads nowhere is Missing.
func (s *Session) resolve(ctx context.Context, k class, ref Ref) (Ref, error) {
	if ref.Link == "" {
		return ref, nil
	}
	path := "/api/v1/explore/permalink/"
	if k == dashboards {
		path = "/api/v1/dashboard/permalink/"
	}
	var got struct {
		Dashboard string `json:"dashboardId"` // a uuid
		Chart     int    `json:"chartId"`
		Dataset   int    `json:"datasourceId"`
	}
	if err := s.get(ctx, path+escape(ref.Link), "", &got); err != nil {
		if status(err) == http.StatusInternalServerError {
			// That is how Superset says that it does not know the key.
			return Ref{}, &fault.Error{Kind: fault.Missing, Msg: "This link leads nowhere in this Superset.", Status: http.StatusInternalServerError, Err: err}
		}
		return Ref{}, err
	}
	switch {
	case k == dashboards && got.Dashboard != "":
		return Ref{UUID: strings.ToLower(got.Dashboard)}, nil
	case k == charts && got.Chart > 0:
		return Ref{ID: got.Chart}, nil
	case k == datasets && got.Dataset > 0:
		return Ref{ID: got.Dataset}, nil
	}
	return Ref{}, fault.New(fault.Missing, "This link does not lead to a saved "+string(k)+".")
}
