package main

import (
	"agentd/internal/config"
	"agentd/internal/superset"
	"agentd/internal/supersettools"
)

// environments makes a client for each configured Superset. Secrets are read here and nowhere else. mocked are those
// that the demo serves itself.
func environments(cfg config.Config, mocked map[string]bool) (*supersettools.Environments, error) {
	var out []supersettools.Environment
	for _, e := range cfg.Environments {
		auth := superset.Auth{Mode: superset.Mode(e.Auth.Mode), Username: e.Auth.Username, Provider: e.Auth.Provider, Cookie: cfg.Auth.Superset.CookieName}
		var err error
		if s := cfg.Secret(e.Auth.PasswordEnv, e.Auth.PasswordFile); s.Set() {
			if auth.Password, err = s.Value(); err != nil {
				return nil, err
			}
		} else if mocked[e.ID] {
			auth.Username, auth.Password = mockAccount, mockAccount
		}
		if s := cfg.Secret(e.Auth.APIKeyEnv, e.Auth.APIKeyFile); s.Set() {
			if auth.APIKey, err = s.Value(); err != nil {
				return nil, err
			}
		}
		client, err := superset.New(superset.Options{BaseURL: e.BaseURL, PublicURL: e.PublicURL, Auth: auth})
		if err != nil {
			return nil, err
		}
		out = append(out, supersettools.Environment{ID: e.ID, Title: e.Title, Class: e.Class, Client: client, DenyFunctions: e.SQL.DenyFunctions, AllowFunctions: e.SQL.AllowFunctions})
	}
	return supersettools.NewEnvironments(out...)
}
