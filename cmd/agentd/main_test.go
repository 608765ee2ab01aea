package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// command runs agentd in this process.
func command(t *testing.T, stdin string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), args, nil, strings.NewReader(stdin), &o, &e)
	return code, o.String(), e.String()
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	f := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestSQLCheck(t *testing.T) {
	for _, tt := range []struct {
		name, stdin string
		args        []string
		code        int
		want        string
	}{
		{"a read", "SELECT 1", []string{"sql", "check", "--dialect", "postgresql"}, 0, "allow"},
		{"a write", "DROP TABLE x", []string{"sql", "check", "--dialect", "postgresql"}, 0, "refuse"},
		{"two statements", "SELECT 1; SELECT 2", []string{"sql", "check", "--dialect", "sqlite"}, 0, "refuse"},
		{"lines", `{"dialect":"sqlite","sql":"SELECT 1"}` + "\n\n" + `{"dialect":"sqlite","sql":"DELETE FROM x"}`, []string{"sql", "check", "--jsonl"}, 0, `"verdict":"allow"`},
		{"no dialect", "SELECT 1", []string{"sql", "check"}, 2, ""},
		{"no JSON", "SELECT 1", []string{"sql", "check", "--jsonl"}, 2, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, out, errs := command(t, tt.stdin, tt.args...)
			if code != tt.code || !strings.Contains(out, tt.want) {
				t.Errorf("exit code %d, want %d: %q %q, want %q", code, tt.code, out, errs, tt.want)
			}
		})
	}
	_, out, _ := command(t, `{"dialect":"sqlite","sql":"SELECT 1"}`+"\n"+`{"dialect":"sqlite","sql":"DELETE FROM x"}`, "sql", "check", "--jsonl")
	if n := strings.Count(out, "\n"); n != 2 {
		t.Errorf("two lines gave %d answers: %s", n, out)
	}
}

func TestCommands(t *testing.T) {
	broken := file(t, "broken.yaml", "listn: 127.0.0.1:1\nlimits: {read_timeout: soon}\nauth: {mode: trust}\n")
	good := file(t, "good.yaml", "environments:\n  - {id: ss-prod, class: PRD, base_url: 'http://127.0.0.1:1', auth: {username: bot, password_env: PW}}\n")
	for _, tt := range []struct {
		name string
		args []string
		code int
		out  []string
		errs []string
	}{
		{"version", []string{"version"}, 0, []string{"agentd "}, nil},
		{"help", nil, 0, []string{"demo", "serve", "mock-superset", "policy", "audit", "config"}, nil},
		{"no such command", []string{"fly"}, 2, nil, []string{"fly"}},
		{"three mistakes at once", []string{"config", "check", broken}, 2, nil, []string{"listn", "read_timeout", "auth.mode"}},
		{"serve refuses them too", []string{"serve", "--config", broken}, 2, nil, []string{"listn", "read_timeout", "auth.mode"}},
		{"what is in force", []string{"config", "check", good}, 0, []string{"class: prod", "password_env: PW"}, nil},
		{"a policy's verdict", []string{"policy", "explain", "--role", "Gamma", "--tool", "search_dashboards", "--env", "prod"}, 0, []string{"allowed"}, nil},
		{"and its denial", []string{"policy", "explain", "--role", "Nobody", "--tool", "delete_dashboard", "--env", "prod"}, 0, []string{"denied"}, nil},
		{"a policy that cannot be used", []string{"policy", "lint", file(t, "p.csv", "p, role:Admin, *, tool:*, use, Deny\n")}, 2, []string{"1"}, []string{"refused"}},
		{"the mock on every interface", []string{"mock-superset", "--listen", "0.0.0.0:0"}, 2, nil, []string{"loopback"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, out, errs := command(t, "", tt.args...)
			if code != tt.code {
				t.Errorf("exit code %d, want %d\n%s%s", code, tt.code, out, errs)
			}
			for _, w := range tt.out {
				if !strings.Contains(out, w) {
					t.Errorf("prints %q, want %q in it", out, w)
				}
			}
			for _, w := range tt.errs {
				if !strings.Contains(errs, w) {
					t.Errorf("says %q, want %q in it", errs, w)
				}
			}
		})
	}
}

// TestLooks: what operators look at with the server stopped.
func TestLooks(t *testing.T) {
	dir := t.TempDir()
	cfg := file(t, "c.yaml", "data_dir: "+dir+"\nenvironments: []\n")
	if code, out, errs := command(t, "", "audit", "verify", "--config", cfg); code != 0 || !strings.Contains(out, "whole") {
		t.Errorf("audit verify: %d %q %q", code, out, errs)
	}
	if code, out, errs := command(t, "", "doctor", "memory", "--config", cfg); code != 0 || !strings.Contains(out, `"over_budget": 0`) {
		t.Errorf("doctor memory: %d %q %q", code, out, errs)
	}
}
