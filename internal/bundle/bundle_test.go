package bundle_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"agentd/internal/bundle"
	"agentd/internal/fault"

	"github.com/google/go-cmp/cmp"
)

const (
	dash  = "d0000000-0000-4000-8000-000000000001"
	chart = "c0000000-0000-4000-8000-000000000001"
	lost  = "c0000000-0000-4000-8000-00000000000f"
	set   = "50000000-0000-4000-8000-000000000001"
	db    = "b0000000-0000-4000-8000-000000000001"
)

// whole is a small bundle, as Superset writes them.
func whole() map[string]string {
	return map[string]string{
		"metadata.yaml": "version: 1.0.0\ntype: Dashboard\ntimestamp: '2026-01-01T00:00:00+00:00'\n",
		"dashboards/Board_7.yaml": `dashboard_title: Board
description: null
css: ''
slug: board
published: true
uuid: ` + dash + `
position:
  ROOT_ID: {type: ROOT, id: ROOT_ID, children: [GRID_ID]}
  ROW-1: {type: ROW, id: ROW-1, children: [CHART-a, CHART-b]}
  CHART-a: {type: CHART, id: CHART-a, children: [], meta: {chartId: 41, uuid: ` + chart + `, sliceName: A}}
metadata:
  expanded_slices: {'41': true, '99': true}
  timed_refresh_immune_slices: [41, 98]
  chart_configuration: {'41': {id: 41, crossFilters: {scope: {excluded: [41]}, chartsInScope: [41]}}}
  native_filter_configuration:
  - {id: NATIVE_FILTER-1, name: Region, targets: [{column: {name: region}, datasetUuid: ` + set + `}]}
  - {id: NATIVE_FILTER-2, name: Time, targets: [{}]}
theme_uuid: null
version: 1.0.0
tags: [a]
`,
		"charts/A_41.yaml": `slice_name: A
viz_type: table
params: {datasource: 3__table, slice_id: 41, metrics: [revenue], groupby: [region]}
query_context: '{"datasource": {"id": 3, "type": "table"}, "queries": [{"row_limit": 9007199254740993}]}'
uuid: ` + chart + `
version: 1.0.0
dataset_uuid: ` + set + `
`,
		"datasets/Db/sales_3.yaml": `table_name: sales
catalog: null
schema: main
sql: null
uuid: ` + set + `
metrics:
- {metric_name: revenue, expression: SUM(amount)}
columns:
- {column_name: region, type: VARCHAR, expression: null}
- {column_name: twice, type: INT, expression: amount * 2}
version: 1.0.0
database_uuid: ` + db + `
`,
		"databases/Db.yaml": "database_name: Db\nsqlalchemy_uri: postgresql+psycopg2://secret_user:XXXXXXXXXX@secret.host:5432/x\nuuid: " + db + "\nversion: 1.0.0\nextra: {}\n",
		"tags.yaml":         "tags: []\n",
	}
}

func zipped(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	var names []string
	for n := range files {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		name := "export_1/" + n
		if raw, ok := strings.CutPrefix(n, "RAW:"); ok {
			name = raw
		}
		f, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(files[n])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t testing.TB, raw []byte, l bundle.Limits) (*bundle.Bundle, error) {
	t.Helper()
	dir := t.TempDir()
	b, err := bundle.Read(context.Background(), bytes.NewReader(raw), dir, l)
	if err != nil {
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("a refused bundle leaves %d files", len(left))
		}
		return nil, err
	}
	t.Cleanup(func() {
		if err := errors.Join(b.Close(), b.Close()); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("a closed bundle leaves %d files", len(left))
		}
	})
	return b, nil
}

func mustRead(t testing.TB, files map[string]string) *bundle.Bundle {
	t.Helper()
	b, err := read(t, zipped(t, files), bundle.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRead(t *testing.T) {
	b := mustRead(t, whole())
	if b.Type() != "Dashboard" || len(b.Objects()) != 4 || len(b.Check()) != 0 || len(b.SHA256()) != 64 {
		t.Fatalf("type %s, %d objects, %v", b.Type(), len(b.Objects()), b.Check())
	}
	o, _ := b.Find(bundle.Dashboard, dash)
	if diff := cmp.Diff([]string{chart, set}, o.Needs); diff != "" {
		t.Error(diff)
	}
	o, _ = b.Find(bundle.Dataset, set)
	if o.Database != db || o.Schema != "main" || o.Virtual || !slices.Equal(o.Columns, []string{"region"}) || !slices.Equal(o.Names, []string{"region", "twice", "revenue"}) {
		t.Errorf("dataset %+v", o)
	}
	o, _ = b.Find(bundle.Database, db)
	if o.Title != "Db" || o.Backend != "postgresql" {
		t.Errorf("connection %+v", o)
	}
	if s := fmt.Sprintf("%+v", b.Objects()); strings.Contains(s, "secret") {
		t.Error("an address is shown")
	}
	if _, err := b.Content(o); fault.KindOf(err) != fault.Denied {
		t.Errorf("content of a connection: %v", err)
	}
}

func TestRefused(t *testing.T) {
	with := func(name, text string) map[string]string {
		m := whole()
		m[name] = text
		return m
	}
	without := func(name string) map[string]string {
		m := whole()
		delete(m, name)
		return m
	}
	tests := []struct {
		name  string
		files map[string]string
		kind  fault.Kind
	}{
		{"path outside", with("RAW:../evil.yaml", "a: 1"), fault.Mismatch},
		{"path outside, deep", with("RAW:export_1/charts/../../x.yaml", "a: 1"), fault.Mismatch},
		{"absolute", with("RAW:/etc/x.yaml", "a: 1"), fault.Mismatch},
		{"backslashes", with(`RAW:export_1\charts\x.yaml`, "a: 1"), fault.Mismatch},
		{"no folder", with("RAW:metadata.yaml", "version: 1.0.0"), fault.Mismatch},
		{"one name twice, in two folders", with("RAW:other/metadata.yaml", "version: 1.0.0"), fault.Mismatch},
		{"no metadata", without("metadata.yaml"), fault.Mismatch},
		{"another version", with("metadata.yaml", "version: 2.0.0\ntype: Dashboard\n"), fault.Mismatch},
		{"an empty file", with("charts/B_1.yaml", ""), fault.Mismatch},
		{"no object", with("charts/B_1.yaml", "- a\n"), fault.Mismatch},
		{"no YAML", with("charts/B_1.yaml", "a: [\n"), fault.Mismatch},
		{"no uuid", with("charts/B_1.yaml", "slice_name: B\n"), fault.Mismatch},
		{"packed too much", with("charts/B_1.yaml", "uuid: "+lost+"\nx: "+strings.Repeat("a", 1<<20)), fault.TooLarge},
		{"an entry too large", with("charts/B_1.yaml", strings.Repeat("a", 5<<20)), fault.TooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := read(t, zipped(t, tt.files), bundle.Limits{}); fault.KindOf(err) != tt.kind {
				t.Errorf("got %v, want %s", err, tt.kind)
			}
		})
	}
	if _, err := read(t, []byte("PK not a zip"), bundle.Limits{}); fault.KindOf(err) != fault.Mismatch {
		t.Errorf("no zip: %v", err)
	}
}

// A YAML of few lines may name billions of elements.
func TestAliases(t *testing.T) {
	var b strings.Builder
	b.WriteString("uuid: " + chart + "\ndataset_uuid: " + set + "\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	m := whole()
	m["charts/A_41.yaml"] = b.String()
	v := mustRead(t, m)
	o, _ := v.Find(bundle.Chart, chart)
	if _, err := v.Content(o); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("got %v, want too large", err)
	}
}

func TestLimits(t *testing.T) {
	raw := zipped(t, whole())
	size, entries := int64(len(raw)), len(whole())
	var largest, total int64
	for _, v := range whole() {
		largest, total = max(largest, int64(len(v))), total+int64(len(v))
	}
	for _, tt := range []struct {
		name string
		l    bundle.Limits
		ok   bool
	}{
		{"zip N", bundle.Limits{Zip: size}, true}, {"zip N-1", bundle.Limits{Zip: size - 1}, false}, {"zip N+1", bundle.Limits{Zip: size + 1}, true},
		{"entry N", bundle.Limits{Entry: largest}, true}, {"entry N-1", bundle.Limits{Entry: largest - 1}, false}, {"entry N+1", bundle.Limits{Entry: largest + 1}, true},
		{"total N", bundle.Limits{Total: total}, true}, {"total N-1", bundle.Limits{Total: total - 1}, false}, {"total N+1", bundle.Limits{Total: total + 1}, true},
		{"entries N", bundle.Limits{Entries: entries}, true}, {"entries N-1", bundle.Limits{Entries: entries - 1}, false}, {"entries N+1", bundle.Limits{Entries: entries + 1}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := read(t, raw, tt.l)
			if tt.ok && err != nil || !tt.ok && fault.KindOf(err) != fault.TooLarge {
				t.Errorf("got %v", err)
			}
		})
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, fault.New(fault.Transient, "gone") }

func TestReadEnds(t *testing.T) {
	dir := t.TempDir()
	raw := zipped(t, whole())
	if _, err := bundle.Read(t.Context(), io.MultiReader(bytes.NewReader(raw[:50]), broken{}), dir, bundle.Limits{}); fault.KindOf(err) != fault.Transient {
		t.Errorf("a source that breaks: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := bundle.Read(ctx, bytes.NewReader(raw), dir, bundle.Limits{}); fault.KindOf(err) != fault.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%d files are left", len(left))
	}
}

func TestCheck(t *testing.T) {
	edit := func(name, old, new string) map[string]string {
		m := whole()
		if !strings.Contains(m[name], old) {
			t.Fatalf("%s has no %q", name, old)
		}
		m[name] = strings.ReplaceAll(m[name], old, new)
		return m
	}
	twin := whole()
	twin["dashboards/Other_8.yaml"] = strings.ReplaceAll(twin["dashboards/Board_7.yaml"], dash, "d0000000-0000-4000-8000-000000000002")
	same := whole()
	same["charts/A_42.yaml"] = same["charts/A_41.yaml"]
	noDB := whole()
	delete(noDB, "databases/Db.yaml")
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"whole", whole(), nil},
		{"a chart without a dataset", edit("charts/A_41.yaml", "dataset_uuid: "+set, "x: 1"), []string{bundle.NoDataset}},
		{"a filter without a dataset", edit("dashboards/Board_7.yaml", ", datasetUuid: "+set, ""), []string{bundle.NoTarget}},
		{"a layout with a lost chart", edit("dashboards/Board_7.yaml", "uuid: "+chart, "uuid: "+lost), []string{bundle.NoChart}},
		{"a layout chart without uuid", edit("dashboards/Board_7.yaml", "uuid: "+chart+", ", ""), []string{bundle.NoChart}},
		{"an address", edit("datasets/Db/sales_3.yaml", "catalog: null", "data: https://evil.example/x.csv"), []string{bundle.DataAddress}},
		{"two slugs", twin, []string{bundle.TwiceSlug}},
		{"two files of one uuid", same, []string{bundle.TwiceUUID}},
		{"two connections of one file name", noDB, []string{bundle.NoDatabase}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, f := range mustRead(t, tt.files).Check() {
				got = append(got, f.Code)
				if f.Text == "" || f.UUID == "" {
					t.Errorf("%+v", f)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
