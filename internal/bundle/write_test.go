package bundle_test

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"

	"agentd/internal/bundle"

	"github.com/google/go-cmp/cmp"
)

func written(t testing.TB, b *bundle.Bundle, w bundle.Rewrite) (*bundle.Bundle, map[string]string) {
	t.Helper()
	var out bytes.Buffer
	if err := b.Write(t.Context(), &out, w); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
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
		files[strings.TrimPrefix(f.Name, "bundle/")] = string(text)
	}
	v, err := read(t, out.Bytes(), bundle.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return v, files
}

func TestWrite(t *testing.T) {
	const theirs, theirDB = "50000000-0000-4000-8000-0000000000aa", "b0000000-0000-4000-8000-0000000000aa"
	b := mustRead(t, whole())
	v, files := written(t, b, bundle.Rewrite{
		Type: "assets", UUIDs: map[string]string{set: theirs, db: theirDB}, Slugs: map[string]string{dash: "other"},
		Schemas: map[string]string{"main": "prod"}, Stubs: []bundle.Connection{{UUID: theirDB, Name: "Db", Backend: "sqlite"}},
	})
	if v.Type() != "assets" || len(v.Objects()) != 4 || len(v.Check()) != 0 {
		t.Fatalf("%s %d %v", v.Type(), len(v.Objects()), v.Check())
	}
	for name, text := range files {
		if strings.Contains(text, set) || strings.Contains(text, db) || strings.Contains(text, "secret") {
			t.Errorf("%s has an old uuid or an address:\n%s", name, text)
		}
		k, uuid, ok := bundle.ParseEntry(name)
		if ok && bundle.Entry(k, uuid) != name || !ok && name != "metadata.yaml" {
			t.Errorf("entry %s is not told apart", name)
		}
	}
	o, _ := v.Find(bundle.Dashboard, dash)
	if o.Slug != "other" {
		t.Errorf("slug %q", o.Slug)
	}
	if o, _ = v.Find(bundle.Dataset, theirs); o.Schema != "prod" || o.Database != theirDB {
		t.Errorf("dataset %+v", o)
	}
	text := files["dashboards/"+dash+".yaml"]
	for _, gone := range []string{"theme_uuid", "tags", "'99'", "98"} {
		if strings.Contains(text, gone) {
			t.Errorf("the dashboard still has %s:\n%s", gone, text)
		}
	}
	if !strings.Contains(text, "'41'") && !strings.Contains(text, `"41"`) {
		t.Errorf("the settings of a chart that is there are lost:\n%s", text)
	}
}

// What is left out: kinds that are not kept, and charts that are nowhere.
func TestWritePart(t *testing.T) {
	b := mustRead(t, whole())
	_, files := written(t, b, bundle.Rewrite{Type: "dry run", Keep: func(o bundle.Object) bool { return o.Kind == bundle.Dashboard }, Gone: []string{chart}})
	if len(files) != 2 {
		t.Errorf("%d entries", len(files))
	}
	if text := files["dashboards/"+dash+".yaml"]; strings.Contains(text, "CHART-a") || strings.Contains(text, "41") {
		t.Errorf("the layout still names it:\n%s", text)
	}
}

// Values keep their YAML 1.1 meaning, in which 1e3, 0o7 and quoted numbers are texts.
func TestValuesStay(t *testing.T) {
	m := whole()
	m["charts/A_41.yaml"] += "odd: {a: 1e3, b: 0o7, c: '12', d: 1.50, e: 'yes', f: \"\\U0001F4CA \\u2028 x\", g: .5, h: 12345678901234567890, i: '2024-01-01', j: ~, k: on}\nlong: \"" + strings.Repeat("word ", 200) + "\"\n"
	b := mustRead(t, m)
	v, files := written(t, b, bundle.Rewrite{Type: "assets"})
	before, _ := b.Find(bundle.Chart, chart)
	after, _ := v.Find(bundle.Chart, chart)
	x, err := b.Content(before)
	if err != nil {
		t.Fatal(err)
	}
	y, err := v.Content(after)
	if err != nil {
		t.Fatal(err)
	}
	if d := bundle.Diff(x, y); len(d) != 0 || x.Hash() != y.Hash() {
		t.Errorf("%v", d)
	}
	for _, want := range []string{"a: 1e3", "b: 0o7", "c: '12'", "d: 1.50", "h: 12345678901234567890"} {
		if !strings.Contains(files["charts/"+chart+".yaml"], want) {
			t.Errorf("no %s in\n%s", want, files["charts/"+chart+".yaml"])
		}
	}
}

func TestDiff(t *testing.T) {
	content := func(files map[string]string, k bundle.Kind, uuid string) bundle.Content {
		b := mustRead(t, files)
		o, ok := b.Find(k, uuid)
		if !ok {
			t.Fatal("lost")
		}
		c, err := b.Content(o)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	edit := func(name, old, new string) map[string]string {
		m := whole()
		m[name] = strings.ReplaceAll(m[name], old, new)
		return m
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		k     bundle.Kind
		uuid  string
		want  []string
	}{
		{"numbers of another environment", edit("dashboards/Board_7.yaml", "41", "77"), bundle.Dashboard, dash, nil},
		{"tags and theme", edit("dashboards/Board_7.yaml", "tags: [a]", "tags: [b]"), bundle.Dashboard, dash, nil},
		{"a null is a field left out", edit("dashboards/Board_7.yaml", "description: null\n", ""), bundle.Dashboard, dash, nil},
		{"a slug", edit("dashboards/Board_7.yaml", "slug: board", "slug: x"), bundle.Dashboard, dash, []string{"slug"}},
		{"a filter", edit("dashboards/Board_7.yaml", "name: Region", "name: Area"), bundle.Dashboard, dash, []string{"metadata/native_filter_configuration/NATIVE_FILTER-1"}},
		{"a chart's dataset number", edit("charts/A_41.yaml", "3__table", "9__table"), bundle.Chart, chart, nil},
		{"an exact number", edit("charts/A_41.yaml", "9007199254740993", "9007199254740992"), bundle.Chart, chart, []string{"query_context/queries"}},
		{"a metric", edit("datasets/Db/sales_3.yaml", "SUM(amount)", "AVG(amount)"), bundle.Dataset, set, []string{"metrics/revenue/expression"}},
		{"a column", edit("datasets/Db/sales_3.yaml", "column_name: twice", "column_name: thrice"), bundle.Dataset, set, []string{"columns/thrice", "columns/twice"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before, after := content(whole(), tt.k, tt.uuid), content(tt.files, tt.k, tt.uuid)
			var got []string
			for _, c := range bundle.Diff(before, after) {
				got = append(got, c.Field)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if (before.Hash() == after.Hash()) != (len(tt.want) == 0) {
				t.Error("hash and diff disagree")
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(zipped(f, whole()))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := bundle.Read(t.Context(), bytes.NewReader(raw), t.TempDir(), bundle.Limits{Zip: 1 << 20, Total: 4 << 20})
		if err != nil {
			return
		}
		defer b.Close()
		b.Check()
		var out bytes.Buffer
		if err := b.Write(t.Context(), &out, bundle.Rewrite{Type: "assets"}); err != nil {
			return
		}
		again, err := bundle.Read(t.Context(), &out, t.TempDir(), bundle.Limits{})
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		again.Close()
	})
}

func FuzzEntry(f *testing.F) {
	m := whole()
	f.Add(m["dashboards/Board_7.yaml"], uint8(0))
	f.Add(m["charts/A_41.yaml"], uint8(1))
	f.Add(m["datasets/Db/sales_3.yaml"], uint8(2))
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		name := []string{"dashboards/Board_7.yaml", "charts/A_41.yaml", "datasets/Db/sales_3.yaml"}[which%3]
		m := whole()
		m[name] = text
		b, err := bundle.Read(t.Context(), bytes.NewReader(zipped(t, m)), t.TempDir(), bundle.Limits{})
		if err != nil {
			return
		}
		defer b.Close()
		for _, o := range b.Objects() {
			if o.Kind == bundle.Database {
				continue
			}
			before, err := b.Content(o)
			if err != nil {
				continue
			}
			var out bytes.Buffer
			if err := b.Write(t.Context(), &out, bundle.Rewrite{Type: "assets"}); err != nil {
				continue
			}
			_ = before.Hash()
		}
	})
}
