package httpapi

import (
	"net/http"
	"regexp"
	"strings"

	"agentd/internal/chat"
	"agentd/internal/fault"

	"github.com/labstack/echo/v4"
)

const prefix = "/api/v1"

// A call is one request of a known user.
type call struct {
	echo.Context
	who chat.Identity
}

// A route is one line of the API's table. Paths are written as in the OpenAPI document, with {names}.
type route struct {
	method string
	path   string
	open   bool // answers without an identity
	admin  bool
	starts bool // begins a run: not while the server is stopping
	handle func(*call) error
}

// table lists the routes whose backing is there.
func (a *API) table() []route {
	rs := []route{
		{method: "POST", path: prefix + "/conversations", handle: a.createConversation},
		{method: "GET", path: prefix + "/conversations", handle: a.listConversations},
		{method: "GET", path: prefix + "/conversations/{id}", handle: a.showConversation},
		{method: "PATCH", path: prefix + "/conversations/{id}", handle: a.renameConversation},
		{method: "DELETE", path: prefix + "/conversations/{id}", handle: a.deleteConversation},
		{method: "POST", path: prefix + "/conversations/{id}/messages", starts: true, handle: a.postMessage},
		{method: "GET", path: prefix + "/conversations/{id}/events", handle: a.events},
		{method: "POST", path: prefix + "/conversations/{id}/cancel", handle: a.cancel},
		{method: "POST", path: prefix + "/conversations/{id}/confirmations/{confirmation_id}", starts: true, handle: a.decide},
		{method: "POST", path: prefix + "/conversations/{id}/calls/{call_id}/retry", starts: true, handle: a.retry},
		{method: "GET", path: prefix + "/confirmations", handle: a.listConfirmations},
		{method: "GET", path: prefix + "/me", handle: a.me},
		{method: "GET", path: prefix + "/environments", handle: a.environments},
		{method: "GET", path: prefix + "/capabilities", handle: a.capabilities},
		{method: "GET", path: prefix + "/openapi.json", open: true, handle: a.document},
		{method: "GET", path: "/healthz", open: true, handle: a.healthz},
		{method: "GET", path: "/readyz", open: true, handle: a.readyz},
	}
	add := func(there bool, more ...route) {
		if there {
			rs = append(rs, more...)
		}
	}
	add(a.o.Feedback != nil, route{method: "POST", path: prefix + "/conversations/{id}/messages/{message_id}/feedback", handle: a.feedback})
	add(a.o.Memories != nil, route{method: "GET", path: prefix + "/remembered", handle: a.listRemembered},
		route{method: "DELETE", path: prefix + "/remembered", handle: a.forget})
	add(a.o.Audit != nil, route{method: "GET", path: prefix + "/audit", admin: true, handle: a.audit})
	add(a.o.Artifacts != nil, a.artifactRoutes()...)
	add(a.o.Simulator != nil, route{method: "POST", path: prefix + "/policy/simulate", admin: true, handle: a.simulate})
	add(a.o.Memory != nil, route{method: "GET", path: prefix + "/diagnostics/memory", admin: true, handle: a.memory})
	add(a.o.Servers != nil, route{method: "GET", path: prefix + "/diagnostics/mcp", admin: true, handle: a.servers})
	add(a.o.Handover != nil, route{method: "POST", path: prefix + "/handover", open: true, handle: a.handover},
		route{method: "DELETE", path: prefix + "/handover", open: true, handle: a.endHandover})
	add(a.o.Metrics != nil, route{method: "GET", path: "/metrics", open: true, handle: a.showMetrics})
	return rs
}

var braces = regexp.MustCompile(`\{(\w+)\}`)

func (r route) echoPath() string { return braces.ReplaceAllString(r.path, ":$1") }

// serve asks who it is, once, before anything else of the route runs.
func (a *API) serve(r route) echo.HandlerFunc {
	return func(c echo.Context) error {
		in := &call{Context: c}
		if strings.HasPrefix(r.path, prefix) {
			c.Response().Header().Set("Cache-Control", "no-store")
		}
		if r.open {
			return r.handle(in)
		}
		who, err := a.o.Identity.Identify(c.Request().Context(), c.Request())
		if err != nil {
			return err
		}
		if who.User == "" {
			return fault.New(fault.Auth, "Who is asking could not be established.")
		}
		in.who = who
		traceOf(c).user = who.User
		if r.admin && !who.Admin() {
			return fault.New(fault.Denied, "This is for administrators.")
		}
		if r.starts && a.health.draining.Load() {
			return stopping()
		}
		return r.handle(in)
	}
}

// idPattern is what an id of ours can look like, and those of models that come back as call ids. What cannot be
// one is not there.
var idPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}$`)

func (c *call) id(name string) (string, error) {
	id := c.Param(name)
	if !idPattern.MatchString(id) {
		return "", fault.New(fault.Missing, "There is no such thing.")
	}
	return id, nil
}

// own returns the conversation that the path names. It is the one owner check of everything below it.
func (a *API) own(c *call) (chat.Conversation, error) {
	id, err := c.id("id")
	if err != nil {
		return chat.Conversation{}, err
	}
	return a.o.Log.Conversation(c.Request().Context(), id, c.who.User)
}

// body reads the request's JSON object.
func (c *call) body() (*object, error) { return readObject(c.Response(), c.Request()) }

// noBody wants a request that says nothing: no body, or an empty object.
func (c *call) noBody() error {
	o, err := c.body()
	if err != nil {
		return err
	}
	o.done()
	return o.err()
}

// reply sends v as JSON. Numbers that came as text stay exact.
func (c *call) reply(status int, v any) error {
	b, err := marshal(v)
	if err != nil {
		return err
	}
	return c.Blob(status, "application/json", append(b, '\n'))
}

func (c *call) none() error { return c.NoContent(http.StatusNoContent) }
