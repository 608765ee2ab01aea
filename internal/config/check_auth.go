package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"time"
)

// Loopback reports whether a host to listen on can be reached from this machine only.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

func checkAuth(c *Config, host string, set func(string) bool, bad *problems) {
	a := c.Auth
	oneOf(bad, "auth.mode", a.Mode, AuthDev, AuthJWT, AuthSuperset)
	switch a.Mode {
	case AuthDev:
		if !Loopback(host) {
			bad.add("auth.mode", "", "is dev, which is allowed only when listen is a loopback address such as 127.0.0.1:8080")
		}
		if a.Dev.User == "" {
			bad.add("auth.dev.user", "", "must not be empty")
		}
	case AuthJWT:
		if a.JWT.JWKSURL != "" {
			jwks(c, set, bad)
		} else if a.JWT.SecretEnv == "" && a.JWT.SecretFile == "" {
			bad.add("auth.jwt.secret_env", "", "or jwks_url must be set with mode jwt")
		}
		if a.JWT.UserClaim == "" {
			bad.add("auth.jwt.user_claim", "", "must not be empty")
		}
	case AuthSuperset:
		if !slices.ContainsFunc(c.Environments, func(e Environment) bool { return e.ID == a.Superset.Environment }) {
			bad.add("auth.superset.environment", "", fmt.Sprintf("is %q, must be the id of one of environments", a.Superset.Environment))
		}
		if a.Superset.CookieName == "" {
			bad.add("auth.superset.cookie_name", "", "must not be empty")
		}
	}
	atLeast(bad, "auth.superset.cache", a.Superset.Cache, 0)
	if a.Superset.Cache > time.Minute {
		bad.add("auth.superset.cache", "", "must be 1m at most: so long somebody who has logged out can stay signed in")
	}
	if (a.Handover.SecretEnv != "" || a.Handover.SecretFile != "") && a.Handover.Audience == "" {
		bad.add("auth.handover.audience", "", "must be set with a secret")
	}
	atLeast(bad, "auth.handover.ttl", a.Handover.TTL, time.Second)
}

// jwks: keys of one kind only, or a public key could be taken for a shared secret.
func jwks(c *Config, set func(string) bool, bad *problems) {
	j := c.Auth.JWT
	if set("auth.jwt.secret_env") && j.SecretEnv != "" || j.SecretFile != "" {
		bad.add("auth.jwt.jwks_url", "", "and a secret exclude each other")
	}
	if j.Issuer == "" {
		bad.add("auth.jwt.issuer", "", "must be set with jwks_url")
	}
	if u, err := url.Parse(j.JWKSURL); err != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && Loopback(u.Hostname())) {
		bad.add("auth.jwt.jwks_url", "", "must be an https address")
	}
}
