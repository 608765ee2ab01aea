package supersettools_test

import (
	"slices"
	"strconv"
	"testing"

	"agentd/internal/fault"
)

func TestDatasetsReal(t *testing.T) { datasets(t, real(t)) }

func TestDatasets(t *testing.T) {
	_, base := mock(t)
	datasets(t, base)
}

// datasets is the suite that a real Superset and the mock both pass.
func datasets(t *testing.T, base string) {
	t.Run("search", func(t *testing.T) { searchDatasets(t, base) })
	t.Run("get", func(t *testing.T) { getDataset(t, base) })
	t.Run("sample", func(t *testing.T) { sampleDataset(t, base) })
	t.Run("check", func(t *testing.T) { checkDataset(t, base) })
}

func searchDatasets(t *testing.T, base string) {
	tests := []struct {
		name, user, args string
		total            int64
	}{
		{"all", "admin", `{}`, 18},
		{"one name in two databases", "admin", `{"query":"sales_orders"}`, 2},
		{"one database", "admin", `{"query":"sales_orders","database_id":1}`, 1},
		{"virtual", "admin", `{"kind":"virtual"}`, 6},
		{"physical", "admin", `{"kind":"physical"}`, 12},
		{"schema", "admin", `{"schema":"public"}`, 1},
		{"other letters", "admin", `{"query":"Клиенты"}`, 1},
		{"what is granted", "gamma", `{}`, 3},
		{"nothing", "admin", `{"query":"nothing like it"}`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newBench(t, base, tt.user).mustRun("search_datasets", tt.args)
			if *r.Total != tt.total || int64(len(r.Rows.Rows)) != tt.total {
				t.Errorf("got %d rows of %d, want %d: %v", len(r.Rows.Rows), *r.Total, tt.total, column(t, r, "name"))
			}
		})
	}
}

type shownDataset struct {
	ID      int    `json:"id"`
	UUID    string `json:"uuid"`
	Kind    string `json:"kind"`
	URL     string `json:"url"`
	Columns []struct {
		Name       string `json:"name"`
		Expression string `json:"expression"`
	} `json:"columns"`
	Metrics []struct {
		Name string `json:"name"`
	} `json:"metrics"`
	Usage struct {
		Charts []struct {
			ID int `json:"id"`
		} `json:"charts"`
		Dashboards []struct {
			Title string `json:"title"`
		} `json:"dashboards"`
	} `json:"usage"`
	Sample struct {
		Columns []string `json:"columns"`
		Rows    [][]any  `json:"rows"`
	} `json:"sample"`
}

func getDataset(t *testing.T, base string) {
	b := newBench(t, base, "admin")
	want := data[shownDataset](t, b.mustRun("get_dataset", `{"dataset":1}`))
	if len(want.Columns) != 17 || len(want.Metrics) == 0 || want.Kind != "physical" {
		t.Errorf("%+v", want)
	}
	if want.URL != "https://bi.example.com/explore/?datasource_id=1&datasource_type=table" {
		t.Errorf("url %s", want.URL)
	}
	for _, ref := range []string{`"1"`, `"` + want.UUID + `"`, `"https://bi.example.com/explore/?datasource_type=table&datasource_id=1"`, `"/sqllab/?datasourceKey=1__table"`} {
		if got := data[shownDataset](t, b.mustRun("get_dataset", `{"dataset":`+ref+`}`)); got.ID != 1 {
			t.Errorf("%s: got %d", ref, got.ID)
		}
	}
	if _, err := b.run("get_dataset", `{"dataset":999999}`); fault.KindOf(err) != fault.Missing {
		t.Errorf("unknown: %v", err)
	}
	if _, err := b.bind("get_dataset", `{"dataset":"sales_orders"}`); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a name is no id: %v", err)
	}
	r := data[shownDataset](t, b.mustRun("get_dataset", `{"dataset":1,"include":["usage"]}`))
	if len(r.Usage.Charts) == 0 {
		t.Errorf("%+v", r)
	}
	// Gamma sees the dataset, but not the drafts that use it.
	all, some := titles(r), titles(data[shownDataset](t, newBench(t, base, "gamma").mustRun("get_dataset", `{"dataset":1,"include":["usage"]}`)))
	if !slices.Contains(all, "Finance 2024 (draft)") || slices.Contains(some, "Finance 2024 (draft)") || len(some) == 0 {
		t.Errorf("admin: %v; gamma: %v", all, some)
	}
	if _, err := newBench(t, base, "gamma").run("get_dataset", `{"dataset":`+strconv.Itoa(12)+`}`); fault.KindOf(err) != fault.Missing && fault.KindOf(err) != fault.Denied {
		t.Errorf("a hidden dataset: %v", err)
	}
}

func sampleDataset(t *testing.T, base string) {
	r := data[shownDataset](t, newBench(t, base, "admin").mustRun("get_dataset", `{"dataset":1,"include":["sample"],"rows":3}`))
	if len(r.Sample.Rows) != 3 || !slices.Contains(r.Sample.Columns, "region") {
		t.Errorf("%+v", r)
	}
	if got := data[shownDataset](t, newBench(t, base, "gamma").mustRun("get_dataset", `{"dataset":1,"include":["sample"],"rows":50}`)); !onlyEMEA(got) {
		t.Errorf("rows that gamma may not see: %v", got.Sample.Rows)
	}
}

func titles(d shownDataset) []string {
	var out []string
	for _, v := range d.Usage.Dashboards {
		out = append(out, v.Title)
	}
	return out
}

func onlyEMEA(d shownDataset) bool {
	i := slices.Index(d.Sample.Columns, "region")
	return i >= 0 && len(d.Sample.Rows) > 0 && !slices.ContainsFunc(d.Sample.Rows, func(row []any) bool { return row[i] != "EMEA" })
}

func checkDataset(t *testing.T, base string) {
	type view struct {
		Drift struct {
			Added   []string `json:"added"`
			Removed []string `json:"removed"`
			Types   []struct {
				Column string `json:"column"`
			} `json:"type_changed"`
			Unknown string `json:"unknown"`
		} `json:"drift"`
		Expressions []struct {
			Name  string `json:"name"`
			Error string `json:"error"`
		} `json:"broken_expressions"`
		Charts []struct {
			ID int `json:"id"`
		} `json:"charts_hit"`
	}
	b := newBench(t, base, "admin")
	tests := []struct {
		name           string
		id             int
		added, removed []string
		typed          []string
		broken         []string
		charts         []int
		unknown        bool
	}{
		{name: "a column that came", id: 3, added: []string{"weight_kg"}},
		{name: "a column that went", id: 8, removed: []string{"promo_code"}, broken: []string{"promo_orders"}, charts: []int{59, 60}},
		{name: "another type", id: 11, typed: []string{"qty"}},
		{name: "a broken metric", id: 1, broken: []string{"bad_metric"}},
		{name: "virtual", id: 13},
		{name: "virtual over a missing table", id: 17, unknown: true},
		{name: "out of reach", id: 19, unknown: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := b.mustRun("check_dataset", `{"dataset":`+strconv.Itoa(tt.id)+`}`)
			v := data[view](t, r)
			var typed, broken []string
			for _, c := range v.Drift.Types {
				typed = append(typed, c.Column)
			}
			for _, e := range v.Expressions {
				broken = append(broken, e.Name)
				if e.Error == "" {
					t.Errorf("%s is broken without a reason", e.Name)
				}
			}
			var charts []int
			for _, c := range v.Charts {
				charts = append(charts, c.ID)
			}
			slices.Sort(charts)
			if !slices.Equal(v.Drift.Added, tt.added) || !slices.Equal(v.Drift.Removed, tt.removed) || !slices.Equal(typed, tt.typed) ||
				!slices.Equal(broken, tt.broken) || !slices.Equal(charts, tt.charts) || (v.Drift.Unknown != "") != tt.unknown {
				t.Errorf("%s", r.Data)
			}
		})
	}
}
