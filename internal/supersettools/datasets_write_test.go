package supersettools_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
)

func TestDatasetWritesReal(t *testing.T) { datasetWrites(t, real(t)) }

func TestDatasetWrites(t *testing.T) {
	_, base := mock(t)
	datasetWrites(t, base)
}

// datasetWrites is the suite that a real Superset and the mock both pass.
func datasetWrites(t *testing.T, base string) {
	t.Run("create", func(t *testing.T) { createDataset(t, base) })
	t.Run("update", func(t *testing.T) { updateDataset(t, base) })
	t.Run("refresh", func(t *testing.T) { refreshDataset(t, base) })
	t.Run("delete", func(t *testing.T) { deleteDataset(t, base) })
}

// aDataset makes a virtual dataset of the bench's user through create_dataset.
func aDataset(t *testing.T, b *bench, sql string) int {
	t.Helper()
	name := "agentd " + strings.ReplaceAll(t.Name(), "/", " ")
	r := b.mustRun("create_dataset", fmt.Sprintf(`{"kind":"sql","database_id":1,"schema":"main","name":%q,"sql":%q}`, name, sql))
	id := data[struct {
		Dataset shownDataset `json:"dataset"`
	}](t, r).Dataset.ID
	drop(t, b, id)
	return id
}

func drop(t *testing.T, b *bench, id int) {
	t.Cleanup(func() {
		s, err := b.client.As(chat.Identity{User: b.user})
		if err == nil {
			err = s.DeleteDataset(context.WithoutCancel(t.Context()), id)
		}
		if err != nil && fault.KindOf(err) != fault.Missing {
			t.Errorf("clean up: %v", err)
		}
	})
}

type made struct {
	Created bool         `json:"created"`
	Dataset shownDataset `json:"dataset"`
}

func createDataset(t *testing.T, base string) {
	b := newBench(t, base, "alpha")
	args := `{"kind":"sql","database_id":1,"schema":"main","name":"agentd made","sql":"SELECT 1 AS a, 'x' AS b"}`
	w := b.mustBind("create_dataset", args)
	p, err := w.Preview(t.Context())
	if err != nil || len(p.Diff) != 3 {
		t.Fatalf("%+v %v", p, err)
	}
	if o, err := w.ReadBack(t.Context(), p); err != nil || o.Outcome != chat.OutcomeNotApplied {
		t.Errorf("before: %+v %v", o, err)
	}
	r, err := w.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v := data[made](t, r)
	drop(t, b, v.Dataset.ID)
	if !v.Created || v.Dataset.Kind != "virtual" {
		t.Errorf("%s", r.Data)
	}
	if o, err := w.ReadBack(t.Context(), p); err != nil || o.Outcome != chat.OutcomeApplied {
		t.Errorf("after: %+v %v", o, err)
	}
	again := data[made](t, b.mustRun("create_dataset", args))
	if again.Created || again.Dataset.ID != v.Dataset.ID {
		t.Errorf("a second one was made: %+v", again)
	}
	copied := data[made](t, b.mustRun("create_dataset", `{"kind":"copy","copy_of":`+strconv.Itoa(v.Dataset.ID)+`,"name":"agentd copied"}`))
	drop(t, b, copied.Dataset.ID)
	if !copied.Created {
		t.Errorf("%+v", copied)
	}
	exists := data[made](t, b.mustRun("create_dataset", `{"kind":"table","database_id":1,"schema":"main","name":"sales_orders"}`))
	if exists.Created || exists.Dataset.ID != 1 {
		t.Errorf("the table has a dataset: %+v", exists)
	}
	tests := []struct {
		name, args string
		kind       fault.Kind
	}{
		{"no such table", `{"kind":"table","database_id":1,"schema":"main","name":"nothing"}`, fault.Invalid},
		{"no schema", `{"kind":"table","database_id":1,"name":"sales_orders"}`, fault.Invalid},
		{"no such database", `{"kind":"table","database_id":99,"schema":"main","name":"x"}`, fault.Invalid},
		{"a copy of a table", `{"kind":"copy","copy_of":1,"name":"x"}`, fault.Invalid},
		{"mixed", `{"kind":"copy","copy_of":1,"name":"x","sql":"SELECT 1"}`, fault.Invalid},
		{"SQL that fails", `{"kind":"sql","database_id":1,"schema":"main","name":"agentd fails","sql":"SELECT x FROM nowhere"}`, fault.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, err := b.bind("create_dataset", tt.args)
			if err == nil {
				_, err = w.Run(t.Context())
			}
			if fault.KindOf(err) != tt.kind {
				t.Errorf("got %v", err)
			}
		})
	}
}

func updateDataset(t *testing.T, base string) {
	b := newBench(t, base, "alpha")
	id := strconv.Itoa(aDataset(t, b, "SELECT 1 AS a, 2 AS b"))
	get := func() shownDataset { return data[shownDataset](t, b.mustRun("get_dataset", `{"dataset":`+id+`}`)) }
	first := `{"dataset":` + id + `,"patch":{"description":"Hello","metrics":[{"op":"add","metric_name":"total","expression":"SUM(a)"}],"columns":[{"column_name":"a","verbose_name":"The A"},{"column_name":"twice","expression":"a * 2"}]}}`
	w := b.mustBind("update_dataset", first)
	p, err := w.Preview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := fields(p.Diff); !slices.Equal(got, []string{"description", "metrics/total", "columns/a/verbose_name", "columns/twice"}) {
		t.Errorf("diff %v", got)
	}
	if o, err := w.ReadBack(t.Context(), p); err != nil || o.Outcome != chat.OutcomeNotApplied {
		t.Errorf("before: %+v %v", o, err)
	}
	r, err := w.Run(t.Context())
	if err != nil || len(r.Warnings) != 0 {
		t.Fatalf("%v %v", r.Warnings, err)
	}
	if o, err := w.ReadBack(t.Context(), p); err != nil || o.Outcome != chat.OutcomeApplied {
		t.Errorf("after: %+v %v", o, err)
	}
	if got := get(); len(got.Columns) != 3 || len(got.Metrics) != 2 {
		t.Errorf("%+v", got)
	}
	bad := b.mustRun("update_dataset", `{"dataset":`+id+`,"patch":{"metrics":[{"op":"update","metric_name":"total","expression":"SUM(zzz)"}]}}`)
	if !strings.Contains(strings.Join(bad.Warnings, " "), "refuses") {
		t.Errorf("an expression that fails: %v", bad.Warnings)
	}
	b.mustRun("update_dataset", `{"dataset":`+id+`,"patch":{"sql":"SELECT 1 AS a, 3 AS c","metrics":[{"op":"delete","metric_name":"total"}]}}`)
	var names []string
	for _, c := range get().Columns {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"a", "c", "twice"}) {
		t.Errorf("columns after new SQL: %v", names)
	}
	tests := []struct {
		name, args string
		kind       fault.Kind
		code       string
	}{
		{"nothing", `{"dataset":` + id + `,"patch":{}}`, fault.Invalid, "invalid"},
		{"SQL of a table", `{"dataset":1,"patch":{"sql":"SELECT 1"}}`, fault.Invalid, "invalid"},
		{"unknown metric", `{"dataset":` + id + `,"patch":{"metrics":[{"op":"update","metric_name":"nope","expression":"1"}]}}`, fault.Invalid, "invalid"},
		{"unknown column", `{"dataset":` + id + `,"patch":{"columns":[{"column_name":"nope","verbose_name":"x"}]}}`, fault.Invalid, "invalid"},
		{"unknown time column", `{"dataset":` + id + `,"patch":{"main_dttm_col":"nope"}}`, fault.Invalid, "invalid"},
		{"old date", `{"dataset":` + id + `,"patch":{"description":"x"},"expected_changed_on":"2020-01-01T00:00:00Z"}`, fault.Conflict, "changed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, err := b.bind("update_dataset", tt.args)
			if err == nil {
				_, err = w.Preview(t.Context())
			}
			if fault.KindOf(err) != tt.kind || fault.CodeOf(err) != tt.code {
				t.Errorf("got %s: %v", fault.CodeOf(err), err)
			}
		})
	}
	other := newBench(t, base, "owner").mustBind("update_dataset", `{"dataset":`+id+`,"patch":{"description":"x"}}`)
	if _, err := other.Preview(t.Context()); fault.CodeOf(err) != "ownership" {
		t.Errorf("somebody else's: %v", err)
	}
}

func refreshDataset(t *testing.T, base string) {
	b := newBench(t, base, "alpha")
	id := aDataset(t, b, "SELECT 1 AS a, 2 AS b")
	s, err := b.client.As(chat.Identity{User: "alpha"})
	if err != nil {
		t.Fatal(err)
	}
	sql := "SELECT 1 AS a, 3 AS c"
	if err := s.UpdateDataset(t.Context(), id, superset.DatasetPatch{SQL: &sql}); err != nil {
		t.Fatal(err)
	}
	args := `{"dataset":` + strconv.Itoa(id) + `}`
	b.mustRun("refresh_dataset", `{"dataset":`+strconv.Itoa(id)+`,"dry_run":true}`)
	w := b.mustBind("refresh_dataset", args)
	p, err := w.Preview(t.Context())
	if err != nil || !slices.Equal(fields(p.Diff), []string{"columns/b"}) {
		t.Fatalf("%v %v", fields(p.Diff), err)
	}
	if o, err := w.ReadBack(t.Context(), p); err != nil || o.Outcome != chat.OutcomeNotApplied {
		t.Errorf("before: %+v %v", o, err)
	}
	r, err := w.Run(t.Context())
	if err != nil || !strings.Contains(r.Summary, "1 came, 1 went") {
		t.Fatalf("%q %v", r.Summary, err)
	}
	if o, err := w.ReadBack(t.Context(), p); err != nil || o.Outcome != chat.OutcomeApplied {
		t.Errorf("after: %+v %v", o, err)
	}
	admin := newBench(t, base, "admin")
	for _, id := range []string{"17", "19"} {
		w := admin.mustBind("refresh_dataset", `{"dataset":`+id+`}`)
		if _, err := w.Preview(t.Context()); fault.KindOf(err) != fault.Conflict {
			t.Errorf("a source that does not answer: %v", err)
		}
	}
}

func deleteDataset(t *testing.T, base string) {
	b := newBench(t, base, "alpha")
	id := aDataset(t, b, "SELECT 1 AS a")
	w := b.mustBind("delete_dataset", `{"dataset":`+strconv.Itoa(id)+`}`)
	p, err := w.Preview(t.Context())
	if err != nil || len(p.BlastRadius) != 0 {
		t.Fatalf("%+v %v", p, err)
	}
	if _, err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(b.backups.kept) != 1 {
		t.Errorf("%d backups", len(b.backups.kept))
	}
	if o, err := w.ReadBack(t.Context(), p); err != nil || o.Outcome != chat.OutcomeApplied {
		t.Errorf("after: %+v %v", o, err)
	}
	// customers is used by a native filter of Sales Overview and by no chart there.
	p, err = newBench(t, base, "admin").mustBind("delete_dataset", `{"dataset":2}`).Preview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(p.BlastRadius, func(d chat.Dependent) bool {
		return d.Title == "Sales Overview" && strings.Contains(d.Note, "filter Country")
	}) {
		t.Errorf("the native filter is not named: %+v", p.BlastRadius)
	}
}
