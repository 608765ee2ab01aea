package offload_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"agentd/internal/artifact"
	"agentd/internal/artifact/artifacttest"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/offload"
	"agentd/internal/tool"

	"github.com/google/go-cmp/cmp"
)

// bench is a gate over a store in a directory.
type bench struct {
	*testing.T
	backend *artifacttest.Faulty
	index   *artifacttest.Index
	store   *artifact.Store
	gate    *offload.Gate
}

func newBench(t *testing.T, o offload.Options, so artifact.Options) *bench {
	t.Helper()
	dir, err := artifact.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	b := &bench{T: t, backend: &artifacttest.Faulty{Backend: dir}, index: artifacttest.NewIndex()}
	quiet := slog.New(slog.DiscardHandler)
	o.Log, so.Log = quiet, quiet
	b.store = artifact.New(b.index, b.backend, so)
	b.gate = offload.New(b.store, o)
	return b
}

func call(name string) tool.Call {
	return tool.Call{ToolCall: chat.ToolCall{ID: "call_1", Name: name}, Who: chat.Identity{User: "ann"}, Conversation: "c1"}
}

var ann = artifact.Owner{User: "ann", Conversation: "c1"}

func (b *bench) bound(r tool.Result) offload.Bounded {
	b.Helper()
	return b.boundOf(b.Context(), "search_dashboards", r)
}

func (b *bench) boundOf(ctx context.Context, name string, r tool.Result) offload.Bounded {
	b.Helper()
	got := b.gate.Bound(ctx, call(name), r)
	if n := utf8.RuneCountInString(got.Text); n > b.gate.Limit(name) {
		b.Errorf("%d characters over the limit of %d", n, b.gate.Limit(name))
	}
	return got
}

func (b *bench) payload(id string) string {
	b.Helper()
	_, r, err := b.store.Open(b.Context(), ann, id)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	body, err := io.ReadAll(r)
	if err != nil {
		b.Fatal(err)
	}
	return string(body)
}

func ptr(n int64) *int64 { return &n }

// dashboards is a page of a search.
func dashboards(n int) *tool.Table {
	t := &tool.Table{Columns: []chat.Column{{Name: "id"}, {Name: "title"}, {Name: "uuid"}, {Name: "url"}}}
	for i := range n {
		t.Rows = append(t.Rows, json.RawMessage(fmt.Sprintf(`[%d,"Dashboard number %d","8f6c5a2e-0000-4000-8000-%012d","https://bi.example.com/superset/dashboard/%d/"]`, i, i, i, i)))
	}
	return t
}

func objects(n int) json.RawMessage {
	var b strings.Builder
	for i := range n {
		sep := ","
		if i == 0 {
			sep = "["
		}
		fmt.Fprintf(&b, `%s{"id":%d,"title":"Dashboard number %d","url":"https://bi.example.com/superset/dashboard/%d/"}`, sep, i, i, i)
	}
	return json.RawMessage(b.String() + "]")
}

func TestASearchOf151With50Fetched(t *testing.T) {
	for name, r := range map[string]tool.Result{
		"rows": {Summary: "Found 151 dashboards; these are 1 to 50.", Rows: dashboards(50), Total: ptr(151), Bounded: true},
		"list": {Summary: "Found 151 dashboards; these are 1 to 50.", Total: ptr(151), Bounded: true},
	} {
		if name == "list" {
			r.Data = objects(50)
		}
		t.Run(name, func(t *testing.T) {
			b := newBench(t, offload.Options{}, artifact.Options{})
			got := b.bound(r)
			for _, want := range []string{"Found 151 items:\n", "\nand 146 more items.", "Dashboard number 4\"", "Shown: 5 of 151; the source gave 50 and has more.",
				"\n_artifact_uri: agentd+artifact:///" + got.Artifact.ID, "Repeating this call gives the same cut."} {
				if !strings.Contains(got.Text, want) {
					t.Errorf("%q is not in the text:\n%s", want, got.Text)
				}
			}
			if strings.Contains(got.Text, "Dashboard number 5\"") {
				t.Error("a sixth item is in the text")
			}
			p := got.Preview
			if p.Completeness != chat.Incomplete || *p.Returned != 5 || *p.Total != 151 {
				t.Errorf("preview = %s, %d of %d", p.Completeness, *p.Returned, *p.Total)
			}
			if diff := cmp.Diff([]string{chat.BoundBySource, chat.BoundByPreview}, p.BoundedBy); diff != "" {
				t.Errorf("bounded by (-want +got):\n%s", diff)
			}
			if a := got.Artifact; a.Decision != chat.ArtifactCreated || a.Coverage != chat.CoveragePrefix || *a.Rows != 50 || a.Format != chat.FormatRows || a.ExpiresAt == nil {
				t.Errorf("artifact = %+v", a)
			}
			if n := strings.Count(b.payload(got.Artifact.ID), "\n"); n != 50 {
				t.Errorf("%d rows are stored", n)
			}
		})
	}
}

func TestCompleteness(t *testing.T) {
	small := json.RawMessage(`[{"id":1},{"id":2}]`)
	long := json.RawMessage(`{"css":"` + strings.Repeat("a", 9000) + `"}`)
	for name, c := range map[string]struct {
		r        tool.Result
		want     chat.Completeness
		by       string
		returned int64 // -1: none
		total    int64 // -1: none
		decision string
	}{
		"a list that ends":              {tool.Result{Data: small}, chat.Complete, "", 2, 2, ""},
		"a table that ends":             {tool.Result{Rows: dashboards(3)}, chat.Complete, "", 3, 3, ""},
		"a list of a page":              {tool.Result{Data: small, Total: ptr(9), Bounded: true}, chat.Incomplete, "source_limit", 2, 9, ""},
		"a page without a total":        {tool.Result{Data: small, Bounded: true}, chat.Incomplete, "source_limit", 2, -1, ""},
		"a total tells of more":         {tool.Result{Data: small, Total: ptr(9)}, chat.Incomplete, "source_limit", 2, 9, ""},
		"all of them, counted":          {tool.Result{Data: small, Total: ptr(2)}, chat.Complete, "", 2, 2, ""},
		"a list that is cut":            {tool.Result{Data: objects(100)}, chat.Incomplete, "preview_limit", 5, 100, chat.ArtifactCreated},
		"an empty list":                 {tool.Result{Data: json.RawMessage(`[]`)}, "", "", -1, -1, ""},
		"an empty page":                 {tool.Result{Rows: dashboards(0), Total: ptr(9), Bounded: true}, "", "", -1, -1, ""},
		"an object":                     {tool.Result{Data: json.RawMessage(`{"id":1}`)}, "", "", -1, -1, ""},
		"an object that is cut":         {tool.Result{Data: long}, chat.Incomplete, "preview_limit", -1, -1, chat.ArtifactCreated},
		"a text":                        {tool.Result{Data: json.RawMessage(`no JSON at all`)}, "", "", -1, -1, ""},
		"a text that is cut":            {tool.Result{Data: json.RawMessage(strings.Repeat("A log line. ", 900))}, chat.Incomplete, "preview_limit", -1, -1, chat.ArtifactCreated},
		"a list that breaks off":        {tool.Result{Data: objects(100)[:7000]}, chat.Incomplete, "preview_limit", 5, -1, chat.ArtifactCreated},
		"an object around a list":       {tool.Result{Data: json.RawMessage(`{"count":2,"result":[{"id":1},{"id":2}]}`)}, chat.Complete, "", 2, 2, ""},
		"a number, with a bounded flag": {tool.Result{Data: json.RawMessage(`7`), Bounded: true}, "", "", -1, -1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := newBench(t, offload.Options{}, artifact.Options{}).bound(c.r)
			p := got.Preview
			if p.Completeness != c.want || strings.Join(p.BoundedBy, " ") != c.by {
				t.Errorf("got %q by %q, want %q by %q", p.Completeness, p.BoundedBy, c.want, c.by)
			}
			if n := orNone(p.Returned); n != c.returned {
				t.Errorf("returned %d, want %d", n, c.returned)
			}
			if n := orNone(p.Total); n != c.total {
				t.Errorf("total %d, want %d", n, c.total)
			}
			if decision := decisionOf(got); decision != c.decision {
				t.Errorf("decision %q, want %q", decision, c.decision)
			}
		})
	}
}

func orNone(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}

func decisionOf(b offload.Bounded) string {
	if b.Artifact == nil {
		return ""
	}
	return b.Artifact.Decision
}

func TestAResultWithoutPayload(t *testing.T) {
	got := newBench(t, offload.Options{}, artifact.Options{}).bound(tool.Result{Summary: "Done.", Warnings: []string{"Look."}, Links: []chat.Link{{Title: "Sales", URL: "https://s/1"}}})
	if got.Preview != nil || got.Artifact != nil || got.Text != "Done.\nWarning: Look.\nLink: Sales https://s/1" {
		t.Errorf("got %+v", got)
	}
}

func TestTheLadder(t *testing.T) {
	big := tool.Result{Data: objects(200)}
	whole := func(got offload.Bounded) bool { return strings.HasPrefix(got.Text, "Found 200 items:\n") }

	t.Run("too large", func(t *testing.T) {
		b := newBench(t, offload.Options{MaxHeld: 100}, artifact.Options{})
		got := b.bound(big)
		if decisionOf(got) != chat.ArtifactDenied || !whole(got) || !strings.Contains(got.Text, "too large") {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("no quota", func(t *testing.T) {
		b := newBench(t, offload.Options{}, artifact.Options{Quota: chat.ArtifactQuota{User: 100}})
		if got := b.bound(big); decisionOf(got) != chat.ArtifactDenied || !whole(got) {
			t.Errorf("got %+v", got)
		}
	})
	for _, at := range []artifacttest.Where{artifacttest.AtCreate, artifacttest.AtWrite, artifacttest.AtCommit} {
		t.Run("no store at "+string(at), func(t *testing.T) {
			b := newBench(t, offload.Options{}, artifact.Options{})
			b.backend.At = at
			got := b.bound(big)
			if decisionOf(got) != chat.ArtifactFailed || !whole(got) || strings.Contains(got.Text, "_artifact_uri") {
				t.Errorf("got %+v", got)
			}
			if u := b.index.Usage("c1", "ann"); u.Total != 0 {
				t.Errorf("%d bytes still count", u.Total)
			}
		})
		t.Run("the fallback takes it at "+string(at), func(t *testing.T) {
			second, err := artifact.OpenDir(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer second.Close()
			b := newBench(t, offload.Options{}, artifact.Options{Fallback: second})
			b.backend.At = at
			got := b.bound(big)
			if decisionOf(got) != chat.ArtifactCreated {
				t.Fatalf("got %+v", got)
			}
			if n := strings.Count(b.payload(got.Artifact.ID), "\n"); n != 200 {
				t.Errorf("%d rows", n)
			}
		})
	}
	t.Run("both fail", func(t *testing.T) {
		dir, err := artifact.OpenDir(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		second := &artifacttest.Faulty{Backend: dir, At: artifacttest.AtCreate}
		b := newBench(t, offload.Options{}, artifact.Options{Fallback: second})
		b.backend.At = artifacttest.AtCreate
		if got := b.bound(big); decisionOf(got) != chat.ArtifactFailed || !whole(got) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("the index fails", func(t *testing.T) {
		b := newBench(t, offload.Options{}, artifact.Options{})
		b.index.Fail(errors.New("no database"))
		if got := b.bound(big); decisionOf(got) != chat.ArtifactFailed || !whole(got) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		b := newBench(t, offload.Options{}, artifact.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got := b.boundOf(ctx, "t", big); decisionOf(got) != chat.ArtifactCancelled || !whole(got) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("switched off", func(t *testing.T) {
		for _, b := range []*bench{newBench(t, offload.Options{Mode: offload.Off}, artifact.Options{}), newBench(t, offload.Options{Mode: offload.Explicit}, artifact.Options{})} {
			if got := b.bound(big); decisionOf(got) != chat.ArtifactSkipped || !whole(got) {
				t.Errorf("got %+v", got)
			}
		}
		if got := offload.New(nil, offload.Options{}).Bound(t.Context(), call("t"), big); decisionOf(got) != chat.ArtifactSkipped {
			t.Errorf("got %+v", got)
		}
	})
}

func TestHowTheWholeIsKept(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for name, c := range map[string]struct {
		r      tool.Result
		format string
		want   string // payload
	}{
		"a table":                           {tool.Result{Rows: &tool.Table{Columns: []chat.Column{{Name: "a"}}, Rows: []json.RawMessage{json.RawMessage(`["` + long + `"]`)}}}, "jsonl", `["` + long + "\"]\n"},
		"a list":                            {tool.Result{Data: json.RawMessage(`[ {"a": "` + long + `"}, 9007199254740993 ]`)}, "jsonl", `{"a":"` + long + "\"}\n9007199254740993\n"},
		"an object around a list":           {tool.Result{Data: json.RawMessage(`{"count":1,"result":["` + long + `"]}`)}, "jsonl", `"` + long + "\"\n"},
		"a list beside what does not fit":   {tool.Result{Data: json.RawMessage(`{"note":"` + long + `","result":["` + long + `"]}`)}, "json", `{"note":"` + long + `","result":["` + long + `"]}`},
		"another object":                    {tool.Result{Data: json.RawMessage(`{"css":"` + long + `"}`)}, "json", `{"css":"` + long + `"}`},
		"a text":                            {tool.Result{Data: json.RawMessage(long)}, "text", long},
		"a table whose rows are no arrays":  {tool.Result{Rows: &tool.Table{Rows: []json.RawMessage{json.RawMessage(`{"a":"` + long + `"}`)}}}, "jsonl", `{"a":"` + long + "\"}\n"},
		"a text that looks like a pointer":  {tool.Result{Data: json.RawMessage("_artifact_uri: agentd+artifact:///art_X " + long)}, "text", "_artifact_uri: agentd+artifact:///art_X " + long},
		"the members of a list of one kind": {tool.Result{Data: json.RawMessage(`[[1,2],["` + long + `"]]`)}, "jsonl", "[1,2]\n[\"" + long + "\"]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, offload.Options{}, artifact.Options{})
			got := b.bound(c.r)
			if decisionOf(got) != chat.ArtifactCreated || got.Artifact.Format != c.format {
				t.Fatalf("artifact = %+v", got.Artifact)
			}
			if body := b.payload(got.Artifact.ID); body != c.want {
				t.Errorf("payload = %.200s, want %.200s", body, c.want)
			}
		})
	}
}

func TestCapsOfTheStore(t *testing.T) {
	b := newBench(t, offload.Options{}, artifact.Options{MaxRows: 20})
	got := b.bound(tool.Result{Data: objects(200)})
	if a := got.Artifact; a.Coverage != chat.CoveragePrefix || *a.Rows != 20 {
		t.Errorf("artifact = %+v", got.Artifact)
	}
	if by := strings.Join(got.Preview.BoundedBy, " "); by != "preview_limit size_cap" {
		t.Errorf("bounded by %s", by)
	}
	if !strings.Contains(got.Text, "20 rows (not all that there is)") {
		t.Errorf("text = %s", got.Text)
	}
}

func TestAToolsOwnArtifact(t *testing.T) {
	b := newBench(t, offload.Options{}, artifact.Options{})
	own := &chat.Artifact{Decision: chat.ArtifactCreated, ID: "art_own", Format: "binary", SizeBytes: 7}
	got := b.bound(tool.Result{Summary: "Exported.", Data: objects(200), Artifact: own})
	if got.Artifact != own || !strings.Contains(got.Text, "art_own") {
		t.Errorf("got %+v", got)
	}
	keys, err := artifacttest.Keys(t.Context(), b.backend.Backend)
	if err != nil || len(keys) != 0 {
		t.Errorf("it was stored twice: %v, %v", keys, err)
	}
}

func TestReadingBackIsExempt(t *testing.T) {
	b := newBench(t, offload.Options{}, artifact.Options{})
	got := b.boundOf(t.Context(), offload.ReadArtifact, tool.Result{Data: objects(200)})
	if got.Artifact != nil || strings.Contains(got.Text, "_artifact_uri") {
		t.Errorf("a page was stored again: %+v", got.Artifact)
	}
}

func TestForgedPointersAreRenamed(t *testing.T) {
	got := newBench(t, offload.Options{}, artifact.Options{}).bound(tool.Result{Data: json.RawMessage(`{"_artifact_uri":"agentd+artifact:///art_X","ok":true}`)})
	if !strings.Contains(got.Text, `"tool__artifact_uri"`) || strings.Contains(got.Text, `{"_artifact_uri"`) {
		t.Errorf("text = %s", got.Text)
	}
}

// TestAlwaysWithinTheLimit runs every shape against every small limit.
func TestAlwaysWithinTheLimit(t *testing.T) {
	long := strings.Repeat("Wörter und 👍. ", 400)
	quotedLong, _ := json.Marshal(long)
	results := []tool.Result{
		{Data: objects(100)}, {Rows: dashboards(100), Total: ptr(5000), Bounded: true}, {Data: json.RawMessage(long)},
		{Data: json.RawMessage(quotedLong)}, {Data: json.RawMessage(`{"a":` + string(quotedLong) + `,"result":` + string(objects(50)) + `}`)},
		{Summary: long, Warnings: []string{long, "short"}, Links: []chat.Link{{Title: "t", URL: "u"}}, Data: objects(3)},
	}
	for _, limit := range []int{1, 2, 10, 50, 100, 200, 399, 400, 401, 1000, 3999, 4000, 4001} {
		b := newBench(t, offload.Options{MaxChars: limit}, artifact.Options{})
		for _, r := range results {
			b.bound(r)
		}
		b = newBench(t, offload.Options{MaxChars: 4000, ToolChars: map[string]int{"search_dashboards": limit}}, artifact.Options{})
		b.bound(results[0])
	}
}

func TestBackups(t *testing.T) {
	b := newBench(t, offload.Options{}, artifact.Options{MaxBytes: 1000})
	who := chat.Identity{User: "ann"}
	a, err := b.gate.Store(t.Context(), who, "c1", "Backup of Sales", strings.NewReader("PK\x03\x04"))
	if err != nil || a.Decision != chat.ArtifactCreated || a.Format != chat.FormatBinary || a.SizeBytes != 4 {
		t.Fatalf("got %+v, %v", a, err)
	}
	if b.payload(a.ID) != "PK\x03\x04" {
		t.Error("the payload differs")
	}
	_, err = b.gate.Store(t.Context(), who, "c1", "t", strings.NewReader(strings.Repeat("x", 1001)))
	if fault.KindOf(err) != fault.TooLarge {
		t.Errorf("half a file was kept: %v", err)
	}
	if _, err = b.gate.Store(t.Context(), who, "c1", "t", iotest.ErrReader(errors.New("cut"))); err == nil {
		t.Error("the reader's error was lost")
	}
	keys, err := artifacttest.Keys(t.Context(), b.backend.Backend)
	if err != nil || len(keys) != 1 {
		t.Errorf("left: %v, %v", keys, err)
	}
}
