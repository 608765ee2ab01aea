package supersettools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/superset"
	"agentd/internal/supersettools"
	"agentd/internal/tool"
)

// A bench calls the operations as one user on one Superset with the seeded content of dev.
type bench struct {
	t       *testing.T
	base    string
	user    string
	set     tool.Set
	client  *superset.Client
	backups *backups
}

// real returns the address of a real Superset, or skips.
func real(t *testing.T) string {
	t.Helper()
	base := os.Getenv("AGENTD_TEST_SUPERSET_DEV")
	if base == "" {
		t.Skip("AGENTD_TEST_SUPERSET_DEV is not set: it names a seeded Superset whose content may be changed, http://127.0.0.1:8101 for example")
	}
	return base
}

func newBench(t *testing.T, base, user string) *bench {
	t.Helper()
	c, err := superset.New(superset.Options{BaseURL: base, PublicURL: "https://bi.example.com", Auth: superset.Auth{Username: user, Password: user}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	other, err := superset.New(superset.Options{BaseURL: "http://127.0.0.1:1", PublicURL: "https://bi-prod.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	envs, err := supersettools.NewEnvironments(
		supersettools.Environment{ID: "dev", Title: "Development", Class: "dev", Client: c},
		supersettools.Environment{ID: "prod", Title: "Production", Class: "prod", Client: other})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, base: base, user: user, client: c, backups: &backups{}}
	b.set, err = tool.NewSet(supersettools.New(supersettools.Deps{Environments: envs, Backups: b.backups})...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// backups keeps what it is given in memory; err, if set, is what it says instead.
type backups struct {
	kept [][]byte
	err  error
}

func (b *backups) Store(_ context.Context, _ chat.Identity, _, _ string, r io.Reader) (*chat.Artifact, error) {
	if b.err != nil {
		return nil, b.err
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	b.kept = append(b.kept, raw)
	return &chat.Artifact{Decision: "CREATED", Coverage: "COMPLETE", ID: "art_test", Format: "binary", SizeBytes: int64(len(raw))}, nil
}

// bind binds arguments or reports why they do not fit.
func (b *bench) bind(name, args string) (tool.Bound, error) {
	b.t.Helper()
	t, ok := b.set.Find(name)
	if !ok {
		b.t.Fatalf("no tool %s", name)
	}
	return t.Bind(tool.Call{ToolCall: chat.ToolCall{ID: "c1", Name: name, Args: json.RawMessage(args)}, Who: chat.Identity{User: b.user}, Env: "dev"})
}

func (b *bench) mustBind(name, args string) tool.Bound {
	b.t.Helper()
	bound, err := b.bind(name, args)
	if err != nil {
		b.t.Fatalf("%s %s: %v", name, args, err)
	}
	return bound
}

func (b *bench) run(name, args string) (tool.Result, error) {
	b.t.Helper()
	return b.mustBind(name, args).Run(b.t.Context())
}

func (b *bench) mustRun(name, args string) tool.Result {
	b.t.Helper()
	r, err := b.run(name, args)
	if err != nil {
		b.t.Fatalf("%s %s: %v", name, args, err)
	}
	return r
}

// data decodes the payload of a result.
func data[T any](t *testing.T, r tool.Result) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(r.Data, &v); err != nil {
		t.Fatalf("%s: %v", r.Data, err)
	}
	return v
}

// column returns one column of a tabular result as texts of JSON.
func column(t *testing.T, r tool.Result, name string) []string {
	t.Helper()
	for i, c := range r.Rows.Columns {
		if c.Name == name {
			var out []string
			for _, row := range r.Rows.Rows {
				var cells []json.RawMessage
				if err := json.Unmarshal(row, &cells); err != nil {
					t.Fatal(err)
				}
				out = append(out, string(cells[i]))
			}
			return out
		}
	}
	t.Fatalf("no column %s", name)
	return nil
}

// copyOf makes a dashboard like another one, straight through Superset's API, as a person would in its pages.
func (b *bench) copyOf(slug, name string) int {
	b.t.Helper()
	s, err := b.client.As(chat.Identity{User: b.user})
	if err != nil {
		b.t.Fatal(err)
	}
	d, err := s.Dashboard(b.t.Context(), superset.Ref{Slug: slug})
	if err != nil {
		b.t.Fatal(err)
	}
	var meta map[string]json.RawMessage
	if err := json.Unmarshal([]byte(d.Metadata), &meta); err != nil {
		b.t.Fatal(err)
	}
	meta["positions"] = json.RawMessage(d.Layout)
	text, err := json.Marshal(meta)
	if err != nil {
		b.t.Fatal(err)
	}
	var got struct {
		Result struct {
			ID int `json:"id"`
		} `json:"result"`
	}
	b.call("POST", "/api/v1/dashboard/"+superset.Ref{ID: d.ID}.String()+"/copy/", map[string]string{"dashboard_title": name, "json_metadata": string(text)}, &got)
	return got.Result.ID
}

// call sends one request past agentd, as the bench's user.
func (b *bench) call(method, path string, body, out any) {
	b.t.Helper()
	send := func(method, path string, h map[string]string, body, out any) *http.Response {
		raw, err := json.Marshal(body)
		if err != nil {
			b.t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, bytes.NewReader(raw))
		if err != nil {
			b.t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json")
		for k, v := range h {
			req.Header.Set(k, v)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			b.t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode/100 != 2 {
			b.t.Fatalf("%s %s: %d %s %v", method, path, resp.StatusCode, text, err)
		}
		if err := json.Unmarshal(text, out); err != nil {
			b.t.Fatal(err)
		}
		return resp
	}
	var login struct {
		Access string `json:"access_token"`
	}
	send("POST", "/api/v1/security/login", nil, map[string]any{"username": b.user, "password": b.user, "provider": "db"}, &login)
	auth := "Bearer " + login.Access
	var csrf struct {
		Result string `json:"result"`
	}
	resp := send("GET", "/api/v1/security/csrf_token/", map[string]string{"Authorization": auth}, nil, &csrf)
	var cookies []string
	for _, c := range resp.Cookies() {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	send(method, path, map[string]string{"Authorization": auth, "X-CSRFToken": csrf.Result, "Cookie": strings.Join(cookies, "; "), "Referer": b.base + "/"}, body, out)
}
