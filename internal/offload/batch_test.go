package offload_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"agentd/internal/artifact"
	"agentd/internal/artifact/artifacttest"
	"agentd/internal/chat"
	"agentd/internal/offload"
	"agentd/internal/tool"

	"github.com/google/go-cmp/cmp"
)

func newIndex() *artifacttest.Index { return artifacttest.NewIndex() }

// step is the results of one model step, each bounded for itself.
type step struct {
	calls []tool.Call
	raw   []tool.Result
	each  []offload.Bounded
}

func (b *bench) step(raw ...tool.Result) step {
	s := step{raw: raw}
	for i, r := range raw {
		c := call("search_dashboards")
		c.ID = fmt.Sprintf("call_%d", i)
		s.calls = append(s.calls, c)
		s.each = append(s.each, b.gate.Bound(b.Context(), c, r))
	}
	return s
}

func (b *bench) batch(s step) []offload.Bounded {
	return b.gate.Batch(b.Context(), s.calls, s.raw, s.each)
}

func sizes(all []offload.Bounded) (each []int, sum int) {
	for _, r := range all {
		each = append(each, utf8.RuneCountInString(r.Text))
		sum += each[len(each)-1]
	}
	return each, sum
}

// text is a result of n characters that is no collection.
func text(n int) tool.Result {
	return tool.Result{Data: json.RawMessage(strings.Repeat("A line of an answer.\n", n/21+1)[:n])}
}

func TestBatchAtTheBudget(t *testing.T) {
	for extra, changed := range map[int]bool{-1: true, 0: false, 1: false} {
		b := newBench(t, offload.Options{BatchChars: 3000 + extra}, artifact.Options{})
		s := b.step(text(1000), text(1000), text(1000))
		got := b.batch(s)
		_, sum := sizes(got)
		if sum > 3000+extra {
			t.Errorf("%d characters with a budget of %d", sum, 3000+extra)
		}
		// The remainders go to the first slots: only the last one is a character short.
		for i := range got {
			if same := cmp.Diff(s.each[i], got[i]) == ""; same == (changed && i == 2) {
				t.Errorf("budget %d: result %d unchanged is %t", 3000+extra, i, same)
			}
		}
	}
}

// A result below its share keeps all of it; one huge one does not make the others shrink.
func TestOneHugeResultIsTheOneToShrink(t *testing.T) {
	b := newBench(t, offload.Options{BatchChars: 2500}, artifact.Options{})
	s := b.step(text(300), tool.Result{Data: objects(5000)}, text(900), text(20))
	s.each[1].Text += strings.Repeat("x", 1000) // larger than any gate lets through
	got := b.batch(s)
	for _, i := range []int{0, 2, 3} {
		if diff := cmp.Diff(s.each[i], got[i]); diff != "" {
			t.Errorf("result %d lost something:\n%s", i, diff)
		}
	}
	if each, sum := sizes(got); sum > 2500 || each[1] < 800 {
		t.Errorf("%d characters together: %d", sum, each)
	}
	if !strings.HasPrefix(got[1].Text, "Found 5000 items:\n") || got[1].Artifact.ID != s.each[1].Artifact.ID {
		t.Errorf("text = %s", got[1].Text)
	}
}

func TestBatchSaysWhatIsShown(t *testing.T) {
	b := newBench(t, offload.Options{BatchChars: 2250}, artifact.Options{})
	s := b.step(
		tool.Result{Rows: dashboards(20), Total: ptr(151), Bounded: true}, // fits for itself, and the source has more
		tool.Result{Data: objects(400)},                                   // has a pointer
		tool.Result{Data: objects(30)},                                    // fits for itself
	)
	if s.each[0].Artifact != nil || s.each[1].Artifact == nil || s.each[2].Artifact != nil {
		t.Fatal("the bench is not as it should be")
	}
	before := append([]offload.Bounded(nil), s.each...)
	keys, err := artifacttest.Keys(t.Context(), b.backend.Backend)
	if err != nil || len(keys) != 1 {
		t.Fatalf("stored: %v, %v", keys, err)
	}
	got := b.batch(s)
	if diff := cmp.Diff(before, s.each); diff != "" {
		t.Errorf("what was given was changed:\n%s", diff)
	}
	for i, want := range []struct {
		by    string
		total int64
		rows  string
	}{
		{"source_limit batch_budget", 151, "Dashboard number 19"},
		{"preview_limit batch_budget", 400, "Dashboard number 399"},
		{"batch_budget", 30, "Dashboard number 29"},
	} {
		p := got[i].Preview
		shown := len(p.Rows) + len(p.Items)
		if p.Completeness != chat.Incomplete || strings.Join(p.BoundedBy, " ") != want.by || *p.Total != want.total || int(*p.Returned) != shown {
			t.Errorf("result %d: %s by %s, %d of %d with %d shown", i, p.Completeness, p.BoundedBy, *p.Returned, *p.Total, shown)
		}
		for _, item := range append(p.Rows, p.Items...) {
			if !strings.Contains(got[i].Text, string(item)) {
				t.Errorf("result %d: the page shows %s, the model does not", i, item)
			}
		}
		lines := regexp.MustCompile(`(?m)^[\[{]`).FindAllString(got[i].Text, -1)
		if len(lines) != shown {
			t.Errorf("result %d: the model sees %d, the page %d:\n%s", i, len(lines), shown, got[i].Text)
		}
		for _, words := range []string{fmt.Sprintf("Found %d items:", want.total), fmt.Sprintf("and %d more items.", want.total-int64(shown)),
			fmt.Sprintf("Shown: %d of %d", shown, want.total), offload.URI(got[i].Artifact.ID), "too large together"} {
			if !strings.Contains(got[i].Text, words) {
				t.Errorf("result %d: %q is not in the text:\n%s", i, words, got[i].Text)
			}
		}
		if strings.Contains(got[i].Text, "gives the same cut") {
			t.Errorf("result %d: called alone it does not give the same", i)
		}
		if body := b.payload(got[i].Artifact.ID); !strings.Contains(body, want.rows) || got[i].Artifact.Format != chat.FormatRows {
			t.Errorf("result %d: the whole is not kept as rows", i)
		}
	}
	if got[1].Artifact.ID != before[1].Artifact.ID {
		t.Error("what had a pointer has another one")
	}
	if keys, err := artifacttest.Keys(t.Context(), b.backend.Backend); err != nil || len(keys) != 3 {
		t.Errorf("%d are stored, %v", len(keys), err)
	}
	s.each = got
	if diff := cmp.Diff(got, b.batch(s)); diff != "" {
		t.Errorf("a second pass changed something:\n%s", diff)
	}
}

func TestBatchIsDeterministic(t *testing.T) {
	id := regexp.MustCompile(`art_\w+|until \S+`)
	var first []string
	for range 3 {
		b := newBench(t, offload.Options{BatchChars: 4000}, artifact.Options{})
		var texts []string
		for _, r := range b.batch(b.step(text(3000), tool.Result{Data: objects(400)}, tool.Result{Rows: dashboards(30)}, text(1500))) {
			texts = append(texts, id.ReplaceAllString(r.Text, "…"))
		}
		if first == nil {
			first = texts
		}
		if diff := cmp.Diff(first, texts); diff != "" {
			t.Errorf("another time:\n%s", diff)
		}
	}
}

// A page of a stored result that is cut must not give the cursor behind it: what was cut would never be read.
func TestBatchWithAPageThatIsRead(t *testing.T) {
	b := newBench(t, offload.Options{BatchChars: 3000}, artifact.Options{})
	id := b.bound(tool.Result{Rows: dashboards(500)}).Artifact.ID
	c := call(offload.ReadArtifact)
	c.Args = json.RawMessage(fmt.Sprintf(`{"artifact_id":%q}`, id))
	bound, err := b.gate.Tool().Bind(c)
	if err != nil {
		t.Fatal(err)
	}
	page, err := bound.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := step{calls: []tool.Call{c, call("t")}, raw: []tool.Result{page, text(2000)}}
	for i := range s.calls {
		s.each = append(s.each, b.gate.Bound(t.Context(), s.calls[i], s.raw[i]))
	}
	if nextCursor.FindString(s.each[0].Text) == "" {
		t.Fatal("the page has no cursor")
	}
	got := b.batch(s)[0]
	p := got.Preview
	if got.Artifact != nil || nextCursor.FindString(got.Text) != "" || !strings.Contains(got.Text, "Read this page again with the same cursor and a smaller limit") {
		t.Errorf("artifact %+v, text = %s", got.Artifact, got.Text)
	}
	if int(*p.Returned) != len(p.Rows) || *p.Returned >= *s.each[0].Preview.Returned || *p.Returned == 0 || *p.Total != 500 ||
		strings.Join(p.BoundedBy, " ") != "preview_limit batch_budget" || p.Completeness != chat.Incomplete {
		t.Errorf("%d of %d by %s", *p.Returned, *p.Total, p.BoundedBy)
	}
	again := b.mustRead(fmt.Sprintf(`{"artifact_id":%q,"limit":%d}`, id, *p.Returned))
	if diff := cmp.Diff(p.Rows, again.Preview.Rows); diff != "" {
		t.Errorf("the advice leads elsewhere:\n%s", diff)
	}
}

// What could not be stored once is not tried again, and what keeps its end still keeps it.
func TestBatchAfterTheGate(t *testing.T) {
	b := newBench(t, offload.Options{BatchChars: 3000}, artifact.Options{})
	b.backend.At = artifacttest.AtCreate
	log := strings.Repeat("2026-01-01 10:00:00 INFO a step of the run went well.\n", 500) + "2026-01-01 10:00:09 ERROR no such table: sales"
	s := b.step(tool.Result{Data: json.RawMessage(log)}, text(2500))
	b.backend.At = ""
	got := b.batch(s)[0]
	if decisionOf(got) != chat.ArtifactFailed {
		t.Errorf("decision %s", decisionOf(got))
	}
	for _, r := range []offload.Bounded{s.each[0], got} {
		if !strings.HasPrefix(r.Text, "2026-01-01 10:00:00") || !strings.Contains(r.Text, "ERROR no such table: sales") || !strings.Contains(r.Text, "was not stored") {
			t.Errorf("text = %s", r.Text)
		}
	}
}

func TestTinyBudgets(t *testing.T) {
	for budget := 1; budget < 700; budget += 7 {
		b := newBench(t, offload.Options{BatchChars: budget}, artifact.Options{})
		s := b.step(text(50), tool.Result{Data: objects(200)}, tool.Result{Summary: "Done, and this is said of it.", Warnings: []string{"Look at this."}, Hint: "next_page: 2"},
			tool.Result{Rows: dashboards(20), Total: ptr(40), Hint: "next_page: 2"})
		if _, sum := sizes(b.batch(s)); sum > budget {
			t.Errorf("%d characters with a budget of %d", sum, budget)
		}
	}
}
