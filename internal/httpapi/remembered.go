package httpapi

import (
	"context"
	"net/http"

	"agentd/internal/eventlog"
	"agentd/internal/fault"
)

// Memories keeps what users allowed once for all. Missing for what is not there or is another's.
type Memories interface {
	Remembered(ctx context.Context, user, conversation string) ([]eventlog.Remembered, error)
	Forget(ctx context.Context, id, user string) error
}

func (a *API) listRemembered(c *call) error {
	got, err := a.o.Memories.Remembered(c.Request().Context(), c.who.User, "")
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, struct {
		Remembered []eventlog.Remembered `json:"remembered"`
	}{list(got)})
}

// forget revokes one, so that the next call of its kind is asked about again.
func (a *API) forget(c *call) error {
	id := c.QueryParam("id")
	if id == "" {
		return refused([]fault.Field{{Pointer: "/id", Detail: "is required: the id of what is forgotten"}})
	}
	if err := c.noBody(); err != nil {
		return err
	}
	if !idPattern.MatchString(id) {
		return fault.New(fault.Missing, "There is no such thing.")
	}
	if err := a.o.Memories.Forget(c.Request().Context(), id, c.who.User); err != nil {
		return err
	}
	return c.none()
}
