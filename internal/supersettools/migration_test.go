package supersettools_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pack "agentd/internal/bundle"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/mocksuperset"
	"agentd/internal/superset"
	"agentd/internal/supersettools"
	"agentd/internal/tool"

	"github.com/google/go-cmp/cmp"
)

// A pair is two Supersets, dev and prod, with the operations over both.
type pair struct {
	t          *testing.T
	user       string
	set        tool.Set
	envs       map[string]*superset.Client
	kept       *payloads
	migrations *migrations
}

// realPair returns the addresses of two real Supersets whose content the test may change, seeded as dev and prod.
func realPair(t *testing.T) (dev, prod string) {
	t.Helper()
	dev, prod = os.Getenv("AGENTD_TEST_SUPERSET_DEV"), os.Getenv("AGENTD_TEST_SUPERSET_PROD")
	if dev == "" || prod == "" {
		t.Skip("AGENTD_TEST_SUPERSET_DEV and AGENTD_TEST_SUPERSET_PROD are not set: they name two seeded Supersets whose content may be changed")
	}
	if script := os.Getenv("AGENTD_TEST_SUPERSET_SCRIPT"); script != "" {
		name := os.Getenv("AGENTD_TEST_SUPERSET_PROD_NAME")
		if name == "" {
			name = "prod"
		}
		if out, err := exec.CommandContext(t.Context(), script, "reset", name).CombinedOutput(); err != nil {
			t.Fatalf("reset %s: %v\n%s", name, err, out)
		}
	}
	return dev, prod
}

func newPair(t *testing.T, dev, prod, user string) *pair {
	t.Helper()
	p := &pair{t: t, user: user, envs: map[string]*superset.Client{}, kept: &payloads{all: map[string][]byte{}}, migrations: &migrations{all: map[string]chat.Migration{}, busy: map[string]time.Time{}}}
	var envs []supersettools.Environment
	for _, e := range []struct{ id, base string }{{"dev", dev}, {"prod", prod}} {
		c, err := superset.New(superset.Options{BaseURL: e.base, Auth: superset.Auth{Username: user, Password: user}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		p.envs[e.id] = c
		envs = append(envs, supersettools.Environment{ID: e.id, Class: e.id, Client: c})
	}
	all, err := supersettools.NewEnvironments(envs...)
	if err != nil {
		t.Fatal(err)
	}
	p.set, err = tool.NewSet(supersettools.New(supersettools.Deps{Environments: all, Backups: p.kept, Kept: p.kept.open, Migrations: p.migrations})...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pair) bind(name, env, args string) (tool.Bound, error) {
	p.t.Helper()
	t, ok := p.set.Find(name)
	if !ok {
		p.t.Fatalf("no tool %s", name)
	}
	c := tool.Call{ToolCall: chat.ToolCall{ID: "c", Name: name, Args: json.RawMessage(args)}, Who: chat.Identity{User: p.user}, Env: env, Conversation: "conv"}
	if t.Envs != nil {
		if named := t.Envs(c); len(named) > 0 {
			c.Env = named[0]
		}
	}
	return t.Bind(c)
}

func (p *pair) run(name, env, args string) (tool.Result, error) {
	p.t.Helper()
	b, err := p.bind(name, env, args)
	if err != nil {
		return tool.Result{}, err
	}
	return b.Run(p.t.Context())
}

func (p *pair) mustRun(name, env, args string) tool.Result {
	p.t.Helper()
	r, err := p.run(name, env, args)
	if err != nil {
		p.t.Fatalf("%s %s: %v (%s)", name, args, err, fault.Message(err))
	}
	return r
}

func (p *pair) session(env string) *superset.Session {
	p.t.Helper()
	s, err := p.envs[env].As(chat.Identity{User: p.user})
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// payloads keeps stored files in memory.
type payloads struct {
	mu  sync.Mutex
	all map[string][]byte
	err error
}

func (k *payloads) Store(_ context.Context, _ chat.Identity, _, _ string, r io.Reader) (*chat.Artifact, error) {
	if k.err != nil {
		return nil, k.err
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	id := "art_" + string(rune('A'+len(k.all)))
	k.all[id] = raw
	return &chat.Artifact{Decision: chat.ArtifactCreated, ID: id, Format: chat.FormatBinary, SizeBytes: int64(len(raw))}, nil
}

func (k *payloads) open(_ context.Context, _ chat.Identity, _, id string) (io.ReadCloser, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	raw, ok := k.all[id]
	if !ok {
		return nil, fault.New(fault.Gone, "gone")
	}
	return io.NopCloser(bytes.NewReader(raw)), nil
}

// migrations is the record of plans, in memory.
type migrations struct {
	mu   sync.Mutex
	all  map[string]chat.Migration
	busy map[string]time.Time
}

func (m *migrations) PutMigration(_ context.Context, v chat.Migration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all[v.ID] = v
	return nil
}

func (m *migrations) Migration(_ context.Context, id, user string) (chat.Migration, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.all[id]
	if !ok || v.User != user {
		return v, fault.New(fault.Missing, "There is no such plan or migration.")
	}
	if !time.Now().Before(v.Expires) {
		return v, fault.New(fault.Gone, "expired")
	}
	return v, nil
}

func (m *migrations) BeginMigration(_ context.Context, v chat.Migration, until time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Now().Before(m.busy[v.Target]) {
		return fault.New(fault.Conflict, "busy")
	}
	v.State = chat.MigrationBusy
	m.busy[v.Target], m.all[v.ID] = until, v
	return nil
}

func (m *migrations) NoteMigration(ctx context.Context, v chat.Migration) error {
	v.State = chat.MigrationBusy
	return m.PutMigration(ctx, v)
}

func (m *migrations) EndMigration(ctx context.Context, v chat.Migration) error {
	m.mu.Lock()
	delete(m.busy, v.Target)
	m.mu.Unlock()
	return m.PutMigration(ctx, v)
}

func TestExportReal(t *testing.T) {
	dev, prod := realPair(t)
	p := newPair(t, dev, prod, "admin")
	tests := []struct {
		name, args string
		complete   bool
		objects    int
	}{
		{"dashboard", `{"type":"dashboard","ids":[1]}`, true, 14},
		{"cyrillic and another", `{"type":"dashboard","ids":[4,1]}`, true, 0},
		{"charts without a dataset", `{"type":"chart","ids":[62]}`, false, 1},
		{"dataset", `{"type":"dataset","ids":[2]}`, true, 1},
		{"stale layout", `{"type":"dashboard","ids":[18]}`, true, 0},
		{"everything", `{"type":"dashboard","ids":[3]}`, true, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := p.mustRun("export_assets", "dev", tt.args)
			var v struct {
				Complete bool
				Reasons  []string
				Objects  []any
				Artifact string `json:"artifact_id"`
			}
			if err := json.Unmarshal(r.Data, &v); err != nil {
				t.Fatal(err)
			}
			if v.Complete != tt.complete || tt.objects > 0 && len(v.Objects) != tt.objects {
				t.Errorf("complete %v with %d objects: %v", v.Complete, len(v.Objects), v.Reasons)
			}
			noAddress(t, p.kept.all[v.Artifact])
			if strings.Contains(string(r.Data), "sqlite:") {
				t.Error("the result shows an address")
			}
		})
	}
	for _, args := range []string{`{"type":"dashboard","ids":[1,999999]}`, `{"type":"dataset","ids":[999999]}`} {
		if _, err := p.run("export_assets", "dev", args); fault.KindOf(err) != fault.Missing {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// noAddress reads a stored zip and refuses an address of a connection in it.
func noAddress(t *testing.T, raw []byte) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), ".db") || strings.Contains(string(text), "crm.internal") {
			t.Errorf("%s shows an address", f.Name)
		}
	}
}

// contents reads everything of an environment that an export has, by uuid.
func (p *pair) contents(env string) map[string]string {
	p.t.Helper()
	ctx, s := p.t.Context(), p.session(env)
	var dashboards, charts, datasets []int
	page, err := s.DashboardsUpTo(ctx, superset.DashboardFilter{}, superset.Paging{By: "dashboard_title"}, 1000)
	if err != nil {
		p.t.Fatal(err)
	}
	out := map[string]string{}
	for _, d := range page.Rows {
		dashboards = append(dashboards, d.ID)
		out["owners of "+d.UUID] = ownersText(d.Owners)
	}
	all, err := s.Charts(ctx, superset.ChartFilter{}, 1000)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, c := range all.Rows {
		charts = append(charts, c.ID)
		out["owners of "+c.UUID] = ownersText(c.Owners)
	}
	sets, err := s.Datasets(ctx, superset.DatasetFilter{}, superset.Paging{By: "table_name"})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, d := range sets.Rows {
		datasets = append(datasets, d.ID)
		out["owners of "+d.UUID] = ownersText(d.Owners)
	}
	for _, x := range []struct {
		ids  []int
		read func(context.Context, ...int) (io.ReadCloser, error)
	}{{dashboards, s.ExportDashboards}, {charts, s.ExportCharts}, {datasets, s.ExportDatasets}} {
		r, err := x.read(ctx, x.ids...)
		if err != nil {
			p.t.Fatal(err)
		}
		b, err := pack.Read(ctx, r, p.t.TempDir(), pack.Limits{})
		r.Close()
		if err != nil {
			p.t.Fatal(err)
		}
		for _, o := range b.Objects() {
			if o.Kind == pack.Database {
				out["connection "+o.UUID] = o.Title
				continue
			}
			c, err := b.Content(o)
			if err != nil {
				p.t.Fatal(err)
			}
			out[string(o.Kind)+" "+o.UUID+" "+o.Title] = c.Hash()
		}
		b.Close()
	}
	return out
}

func ownersText(people []superset.Person) string {
	var names []string
	for _, v := range people {
		names = append(names, v.Name())
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

type planned struct {
	PlanID   string   `json:"plan_id"`
	Ready    bool     `json:"ready"`
	OneStep  bool     `json:"all_or_nothing"`
	Blockers []string `json:"blockers"`
	Warnings []string `json:"warnings"`
	Counts   map[string]int
	Objects  []struct {
		Kind, Title, Action, UUID, Mapped string
		Changes                           []struct{ Field string }
	}
}

func (p *pair) plan(args string) planned {
	p.t.Helper()
	var v planned
	if err := json.Unmarshal(p.mustRun("plan_migration", "", args).Data, &v); err != nil {
		p.t.Fatal(err)
	}
	return v
}

type applied struct {
	MigrationID       string `json:"migration_id"`
	Written, Verified bool
	Wrong             []string
	Objects           []struct {
		Kind, Title, Action string
		ID                  int
	}
	Charts struct {
		OK     int
		Failed []struct{ Title, Why string }
	}
}

func (p *pair) apply(id string) (applied, tool.Result) {
	p.t.Helper()
	r := p.mustRun("apply_migration", "", `{"plan_id":"`+id+`"}`)
	var v applied
	if err := json.Unmarshal(r.Data, &v); err != nil {
		p.t.Fatal(err)
	}
	return v, r
}

// There and back: what was migrated is as in the source, and after the rollback the target is as before.
func TestMigrationReal(t *testing.T) {
	dev, prod := realPair(t)
	thereAndBack(t, dev, prod, false)
}

func thereAndBack(t *testing.T, dev, prod string, quick bool) {
	tests := []struct {
		name, user, args string
		create, update   int
		failed           int // charts that do not work there afterwards
	}{
		{"one dashboard", "admin", `"type":"dashboard","ids":[1]`, 0, 2, 0},
		{"datasets too", "admin", `"type":"dashboard","ids":[1],"overwrite":"all"`, 0, 3, 0},
		{"a dashboard only", "admin", `"type":"dashboard","ids":[1],"overwrite":"dashboard_only"`, 0, 1, 0},
		{"new ones with a new dataset", "admin", `"type":"dashboard","ids":[9,13]`, 24, 1, -1},
		{"takeover by slug, updated", "admin", `"type":"dashboard","ids":[2],"identity_map":[{"from":"8f7a74d0-54fd-5784-a8ad-e8633a6e2978","to":"3b24948d-018e-5101-a3ab-9fe417887672"}]`, 0, 1, 0},
		{"takeover by slug, another slug", "admin", `"type":"dashboard","ids":[2],"slug_map":[{"from":"web-traffic","to":"web-traffic-dev"}]`, 1, 0, 0},
		{"a dataset", "admin", `"type":"dataset","ids":[1]`, 0, 1, 0},
		{"as Alpha, who owns", "alpha", `"type":"dashboard","ids":[1]`, 0, 2, 0},
		{"charts that lack a column", "admin", `"type":"dashboard","ids":[14]`, 5, 0, -1},
	}
	for n, tt := range tests {
		if quick && n%3 != 1 {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			p := newPair(t, dev, prod, tt.user)
			before := p.contents("prod")
			v := p.plan(`{"source_env":"dev","target_env":"prod",` + tt.args + `}`)
			if !v.Ready || v.Counts["create"] != tt.create || v.Counts["update"] != tt.update {
				t.Fatalf("ready %v, %v, want %d and %d: %s", v.Ready, v.Counts, tt.create, tt.update, v.Blockers)
			}
			if diff := cmp.Diff(before, p.contents("prod")); diff != "" {
				t.Fatalf("the plan changed something:\n%s", diff)
			}
			w, err := p.bind("apply_migration", "", `{"plan_id":"`+v.PlanID+`"}`)
			if err != nil {
				t.Fatal(err)
			}
			shown, err := w.Preview(t.Context())
			if err != nil || len(shown.Diff) == 0 || shown.Fingerprint == "" {
				t.Fatalf("preview %+v: %v", shown, err)
			}
			a, r := p.apply(v.PlanID)
			if !a.Verified || len(a.Objects) != tt.create+tt.update || len(a.Charts.Failed) != tt.failed && tt.failed >= 0 {
				t.Errorf("verified %v: %s, %s, %+v", a.Verified, a.Wrong, r.Summary, a.Charts)
			}
			for _, raw := range p.kept.all {
				noAddress(t, raw)
			}
			if o, err := w.ReadBack(t.Context(), shown); err != nil || o.Outcome != chat.OutcomeApplied {
				t.Errorf("read back: %+v %v", o, err)
			}
			if again := p.plan(`{"source_env":"dev","target_env":"prod",` + tt.args + `}`); again.Counts["create"]+again.Counts["update"] != 0 {
				t.Errorf("after the migration there is still something to do: %+v", again.Objects)
			}
			if _, err := p.run("apply_migration", "", `{"plan_id":"`+v.PlanID+`"}`); fault.KindOf(err) != fault.Conflict {
				t.Errorf("applied twice: %v", err)
			}
			u, err := p.bind("rollback_migration", "", `{"migration_id":"`+a.MigrationID+`"}`)
			if err != nil {
				t.Fatal(err)
			}
			if shown, err = u.Preview(t.Context()); err != nil || len(shown.Diff) != tt.create+tt.update {
				t.Errorf("preview of the rollback %+v: %v", shown, err)
			}
			back, err := u.Run(t.Context())
			if err != nil {
				t.Fatalf("rollback: %v", err)
			}
			if diff := cmp.Diff(before, p.contents("prod")); diff != "" {
				t.Errorf("after the rollback (-before +after):\n%s\n%s", diff, back.Summary)
			}
			if o, err := u.ReadBack(t.Context(), shown); err != nil || o.Outcome != chat.OutcomeApplied {
				t.Errorf("read back of the rollback: %+v %v", o, err)
			}
			if _, err := p.run("rollback_migration", "", `{"migration_id":"`+a.MigrationID+`"}`); fault.KindOf(err) != fault.Conflict {
				t.Errorf("rolled back twice: %v", err)
			}
		})
	}
}

// mockPair starts mocks of dev and prod.
func mockPair(t *testing.T) (dev, prod *mocksuperset.Server, devURL, prodURL string) {
	t.Helper()
	start := func(name string) (*mocksuperset.Server, string) {
		m := mocksuperset.New(mocksuperset.Options{Name: name})
		srv := httptest.NewServer(m)
		t.Cleanup(func() { srv.Close(); m.Close() })
		return m, srv.URL
	}
	dev, devURL = start("dev")
	prod, prodURL = start("prod")
	return dev, prod, devURL, prodURL
}

func TestMigration(t *testing.T) {
	_, _, dev, prod := mockPair(t)
	thereAndBack(t, dev, prod, true)
}
