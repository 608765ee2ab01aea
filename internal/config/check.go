package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"agentd/internal/chat"
)

var idPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// complete fills what follows from other keys.
func complete(c *Config) {
	for i := range c.Environments {
		e := &c.Environments[i]
		if e.Title == "" {
			e.Title = e.ID
		}
		if e.PublicURL == "" && !strings.HasPrefix(e.BaseURL, MockScheme+":") {
			e.PublicURL = e.BaseURL
		}
		if e.Auth.Mode == "" {
			e.Auth.Mode = Service
		}
		if e.Auth.Provider == "" {
			e.Auth.Provider = "db"
		}
		class, understood := chat.Class(e.Class)
		if !understood {
			c.warn("environments[%d].class: %q of %s is not understood, so it counts as prod; write prod, staging or dev", i, e.Class, e.ID)
		}
		e.Class = class
	}
	if c.Auth.Superset.Environment == "" && len(c.Environments) == 1 {
		c.Auth.Superset.Environment = c.Environments[0].ID
	}
}

func (c *Config) warn(format string, a ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, a...))
}

// check looks at what single values cannot show. set reports whether a key was set by anybody.
func check(c *Config, set func(string) bool, demo bool, bad *problems) {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		bad.add("listen", "", "must be host:port, for example 127.0.0.1:8080")
	}
	if !strings.HasPrefix(c.BasePath, "/") || !strings.HasSuffix(c.BasePath, "/") {
		bad.add("base_path", "", "must begin and end with /, for example /agentd/")
	}
	for i, p := range c.TrustedProxies {
		_, errAddr := netip.ParseAddr(p)
		_, errNet := netip.ParsePrefix(p)
		if errAddr != nil && errNet != nil {
			bad.add(fmt.Sprintf("trusted_proxies[%d]", i), "", "must be an address or a network, for example 10.0.0.0/8")
		}
	}
	if c.DataDir == "" {
		bad.add("data_dir", "", "must be a folder")
	}
	schemes(bad, "database_url", c.DatabaseURL, "postgres", "postgresql")
	schemes(bad, "artifacts_url", c.ArtifactsURL, "file", "s3")
	schemes(bad, "artifacts.fallback_url", c.Artifacts.FallbackURL, "file", "s3")
	if c.DatabaseURL != "" && c.ArtifactsURL == "" {
		c.warn("artifacts_url: several replicas share database_url, but each keeps artifacts in its own data_dir")
	}
	checkAuth(c, host, set, bad)
	checkEnvironments(c, demo, bad)
	checkLLM(c, bad)
	checkLimits(c, bad)
	checkArtifacts(c, bad)
	checkMCP(c, bad)
	checkWeb(c, bad)
}

func schemes(bad *problems, key, value string, want ...string) {
	if value == "" {
		return
	}
	u, err := url.Parse(value)
	if err != nil || !slices.Contains(want, u.Scheme) {
		bad.add(key, "", "must be an address that begins with "+strings.Join(want, ":// or ")+"://")
	}
}

func address(bad *problems, key, value string) {
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		bad.add(key, "", "must be an address such as https://bi.example.com, without a user name")
	}
}

func oneOf(bad *problems, key, value string, want ...string) {
	if !slices.Contains(want, value) {
		bad.add(key, "", fmt.Sprintf("is %q, must be %s", value, strings.Join(want, ", ")))
	}
}

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

func checkEnvironments(c *Config, demo bool, bad *problems) {
	if len(c.Environments) == 0 {
		c.warn("environments: there is none, so no Superset can be asked")
	}
	seen := map[string]int{}
	for i, e := range c.Environments {
		key := func(k string) string { return fmt.Sprintf("environments[%d].%s", i, k) }
		if !idPattern.MatchString(e.ID) {
			bad.add(key("id"), "", "must be a short name of letters, digits, . _ and -, for example ss-prod")
		} else if first, dup := seen[e.ID]; dup {
			bad.add(key("id"), "", fmt.Sprintf("is %q, which environments[%d] has already", e.ID, first))
		}
		if _, dup := seen[e.ID]; !dup {
			seen[e.ID] = i
		}
		mock := demo && strings.HasPrefix(e.BaseURL, MockScheme+"://")
		if !mock {
			address(bad, key("base_url"), e.BaseURL)
		}
		if e.PublicURL != "" && e.PublicURL != e.BaseURL {
			address(bad, key("public_url"), e.PublicURL)
		}
		oneOf(bad, key("auth.mode"), e.Auth.Mode, Service, ForwardCookie, ForwardToken)
		password := e.Auth.PasswordEnv != "" || e.Auth.PasswordFile != ""
		apiKey := e.Auth.APIKeyEnv != "" || e.Auth.APIKeyFile != ""
		switch {
		case password && apiKey:
			bad.add(key("auth"), "", "must have a password or an API key, not both")
		case password && e.Auth.Username == "":
			bad.add(key("auth.username"), "", "must be set with a password")
		case e.Auth.Mode == Service && !password && !apiKey && !mock:
			bad.add(key("auth"), "", "must have username and password_env (or password_file), or api_key_env (or api_key_file), with mode service")
		}
	}
}

func checkLLM(c *Config, bad *problems) {
	l := c.LLM
	oneOf(bad, "llm.provider", l.Provider, Offline, OpenAI, Anthropic)
	if l.Provider != Offline && l.Model == "" {
		bad.add("llm.model", "", "must be set with provider "+l.Provider)
	}
	if l.BaseURL != "" {
		address(bad, "llm.base_url", l.BaseURL)
	}
	positive(bad, "llm.max_steps", l.MaxSteps)
	positive(bad, "llm.context_tokens", l.ContextTokens)
	atLeast(bad, "llm.idle_timeout", l.IdleTimeout, time.Second)
}

func checkLimits(c *Config, bad *problems) {
	l := c.Limits
	atLeast(bad, "limits.read_timeout", l.ReadTimeout, time.Millisecond)
	if l.WriteTimeout < l.ReadTimeout {
		bad.add("limits.write_timeout", "", fmt.Sprintf("is %s, must not be below read_timeout (%s)", l.WriteTimeout, l.ReadTimeout))
	}
	atLeast(bad, "limits.retry_delay", l.RetryDelay, time.Millisecond)
	atLeast(bad, "limits.confirmation_ttl", l.ConfirmationTTL, time.Second)
	if l.RunTimeout < l.WriteTimeout {
		bad.add("limits.run_timeout", "", fmt.Sprintf("is %s, must not be below write_timeout (%s)", l.RunTimeout, l.WriteTimeout))
	}
	positive(bad, "limits.max_chars", l.MaxChars)
	if l.BatchChars < l.MaxChars {
		bad.add("limits.batch_chars", "", fmt.Sprintf("is %d, must not be below max_chars (%d)", l.BatchChars, l.MaxChars))
	}
	positive(bad, "limits.message_chars", l.MessageChars)
	positive(bad, "limits.runs_per_user", l.RunsPerUser)
}

func checkArtifacts(c *Config, bad *problems) {
	a := c.Artifacts
	oneOf(bad, "artifacts.mode", a.Mode, "auto", "explicit", "off")
	positive(bad, "artifacts.max_rows", a.MaxRows)
	atLeast(bad, "artifacts.max_duration", a.MaxDuration, time.Millisecond)
	atLeast(bad, "artifacts.ttl", a.TTL, time.Second)
	if a.MaxBytes <= 0 {
		bad.add("artifacts.max_bytes", "", "must be more than 0")
	}
	for _, q := range []struct {
		key, below string
		big, small Size
	}{
		{"conversation_quota", "max_bytes", a.ConversationQuota, a.MaxBytes},
		{"user_quota", "conversation_quota", a.UserQuota, a.ConversationQuota},
		{"total_quota", "user_quota", a.TotalQuota, a.UserQuota},
	} {
		if q.big < q.small {
			bad.add("artifacts."+q.key, "", fmt.Sprintf("is %s, must not be below %s (%s)", q.big, q.below, q.small))
		}
	}
	if c.References.InlineMax < 0 {
		bad.add("references.inline_max", "", "must not be negative")
	}
	if a.Mode == "off" && c.References.Enabled {
		c.warn("references.enabled: without artifacts there is nothing to refer to")
	}
}

func checkMCP(c *Config, bad *problems) {
	seen := map[string]bool{}
	for i, m := range c.MCPServers {
		key := func(k string) string { return fmt.Sprintf("mcp_servers[%d].%s", i, k) }
		if !idPattern.MatchString(m.Name) {
			bad.add(key("name"), "", "must be a short name of letters, digits, . _ and -")
		} else if seen[m.Name] {
			bad.add(key("name"), "", fmt.Sprintf("is %q, which another server has already", m.Name))
		}
		seen[m.Name] = true
		address(bad, key("url"), m.URL)
		for name, t := range m.Tools {
			if t.Risk != "" {
				oneOf(bad, key("tools."+name+".risk"), t.Risk, "read", "query", "write", "dangerous")
			}
		}
	}
}

func checkWeb(c *Config, bad *problems) {
	if len(c.Web.Languages) == 0 {
		bad.add("web.languages", "", "must name at least one of en, ru")
	}
	for i, l := range c.Web.Languages {
		oneOf(bad, fmt.Sprintf("web.languages[%d]", i), l, "en", "ru")
	}
	for i, a := range c.Web.FrameAncestors {
		u, err := url.Parse(a)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" || strings.ContainsAny(a, " ;,") {
			bad.add(fmt.Sprintf("web.frame_ancestors[%d]", i), "", "must be an origin such as https://bi.example.com")
		}
	}
	if e := c.Telemetry.OTLPEndpoint; e != "" {
		address(bad, "telemetry.otlp_endpoint", e)
	}
	oneOf(bad, "telemetry.log_level", c.Telemetry.LogLevel, "debug", "info", "warn", "error")
	oneOf(bad, "telemetry.log_format", c.Telemetry.LogFormat, "json", "text")
}

func positive(bad *problems, key string, n int) {
	if n < 1 {
		bad.add(key, "", fmt.Sprintf("is %d, must be at least 1", n))
	}
}

func atLeast(bad *problems, key string, d, least time.Duration) {
	if d < least {
		bad.add(key, "", fmt.Sprintf("is %s, must be at least %s", d, least))
	}
}
