package supersettools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/tool"
)

func TestDashboardsReal(t *testing.T) { dashboards(t, real(t)) }

// dashboards is the suite that a real Superset and the mock both pass.
func dashboards(t *testing.T, base string) {
	t.Run("search", func(t *testing.T) { searchDashboards(t, base) })
	t.Run("search as others", func(t *testing.T) { searchAsOthers(t, base) })
	t.Run("get", func(t *testing.T) { getDashboard(t, base) })
	t.Run("update", func(t *testing.T) { updateDashboard(t, base) })
	t.Run("update refused", func(t *testing.T) { updateRefused(t, base) })
	t.Run("charts on and off", func(t *testing.T) { moveCharts(t, base) })
	t.Run("delete", func(t *testing.T) { deleteDashboard(t, base) })
}

func searchDashboards(t *testing.T, base string) {
	b := newBench(t, base, "admin")
	tests := []struct {
		name, args string
		total      int64
		rows       int
		bounded    bool
		first      string // title of the first row
	}{
		{"all", `{}`, 151, 50, true, `"Dev only experiments"`},
		{"last page", `{"page":3}`, 151, 1, true, ""},
		{"behind the end", `{"page":4}`, 151, 0, true, ""},
		{"page of two", `{"page_size":2,"sort":"title","query":"archive"}`, 130, 2, true, ""},
		{"by slug", `{"query":"sales-over"}`, 1, 1, false, `"Sales Overview"`},
		{"case", `{"query":"SALES OVER"}`, 1, 1, false, `"Sales Overview"`},
		{"quotes and signs", `{"query":"!,:()'"}`, 1, 1, false, ""},
		{"nothing", `{"query":"no such thing at all"}`, 0, 0, false, ""},
		{"twins", `{"query":"weekly"}`, 2, 2, false, ""},
		{"old", `{"changed_before_days":1,"page_size":7}`, 151, 7, true, ""},
		{"old ones of one name", `{"changed_before_days":1,"query":"sales-over"}`, 1, 1, false, `"Sales Overview"`},
		{"older than anything", `{"changed_before_days":30000}`, 0, 0, false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := &bench{t: t, set: b.set, user: "admin"}
			r := b.mustRun("search_dashboards", tt.args)
			if r.Total == nil || *r.Total != tt.total || len(r.Rows.Rows) != tt.rows || r.Bounded != tt.bounded {
				t.Fatalf("got total %v, %d rows, bounded %v; want %d, %d, %v", deref(r.Total), len(r.Rows.Rows), r.Bounded, tt.total, tt.rows, tt.bounded)
			}
			if tt.first != "" && column(t, r, "title")[0] != tt.first {
				t.Errorf("first title %s, want %s", column(t, r, "title")[0], tt.first)
			}
		})
	}
}

func deref(p *int64) any {
	if p == nil {
		return nil
	}
	return *p
}

func searchAsOthers(t *testing.T, base string) {
	r := newBench(t, base, "owner").mustRun("search_dashboards", `{"mine":true,"sort":"title"}`)
	if got := column(t, r, "slug"); len(got) != 2 || *r.Total != 2 {
		t.Errorf("owner's own: %v", got)
	}
	_, err := newBench(t, base, "noroles").run("search_dashboards", `{}`)
	if fault.KindOf(err) != fault.Denied || fault.CodeOf(err) != "superset" {
		t.Errorf("noroles: %v", err)
	}
	_, err = newBench(t, base, "inactive").run("search_dashboards", `{}`)
	if fault.KindOf(err) != fault.Auth {
		t.Errorf("inactive: %v", err)
	}
}

type shown struct {
	ID        int    `json:"id"`
	Title     string `json:"title"`
	Slug      string `json:"slug"`
	URL       string `json:"url"`
	UUID      string `json:"uuid"`
	Published bool   `json:"published"`
	ChangedOn string `json:"changed_on"`
	Charts    []struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
		Tab  string `json:"tab"`
	} `json:"charts"`
	Filters []struct {
		Name string `json:"name"`
	} `json:"filters"`
	Datasets []struct {
		ID      int      `json:"id"`
		Filters []string `json:"filters"`
	} `json:"datasets"`
	Tabs    []string `json:"tabs"`
	Orphans []struct {
		ID int `json:"chart_id"`
	} `json:"orphans"`
	Refresh int `json:"refresh_seconds"`
}

func getDashboard(t *testing.T, base string) {
	b := newBench(t, base, "admin")
	want := data[shown](t, b.mustRun("get_dashboard", `{"dashboard":"sales-overview","include":["charts","datasets","filters","tabs","layout"]}`))
	if len(want.Charts) != 10 || len(want.Filters) != 4 || !slices.Equal(want.Tabs, []string{"Summary", "Details"}) || len(want.Orphans) != 0 {
		t.Errorf("sales-overview: %+v", want)
	}
	if want.URL != "https://bi.example.com/superset/dashboard/sales-overview/" {
		t.Errorf("url %s", want.URL)
	}
	for _, ref := range []string{strconv.Itoa(want.ID), `"` + strconv.Itoa(want.ID) + `"`, `"` + want.UUID + `"`, `"` + strings.ToUpper(want.UUID) + `"`,
		`"https://bi.example.com/superset/dashboard/sales-overview/?native_filters_key=x"`, `"/superset/dashboard/` + want.UUID + `/"`,
		`"` + base + `/superset/dashboard/` + strconv.Itoa(want.ID) + `/"`} {
		if got := data[shown](t, b.mustRun("get_dashboard", `{"dashboard":`+ref+`}`)); got.ID != want.ID {
			t.Errorf("%s: got %d, want %d", ref, got.ID, want.ID)
		}
	}
	var link struct {
		Key string `json:"key"`
	}
	b.call("POST", "/api/v1/dashboard/sales-overview/permalink", map[string]any{}, &link)
	if got := data[shown](t, b.mustRun("get_dashboard", `{"dashboard":"https://bi.example.com/superset/dashboard/p/`+link.Key+`/"}`)); got.ID != want.ID {
		t.Errorf("permalink: got %d, want %d", got.ID, want.ID)
	}
	for ref, kind := range map[string]fault.Kind{`"/superset/dashboard/p/nope/"`: fault.Missing, `"no-such-slug"`: fault.Missing, `999999`: fault.Missing, `"2024"`: fault.Missing} {
		if _, err := b.run("get_dashboard", `{"dashboard":`+ref+`}`); fault.KindOf(err) != kind {
			t.Errorf("%s: %v, want %s", ref, err, kind)
		}
	}
	for _, args := range []string{`{}`, `{"dashboard":""}`, `{"dashboard":"Sales Overview"}`, `{"dashboard":"https://bi-prod.example.com/superset/dashboard/1/"}`,
		`{"dashboard":"https://elsewhere.example.com/superset/dashboard/1/"}`, `{"dashboard":"/dashboard/list/"}`, `{"dashboard":1,"nonsense":2}`,
		`{"dashboard":1,"include":["position_json"]}`, `{"dashboard":-1}`, `not json`} {
		if _, err := b.bind("get_dashboard", args); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v, want invalid", args, err)
		}
	}
	left := data[shown](t, b.mustRun("get_dashboard", `{"dashboard":"leftovers"}`))
	if len(left.Orphans) == 0 {
		t.Errorf("leftovers: no orphans in %+v", left)
	}
	if _, err := newBench(t, base, "gamma").run("get_dashboard", `{"dashboard":"olga-draft"}`); fault.KindOf(err) != fault.Missing {
		t.Errorf("a hidden draft: %v", err)
	}
}

// ours makes a dashboard of the bench's user that a test may do anything to.
func ours(t *testing.T, b *bench) string {
	t.Helper()
	id := b.copyOf("sales-overview", t.Name())
	t.Cleanup(func() {
		s, err := b.client.As(chat.Identity{User: b.user})
		if err == nil {
			err = s.DeleteDashboard(context.WithoutCancel(t.Context()), id)
		}
		if err != nil && fault.KindOf(err) != fault.Missing {
			t.Errorf("clean up: %v", err)
		}
	})
	return strconv.Itoa(id)
}

func updateDashboard(t *testing.T, base string) {
	b := newBench(t, base, "alpha")
	id := ours(t, b)
	before := data[shown](t, b.mustRun("get_dashboard", `{"dashboard":`+id+`}`))
	patch := `{"title":"Новое имя ‘1’","slug":"agentd-` + id + `","published":true,"certified_by":"QA","refresh_seconds":60}`
	args := `{"dashboard":` + id + `,"patch":` + patch + `}`

	dry := b.mustBind("update_dashboard", strings.TrimSuffix(args, "}")+`,"dry_run":true}`)
	if dry.Risk != tool.Read || dry.Preview != nil {
		t.Errorf("a dry run is a read: %+v", dry)
	}
	if _, err := dry.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := data[shown](t, b.mustRun("get_dashboard", `{"dashboard":`+id+`}`)); got.Title != before.Title || got.ChangedOn != before.ChangedOn {
		t.Fatalf("a dry run changed the dashboard: %+v", got)
	}

	w := b.mustBind("update_dashboard", args)
	if w.Risk != tool.Write {
		t.Errorf("risk %s", w.Risk)
	}
	p, err := w.Preview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := fields(p.Diff); !slices.Equal(got, []string{"title", "slug", "certified_by", "published", "refresh_seconds"}) {
		t.Errorf("diff %v", got)
	}
	again, err := w.Preview(t.Context())
	if err != nil || again.Fingerprint != p.Fingerprint {
		t.Errorf("the fingerprint of an unchanged dashboard moved: %v", err)
	}
	if o, err := w.ReadBack(t.Context(), p); err != nil || o.Outcome != chat.OutcomeNotApplied {
		t.Errorf("before: %+v %v", o, err)
	}
	if _, err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := data[shown](t, b.mustRun("get_dashboard", `{"dashboard":"agentd-`+id+`"}`))
	if after.Title != "Новое имя ‘1’" || !after.Published || after.Refresh != 60 || len(after.Filters) != 4 || len(after.Charts) != 10 {
		t.Errorf("after: %+v", after)
	}
	if o, err := w.ReadBack(t.Context(), p); err != nil || o.Outcome != chat.OutcomeApplied {
		t.Errorf("after: %+v %v", o, err)
	}
	if moved, err := w.Preview(t.Context()); err != nil || moved.Fingerprint == p.Fingerprint {
		t.Errorf("the fingerprint of a changed dashboard stayed: %v", err)
	}
	r, err := w.Run(t.Context())
	if err != nil || !strings.Contains(r.Summary, "already") {
		t.Errorf("a second time: %q %v", r.Summary, err)
	}
	cleared := b.mustRun("update_dashboard", `{"dashboard":`+id+`,"patch":{"slug":"","certified_by":""}}`)
	if got := data[struct {
		Dashboard shown `json:"dashboard"`
	}](t, cleared); got.Dashboard.Slug != "" {
		t.Errorf("the slug is still %q", got.Dashboard.Slug)
	}
}

func fields(diff []chat.Change) []string {
	var out []string
	for _, c := range diff {
		out = append(out, c.Field)
	}
	return out
}

func updateRefused(t *testing.T, base string) {
	b := newBench(t, base, "alpha")
	id := ours(t, b)
	at := data[shown](t, b.mustRun("get_dashboard", `{"dashboard":`+id+`}`)).ChangedOn
	tests := []struct {
		name, args string
		kind       fault.Kind
		code       string
	}{
		{"nothing to do", `{"dashboard":` + id + `,"patch":{}}`, fault.Invalid, "invalid"},
		{"blank title", `{"dashboard":` + id + `,"patch":{"title":" "}}`, fault.Invalid, "invalid"},
		{"slug of digits", `{"dashboard":` + id + `,"patch":{"slug":"2025"}}`, fault.Invalid, "invalid"},
		{"slug with blanks", `{"dashboard":` + id + `,"patch":{"slug":"a b"}}`, fault.Invalid, "invalid"},
		{"a chart on and off", `{"dashboard":` + id + `,"patch":{"add_chart_ids":[1],"remove_chart_ids":[1]}}`, fault.Invalid, "invalid"},
		{"unknown field", `{"dashboard":` + id + `,"patch":{"position_json":"{}"}}`, fault.Invalid, "invalid"},
		{"old date", `{"dashboard":` + id + `,"patch":{"title":"x"},"expected_changed_on":"2020-01-01T00:00:00Z"}`, fault.Conflict, "changed"},
		{"no date", `{"dashboard":` + id + `,"patch":{"title":"x"},"expected_changed_on":"yesterday"}`, fault.Invalid, "invalid"},
		{"right date", `{"dashboard":` + id + `,"patch":{"title":"x"},"expected_changed_on":"` + at + `"}`, "", ""},
		{"unknown owner", `{"dashboard":` + id + `,"patch":{"owner_ids":[999999]}}`, fault.Invalid, "invalid"},
		{"herself off", `{"dashboard":` + id + `,"patch":{"owner_ids":[1]}}`, fault.Invalid, "invalid"},
		{"unknown chart", `{"dashboard":` + id + `,"patch":{"add_chart_ids":[999999]}}`, fault.Invalid, "invalid"},
		{"somebody else's", `{"dashboard":"olga-team","patch":{"title":"x"}}`, fault.Denied, "ownership"},
		{"hidden", `{"dashboard":"olga-draft","patch":{"title":"x"}}`, fault.Missing, "missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, err := b.bind("update_dashboard", tt.args)
			if err == nil {
				_, err = w.Preview(t.Context())
			}
			if fault.KindOf(err) != tt.kind || err != nil && fault.CodeOf(err) != tt.code {
				t.Errorf("got %q (%s): %v", fault.KindOf(err), fault.CodeOf(err), err)
			}
		})
	}
	w := b.mustBind("update_dashboard", `{"dashboard":`+id+`,"patch":{"slug":"sales-overview"}}`)
	if _, err := w.Run(t.Context()); fault.KindOf(err) != fault.Invalid || !strings.Contains(fault.Message(err), "unique") {
		t.Errorf("a taken slug: %v", err)
	}
	w = b.mustBind("update_dashboard", `{"dashboard":"olga-team","patch":{"title":"x"}}`)
	if _, err := w.Run(t.Context()); fault.KindOf(err) != fault.Denied || fault.CodeOf(err) != "superset" {
		t.Errorf("Superset's own refusal: %v", err)
	}
}

func moveCharts(t *testing.T, base string) {
	b := newBench(t, base, "alpha")
	id := ours(t, b)
	before := data[shown](t, b.mustRun("get_dashboard", `{"dashboard":`+id+`}`))
	off := before.Charts[0].ID
	var on int
	for _, c := range data[shown](t, b.mustRun("get_dashboard", `{"dashboard":"web-traffic"}`)).Charts {
		on = c.ID
	}
	w := b.mustBind("update_dashboard", fmt.Sprintf(`{"dashboard":%s,"patch":{"add_chart_ids":[%d],"remove_chart_ids":[%d]}}`, id, on, off))
	p, err := w.Preview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fields(p.Diff), []string{fmt.Sprintf("charts/%d", off), fmt.Sprintf("charts/%d", on)}; !slices.Equal(got, want) {
		t.Errorf("diff %v, want removals first: %v", got, want)
	}
	if _, err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := data[shown](t, b.mustRun("get_dashboard", `{"dashboard":`+id+`}`))
	has := func(id int) bool {
		for _, c := range after.Charts {
			if c.ID == id {
				return c.Tab != ""
			}
		}
		return false
	}
	if len(after.Charts) != 10 || has(off) || !has(on) || len(after.Orphans) != 0 || len(after.Filters) != 4 {
		t.Errorf("after: %+v", after)
	}
}

func deleteDashboard(t *testing.T, base string) {
	b := newBench(t, base, "alpha")
	id := ours(t, b)
	args := `{"dashboard":` + id + `}`
	w := b.mustBind("delete_dashboard", args)
	if w.Risk != tool.Dangerous {
		t.Errorf("risk %s", w.Risk)
	}
	p, err := w.Preview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(p.BlastRadius) != 10 || len(p.Diff) != 1 || !strings.Contains(strings.Join(p.Notes, " "), "backup before") {
		t.Errorf("preview %+v", p)
	}
	if o, err := w.ReadBack(t.Context(), p); err != nil || o.Outcome != chat.OutcomeNotApplied {
		t.Errorf("before: %+v %v", o, err)
	}
	b.backups.err = errors.New("disk full")
	if _, err := w.Run(t.Context()); err == nil || fault.CodeOf(err) != "no_backup" {
		t.Fatalf("without a backup: %v", err)
	}
	b.backups.err = nil
	b.mustRun("get_dashboard", args) // it is still there
	r, err := w.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(b.backups.kept) != 1 || r.Artifact == nil || r.Artifact.ID != "art_test" {
		t.Errorf("backup: %d kept, %+v", len(b.backups.kept), r.Artifact)
	}
	if o, err := w.ReadBack(t.Context(), p); err != nil || o.Outcome != chat.OutcomeApplied {
		t.Errorf("after: %+v %v", o, err)
	}
	if _, err := w.Run(t.Context()); fault.KindOf(err) != fault.Missing {
		t.Errorf("a second time: %v", err)
	}

	other := b.mustBind("delete_dashboard", `{"dashboard":"olga-team"}`)
	if _, err := other.Preview(t.Context()); fault.CodeOf(err) != "ownership" {
		t.Errorf("somebody else's: %v", err)
	}
	admin := newBench(t, base, "admin")
	blocked := admin.mustBind("delete_dashboard", `{"dashboard":"warehouse"}`)
	if _, err := blocked.Run(t.Context()); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a report hangs on it: %v", err)
	}
	broken := admin.mustBind("delete_dashboard", `{"dashboard":"broken"}`)
	if p, err := broken.Preview(t.Context()); err != nil || !strings.Contains(strings.Join(p.Notes, " "), "There is no backup") {
		t.Errorf("no usable backup: %v %v", p.Notes, err)
	}
}

func TestEveryToolIsNamed(t *testing.T) {
	b := newBench(t, "http://127.0.0.1:1", "admin")
	if n := len(b.set.All()); n != 22 {
		t.Errorf("%d tools, want 22", n)
	}
	for _, x := range b.set.All() {
		if x.Description == "" || x.Risk == "" || x.Bind == nil {
			t.Errorf("%s is not described", x.Name)
		}
		if !x.Unbuilt && !json.Valid(x.Schema) {
			t.Errorf("%s has no schema", x.Name)
		}
	}
}
