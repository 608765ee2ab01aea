package offload

import (
	"context"
	"unicode/utf8"

	"agentd/internal/summarise"
	"agentd/internal/tool"
)

// Batch keeps the results of one model step together within the budget: by water-filling over their texts. What
// loses text is bounded once more, to fewer characters, so that its count, its words and its pointer stay right;
// it is stored once, unless it has a pointer already or storing it failed before. What comes out depends on the
// results alone. calls[i] made raw[i], which was bounded to results[i].
func (g *Gate) Batch(ctx context.Context, calls []tool.Call, raw []tool.Result, results []Bounded) []Bounded {
	wants := make([]int, len(results))
	for i, r := range results {
		wants[i] = utf8.RuneCountInString(r.Text)
	}
	got := summarise.Share(g.o.BatchChars, wants)
	out := make([]Bounded, len(results))
	for i, b := range results {
		out[i] = b
		if got[i] < wants[i] {
			out[i] = g.shrink(ctx, calls[i], raw[i], b, got[i])
		}
	}
	return out
}

// shrink bounds a result to fewer characters than before.
func (g *Gate) shrink(ctx context.Context, c tool.Call, r tool.Result, b Bounded, limit int) Bounded {
	if limit <= 0 {
		b.Text = ""
		return b
	}
	r.Artifact = b.Artifact
	if c.Name == ReadArtifact { // the cursor behind the page would leave out what is cut now
		r.Hint = "Read this page again with the same cursor and a smaller limit, or alone."
	}
	less := g.bound(ctx, c, r, limit, &b)
	less.Summary = b.Summary
	return less
}
