package supersettools_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/mocksuperset"
	"agentd/internal/superset"
	"agentd/internal/tool"

	"github.com/google/go-cmp/cmp"
)

func TestObstaclesReal(t *testing.T) {
	dev, prod := realPair(t)
	obstacles(t, dev, prod)
}

func TestObstacles(t *testing.T) {
	_, _, dev, prod := mockPair(t)
	obstacles(t, dev, prod)
}

// obstacles: what stands in the way is found before anything is written, whoever asks.
func obstacles(t *testing.T, dev, prod string) {
	tests := []struct {
		name, user, args string
		block            string // part of one of the obstacles; "" is none
		warn             string // part of one of the warnings
	}{
		{"another dashboard has the slug", "admin", `"type":"dashboard","ids":[2]`, "another dashboard “Web Traffic (prod original)”", ""},
		{"a connection that is not there", "admin", `"type":"dashboard","ids":[3]`, "no connection “Warehouse”", ""},
		{"mapped by name", "admin", `"type":"dashboard","ids":[3],"database_map":[{"from":"warehouse","to":"Warehouse PROD"}]`, "", ""},
		{"mapped to another one than the datasets are on", "admin", `"type":"dashboard","ids":[3],"database_map":[{"from":"Warehouse","to":"Examples DB"}]`, "is on the connection “Warehouse PROD”", ""},
		{"a connection with a password", "admin", `"type":"dashboard","ids":[11]`, "no connection “CRM Postgres”", "no row-level rule"},
		{"a chart without its dataset", "admin", `"type":"dashboard","ids":[10]`, "has lost its dataset", "will not work"},
		{"tables that are not there", "admin", `"type":"dashboard","ids":[12]`, "The table wide_values", ""},
		{"columns that are not there", "admin", `"type":"dashboard","ids":[14]`, "", "needs loyalty_points"},
		{"a layout with leftovers", "admin", `"type":"dashboard","ids":[18]`, "", "The layout will do without it"},
		{"a dataset on the same table", "admin", `"type":"dashboard","ids":[6]`, "", "under another uuid"},
		{"shared charts", "admin", `"type":"dashboard","ids":[1]`, "", "stays as it is there"},
		{"not the owner", "owner", `"type":"dashboard","ids":[1]`, "Only an owner or an Admin", ""},
		{"who may write no datasets", "gamma", `"type":"dataset","ids":[1]`, "does not let the user", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPair(t, dev, prod, tt.user)
			r, err := p.run("plan_migration", "", `{"source_env":"dev","target_env":"prod",`+tt.args+`}`)
			if tt.user == "gamma" {
				if fault.KindOf(err) != fault.Denied {
					t.Fatalf("got %v, want denied: Gamma exports no dataset", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var v planned
			if err := json.Unmarshal(r.Data, &v); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(v.Blockers, "\n"); !strings.Contains(got, tt.block) || tt.block == "" && got != "" {
				t.Errorf("obstacles: %s\nwant %q", got, tt.block)
			}
			if got := strings.Join(v.Warnings, "\n"); !strings.Contains(got, tt.warn) {
				t.Errorf("warnings: %s\nwant %q", got, tt.warn)
			}
			if (v.PlanID != "") != v.Ready || v.Ready && tt.block != "" {
				t.Errorf("ready %v with id %q", v.Ready, v.PlanID)
			}
			if strings.Contains(string(r.Data), "sqlite:") || strings.Contains(string(r.Data), "postgresql") {
				t.Error("the plan shows an address")
			}
		})
	}
}

// A takeover of what the user does not see is found by the target's own check.
func TestHiddenTakeover(t *testing.T) {
	_, _, dev, prod := mockPair(t)
	hiddenTakeover(t, dev, prod)
}

func TestHiddenTakeoverReal(t *testing.T) {
	dev, prod := realPair(t)
	hiddenTakeover(t, dev, prod)
}

func hiddenTakeover(t *testing.T, dev, prod string) {
	// alpha does not see Olga's draft there; a dashboard that she sees gets its slug.
	p := newPair(t, dev, prod, "alpha")
	v := p.plan(`{"source_env":"dev","target_env":"prod","type":"dashboard","ids":[9],"slug_map":[{"from":"everything","to":"olga-draft"}]}`)
	if v.Ready || !strings.Contains(strings.Join(v.Blockers, "\n"), "hidden from the user") {
		t.Errorf("ready %v: %s", v.Ready, v.Blockers)
	}
}

func TestPlanArguments(t *testing.T) {
	_, _, dev, prod := mockPair(t)
	p := newPair(t, dev, prod, "admin")
	for _, args := range []string{
		`{"source_env":"dev","target_env":"dev","type":"dashboard","ids":[1]}`,
		`{"source_env":"dev","target_env":"nope","type":"dashboard","ids":[1]}`,
		`{"source_env":"nope","target_env":"prod","type":"dashboard","ids":[1]}`,
		`{"source_env":"dev","target_env":"prod","type":"chart","ids":[1]}`,
		`{"source_env":"dev","target_env":"prod","type":"dashboard","ids":[]}`,
		`{"source_env":"dev","target_env":"prod","type":"dashboard","ids":[1,1]}`,
		`{"source_env":"dev","target_env":"prod","type":"dashboard","ids":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21]}`,
		`{"source_env":"dev","target_env":"prod","type":"dashboard","ids":[1],"identity_map":[{"from":"a","to":"b"}]}`,
		`{"source_env":"dev","target_env":"prod","type":"dashboard","ids":[1],"slug_map":[{"from":"a","to":"b c"}]}`,
		`{"source_env":"dev","target_env":"prod","type":"dashboard","ids":[1],"schema_map":[{"from":"a","to":"b"},{"from":"a","to":"c"}]}`,
	} {
		if _, err := p.bind("plan_migration", "", args); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", args, err)
		}
	}
	for _, id := range []string{"plan_prod", "plan_01M8MRDPWDX80JVZF88F4N3RAF_", "plan_01M8MRDPWDX80JVZF88F4N3RAF", "mig_01M8MRDPWDX80JVZF88F4N3RAF_prod", "plan_01M8MRDPWDX80JVZF88F4N3RAF_staging"} {
		if _, err := p.bind("apply_migration", "prod", `{"plan_id":"`+id+`"}`); err == nil {
			t.Errorf("%s was taken", id)
		}
	}
	_, err := p.run("plan_migration", "", `{"source_env":"dev","target_env":"prod","type":"dashboard","ids":[1],"identity_map":[{"from":"7db03fbd-c4fe-5aab-b601-031a4ecdf029","to":"00000000-0000-4000-8000-000000000000"}]}`)
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("an unknown identity: %v", err)
	}
	// The environments that the calls are judged by.
	for name, want := range map[string]string{
		"plan_migration " + `{"source_env":"dev","target_env":"prod"}`:                   "prod dev",
		"apply_migration " + `{"plan_id":"plan_01M8MRDPWDX80JVZF88F4N3RAF_ss-prod_1"}`:   "ss-prod_1",
		"rollback_migration " + `{"migration_id":"mig_01M8MRDPWDX80JVZF88F4N3RAF_prod"}`: "prod",
		"rollback_migration " + `{"migration_id":7}`:                                     "",
		"apply_migration " + `{"plan_id":"plan_01M8MRDPWDX80JVZF88F4N3RAF"}`:             "",
	} {
		n, args, _ := strings.Cut(name, " ")
		tl, _ := p.set.Find(n)
		if got := strings.Join(tl.Envs(tool.Call{ToolCall: chat.ToolCall{Args: json.RawMessage(args)}}), " "); got != want {
			t.Errorf("%s is judged by %q, want %q", name, got, want)
		}
	}
}

const salesPlan = `{"source_env":"dev","target_env":"prod","type":"dashboard","ids":[1]}`

// A plan is bound to its user, its time and the state of both sides, and nothing is written when one of them is another.
func TestPlanIsBound(t *testing.T) {
	devMock, prodMock, dev, prod := mockPair(t)
	p := newPair(t, dev, prod, "admin")
	v := p.plan(salesPlan)
	args := `{"plan_id":"` + v.PlanID + `"}`
	other := newPair(t, dev, prod, "alpha")
	other.migrations = p.migrations
	if _, err := p.migrations.Migration(t.Context(), v.PlanID, "alpha"); fault.KindOf(err) != fault.Missing {
		t.Errorf("another user: %v", err)
	}
	m := p.migrations.all[v.PlanID]
	if left := time.Until(m.Expires); left > 30*time.Minute || left < 29*time.Minute {
		t.Errorf("it expires in %v", left)
	}
	late := m
	late.Expires = time.Now()
	p.migrations.all[v.PlanID] = late
	if _, err := p.run("apply_migration", "", args); fault.KindOf(err) != fault.Gone {
		t.Errorf("expired: %v", err)
	}
	p.migrations.all[v.PlanID] = m
	title := "Changed meanwhile"
	for _, side := range []string{"dev", "prod"} {
		s := p.session(side)
		d, err := s.Dashboard(t.Context(), superset.Ref{UUID: "7db03fbd-c4fe-5aab-b601-031a4ecdf029"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.UpdateDashboard(t.Context(), d.ID, superset.DashboardPatch{Title: &title}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.run("apply_migration", "", args); fault.CodeOf(err) != "plan_stale" {
			t.Errorf("changed in %s: %v", side, err)
		}
		if err := s.UpdateDashboard(t.Context(), d.ID, superset.DashboardPatch{Title: &d.Title}); err != nil {
			t.Fatal(err)
		}
	}
	if n := prodMock.Received("POST", "/api/v1/assets/import/") + devMock.Committed("POST", "*import*"); n != 0 {
		t.Errorf("%d imports", n)
	}
	// One at a time.
	v = p.plan(salesPlan)
	p.migrations.busy["prod"] = time.Now().Add(time.Minute)
	if _, err := p.run("apply_migration", "", `{"plan_id":"`+v.PlanID+`"}`); fault.KindOf(err) != fault.Conflict {
		t.Errorf("busy: %v", err)
	}
	delete(p.migrations.busy, "prod")
	p.kept.err = &fault.Error{Kind: fault.Conflict, Code: "quota", Msg: "There is no room."}
	if _, err := p.run("apply_migration", "", `{"plan_id":"`+v.PlanID+`"}`); fault.CodeOf(err) != "no_backup" {
		t.Errorf("no backup: %v", err)
	}
	if n := prodMock.Received("POST", "/api/v1/assets/import/"); n != 0 {
		t.Errorf("%d imports", n)
	}
	// What wrote nothing may be tried again.
	p.kept.err = nil
	if a, _ := p.apply(v.PlanID); !a.Verified {
		t.Errorf("the second try: %+v", a)
	}
}

// When an answer is lost, reading back tells what happened, the target is free again, and what was written can be undone.
func TestMigrationWithoutAnswer(t *testing.T) {
	tests := []struct {
		name    string
		f       mocksuperset.Fault
		kind    fault.Kind
		outcome string
	}{
		{"done, then reset", mocksuperset.Fault{CommitThenReset: true}, fault.Unknown, chat.OutcomeApplied},
		{"done, then silence", mocksuperset.Fault{CommitThenHang: true}, fault.Timeout, chat.OutcomeApplied},
		{"not done", mocksuperset.Fault{Reset: true}, fault.Unknown, chat.OutcomeNotApplied},
		{"behind a proxy", mocksuperset.Fault{HTML: true}, fault.Unknown, chat.OutcomeNotApplied},
		{"refused", mocksuperset.Fault{Status: 500, Body: map[string]any{"errors": []any{map[string]any{"message": "Import failed for an unknown reason", "error_type": "GENERIC_COMMAND_ERROR", "level": "error"}}}}, fault.Conflict, ""},
		{"answers well and is not done", mocksuperset.Fault{Status: 200, Body: map[string]any{"message": "OK"}}, "", chat.OutcomeNotApplied},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, prodMock, dev, prod := mockPair(t)
			p := newPair(t, dev, prod, "admin")
			v := p.plan(salesPlan)
			w, err := p.bind("apply_migration", "", `{"plan_id":"`+v.PlanID+`"}`)
			if err != nil {
				t.Fatal(err)
			}
			shown, err := w.Preview(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tt.f.Method, tt.f.Path, tt.f.Times = "POST", "/api/v1/assets/import/", 1
			prodMock.Fail(tt.f)
			ctx, cancel := t.Context(), context.CancelFunc(func() {})
			if tt.f.CommitThenHang {
				ctx, cancel = context.WithTimeout(ctx, 10*time.Second)
			}
			r, err := w.Run(ctx)
			cancel()
			if fault.KindOf(err) != tt.kind {
				t.Fatalf("got %v, want %q", err, tt.kind)
			}
			if n := prodMock.Received("POST", "/api/v1/assets/import/"); n != 1 {
				t.Errorf("sent %d times", n)
			}
			if err == nil && !strings.Contains(r.Summary, "differences") {
				t.Errorf("an import that did nothing: %s", r.Summary)
			}
			if tt.outcome == "" {
				return
			}
			o, err := w.ReadBack(t.Context(), shown)
			if err != nil || o.Outcome != tt.outcome || o.Evidence == "" {
				t.Errorf("read back: %+v %v, want %s", o, err, tt.outcome)
			}
			if _, busy := p.migrations.busy["prod"]; busy {
				t.Error("the target is still closed")
			}
			if tt.outcome != chat.OutcomeApplied {
				return
			}
			id := "mig" + strings.TrimPrefix(v.PlanID, "plan")
			if back := p.mustRun("rollback_migration", "", `{"migration_id":"`+id+`"}`); !strings.Contains(back.Summary, "2 restored") {
				t.Errorf("rollback: %s", back.Summary)
			}
		})
	}
}

// Without a charts' row an import of all at once leaves a broken one, so a dashboard without charts goes in three steps.
func emptyBoard(t *testing.T, p *pair) {
	t.Helper()
	s := p.session("dev")
	title := "Empty board, renamed"
	d, err := s.Dashboard(t.Context(), superset.Ref{Slug: "empty-board"})
	if err != nil {
		t.Fatal(err)
	}
	if d.Title == title {
		title += " again"
	}
	if err := s.UpdateDashboard(t.Context(), d.ID, superset.DashboardPatch{Title: &title}); err != nil {
		t.Fatal(err)
	}
}

const threeSteps = `{"source_env":"dev","target_env":"prod","type":"dashboard","ids":[149,1],"overwrite":"all"}`

func TestThreeSteps(t *testing.T) {
	_, _, dev, prod := mockPair(t)
	inThreeSteps(t, dev, prod)
}

func TestThreeStepsReal(t *testing.T) {
	dev, prod := realPair(t)
	inThreeSteps(t, dev, prod)
}

func inThreeSteps(t *testing.T, dev, prod string) {
	p := newPair(t, dev, prod, "admin")
	emptyBoard(t, p)
	before := p.contents("prod")
	v := p.plan(threeSteps)
	if !v.Ready || v.OneStep || v.Counts["update"] != 4 {
		t.Fatalf("%+v", v)
	}
	a, r := p.apply(v.PlanID)
	if !a.Verified {
		t.Errorf("%s: %s", r.Summary, a.Wrong)
	}
	p.mustRun("rollback_migration", "", `{"migration_id":"`+a.MigrationID+`"}`)
	if diff := cmp.Diff(before, p.contents("prod")); diff != "" {
		t.Errorf("after the rollback (-before +after):\n%s", diff)
	}
}

// A failure in the middle stops, says what was done, and can be taken back.
func TestStoppedHalfWay(t *testing.T) {
	_, prodMock, dev, prod := mockPair(t)
	p := newPair(t, dev, prod, "admin")
	emptyBoard(t, p)
	before := p.contents("prod")
	v := p.plan(threeSteps)
	prodMock.Fail(mocksuperset.Fault{Method: "POST", Path: "/api/v1/dashboard/import/", After: 1, Times: 1, Status: 500, Body: map[string]any{"message": "Fatal error"}})
	a, r := p.apply(v.PlanID)
	if !strings.Contains(r.Summary, "stopped half way: the datasets and charts were written") || !a.Written || a.Verified {
		t.Fatalf("%s %+v", r.Summary, a)
	}
	back := p.mustRun("rollback_migration", "", `{"migration_id":"`+a.MigrationID+`"}`)
	if diff := cmp.Diff(before, p.contents("prod")); diff != "" {
		t.Errorf("after the rollback (-before +after):\n%s\n%s", diff, back.Summary)
	}
}

// A rollback leaves alone what somebody changed since, and what is used by now.
func TestRollbackLeavesAlone(t *testing.T) {
	_, _, dev, prod := mockPair(t)
	leavesAlone(t, dev, prod)
}

func TestRollbackLeavesAloneReal(t *testing.T) {
	dev, prod := realPair(t)
	leavesAlone(t, dev, prod)
}

func leavesAlone(t *testing.T, dev, prod string) {
	p := newPair(t, dev, prod, "admin")
	ctx, s := t.Context(), p.session("prod")
	v := p.plan(`{"source_env":"dev","target_env":"prod","type":"dashboard","ids":[1,13]}`) // 13: a new dashboard, chart and dataset
	a, _ := p.apply(v.PlanID)
	sales, err := s.Dashboard(ctx, superset.Ref{Slug: "sales-overview"})
	if err != nil {
		t.Fatal(err)
	}
	title := "Changed by somebody"
	if err := s.UpdateDashboard(ctx, sales.ID, superset.DashboardPatch{Title: &title}); err != nil {
		t.Fatal(err)
	}
	var chart int
	for _, o := range a.Objects {
		if o.Kind == "chart" && o.Action == "created" {
			chart = o.ID
		}
	}
	if err := s.UpdateChart(ctx, chart, superset.ChartPatch{Dashboards: &[]int{sales.ID}}); err != nil {
		t.Fatal(err)
	}
	r := p.mustRun("rollback_migration", "", `{"migration_id":"`+a.MigrationID+`"}`)
	var got struct {
		Objects []struct{ Kind, Title, Fate, Why string }
	}
	if err := json.Unmarshal(r.Data, &got); err != nil {
		t.Fatal(err)
	}
	fates := map[string]string{}
	for _, o := range got.Objects {
		fates[o.Kind+" "+o.Title] = o.Fate
	}
	want := map[string]string{
		"dashboard Sales Overview": "left alone", "chart Total revenue": "restored", "dashboard Monthly revenue (Jinja)": "deleted",
		"chart Monthly revenue (Jinja)": "left alone", "dataset monthly_revenue": "left alone",
	}
	if diff := cmp.Diff(want, fates); diff != "" {
		t.Errorf("fates (-want +got):\n%s\n%s", diff, r.Summary)
	}
	if d, err := s.Dashboard(ctx, superset.Ref{ID: sales.ID}); err != nil || d.Title != title {
		t.Errorf("somebody's change: %v %v", d.Title, err)
	}
}
