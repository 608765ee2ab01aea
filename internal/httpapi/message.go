package httpapi

import (
	"errors"
	"net/http"
	"regexp"
	"strings"

	"agentd/internal/agent"
	uicontext "agentd/internal/context"
	"agentd/internal/fault"
)

var keyPattern = regexp.MustCompile(`^[!-~]{1,128}$`)

const keyWords = "1 to 128 printable ASCII characters without spaces"

// postMessage takes a message and starts the run that answers it.
func (a *API) postMessage(c *call) error {
	conv, err := a.own(c)
	if err != nil {
		return err
	}
	o, err := c.body()
	if err != nil {
		return err
	}
	in, err := a.readMessage(o)
	if err != nil {
		return err
	}
	got, err := a.o.Work.Message(c.Request().Context(), c.who, conv.ID, in)
	if err != nil {
		return err
	}
	return c.reply(http.StatusAccepted, struct {
		RunID     string `json:"run_id"`
		MessageID string `json:"message_id"`
		Replayed  bool   `json:"replayed,omitempty"`
	}{got.RunID, got.MessageID, got.Replayed})
}

// readMessage reads a message whole before it refuses it, so that one answer names everything.
func (a *API) readMessage(o *object) (agent.MessageInput, error) {
	in := agent.MessageInput{Text: o.text("message", a.o.MessageChars)}
	o.must("message", "the text")
	if o.has("message") && !o.refusedAt("message") && strings.TrimSpace(in.Text) == "" {
		o.refuse("message", "must not be empty")
	}
	in.Env = a.readEnv(o)
	in.View = a.readView(o.object("ui_context"), o.pointer("ui_context"))
	in.Strategy = o.oneOf("strategy", "reject", "enqueue", "interrupt")
	in.Key = o.pattern("idempotency_key", keyPattern, keyWords)
	in.Replaces = o.pattern("replaces", idPattern, "the id of the last own message")
	o.done()
	return in, o.err()
}

// readEnv reads the environment that the request names.
func (a *API) readEnv(o *object) string {
	env := o.text("env_id", maxBody)
	if o.has("env_id") && !o.refusedAt("env_id") && !a.envs[env] {
		o.refuse("env_id", a.envWords())
	}
	return env
}

// readView reads the page's context. Its values are checked by its own package, the environment here.
func (a *API) readView(o *object, at string) uicontext.View {
	v := uicontext.View{
		ObjectType: o.text("objectType", maxBody),
		ObjectID:   o.text("objectId", maxBody),
		ObjectName: o.text("objectName", maxBody),
		EnvID:      o.text("envId", maxBody),
		Route:      o.text("route", maxBody),
	}
	o.done()
	*o.bad = append(*o.bad, a.viewFaults(v, at)...)
	return v
}

// viewFaults names what of a view cannot be used.
func (a *API) viewFaults(v uicontext.View, at string) []fault.Field {
	var bad []fault.Field
	if e, ok := errors.AsType[*fault.Error](v.Validate(at)); ok {
		bad = e.Fields
	}
	for _, f := range bad {
		if f.Pointer == at+"/envId" {
			return bad
		}
	}
	if v.EnvID != "" && !a.envs[v.EnvID] {
		bad = append(bad, fault.Field{Pointer: at + "/envId", Detail: a.envWords()})
	}
	return bad
}

// envWords says which environments there are.
func (a *API) envWords() string {
	var ids []string
	for _, e := range a.o.Environments {
		ids = append(ids, e.ID)
	}
	if len(ids) == 0 {
		return "must be left out: no environment is configured"
	}
	return "must be a configured environment: " + strings.Join(ids, ", ")
}
