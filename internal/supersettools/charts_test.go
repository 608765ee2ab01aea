package supersettools_test

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

func TestChartsReal(t *testing.T) { charts(t, real(t)) }

func TestCharts(t *testing.T) {
	_, base := mock(t)
	charts(t, base)
}

// charts is the suite that a real Superset and the mock both pass.
func charts(t *testing.T, base string) {
	t.Run("check", func(t *testing.T) { checkDashboard(t, base) })
	t.Run("inspect", func(t *testing.T) { inspectChart(t, base) })
	t.Run("update", func(t *testing.T) { updateChart(t, base) })
	t.Run("refresh", func(t *testing.T) { refreshDashboard(t, base) })
}

type checked struct {
	Counts map[string]int `json:"counts"`
	Charts []checkedChart `json:"charts"`
}

type checkedChart struct {
	ID       int    `json:"id"`
	Name     string `json:"name"`
	Status   string `json:"status"`
	Cause    string `json:"cause"`
	Evidence string `json:"evidence"`
}

func checkDashboard(t *testing.T, base string) {
	b := newBench(t, base, "admin")
	tests := []struct {
		mode string
		want map[string]string // name of the chart → status and cause
	}{
		{"static", map[string]string{
			"Total revenue":                            "ok ",
			"Broken: column dropped from the table":    "broken missing_column",
			"Broken: metric over a dropped column":     "broken missing_column",
			"Broken: column not in the dataset":        "broken missing_column",
			"Broken: dataset deleted":                  "broken missing_dataset",
			"Broken: metric with invalid SQL":          "broken db_error",
			"Broken: metric deleted from the dataset":  "broken missing_metric",
			"Broken: saved metric with a wrong column": "ok ", // only the database knows
			"Broken: SQL of the dataset fails":         "ok ", // likewise
			"No query context":                         "broken no_query_context",
			"Stale: parameters and query disagree":     "ok ",
			"Events":                                   "ok ",
		}},
		{"execute", map[string]string{
			"Total revenue":                            "ok ",
			"Broken: column dropped from the table":    "broken missing_column",
			"Broken: metric over a dropped column":     "broken missing_column",
			"Broken: column not in the dataset":        "broken missing_column",
			"Broken: dataset deleted":                  "broken missing_dataset",
			"Broken: metric with invalid SQL":          "broken db_error",
			"Broken: metric deleted from the dataset":  "broken missing_metric",
			"Broken: saved metric with a wrong column": "broken missing_column",
			"Broken: SQL of the dataset fails":         "broken db_error",
			"No query context":                         "broken no_query_context",
			"Events":                                   "empty ",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			got := data[checked](t, b.mustRun("check_dashboard", `{"dashboard":"broken","mode":"`+tt.mode+`"}`))
			seen := map[string]string{}
			for _, c := range got.Charts {
				seen[c.Name] = c.Status + " " + c.Cause
				if c.Status != "ok" && c.Evidence == "" {
					t.Errorf("%s: no evidence", c.Name)
				}
				if strings.HasPrefix(c.Name, "Stale") && tt.mode == "static" && !strings.Contains(c.Evidence, "region") {
					t.Errorf("stale: %q", c.Evidence)
				}
			}
			for name, want := range tt.want {
				if seen[name] != want {
					t.Errorf("%s: %q, want %q", name, seen[name], want)
				}
			}
			wellAt := slices.IndexFunc(got.Charts, func(c checkedChart) bool { return c.Status == "ok" })
			if slices.ContainsFunc(got.Charts[wellAt:], func(c checkedChart) bool { return c.Status == "broken" }) {
				t.Error("what is broken does not come first")
			}
		})
	}
	if got := data[checked](t, b.mustRun("check_dashboard", `{"dashboard":"broken","chart_ids":[1]}`)); len(got.Charts) != 1 {
		t.Errorf("one chart: %+v", got)
	}
	if _, err := b.run("check_dashboard", `{"dashboard":"broken","chart_ids":[2]}`); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a chart of another dashboard: %v", err)
	}
}

// aChart makes a chart of the bench's user like another one.
func aChart(t *testing.T, b *bench, like int) int {
	t.Helper()
	s, err := b.client.As(chat.Identity{User: b.user})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Chart(t.Context(), superset.Ref{ID: like})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		ID int `json:"id"`
	}
	b.call("POST", "/api/v1/chart/", map[string]any{"slice_name": t.Name(), "viz_type": c.VizType, "datasource_id": c.DatasetID,
		"datasource_type": "table", "params": c.Params, "query_context": c.QueryContext}, &got)
	t.Cleanup(func() {
		if err := s.DeleteChart(context.WithoutCancel(t.Context()), got.ID); err != nil && fault.KindOf(err) != fault.Missing {
			t.Errorf("clean up: %v", err)
		}
	})
	return got.ID
}

type inspected struct {
	ID      int    `json:"id"`
	UUID    string `json:"uuid"`
	Name    string `json:"name"`
	Dataset *struct {
		ID int `json:"id"`
	} `json:"dataset"`
	Metrics    []string        `json:"metrics"`
	Columns    []string        `json:"columns"`
	Filters    []any           `json:"filters"`
	SQL        string          `json:"sql"`
	Params     json.RawMessage `json:"params"`
	ChangedOn  string          `json:"changed_on"`
	Rows       *int            `json:"row_count"`
	Dashboards []struct {
		ID    int    `json:"id"`
		Title string `json:"title"`
	} `json:"dashboards"`
	Data struct {
		Columns []string `json:"columns"`
		Rows    [][]any  `json:"rows"`
	} `json:"data"`
}

func inspectChart(t *testing.T, base string) {
	b := newBench(t, base, "admin")
	r := b.mustRun("inspect_chart", `{"chart":10,"include":["config","sql","data"]}`)
	got := data[inspected](t, r)
	if !slices.Equal(got.Metrics, []string{"count"}) || !slices.Equal(got.Columns, []string{"region", "status"}) || len(got.Filters) != 2 ||
		!strings.Contains(got.SQL, "EMEA") || got.Rows == nil || *got.Rows != 1 || len(got.Data.Rows) != 1 || got.ChangedOn == "" {
		t.Errorf("%+v", got)
	}
	for _, ref := range []string{`"` + got.UUID + `"`, `"https://bi.example.com/explore/?form_data_key=x&slice_id=10"`, `"/superset/slice/10/"`} {
		if v := data[inspected](t, b.mustRun("inspect_chart", `{"chart":`+ref+`}`)); v.ID != 10 {
			t.Errorf("%s: %d", ref, v.ID)
		}
	}
	orphan := b.mustRun("inspect_chart", `{"chart":62,"include":["config","sql","data"]}`)
	if v := data[inspected](t, orphan); v.Dataset != nil || len(orphan.Warnings) < 2 {
		t.Errorf("a chart whose dataset is gone: %+v %v", v, orphan.Warnings)
	}
	if r := b.mustRun("inspect_chart", `{"chart":68}`); !strings.Contains(strings.Join(r.Warnings, " "), "query context") {
		t.Errorf("no query context: %v", r.Warnings)
	}
	if _, err := b.run("inspect_chart", `{"chart":999999}`); fault.KindOf(err) != fault.Missing {
		t.Errorf("unknown: %v", err)
	}
	seen := data[inspected](t, newBench(t, base, "gamma").mustRun("inspect_chart", `{"chart":1}`))
	if slices.ContainsFunc(seen.Dashboards, func(d struct {
		ID    int    `json:"id"`
		Title string `json:"title"`
	}) bool {
		return d.Title == "Finance 2024 (draft)"
	}) {
		t.Errorf("gamma sees a draft: %+v", seen.Dashboards)
	}
}

func updateChart(t *testing.T, base string) {
	b := newBench(t, base, "alpha")
	id := strconv.Itoa(aChart(t, b, 6))
	at := data[inspected](t, b.mustRun("inspect_chart", `{"chart":`+id+`}`)).ChangedOn
	args := `{"chart":` + id + `,"expected_changed_on":"` + at + `","patch":{"name":"Renamed","params":"{\"groupby\":[\"channel\"],\"color_scheme\":\"d3Category10\",\"donut\":null}","dashboards":[]}}`
	w := b.mustBind("update_chart", args)
	p, err := w.Preview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := fields(p.Diff); !slices.Equal(got, []string{"params/donut", "name", "params/color_scheme", "params/groupby"}) {
		t.Errorf("diff %v", got)
	}
	if o, err := w.ReadBack(t.Context(), p); err != nil || o.Outcome != chat.OutcomeNotApplied {
		t.Errorf("before: %+v %v", o, err)
	}
	if _, err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := data[inspected](t, b.mustRun("inspect_chart", `{"chart":`+id+`}`))
	if after.Name != "Renamed" || !slices.Equal(after.Columns, []string{"channel"}) || !strings.Contains(after.SQL, "channel") || strings.Contains(string(after.Params), "donut") {
		t.Errorf("after: %+v %s", after, after.Params)
	}
	if o, err := w.ReadBack(t.Context(), p); err != nil || o.Outcome != chat.OutcomeApplied {
		t.Errorf("after: %+v %v", o, err)
	}
	if _, err := w.Preview(t.Context()); fault.KindOf(err) != fault.Conflict {
		t.Errorf("it was changed since: %v", err)
	}
	filtered := `{"chart":` + id + `,"patch":{"params":"{\"adhoc_filters\":[{\"expressionType\":\"SIMPLE\",\"clause\":\"WHERE\",\"subject\":\"region\",\"operator\":\"==\",\"comparator\":\"EMEA\"},{\"expressionType\":\"SQL\",\"clause\":\"WHERE\",\"sqlExpression\":\"amount > 10\"}]}"}}`
	b.mustRun("update_chart", filtered)
	if got := data[inspected](t, b.mustRun("inspect_chart", `{"chart":`+id+`}`)); !strings.Contains(got.SQL, "EMEA") || !strings.Contains(got.SQL, "amount > 10") {
		t.Errorf("filters: %s", got.SQL)
	}
	mine := ours(t, b)
	b.mustRun("update_chart", `{"chart":`+id+`,"patch":{"dashboards":[`+mine+`]}}`)
	if got := data[inspected](t, b.mustRun("inspect_chart", `{"chart":`+id+`}`)); len(got.Dashboards) != 1 {
		t.Errorf("dashboards: %+v", got.Dashboards)
	}

	tests := []struct {
		name, args string
		kind       fault.Kind
		code       string
	}{
		{"nothing", `{"chart":` + id + `,"patch":{}}`, fault.Invalid, "invalid"},
		{"params no object", `{"chart":` + id + `,"patch":{"params":"[1]"}}`, fault.Invalid, "invalid"},
		{"params of the query", `{"chart":` + id + `,"patch":{"params":"{\"viz_type\":\"table\"}"}}`, fault.Invalid, "invalid"},
		{"dataset without the columns", `{"chart":` + id + `,"patch":{"dataset_id":7}}`, fault.Invalid, "invalid"},
		{"unknown dataset", `{"chart":` + id + `,"patch":{"dataset_id":999999}}`, fault.Invalid, "invalid"},
		{"a dashboard of somebody else", `{"chart":` + id + `,"patch":{"dashboards":[` + mine + `,151]}}`, fault.Denied, "ownership"},
		{"an unknown dashboard", `{"chart":` + id + `,"patch":{"dashboards":[` + mine + `,999999]}}`, fault.Invalid, "invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, err := b.bind("update_chart", tt.args)
			if err == nil {
				_, err = w.Preview(t.Context())
			}
			if fault.KindOf(err) != tt.kind || fault.CodeOf(err) != tt.code {
				t.Errorf("got %s: %v", fault.CodeOf(err), err)
			}
		})
	}
	other := newBench(t, base, "owner").mustBind("update_chart", `{"chart":6,"patch":{"name":"x"}}`)
	if _, err := other.Preview(t.Context()); fault.CodeOf(err) != "ownership" {
		t.Errorf("somebody else's chart: %v", err)
	}
}

func refreshDashboard(t *testing.T, base string) {
	for user, warm := range map[string]bool{"admin": true, "alpha": false} {
		b := newBench(t, base, user)
		w := b.mustBind("refresh_dashboard", `{"dashboard":"broken"}`)
		p, err := w.Preview(t.Context())
		if err != nil || len(p.BlastRadius) != 13 || w.Risk != tool.Write {
			t.Fatalf("preview: %d charts, %v", len(p.BlastRadius), err)
		}
		r, err := w.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		status := map[string]string{}
		for _, c := range data[checked](t, r).Charts {
			status[c.Name] = c.Status
		}
		if status["Total revenue"] != "ok" || status["Broken: SQL of the dataset fails"] != "broken" || status["Broken: dataset deleted"] != "broken" {
			t.Errorf("%s: %v", user, status)
		}
		if warned := strings.Contains(strings.Join(r.Warnings, " "), "default filters"); warned == warm {
			t.Errorf("%s: warnings %v", user, r.Warnings)
		}
	}
}
