package superset

import (
	"context"
	"net/http"

	"agentd/internal/fault"
)

// Healthy reports nil when the instance answers. It asks as nobody. Transient when it does not answer well.
func (c *Client) Healthy(ctx context.Context) error {
	a, err := c.roundTrip(ctx, call{method: http.MethodGet, path: "/health"}, http.Header{"Accept": {"text/plain"}})
	if err != nil {
		return err
	}
	if a.body == nil {
		return &fault.Error{Kind: fault.Transient, Status: a.status, Msg: "Superset does not answer well."}
	}
	return a.body.Close()
}
