package offload_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/offload"
	"agentd/internal/tool"

	"github.com/google/go-cmp/cmp"
)

// plot takes stored results in every way there is.
var plot = tool.Tool{
	Name: "plot", References: []string{"data", "points", "spec", "deep.data", "list.data"},
	Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["data","title"],"properties":{` +
		`"title":{"type":"string"},"data":{"type":"array","items":{"type":"object"}},"points":{"type":"array","items":{"type":"array"}},` +
		`"spec":{"type":"object"},"other":{"type":"array"},"deep":{"type":"object","required":["data"],"properties":{"data":{"type":"array"}}},` +
		`"list":{"type":"array","items":{"type":"object","properties":{"data":{"type":"array"}}}}}}`),
}

type refBench struct {
	*bench
	refs *offload.References
	rows string // id of a table
	list string // id of objects
}

func newRefBench(t *testing.T, o offload.ReferenceOptions) *refBench {
	t.Helper()
	b := &refBench{bench: newBench(t, offload.Options{MaxChars: 200}, artifact.Options{})}
	var err error
	if b.refs, err = offload.NewReferences(b.store, []tool.Tool{plot}, o); err != nil {
		t.Fatal(err)
	}
	b.rows = b.bound(tool.Result{Rows: &tool.Table{Columns: []chat.Column{{Name: "n"}, {Name: "s"}, {Name: "n"}},
		Rows: []json.RawMessage{json.RawMessage(`[9007199254740993,"` + strings.Repeat("x", 300) + `",null]`), json.RawMessage(`[1.50,"a\nb"]`)}}}).Artifact.ID
	b.list = b.bound(tool.Result{Data: json.RawMessage(`[{"b":1e2,"a":"` + strings.Repeat("y", 300) + `"},7]`)}).Artifact.ID
	return b
}

func (b *refBench) resolve(args string) (string, error) {
	b.Helper()
	c := call("plot")
	c.Args = json.RawMessage(args)
	got, err := b.refs.Resolve(b.Context(), c)
	if string(c.Args) != args {
		b.Error("the call that was given was changed")
	}
	return string(got.Args), err
}

func TestReferencesAreReplaced(t *testing.T) {
	b := newRefBench(t, offload.ReferenceOptions{})
	x, y := strings.Repeat("x", 300), strings.Repeat("y", 300)
	rows, list := offload.URI(b.rows), offload.URI(b.list)
	keyed := `[{"n":9007199254740993,"s":"` + x + `","n_2":null},{"n":1.50,"s":"a\nb"}]`
	positional := `[[9007199254740993,"` + x + `",null],[1.50,"a\nb"]]`
	items := `[{"b":1e2,"a":"` + y + `"},7]`
	for name, c := range map[string]struct{ args, want string }{
		"none":                        {`{"title": "t"}`, `{"title": "t"}`},
		"objects by column":           {`{"title":"t","data_uri":"` + rows + `","x":1.0}`, `{"title":"t","data":` + keyed + `,"x":1.0}`},
		"rows by position":            {`{"points_uri":"` + rows + `"}`, `{"points":` + positional + `}`},
		"items as they were":          {`{"data_uri":"` + list + `"}`, `{"data":` + items + `}`},
		"a list of references":        {`{"data_uri":["` + list + `","` + list + `"]}`, `{"data":[` + items + `,` + items + `]}`},
		"a list of one":               {`{"data_uri":["` + list + `"]}`, `{"data":[` + items + `]}`},
		"the URI wins":                {`{"data":[1],"data_uri":"` + list + `","title":"t"}`, `{"data":` + items + `,"title":"t"}`},
		"the URI wins before it":      {`{"data_uri":"` + list + `","data":[1]}`, `{"data":` + items + `}`},
		"a part":                      {`{"data_uri":"` + list + `#/0/a"}`, `{"data":"` + y + `"}`},
		"nested":                      {`{"deep":{"k":1,"data_uri":"` + list + `"}}`, `{"deep":{"k":1,"data":` + items + `}}`},
		"in a list of objects":        {`{"list":[1,{"data_uri":"` + list + `"}]}`, `{"list":[1,{"data":` + items + `}]}`},
		"with its conversation":       {`{"data_uri":"agentd+artifact://c1/` + b.list + `"}`, `{"data":` + items + `}`},
		"another scheme":              {`{"data_uri":"https://x/y"}`, `{"data_uri":"https://x/y"}`},
		"an empty list":               {`{"data_uri":[]}`, `{"data_uri":[]}`},
		"an empty list beside a URI":  {`{"data":[1],"data_uri":[],"points_uri":"` + list + `"}`, `{"data":[1],"data_uri":[],"points":` + items + `}`},
		"a mixed list":                {`{"data_uri":["` + list + `","x"]}`, `{"data_uri":["` + list + `","x"]}`},
		"null":                        {`{"data_uri":null}`, `{"data_uri":null}`},
		"null in a list":              {`{"data_uri":["` + list + `",null]}`, `{"data_uri":["` + list + `",null]}`},
		"an id that is no URI":        {`{"data_uri":"` + b.list + `"}`, `{"data_uri":"` + b.list + `"}`},
		"space around it all":         {` {"data_uri":"` + list + `"} `, `{"data":` + items + `}`},
		"an argument that is not in":  {`{"other_uri":"` + list + `"}`, `{"other_uri":"` + list + `"}`},
		"a value that only looks so":  {`{"title":"` + list + `"}`, `{"title":"` + list + `"}`},
		"nothing inside is rewritten": {`{"data_uri":"` + list + `","title":"_artifact_uri é \u00e9"}`, `{"data":` + items + `,"title":"_artifact_uri é \u00e9"}`},
		"no object":                   {`[1]`, `[1]`},
		"no JSON":                     {`{"data_uri":`, `{"data_uri":`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := b.resolve(c.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTextAndObjectsByReference(t *testing.T) {
	b := newRefBench(t, offload.ReferenceOptions{})
	long := strings.Repeat("z", 300)
	text := b.bound(tool.Result{Data: json.RawMessage(`no "JSON" ` + long)}).Artifact.ID
	object := b.bound(tool.Result{Data: json.RawMessage(`{"note":"` + long + `","result":["` + long + `"]}`)}).Artifact
	if object.Format != chat.FormatJSON {
		t.Fatalf("format = %s", object.Format)
	}
	for args, want := range map[string]string{
		`{"data_uri":"` + offload.URI(text) + `"}`:                `{"data":"no \"JSON\" ` + long + `"}`,
		`{"data_uri":"` + offload.URI(object.ID) + `"}`:           `{"data":["` + long + `"]}`, // the rows, not what is around them
		`{"spec_uri":"` + offload.URI(object.ID) + `"}`:           `{"spec":{"note":"` + long + `","result":["` + long + `"]}}`,
		`{"spec_uri":"` + offload.URI(object.ID) + `#/result/0"}`: `{"spec":"` + long + `"}`,
	} {
		got, err := b.resolve(args)
		if err != nil || got != want {
			t.Errorf("%s: %.100s, %v", args, got, err)
		}
	}
}

func TestAMissDispatchesNothing(t *testing.T) {
	b := newRefBench(t, offload.ReferenceOptions{})
	unknown, list := "agentd+artifact:///art_01ARZ3NDEKTSV4RRFFQ69G5FAV", offload.URI(b.list)
	foreign := offload.URI(b.foreign())
	for name, c := range map[string]struct {
		args string
		want []string
	}{
		"unknown":              {`{"data_uri":"` + unknown + `"}`, []string{unknown}},
		"another owner":        {`{"data_uri":"` + foreign + `"}`, []string{foreign}},
		"another conversation": {`{"data_uri":"agentd+artifact://c2/` + b.list + `"}`, []string{"agentd+artifact://c2/" + b.list}},
		"a part that is not":   {`{"data_uri":"` + list + `#/9"}`, []string{list + "#/9"}},
		"malformed":            {`{"data_uri":"agentd+artifact:///../../x"}`, []string{"agentd+artifact:///../../x"}},
		"all of them":          {`{"points_uri":"` + unknown + `","data_uri":["` + list + `","` + foreign + `"],"data":[1],"deep":{"data_uri":"` + unknown + `"}}`, []string{unknown, foreign, unknown}},
	} {
		got, err := b.resolve(c.args)
		var fe *fault.Error
		if fault.CodeOf(err) != "missing_uris" || got != c.args {
			t.Errorf("%s: %v, args %s", name, err, got)
			continue
		}
		fe = err.(*fault.Error)
		var answer struct {
			Error string   `json:"error"`
			URIs  []string `json:"_missing_uris"`
			Hint  string   `json:"fix_hint"`
		}
		if err := json.Unmarshal([]byte(fe.Answer), &answer); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, answer.URIs); diff != "" || !strings.HasPrefix(answer.Error, "invalid_args") || answer.Hint == "" {
			t.Errorf("%s: %s", name, fe.Answer)
		}
	}
}

// foreign stores something of somebody else.
func (b *refBench) foreign() string {
	c := call("t")
	c.Who.User = "bob"
	return b.gate.Bound(b.Context(), c, tool.Result{Data: objects(50)}).Artifact.ID
}

func TestFilesAreNotPassedOn(t *testing.T) {
	b := newRefBench(t, offload.ReferenceOptions{MaxBytes: 500})
	a, err := b.gate.Store(t.Context(), chat.Identity{User: "ann"}, "c1", "t", strings.NewReader("PK"))
	if err != nil {
		t.Fatal(err)
	}
	big := b.bound(tool.Result{Data: objects(50)}).Artifact.ID
	for _, id := range []string{a.ID, big} {
		if _, err := b.resolve(`{"data_uri":"` + offload.URI(id) + `"}`); fault.KindOf(err) != fault.Invalid || fault.CodeOf(err) == "missing_uris" {
			t.Errorf("%v", err)
		}
	}
}

func TestInlineRows(t *testing.T) {
	b := newRefBench(t, offload.ReferenceOptions{})
	n := numbers
	for args, refused := range map[string]bool{
		`{"data":` + n(0) + `}`: false, `{"data":` + n(19) + `}`: false, `{"data":` + n(20) + `}`: false, `{"data":` + n(21) + `}`: true,
		`{"other":` + n(50) + `}`: false, `{"data":"` + n(50) + `"}`: false, `{"deep":{"data":` + n(21) + `}}`: true,
		`{"data":` + n(50) + `,"data_uri":"` + offload.URI(b.list) + `"}`:   false,
		`{"data":` + n(50) + `,"points_uri":"` + offload.URI(b.list) + `"}`: true,
		`{"data":` + n(50) + `,"data_uri":null}`:                            true,
		`{"data":` + n(50) + `,"data_uri":[]}`:                              true,
		`{"data":` + n(50) + `,"data_uri":"https://x/y"}`:                   true,
		`{"spec":` + n(21) + `}`:                                            false, // the tool's own check says what is wrong with it
	} {
		_, err := b.resolve(args)
		if (fault.CodeOf(err) == "inline_rows") != refused || err != nil && !refused {
			t.Errorf("%.60s: %v", args, err)
		}
		if refused && !strings.Contains(fault.Message(err), "data_uri instead") {
			t.Errorf("the way out is not told: %v", err)
		}
	}
}

func TestReferencesSwitchedOff(t *testing.T) {
	b := newRefBench(t, offload.ReferenceOptions{Disabled: true})
	args := `{"data_uri":"` + offload.URI(b.list) + `"}`
	if got, err := b.resolve(args); err != nil || got != args {
		t.Errorf("got %s, %v", got, err)
	}
	tools, err := b.refs.Shown([]tool.Tool{plot})
	if err != nil || string(tools[0].Schema) != string(plot.Schema) {
		t.Errorf("the schema was changed: %v", err)
	}
}

func TestShownSchema(t *testing.T) {
	b := newRefBench(t, offload.ReferenceOptions{})
	before := string(plot.Schema)
	tools, err := b.refs.Shown([]tool.Tool{plot})
	if err != nil {
		t.Fatal(err)
	}
	if string(plot.Schema) != before {
		t.Error("the tool that was given was changed")
	}
	got := string(tools[0].Schema)
	for _, want := range []string{
		`"required":["title"]`, `"data":{"type":"array","items":{"type":"object"}},"data_uri":{"type":"string","description":"Instead of data:`,
		`"spec_uri":`, `"deep":{"type":"object","properties":{"data":{"type":"array"},"data_uri":`, `"list":{"type":"array","items":{"type":"object","properties":{"data":{"type":"array"},"data_uri":`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	if strings.Contains(got, "other_uri") || strings.Contains(got, "title_uri") || !json.Valid(tools[0].Schema) {
		t.Errorf("schema = %s", got)
	}
	if diff := cmp.Diff([]string{"data", "points", "spec", "other", "deep", "deep.data", "list", "list.data"}, offload.Referable(plot.Schema)); diff != "" {
		t.Errorf("referable (-want +got):\n%s", diff)
	}
	for _, path := range []string{"title", "nope", "deep.nope"} {
		if _, err := offload.NewReferences(b.store, []tool.Tool{{Name: "t", Schema: plot.Schema, References: []string{path}}}, offload.ReferenceOptions{}); err == nil {
			t.Errorf("%s was accepted", path)
		}
	}
}

// BenchmarkSubstitution passes 5 MB on and reports the milliseconds of one call.
func BenchmarkSubstitution(b *testing.B) {
	dir, err := artifact.OpenDir(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer dir.Close()
	s := artifact.New(newIndex(), dir, artifact.Options{})
	w, err := s.Create(b.Context(), artifact.Spec{Owner: ann, Format: chat.FormatRows, Columns: []chat.Column{{Name: "day"}, {Name: "region"}, {Name: "amount"}, {Name: "note"}}})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 50_000 {
		if err := w.WriteRow(fmt.Appendf(nil, `["2026-01-01","north %d",%d.25,"about a hundred characters a row, that is a common size, and here are the last ones"]`, i%7, i)); err != nil {
			b.Fatal(err)
		}
	}
	m, err := w.Commit()
	if err != nil {
		b.Fatal(err)
	}
	refs, err := offload.NewReferences(s, []tool.Tool{plot}, offload.ReferenceOptions{})
	if err != nil {
		b.Fatal(err)
	}
	c := call("plot")
	c.Args = json.RawMessage(`{"title":"t","data_uri":"` + offload.URI(m.ID) + `"}`)
	b.SetBytes(m.Size)
	start, n := time.Now(), 0
	for b.Loop() {
		if _, err := refs.Resolve(b.Context(), c); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(time.Since(start).Milliseconds())/float64(n), "ms/call")
}
