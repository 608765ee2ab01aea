package httpapi

import "net/http"

// cancel stops the run of a conversation, whoever works on it. Without one it changes nothing.
func (a *API) cancel(c *call) error {
	conv, err := a.own(c)
	if err != nil {
		return err
	}
	if err := c.noBody(); err != nil {
		return err
	}
	if err := a.o.Work.Cancel(c.Request().Context(), c.who, conv.ID); err != nil {
		return err
	}
	return c.none()
}

// retry runs a failed read again, as a call of its own.
func (a *API) retry(c *call) error {
	conv, err := a.own(c)
	if err != nil {
		return err
	}
	id, err := c.id("call_id")
	if err != nil {
		return err
	}
	if err := c.noBody(); err != nil {
		return err
	}
	got, err := a.o.Work.Retry(c.Request().Context(), c.who, conv.ID, id)
	if err != nil {
		return err
	}
	return c.reply(http.StatusAccepted, struct {
		RunID  string `json:"run_id"`
		CallID string `json:"call_id"`
	}{got.RunID, got.CallID})
}
