package supersettools

import (
	"strings"
	"testing"

	"agentd/internal/fault"
	"agentd/internal/superset"
)

func someOp(t testing.TB) op {
	c, err := superset.New(superset.Options{BaseURL: "http://superset:8088/bi", PublicURL: "https://bi.example.com/bi"})
	if err != nil {
		t.Fatal(err)
	}
	e := Environment{ID: "dev", Client: c}
	envs, err := NewEnvironments(e)
	if err != nil {
		t.Fatal(err)
	}
	return op{env: e, envs: envs}
}

func TestRef(t *testing.T) {
	const uuid = "7db03fbd-c4fe-5aab-b601-031a4ecdf029"
	tests := []struct {
		k    kind
		text string
		want superset.Ref // zero: refused
	}{
		{dashboardKind, "7", superset.Ref{ID: 7}},
		{dashboardKind, " 7 ", superset.Ref{ID: 7}},
		{dashboardKind, "0", superset.Ref{}},
		{dashboardKind, "-7", superset.Ref{Slug: "-7"}},
		{dashboardKind, "2147483647", superset.Ref{ID: 1<<31 - 1}},
		{dashboardKind, "2147483648", superset.Ref{}},
		{dashboardKind, strings.ToUpper(uuid), superset.Ref{UUID: uuid}},
		{dashboardKind, "продажи_1", superset.Ref{Slug: "продажи_1"}},
		{dashboardKind, "Sales Overview", superset.Ref{}},
		{dashboardKind, strings.Repeat("x", 255), superset.Ref{Slug: strings.Repeat("x", 255)}},
		{dashboardKind, strings.Repeat("x", 256), superset.Ref{}},
		{dashboardKind, "https://bi.example.com/bi/superset/dashboard/7/?x=1#y", superset.Ref{ID: 7}},
		{dashboardKind, "http://superset:8088/bi/superset/dashboard/sales/", superset.Ref{Slug: "sales"}},
		{dashboardKind, "https://bi.example.com/superset/dashboard/7/", superset.Ref{}},
		{dashboardKind, "https://bi.example.com/bi/superset/dashboard/p/K3y_-/", superset.Ref{Link: "K3y_-"}},
		{dashboardKind, "/superset/dashboard/%D0%BF%D1%80/", superset.Ref{Slug: "пр"}},
		{dashboardKind, "https://evil.example.com/superset/dashboard/7/", superset.Ref{}},
		{dashboardKind, "/explore/?slice_id=7", superset.Ref{}},
		{chartKind, "/explore/?form_data_key=a&slice_id=7", superset.Ref{ID: 7}},
		{chartKind, "/superset/slice/7/", superset.Ref{ID: 7}},
		{chartKind, "/superset/explore/p/abc/", superset.Ref{Link: "abc"}},
		{chartKind, "a-name", superset.Ref{}},
		{datasetKind, "/explore/?datasource_type=table&datasource_id=7", superset.Ref{ID: 7}},
		{datasetKind, "/explore/?datasource_type=query&datasource_id=7", superset.Ref{}},
		{datasetKind, "/sqllab/?datasourceKey=7__table", superset.Ref{ID: 7}},
		{datasetKind, "sales_orders", superset.Ref{}},
	}
	o := someOp(t)
	for _, tt := range tests {
		got, err := o.ref("/x", tt.k, tt.text)
		if got != tt.want || (err != nil) != (tt.want == superset.Ref{}) {
			t.Errorf("%s %q: %+v %v, want %+v", tt.k, tt.text, got, err, tt.want)
		}
	}
}

// FuzzRef holds that whatever is pasted is refused by name or becomes exactly one safe reference.
func FuzzRef(f *testing.F) {
	for _, s := range []string{"", "7", "x", "/", "//", "/superset/dashboard/..%2f..%2fapi/", "https://bi.example.com/bi/superset/dashboard/a%2Fb/", "http://[::1", "/explore/?slice_id=%00"} {
		f.Add(s)
	}
	o := someOp(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, k := range []kind{dashboardKind, chartKind, datasetKind} {
			r, err := o.ref("/x", k, text)
			if err != nil {
				if fault.KindOf(err) != fault.Invalid {
					t.Fatalf("%q: %v", text, err)
				}
				continue
			}
			n := 0
			for _, set := range []bool{r.ID > 0, r.UUID != "", r.Slug != "", r.Link != ""} {
				if set {
					n++
				}
			}
			if n != 1 || strings.ContainsAny(r.UUID+r.Slug+r.Link, "/?#%.\\ ") {
				t.Fatalf("%q became %+v", text, r)
			}
		}
	})
}

func FuzzLayout(f *testing.F) {
	for _, s := range []string{"", "null", "5", "{}", `{"ROOT_ID":{"type":"ROOT","children":["ROOT_ID"]}}`, `{"ROOT_ID":{"type":"ROOT","children":["G"]},"G":{"type":"ROW","children":["C"]},"C":{"type":"CHART","meta":{"chartId":1}}}`, `{"G":5}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := parseLayout(text)
		if err != nil {
			return
		}
		if l.remove(1) != nil || l.add(2, "u", "n") != nil {
			return
		}
		for _, c := range l.charts() {
			if c.ID == 1 {
				t.Fatalf("%s: chart 1 is still there", text)
			}
		}
	})
}
