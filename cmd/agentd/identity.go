package main

import (
	"context"
	"strings"

	"agentd/internal/auth"
	"agentd/internal/chat"
	"agentd/internal/config"
	"agentd/internal/fault"
	"agentd/internal/superset"
	"agentd/internal/supersettools"
)

// identity makes the one answer to who is asking.
func identity(cfg config.Config) (*auth.Resolver, error) {
	switch a := cfg.Auth; a.Mode {
	case config.AuthDev:
		return auth.NewDev(a.Dev.User, a.Dev.Roles), nil
	case config.AuthJWT:
		j := auth.JWT{JWKSURL: a.JWT.JWKSURL, Issuer: a.JWT.Issuer, Audience: a.JWT.Audience, UserClaim: a.JWT.UserClaim, RolesClaim: a.JWT.RolesClaim}
		if a.JWT.JWKSURL == "" {
			j.Secret = cfg.Secret(a.JWT.SecretEnv, a.JWT.SecretFile).Value
		}
		return auth.NewJWT(j)
	case config.AuthSuperset:
		for i, e := range cfg.Environments {
			if e.ID != a.Superset.Environment {
				continue
			}
			// Whoever asks is found out with the asker's own cookie, also where calls go by a service account.
			client, err := superset.New(superset.Options{BaseURL: cfg.Environments[i].BaseURL, Auth: superset.Auth{Mode: superset.ForwardCookie, Cookie: a.Superset.CookieName}})
			if err != nil {
				return nil, err
			}
			return auth.NewSuperset(auth.Superset{Directory: directory{client}, CookieName: a.Superset.CookieName, Cache: a.Superset.Cache}), nil
		}
	}
	return nil, fault.New(fault.Invalid, "auth.mode "+cfg.Auth.Mode+" cannot be used.")
}

// loginURL is where people sign in; empty where that is nobody's concern here, or a proxy's.
func loginURL(cfg config.Config) string {
	if cfg.Auth.Mode != config.AuthSuperset {
		return ""
	}
	for _, e := range cfg.Environments {
		if e.ID == cfg.Auth.Superset.Environment {
			return strings.TrimSuffix(e.PublicURL, "/") + "/login/"
		}
	}
	return ""
}

// handover adds the sign-in of pages with an origin of their own, where one is configured; nil where not.
func handover(cfg config.Config, mode *auth.Resolver, spent auth.Spender) (*auth.Resolver, *auth.Handover, error) {
	a := cfg.Auth.Handover
	secret := cfg.Secret(a.SecretEnv, a.SecretFile)
	if !secret.Set() {
		return mode, nil, nil
	}
	h, err := auth.NewHandover(auth.HandoverOptions{Secret: secret.Value, Audience: a.Audience, TTL: a.TTL, Path: cfg.BasePath, Spent: spent})
	if err != nil {
		return nil, nil, err
	}
	return h.Beside(mode), h, nil
}

// directory asks a Superset whose session a cookie is.
type directory struct{ client *superset.Client }

func (d directory) WhoIs(ctx context.Context, c *chat.Credential) (auth.Person, error) {
	s, err := d.client.As(chat.Identity{Credential: c})
	if err != nil {
		return auth.Person{}, err
	}
	me, err := s.Me(ctx)
	if err != nil {
		return auth.Person{}, err
	}
	return auth.Person{ID: me.ID, User: me.User, Name: me.Name, Roles: me.Roles}, nil
}

// permissions asks Superset what a user may do where calls are made as that user.
type permissions struct{ envs *supersettools.Environments }

// Permissions implements agent.Permissions.
func (p permissions) Permissions(ctx context.Context, who chat.Identity, env string) (func(string) bool, bool, error) {
	e, ok := p.envs.Find(env)
	if !ok || !e.Client.ActsAsUser() {
		return nil, false, nil
	}
	s, err := e.Client.As(who)
	if err != nil {
		return nil, false, err
	}
	me, err := s.Me(ctx)
	if err != nil {
		return nil, false, err
	}
	return me.May, true, nil
}
