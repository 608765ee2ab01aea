package httpapi

import (
	"net/http"
	"sync/atomic"

	"agentd/internal/fault"
)

// health is whether new work should come here.
type health struct{ draining atomic.Bool }

// healthz says that the process answers. It stays well while stopping: nobody should kill it for that.
func (a *API) healthz(c *call) error { return c.reply(http.StatusOK, status{"ok"}) }

// readyz says whether new work should come here.
func (a *API) readyz(c *call) error {
	if a.health.draining.Load() {
		return stopping()
	}
	if a.o.Ready != nil {
		if err := a.o.Ready(c.Request().Context()); err != nil {
			return &fault.Error{Kind: fault.Transient, Code: codeNotReady, Msg: "This server is not ready.", Err: err}
		}
	}
	return c.reply(http.StatusOK, status{"ready"})
}

func stopping() error {
	return &fault.Error{Kind: fault.Transient, Code: codeStopping, Msg: "This server is stopping. Try again in a moment."}
}

type status struct {
	Status string `json:"status"`
}
