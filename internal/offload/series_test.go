package offload_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/offload"
	"agentd/internal/tool"

	"github.com/google/go-cmp/cmp"
)

// tokens estimates from above how many tokens a model writes for a text, without any vendor's vocabulary: a sign that
// is neither letter nor digit is one of its own (vocabularies have pairs such as `":"`), words of small letters are
// one for each four begun, and everything random, as ids and digits, is three for five characters (vocabularies have
// all pairs of letters and numbers up to three digits).
func tokens(s string) int {
	n := 0
	runs := regexp.MustCompile(`[a-z]+|[A-Z0-9]+|[^a-zA-Z0-9]`)
	for _, run := range runs.FindAllString(s, -1) {
		switch {
		case run == " ":
			// part of the word behind it
		case unicode.IsLower(rune(run[0])):
			n += (len(run) + 3) / 4
		default:
			n += (len(run)*3 + 4) / 5
		}
	}
	return n
}

// series is hourly values of ten days.
func series() tool.Result {
	r := rand.New(rand.NewPCG(1, 2))
	t := &tool.Table{Columns: []chat.Column{{Name: "hour"}, {Name: "orders"}, {Name: "revenue"}}}
	for i := range 240 {
		t.Rows = append(t.Rows, json.RawMessage(fmt.Sprintf(`["2026-03-%02dT%02d:00:00Z",%d,%.2f]`, 1+i/24, i%24, r.IntN(900), r.Float64()*1e5)))
	}
	return tool.Result{Summary: "240 rows.", Rows: t}
}

// handedOn passes a series from one tool to the next as a model does: with what the preview told it.
func handedOn(t testing.TB, gate *offload.Gate, refs *offload.References) (args string, got tool.Call) {
	t.Helper()
	text := gate.Bound(t.Context(), call("run_sql"), series()).Text
	m := regexp.MustCompile(`_artifact_uri: (\S+)`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no pointer:\n%s", text)
	}
	c := call("plot")
	c.Args = json.RawMessage(`{"data_uri":"` + m[1] + `"}`)
	got, err := refs.Resolve(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return string(c.Args), got
}

// TestASeriesGoesOnFor40Tokens: 240 rows reach the next tool, all of them and exact, for at most 40 tokens of output.
func TestASeriesGoesOnFor40Tokens(t *testing.T) {
	b := newBench(t, offload.Options{}, artifact.Options{})
	refs, err := offload.NewReferences(b.store, []tool.Tool{plot}, offload.ReferenceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	args, got := handedOn(t, b.gate, refs)
	if n := tokens(args); n > 40 {
		t.Errorf("%d tokens: %s", n, args)
	}
	var in struct{ Data []map[string]json.RawMessage }
	if err := json.Unmarshal(got.Args, &in); err != nil {
		t.Fatal(err)
	}
	var want []map[string]json.RawMessage
	for _, row := range series().Rows.Rows {
		var cells []json.RawMessage
		if err := json.Unmarshal(row, &cells); err != nil {
			t.Fatal(err)
		}
		want = append(want, map[string]json.RawMessage{"hour": cells[0], "orders": cells[1], "revenue": cells[2]})
	}
	if diff := cmp.Diff(want, in.Data); diff != "" {
		t.Errorf("the tool's rows (-want +got):\n%s", diff)
	}
	if inline := tokens(string(got.Args)); inline < 100*tokens(args) {
		t.Errorf("retyped it would be %d tokens only", inline)
	}
}

func TestTokensAreEstimatedFromAbove(t *testing.T) {
	for text, most := range map[string]int{"": 0, "data": 1, "artifact": 2, "a b": 2, "2026": 3, "01ARZ3NDEKTSV4RRFFQ69G5FAV": 16, `{"a":1}`: 7} {
		if got := tokens(text); got != most {
			t.Errorf("%q: %d, want %d", text, got, most)
		}
	}
	if got := tokens(strings.Repeat("word ", 100)); got != 100 {
		t.Errorf("100 words: %d", got)
	}
}

// BenchmarkReferenceRatio reports what handing on a series costs of a model's output: by reference, and retyped.
func BenchmarkReferenceRatio(b *testing.B) {
	dir, err := artifact.OpenDir(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { dir.Close() })
	store := artifact.New(newIndex(), dir, artifact.Options{})
	gate := offload.New(store, offload.Options{})
	refs, err := offload.NewReferences(store, []tool.Tool{plot}, offload.ReferenceOptions{})
	if err != nil {
		b.Fatal(err)
	}
	var args string
	var got tool.Call
	for b.Loop() {
		args, got = handedOn(b, gate, refs)
	}
	b.ReportMetric(float64(tokens(args)), "tokens")
	b.ReportMetric(float64(tokens(string(got.Args))), "tokens-retyped")
	b.ReportMetric(float64(tokens(string(got.Args)))/float64(tokens(args)), "times-retyped")
}
