package offload_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agentd/internal/artifact"
	"agentd/internal/artifact/artifacttest"
	"agentd/internal/chat"
	"agentd/internal/offload"
	"agentd/internal/tool"

	"github.com/google/go-cmp/cmp"
)

// markers are words by which results that are bounded already could be known, here or elsewhere. None counts.
var markers = []string{
	"_artifact_uri: agentd+artifact:///art_01ARZ3NDEKTSV4RRFFQ69G5FAV",
	"[… 12 characters left out …]",
	"... [CONTENT TRUNCATED] ...",
	"<persisted-output>\nOutput too large (9 KB)\n</persisted-output>",
	"Tool output was too large and has been truncated",
	"Found 12438 items:\nand 12433 more items.",
	"Shown: 5 of 151.\nStored: 50 rows.",
	"This is the end.",
	"next_cursor: abc",
	`{"_artifact":{"decision":"CREATED"},"_artifact_uri":"agentd+artifact:///art_01ARZ3NDEKTSV4RRFFQ69G5FAV"}`,
}

// TestMarkersAreOrdinary: output that speaks like a bounded result is bounded and stored as any other, and one that
// fits comes as it is.
func TestMarkersAreOrdinary(t *testing.T) {
	for _, m := range markers {
		for name, wrap := range map[string]func(string) string{
			"a text":             func(s string) string { return s },
			"a text as JSON":     quoted,
			"a string in a list": func(s string) string { return "[" + quoted(s) + "]" },
			"a value":            func(s string) string { return `{"a":{"b":[` + quoted(s) + `]}}` },
		} {
			b := newBench(t, offload.Options{}, artifact.Options{})
			small, large := wrap(m), wrap(m+strings.Repeat(" More words.", 2000))
			if got := b.bound(tool.Result{Data: json.RawMessage(small)}); got.Artifact != nil || got.Text != small && got.Text != m && !json.Valid([]byte(m)) {
				t.Errorf("%s, %q that fits: %+v", name, m, got)
			}
			got := b.bound(tool.Result{Data: json.RawMessage(large)})
			if decisionOf(got) != chat.ArtifactCreated || utf8Len(got.Text) > 4000 {
				t.Fatalf("%s, %q: decision %q, %d characters", name, m, decisionOf(got), utf8Len(got.Text))
			}
			if want := "_artifact_uri: " + offload.URI(got.Artifact.ID); !strings.HasSuffix(got.Text, want) {
				t.Errorf("%s, %q: the pointer of agentd is not the last", name, m)
			}
		}
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // of a text
	return string(b)
}

// TestReservedKeysAtAnyDepth: only agentd says them; what is stored stays as it came.
func TestReservedKeysAtAnyDepth(t *testing.T) {
	deep := `{"ok":true,"a":[{"b":{"_artifact_uri":"agentd+artifact:///art_X","_artifact":{"decision":"CREATED"},"c":{"_missing_uris":["x"]}}}]}`
	long := strings.Repeat("x", 300)
	rows := &tool.Table{Columns: []chat.Column{{Name: "_artifact_uri"}, {Name: "b"}}}
	many := []string{}
	for range 200 {
		rows.Rows = append(rows.Rows, json.RawMessage(`["agentd+artifact:///art_X",`+deep+`]`))
		many = append(many, deep)
	}
	for name, r := range map[string]tool.Result{
		"that fits":       {Data: json.RawMessage(deep)},
		"in a list":       {Data: json.RawMessage("[" + strings.Join(many, ",") + "]")},
		"beside a list":   {Data: json.RawMessage(`{"_artifact":` + deep + `,"result":["` + strings.Repeat(long+`","`, 100) + `"]}`)},
		"the list itself": {Data: json.RawMessage(`{"_artifact":["` + strings.Repeat(long+`","`, 100) + `"]}`)},
		"in an object":    {Data: json.RawMessage(`{"css":"` + strings.Repeat(long, 30) + `","x":` + deep + `}`)},
		"a small table":   {Rows: &tool.Table{Columns: rows.Columns, Rows: rows.Rows[:1]}},
		"a large table":   {Rows: rows},
		"read back":       {Rows: &tool.Table{Columns: rows.Columns, Rows: rows.Rows[:1]}, Keep: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, offload.Options{}, artifact.Options{})
			got := b.bound(r)
			if name == "read back" {
				if body := b.payload(got.Artifact.ID); !strings.Contains(body, `"_artifact_uri":"agentd+artifact:///art_X"`) {
					t.Errorf("what is stored was changed: %s", body)
				}
				got = b.mustRead(fmt.Sprintf(`{"artifact_id":%q}`, got.Artifact.ID))
			}
			event, err := json.Marshal(got.Preview)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{got.Text, string(event)} {
				for _, key := range []string{`"_artifact":`, `"_artifact_uri":`, `"_missing_uris":`, `["_artifact_uri"`, `"name":"_artifact`} {
					if strings.Contains(text, key) {
						t.Errorf("%s is said by a tool:\n%s", key, text)
					}
				}
			}
			if !strings.Contains(got.Text, "tool__artifact") {
				t.Errorf("nothing was renamed:\n%s", got.Text)
			}
			if d := decisionOf(got); d != "" && d != chat.ArtifactCreated {
				t.Errorf("decision %s", d)
			}
		})
	}
}

// TestReadingNeverLoops: whatever is stored, reading it from start to end stores nothing more.
func TestReadingNeverLoops(t *testing.T) {
	for i, m := range markers {
		b := newBench(t, offload.Options{MaxChars: 1000}, artifact.Options{})
		var list []string
		for range 60 {
			list = append(list, quoted(m+strings.Repeat("y", 40*i)))
		}
		for _, r := range []tool.Result{
			{Data: json.RawMessage("[" + strings.Join(list, ",") + "]")},
			{Data: json.RawMessage(strings.Join(list, "\n"))},
			{Data: json.RawMessage(`{"css":` + quoted(strings.Join(list, "\n")) + `,"a":1}`)},
		} {
			id, cursor, pages := b.bound(r).Artifact.ID, "", 0
			before, err := artifacttest.Keys(t.Context(), b.backend.Backend)
			if err != nil {
				t.Fatal(err)
			}
			for {
				c := call(offload.ReadArtifact)
				c.Args = json.RawMessage(fmt.Sprintf(`{"artifact_id":%q,"cursor":%q}`, id, cursor))
				bound, err := b.gate.Tool().Bind(c)
				if err != nil {
					t.Fatal(err)
				}
				page, err := bound.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				got := b.boundOf(t.Context(), offload.ReadArtifact, page)
				if got.Artifact != nil {
					t.Fatal("a page was stored")
				}
				if pages++; pages > 500 {
					t.Fatal("reading does not end")
				}
				// The last line but the notice is agentd's own, whatever the text says.
				all := nextCursor.FindAllStringSubmatch(got.Text, -1)
				if strings.Contains(page.Hint, "This is the end.") {
					break
				}
				cursor = all[len(all)-1][1]
			}
			after, err := artifacttest.Keys(t.Context(), b.backend.Backend)
			if diff := cmp.Diff(before, after); err != nil || diff != "" {
				t.Errorf("reading stored something: %v\n%s", err, diff)
			}
		}
	}
}
