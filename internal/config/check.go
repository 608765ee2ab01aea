package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

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
