package offload_test

import (
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

func TestBatch(t *testing.T) {
	for _, budget := range []int{0, 1, 50, 300, 1000, 2000, 5000} {
		b := newBench(t, offload.Options{BatchChars: max(budget, 1)}, artifact.Options{})
		calls := []tool.Call{call("a"), call("b"), call("c"), call(offload.ReadArtifact)}
		results := []offload.Bounded{
			{Text: "small"},
			b.bound(tool.Result{Data: objects(200)}), // has a pointer
			{Text: strings.Repeat("A line of an answer.\n", 100), Preview: &chat.Preview{BoundedBy: []string{chat.BoundBySource}}},
			{Text: strings.Repeat("A page. ", 100)},
		}
		before := append([]offload.Bounded(nil), results...)
		got := b.gate.Batch(t.Context(), calls, results)
		if diff := cmp.Diff(before, results); diff != "" {
			t.Errorf("the results that were given were changed:\n%s", diff)
		}
		total, sum := 0, 0
		for i := range got {
			total += utf8.RuneCountInString(got[i].Text)
			sum += utf8.RuneCountInString(before[i].Text)
		}
		if total > max(budget, 1) && total > sum {
			t.Errorf("budget %d: %d characters", budget, total)
		}
		if budget >= 5 && total > budget {
			t.Errorf("budget %d: %d characters", budget, total)
		}
		switch budget {
		case 5000:
			if diff := cmp.Diff(before, got); diff != "" {
				t.Errorf("within the budget something changed:\n%s", diff)
			}
		case 1000:
			if got[0].Text != "small" || !strings.Contains(got[1].Text, offload.URI(before[1].Artifact.ID)) || got[1].Artifact.ID != before[1].Artifact.ID {
				t.Errorf("got %q and %q", got[0].Text, got[1].Text)
			}
			if p := got[2].Preview; p.Completeness != chat.Incomplete || strings.Join(p.BoundedBy, " ") != "source_limit batch_budget" {
				t.Errorf("preview = %+v", p)
			}
			if body := b.payload(got[2].Artifact.ID); body != before[2].Text {
				t.Errorf("%d characters are stored of %d", len(body), len(before[2].Text))
			}
			if got[3].Artifact != nil {
				t.Error("a page that was read was stored again")
			}
			again := b.gate.Batch(t.Context(), calls, got)
			for i := range again {
				if again[i].Text != got[i].Text {
					t.Errorf("a second pass changed result %d", i)
				}
			}
		}
	}
}
