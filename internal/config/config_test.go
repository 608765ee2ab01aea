package config_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"agentd/internal/config"
	"agentd/internal/fault"

	"github.com/google/go-cmp/cmp"
)

func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "agentd.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

const oneEnv = `
environments:
  - id: ss-prod
    class: production
    base_url: http://superset:8088
    auth: {username: agentd, password_env: SS_PROD_PASSWORD}
`

// The file of the documentation, as it stands there.
const documented = `
listen: 127.0.0.1:8080
base_path: /
trusted_proxies: []
data_dir: ./data
database_url: ""
artifacts_url: ""
auth:
  mode: dev
  dev: {user: dev, roles: [Admin]}
  jwt: {secret_env: AGENTD_JWT_SECRET, jwks_url: "", issuer: "", audience: "", user_claim: sub, roles_claim: roles}
  superset: {environment: ss-prod, cookie_name: session, cache: 30s}
  handover: {secret_env: "", audience: "", ttl: 15m}
policy:
  file: ""
  reload: true
environments:
  - id: ss-prod
    title: Production
    class: prod
    base_url: http://superset:8088
    public_url: https://bi.example.com
    sql: {deny_functions: [], allow_functions: []}
    auth: {mode: service, username: agentd, password_env: SS_PROD_PASSWORD, provider: db}
llm:
  provider: offline
  base_url: ""
  model: ""
  api_key_env: OPENAI_API_KEY
  max_steps: 12
  context_tokens: 128000
  idle_timeout: 60s
limits:
  read_timeout: 30s
  write_timeout: 60s
  retry_delay: 1s
  max_chars: 4000
  batch_chars: 200000
  confirmation_ttl: 1h
  run_timeout: 10m
  message_chars: 20000
  runs_per_user: 4
artifacts:
  mode: auto
  max_rows: 100000
  max_bytes: 100MB
  max_duration: 60s
  conversation_quota: 500MB
  user_quota: 2GB
  total_quota: 20GB
  fallback_url: ""
  ttl: 24h
references: {enabled: true, inline_max: 20}
mcp_servers: []
web: {enabled: true, frame_ancestors: [], languages: [en, ru]}
telemetry: {otlp_endpoint: "", metrics: true, log_level: info, log_format: json}
`

// Whatever is left out is what the documentation says.
func TestDocumentedAreTheDefaults(t *testing.T) {
	full, err := config.Load(config.Options{File: file(t, documented)})
	if err != nil {
		t.Fatal(err)
	}
	short, err := config.Load(config.Options{File: file(t, strings.Replace(oneEnv, "class:", "title: Production\n    public_url: https://bi.example.com\n    class:", 1))})
	if err != nil {
		t.Fatal(err)
	}
	a, errA := full.Redacted()
	b, errB := short.Redacted()
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(a), string(b)); diff != "" {
		t.Error(diff)
	}
	if len(full.Warnings)+len(short.Warnings) > 0 {
		t.Error(full.Warnings, short.Warnings)
	}
}

func TestLaterWins(t *testing.T) {
	o := config.Options{
		File:      file(t, oneEnv+"llm: {model: from-file, max_steps: 3}\nlimits: {read_timeout: 5s}\nweb: {languages: [ru]}\n"),
		Environ:   []string{"AGENTD_LLM_MODEL=from-env", "AGENTD_LIMITS_READ_TIMEOUT=6s", "AGENTD_ARTIFACTS_MAX_BYTES=2MB", "HOME=/root", "AGENTD_TRUSTED_PROXIES=10.0.0.0/8, 127.0.0.1"},
		Overrides: map[string]string{"llm.model": "from-flag", "auth.dev.roles": "Alpha,sql_lab", "policy.reload": "false", "data_dir": "/tmp/x"},
	}
	c, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	got := []any{c.LLM.Model, c.LLM.MaxSteps, c.Limits.ReadTimeout, c.Artifacts.MaxBytes, c.TrustedProxies, c.Auth.Dev.Roles, c.Policy.Reload, c.DataDir, c.Web.Languages, c.LLM.ContextTokens}
	want := []any{"from-flag", 3, 6 * time.Second, 2 * config.MB, []string{"10.0.0.0/8", "127.0.0.1"}, []string{"Alpha", "sql_lab"}, false, "/tmp/x", []string{"ru"}, 128000}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	e := c.Environments[0]
	if e.Class != "prod" || e.Title != "ss-prod" || e.PublicURL != "http://superset:8088" || e.Auth.Mode != "service" || e.Auth.Provider != "db" {
		t.Errorf("not completed: %+v", e)
	}
}

// Each key can be set by each of the three, and reaches the configuration.
func TestEveryKeyByEverySource(t *testing.T) {
	for _, key := range config.Keys() {
		text, ok := samples[key]
		if !ok {
			t.Errorf("no sample for %s", key)
			continue
		}
		name := "AGENTD_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
		parts := strings.Split(key, ".")
		yaml := text
		for _, p := range slices.Backward(parts) {
			yaml = "{" + p + ": " + yaml + "}"
		}
		var seen []string
		for how, o := range map[string]config.Options{
			"file": {File: file(t, yaml)}, "env": {Environ: []string{name + "=" + strings.Trim(text, `"`)}},
			"flag": {Overrides: map[string]string{key: strings.Trim(text, `"`)}},
		} {
			c, err := config.Load(o)
			if err != nil {
				// A combination that is impossible alone is fine here, as long as the key itself is understood.
				if strings.Contains(err.Error(), "is not known") || strings.Contains(err.Error(), "YAML") {
					t.Errorf("%s by %s: %v", key, how, err)
				}
				seen = append(seen, place.ReplaceAllString(err.Error(), ""))
				continue
			}
			b, err := c.Redacted()
			if err != nil {
				t.Fatal(err)
			}
			def, _ := config.Load(config.Options{})
			d, _ := def.Redacted()
			if string(d) == string(b) {
				t.Errorf("%s by %s changes nothing", key, how)
			}
			seen = append(seen, string(b))
		}
		if len(seen) == 3 && (seen[0] != seen[1] || seen[1] != seen[2]) {
			t.Errorf("%s: the three ways differ:\n%s", key, strings.Join(seen, "\n"))
		}
	}
}

// place is where a problem is, which differs by source.
var place = regexp.MustCompile(` \((line [0-9]+|AGENTD_[A-Z_]+|--[a-z.-]+)\)`)

var samples = map[string]string{
	"listen": "127.0.0.1:9", "base_path": "/x/", "trusted_proxies": "[10.0.0.1]", "data_dir": "/d", "database_url": "postgres://h/d",
	"artifacts_url": "s3://b", "auth.mode": "jwt", "auth.dev.user": "u", "auth.dev.roles": "[Gamma]", "auth.jwt.secret_env": "S", "auth.jwt.secret_file": "/s",
	"auth.jwt.jwks_url": "https://i/jwks", "auth.jwt.issuer": "i", "auth.jwt.audience": "a", "auth.jwt.user_claim": "email", "auth.jwt.roles_claim": "groups",
	"auth.superset.environment": "e", "auth.superset.cookie_name": "c", "auth.superset.cache": "5s", "auth.handover.secret_env": "S", "auth.handover.secret_file": "/s",
	"auth.handover.audience": "a", "auth.handover.ttl": "1m", "policy.file": "/p.csv", "policy.reload": "false", "guardrails": "{write: {dev: allow}}",
	"environments": "[{id: a, class: dev, base_url: 'http://h', auth: {mode: forward_cookie}}]",
	"llm.provider": "openai", "llm.base_url": "http://h/v1", "llm.model": "m", "llm.api_key_env": "K", "llm.api_key_file": "/k", "llm.max_steps": "3",
	"llm.context_tokens": "9000", "llm.idle_timeout": "5s", "limits.read_timeout": "5s", "limits.write_timeout": "90s", "limits.retry_delay": "2s",
	"limits.max_chars": "100", "limits.batch_chars": "9000", "limits.confirmation_ttl": "2h", "limits.run_timeout": "20m", "limits.message_chars": "5",
	"limits.runs_per_user": "1", "artifacts.mode": "explicit", "artifacts.max_rows": "5", "artifacts.max_bytes": "1MB", "artifacts.max_duration": "5s",
	"artifacts.conversation_quota": "400MB", "artifacts.user_quota": "3GB", "artifacts.total_quota": "30GB", "artifacts.fallback_url": "file:///x", "artifacts.ttl": "1h",
	"references.enabled": "false", "references.inline_max": "5", "mcp_servers": "[{name: a, url: 'http://h/mcp', headers_env: {Authorization: T}, tools: {x: {risk: read, affinity: [dataset], references: false}}}]",
	"web.enabled": "false", "web.frame_ancestors": "['https://h']", "web.languages": "[en]", "telemetry.otlp_endpoint": "http://h:4318",
	"telemetry.metrics": "false", "telemetry.log_level": "debug", "telemetry.log_format": "text",
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		env        []string
		flags      map[string]string
		key, what  string
	}{
		{name: "unknown key", file: "\nlimits:\n  read_timeuot: 3s\n", key: "limits.read_timeuot", what: "is not known; here may stand batch_chars"},
		{name: "its line", file: "\nlimits:\n  read_timeuot: 3s\n", key: "limits.read_timeuot", what: "(line 3)"},
		{name: "the line of what is impossible", file: "\nlimits:\n  read_timeout: 30s\n  write_timeout: 29s\n", key: "limits.write_timeout", what: "(line 4)"},
		{name: "the line of what is missing", file: "\nenvironments:\n  - id: a\n", key: "environments[0].base_url", what: "(line 3)"},
		{name: "the source of what is impossible", file: "limits: {read_timeout: 30s, write_timeout: 60s}", env: []string{"AGENTD_LIMITS_WRITE_TIMEOUT=1s"}, key: "limits.write_timeout", what: "(AGENTD_LIMITS_WRITE_TIMEOUT)"},
		{name: "unknown key at the top", file: "lissen: x", key: "lissen", what: "is not known"},
		{name: "unknown key in a list", file: "environments: [{idd: x}]", key: "environments[0].idd", what: "is not known"},
		{name: "twice", file: "listen: 127.0.0.1:1\nlisten: 127.0.0.1:2", key: "listen", what: "a second time (line 2)"},
		{name: "text for a number", file: "llm: {max_steps: many}", key: "llm.max_steps", what: "must be a whole number"},
		{name: "number with a point", file: "llm: {max_steps: 1.5}", key: "llm.max_steps", what: "must be a whole number"},
		{name: "number for a duration", file: "limits: {read_timeout: 30}", key: "limits.read_timeout", what: "must be a duration such as 30s"},
		{name: "word for a size", file: "artifacts: {max_bytes: big}", key: "artifacts.max_bytes", what: "must be a size such as 100MB"},
		{name: "yes for a boolean", file: "policy: {reload: yes}", key: "policy.reload", what: "must be true or false"},
		{name: "number for a text", file: "llm: {model: 4}", key: "llm.model", what: "must be a text"},
		{name: "text for a list", file: "web: {languages: en}", key: "web.languages", what: "must be a list"},
		{name: "list for a text", file: "listen: [a]", key: "listen", what: "must be one value"},
		{name: "text for a group", file: "llm: gpt", key: "llm", what: "must be a group of keys"},
		{name: "two documents", file: "listen: 127.0.0.1:1\n---\nlisten: 127.0.0.1:2", key: "configuration", what: "one YAML document"},
		{name: "variable", env: []string{"AGENTD_LLM_MAX_STEPS=x"}, key: "llm.max_steps", what: "(AGENTD_LLM_MAX_STEPS)"},
		{name: "unknown variable", env: []string{"AGENTD_LLM_MODLE=x"}, key: "AGENTD_LLM_MODLE", what: "is not known"},
		{name: "flag", flags: map[string]string{"llm.max_steps": "x"}, key: "llm.max_steps", what: "(--llm.max-steps)"},
		{name: "unknown flag", flags: map[string]string{"llm.modle": "x"}, key: "llm.modle", what: "is not known"},
		{name: "list in a variable", env: []string{"AGENTD_ENVIRONMENTS=[{id"}, key: "environments", what: "must be written as YAML"},

		{name: "listen", file: "listen: here", key: "listen", what: "host:port"},
		{name: "base path", file: "base_path: agentd", key: "base_path", what: "begin and end with /"},
		{name: "proxy", file: "trusted_proxies: [everybody]", key: "trusted_proxies[0]", what: "an address or a network"},
		{name: "database", file: "database_url: mysql://x", key: "database_url", what: "postgres://"},
		{name: "dev auth for everybody", file: "listen: 0.0.0.0:8080", key: "auth.mode", what: "only when listen is a loopback"},
		{name: "dev auth without a host", file: "listen: ':8080'", key: "auth.mode", what: "only when listen is a loopback"},
		{name: "mode", file: "auth: {mode: none}", key: "auth.mode", what: "must be dev, jwt, superset"},
		{name: "no mode", file: "auth: {mode: ''}", key: "auth.mode", what: "must be dev, jwt, superset"},
		{name: "jwks and secret", file: "auth: {mode: jwt, jwt: {jwks_url: 'https://i/k', issuer: i, secret_env: S}}", key: "auth.jwt.jwks_url", what: "exclude each other"},
		{name: "jwks without issuer", file: "auth: {mode: jwt, jwt: {jwks_url: 'https://i/k'}}", key: "auth.jwt.issuer", what: "must be set"},
		{name: "jwks in the clear", file: "auth: {mode: jwt, jwt: {jwks_url: 'http://i/k', issuer: i}}", key: "auth.jwt.jwks_url", what: "https"},
		{name: "jwt without keys", file: "auth: {mode: jwt, jwt: {secret_env: ''}}", key: "auth.jwt.secret_env", what: "must be set"},
		{name: "superset of no environment", file: "auth: {mode: superset, superset: {environment: x}}", key: "auth.superset.environment", what: "must be the id of one of environments"},
		{name: "cache of more than a minute", file: "auth: {superset: {cache: 60001ms}}", key: "auth.superset.cache", what: "1m at most"},
		{name: "handover without audience", file: "auth: {handover: {secret_env: X}}", key: "auth.handover.audience", what: "must be set"},

		{name: "same id", file: "environments: [{id: a, base_url: 'http://h', auth: {mode: forward_cookie}}, {id: a, base_url: 'http://g', auth: {mode: forward_cookie}}]", key: "environments[1].id", what: "environments[0] has already"},
		{name: "no id", file: "environments: [{base_url: 'http://h'}]", key: "environments[0].id", what: "short name"},
		{name: "no address", file: "environments: [{id: a}]", key: "environments[0].base_url", what: "must be an address"},
		{name: "mock outside demo", file: "environments: [{id: a, base_url: 'mock://dev'}]", key: "environments[0].base_url", what: "must be an address"},
		{name: "password in an address", file: "environments: [{id: a, base_url: 'http://u:p@h'}]", key: "environments[0].base_url", what: "without a user name"},
		{name: "service without a login", file: "environments: [{id: a, base_url: 'http://h'}]", key: "environments[0].auth", what: "password_env"},
		{name: "two logins", file: "environments: [{id: a, base_url: 'http://h', auth: {username: u, password_env: P, api_key_env: K}}]", key: "environments[0].auth", what: "not both"},
		{name: "login without a name", file: "environments: [{id: a, base_url: 'http://h', auth: {password_env: P}}]", key: "environments[0].auth.username", what: "must be set"},
		{name: "environment's mode", file: "environments: [{id: a, base_url: 'http://h', auth: {mode: magic}}]", key: "environments[0].auth.mode", what: "must be service, forward_cookie, forward_token"},

		{name: "provider", file: "llm: {provider: gpt}", key: "llm.provider", what: "must be offline, openai, anthropic"},
		{name: "no model", file: "llm: {provider: openai}", key: "llm.model", what: "must be set"},
		{name: "no steps", file: "llm: {max_steps: 0}", key: "llm.max_steps", what: "at least 1"},
		{name: "write below read", file: "limits: {read_timeout: 61s}", key: "limits.write_timeout", what: "must not be below read_timeout (1m1s)"},
		{name: "run below write", file: "limits: {run_timeout: 59s}", key: "limits.run_timeout", what: "must not be below write_timeout"},
		{name: "no time", file: "limits: {read_timeout: 0s}", key: "limits.read_timeout", what: "at least"},
		{name: "batch below one", file: "limits: {batch_chars: 3999}", key: "limits.batch_chars", what: "must not be below max_chars"},
		{name: "artifacts", file: "artifacts: {mode: sometimes}", key: "artifacts.mode", what: "must be auto, explicit, off"},
		{name: "quota", file: "artifacts: {user_quota: 499MB}", key: "artifacts.user_quota", what: "must not be below conversation_quota (500MB)"},
		{name: "risk of a tool", file: "mcp_servers: [{name: a, url: 'http://h', tools: {x: {risk: low}}}]", key: "mcp_servers[0].tools.x.risk", what: "must be read"},
		{name: "page of a tool", file: "mcp_servers: [{name: a, url: 'http://h', tools: {x: {affinity: [dataset, dashbord]}}}]", key: "mcp_servers[0].tools.x.affinity[1]", what: "must be dashboard, chart"},
		{name: "two servers of one name", file: "mcp_servers: [{name: a, url: 'http://h'}, {name: a, url: 'http://i'}]", key: "mcp_servers[1].name", what: "another server"},
		{name: "a server without a name", file: "mcp_servers: [{url: 'http://h'}]", key: "mcp_servers[0].name", what: "must be a short name"},
		{name: "a server with a password", file: "mcp_servers: [{name: a, url: 'http://u:p@h'}]", key: "mcp_servers[0].url", what: "without a user name"},
		{name: "header of a server", file: "mcp_servers: [{name: a, url: 'http://h', headers_env: {'X Y': T}}]", key: "mcp_servers[0].headers_env.X Y", what: "HTTP header"},
		{name: "header of the protocol", file: "mcp_servers: [{name: a, url: 'http://h', headers_env: {Mcp-Session-Id: T}}]", key: "mcp_servers[0].headers_env.Mcp-Session-Id", what: "left out"},
		{name: "header without a variable", file: "mcp_servers: [{name: a, url: 'http://h', headers_env: {Authorization: ''}}]", key: "mcp_servers[0].headers_env.Authorization", what: "environment variable"},
		{name: "references of a tool", file: "mcp_servers: [{name: a, url: 'http://h', tools: {x: {references: [rows]}}}]", key: "mcp_servers[0].tools.x.references", what: "must be one value"},
		{name: "language", file: "web: {languages: [de]}", key: "web.languages[0]", what: "must be en, ru"},
		{name: "frame", file: "web: {frame_ancestors: ['https://h/x']}", key: "web.frame_ancestors[0]", what: "an origin"},
		{name: "level", file: "telemetry: {log_level: loud}", key: "telemetry.log_level", what: "must be debug"},
	} {
		o := config.Options{Environ: tt.env, Overrides: tt.flags}
		if tt.file != "" {
			o.File = file(t, tt.file)
		}
		_, err := config.Load(o)
		e, ok := err.(*fault.Error)
		if !ok || e.Kind != fault.Invalid {
			t.Errorf("%s: %v, want Invalid", tt.name, err)
			continue
		}
		if !slices.ContainsFunc(e.Fields, func(f fault.Field) bool { return f.Pointer == tt.key && strings.Contains(f.Detail, tt.what) }) {
			t.Errorf("%s: %v, want %s with %q", tt.name, err, tt.key, tt.what)
		}
	}
}

func TestEverythingWrongAtOnce(t *testing.T) {
	_, err := config.Load(config.Options{
		File: file(t, "lissen: x\nllm: {max_steps: many, provider: gpt}\nlimits: {write_timeout: 1s}\n"), Environ: []string{"AGENTD_X=1"},
		Overrides: map[string]string{"web.enabled": "maybe"},
	})
	for _, key := range []string{"lissen", "llm.max_steps", "llm.provider", "limits.write_timeout", "AGENTD_X", "web.enabled"} {
		if err == nil || !strings.Contains(err.Error(), "\n  "+key+" ") {
			t.Errorf("%s is not named: %v", key, err)
		}
	}
}

func TestAccepted(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    config.Options
	}{
		{"nothing", config.Options{}},
		{"an empty file", config.Options{File: file(t, "")}},
		{"a comment", config.Options{File: file(t, "# later\n")}},
		{"keys without values", config.Options{File: file(t, "llm:\nenvironments:\n")}},
		{"variables of a cluster", config.Options{Environ: []string{"AGENTD_PORT=tcp://10.0.0.1:80", "AGENTD_PORT_80_TCP=x", "AGENTD_SERVICE_HOST=10.0.0.1", "AGENTD_SERVICE_PORT_HTTP=80"}}},
		{"a secret in a variable that looks like a key", config.Options{Environ: []string{"AGENTD_JWT_SECRET=x"}}},
		{"IPv6 loopback", config.Options{File: file(t, "listen: '[::1]:8080'")}},
		{"localhost", config.Options{File: file(t, "listen: localhost:8080")}},
		{"write as long as read", config.Options{File: file(t, "limits: {read_timeout: 60s}")}},
		{"an anchor", config.Options{File: file(t, "limits: {read_timeout: &t 20s, write_timeout: *t}")}},
	} {
		if _, err := config.Load(tt.o); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestNotAFile(t *testing.T) {
	for _, name := range []string{"/no/such/file.yaml", file(t, "a: [")} {
		if _, err := config.Load(config.Options{File: name}); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestClassWarning(t *testing.T) {
	c, err := config.Load(config.Options{File: file(t, strings.Replace(oneEnv, "production", "acme", 1))})
	if err != nil {
		t.Fatal(err)
	}
	if c.Environments[0].Class != "prod" || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], `"acme" of ss-prod is not understood, so it counts as prod`) {
		t.Errorf("%q, %v", c.Environments[0].Class, c.Warnings)
	}
}

func TestDemo(t *testing.T) {
	c, err := config.Load(config.Options{Demo: true})
	if err != nil {
		t.Fatal(err)
	}
	var classes []string
	for _, e := range c.Environments {
		classes = append(classes, e.ID+" "+e.Class+" "+e.BaseURL)
	}
	if diff := cmp.Diff([]string{"ss-dev dev mock://dev", "ss-staging staging mock://staging", "ss-prod prod mock://prod"}, classes); diff != "" {
		t.Error(diff)
	}
	if c.Auth.Mode != "dev" || c.LLM.Provider != "offline" || len(c.Warnings) != 0 {
		t.Errorf("%+v", c)
	}
	c, err = config.Load(config.Options{Demo: true, File: file(t, oneEnv)})
	if err != nil || len(c.Environments) != 1 {
		t.Errorf("own environments beside the mocks: %v, %v", c.Environments, err)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	place := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(place, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Options{
		File:    file(t, oneEnv+"database_url: postgres://agentd:hunter2@db/agentd?sslpassword=hunter2&sslmode=require\n"),
		Environ: []string{"SS_PROD_PASSWORD=hunter2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Redacted()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "hunter2") || !strings.Contains(string(b), "SS_PROD_PASSWORD") || !strings.Contains(string(b), "sslmode=require") {
		t.Errorf("redacted:\n%s", b)
	}
	if !strings.Contains(c.DatabaseURL, "agentd:hunter2@") {
		t.Error("the address itself has lost its password")
	}
	for _, s := range []config.Secret{c.Secret("SS_PROD_PASSWORD", ""), c.Secret("", place), c.Secret("NOT_SET", place)} {
		if v, err := s.Value(); v != "hunter2" || err != nil || !s.Set() {
			t.Errorf("Value = %q, %v", v, err)
		}
		var log strings.Builder
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", s)
		for _, text := range []string{fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %s %q %x", s, s, s, s, s, s), log.String()} {
			if strings.Contains(text, "hunter2") || strings.Contains(text, "PASSWORD") {
				t.Errorf("printed: %s", text)
			}
		}
	}
	for _, s := range []config.Secret{{}, c.Secret("NOT_SET", ""), c.Secret("", "/no/such/key")} {
		if v, err := s.Value(); v != "" || fault.KindOf(err) != fault.Invalid {
			t.Errorf("Value = %q, %v", v, err)
		}
	}
}

func TestRedactedIsItselfAConfiguration(t *testing.T) {
	c, err := config.Load(config.Options{File: file(t, oneEnv)})
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Redacted()
	if err != nil {
		t.Fatal(err)
	}
	again, err := config.Load(config.Options{File: file(t, string(b))})
	if err != nil {
		t.Fatal(err)
	}
	if b2, _ := again.Redacted(); string(b2) != string(b) {
		t.Error(cmp.Diff(string(b), string(b2)))
	}
}

func TestParseSize(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want config.Size
		ok   bool
	}{
		{"0", 0, true}, {"4096", 4096, true}, {"100MB", 100_000_000, true}, {"2 gb", 2_000_000_000, true}, {"1KiB", 1024, true},
		{"9223372036854TB", 0, false}, {"9223372TB", 9223372 * config.TB, true}, {"9223373TB", 0, false},
		{"", 0, false}, {"MB", 0, false}, {"-1MB", 0, false}, {"1.5MB", 0, false}, {"1XB", 0, false}, {"1 MB x", 0, false},
	} {
		got, err := config.ParseSize(tt.in)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("ParseSize(%q) = %d, %v", tt.in, got, err)
		}
		if err == nil {
			if back, err := config.ParseSize(got.String()); back != got || err != nil {
				t.Errorf("%q prints as %q", tt.in, got)
			}
		}
	}
}

func TestSplitFlags(t *testing.T) {
	over, rest := config.SplitFlags([]string{
		"serve", "--config", "a.yaml", "--llm.base-url=http://h?a=b", "--data-dir", "/d", "--policy.reload", "--web.enabled", "false",
		"-v", "--llm.modle", "x", "--listen", "127.0.0.1:1", "--", "--llm.model=no",
	})
	if diff := cmp.Diff(map[string]string{
		"llm.base_url": "http://h?a=b", "data_dir": "/d", "policy.reload": "true", "web.enabled": "false", "llm.modle": "x", "listen": "127.0.0.1:1",
	}, over); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"serve", "--config", "a.yaml", "-v", "--", "--llm.model=no"}, rest); diff != "" {
		t.Error(diff)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(documented, "AGENTD_WEB_LANGUAGES=en")
	f.Add("mcp_servers: [{tools: &x {y: *x}}]\nguardrails: &g {a: *g}\nweb: {languages: &l [*l]}", "AGENTD_ENVIRONMENTS=[")
	f.Add("environments: {a: b}\nllm: !!binary x", "")
	name := filepath.Join(f.TempDir(), "a.yaml")
	f.Fuzz(func(t *testing.T, text, env string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := config.Load(config.Options{File: name, Environ: []string{env}}); err != nil && fault.KindOf(err) != fault.Invalid {
			t.Errorf("%v", err)
		}
	})
}
