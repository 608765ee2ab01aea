package httpapi

import (
	"net/http"

	"agentd/internal/agent"
	uicontext "agentd/internal/context"
)

// me says who the user is here, what may be seen, and how long a message may be.
func (a *API) me(c *call) error {
	type may struct {
		Inbox bool `json:"inbox"`
		Audit bool `json:"audit"`
	}
	type limits struct {
		MessageChars int `json:"message_chars"`
	}
	lang := c.who.Language
	if lang == "" {
		lang = "en"
	}
	return c.reply(http.StatusOK, struct {
		User     string    `json:"user"`
		Name     string    `json:"name,omitempty"`
		Roles    []string  `json:"roles"`
		Language string    `json:"language"`
		May      may       `json:"may"`
		Model    ModelInfo `json:"model"`
		Limits   limits    `json:"limits"`
	}{c.who.User, c.who.Name, list(c.who.Roles), lang, may{Inbox: true, Audit: a.o.Audit != nil && c.who.Admin()}, a.o.Model, limits{a.o.MessageChars}})
}

func (a *API) environments(c *call) error {
	return c.reply(http.StatusOK, struct {
		Environments []agent.EnvironmentStatus `json:"environments"`
	}{list(a.o.Surroundings.Environments(c.Request().Context()))})
}

// capabilities says what is offered on a page and what is not, and why.
func (a *API) capabilities(c *call) error {
	v := uicontext.View{ObjectType: c.QueryParam("objectType"), ObjectID: c.QueryParam("objectId"), EnvID: c.QueryParam("envId")}
	if err := refused(a.viewFaults(v, "")); err != nil {
		return err
	}
	got, err := a.o.Surroundings.Capabilities(c.Request().Context(), c.who, v, v.EnvID)
	if err != nil {
		return err
	}
	got.Roles, got.Environments = list(got.Roles), list(got.Environments)
	got.Offered, got.Hidden = list(got.Offered), list(got.Hidden)
	return c.reply(http.StatusOK, got)
}
