package httpapi

import (
	"context"
	"net/http"

	"agentd/internal/agent"
)

// Simulator says what the policy would say about a call, without making one.
type Simulator interface {
	Simulate(context.Context, agent.Question) (agent.Answer, error)
}

// simulate asks for roles, or for the one user whose roles are known here: who asks.
func (a *API) simulate(c *call) error {
	o, err := c.body()
	if err != nil {
		return err
	}
	q := agent.Question{
		Roles: o.texts("roles", 100),
		Tool:  o.text("tool", 128),
		Args:  o.arguments("args"),
	}
	user := o.text("user", 256)
	o.must("tool", "the name of a tool")
	switch {
	case o.has("roles") == o.has("user"):
		o.refuse("roles", "either roles or user is required, and only one of them")
	case o.has("user") && user != c.who.User:
		o.refuse("user", "must be yourself: the roles of others are not known here, name them in roles")
	case o.has("user"):
		q.Roles = c.who.Roles
	}
	q.Env = a.readEnv(o)
	o.done()
	if err := o.err(); err != nil {
		return err
	}
	got, err := a.o.Simulator.Simulate(c.Request().Context(), q)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, got)
}

func (a *API) memory(c *call) error { return c.reply(http.StatusOK, a.o.Memory()) }

func (a *API) servers(c *call) error { return c.reply(http.StatusOK, a.o.Servers()) }
