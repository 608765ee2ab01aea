package offload

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/summarise"
	"agentd/internal/tool"
)

// Batch keeps the results of one model step together within the budget. What loses text is stored once, unless
// it has a pointer already. The order and what comes out depend on the texts alone. calls[i] made results[i].
func (g *Gate) Batch(ctx context.Context, calls []tool.Call, results []Bounded) []Bounded {
	wants := make([]int, len(results))
	for i, r := range results {
		wants[i] = utf8.RuneCountInString(r.Text)
	}
	got := summarise.Share(g.o.BatchChars, wants)
	out := make([]Bounded, len(results))
	for i, r := range results {
		out[i] = r
		if got[i] < wants[i] {
			out[i] = g.shrink(ctx, calls[i], r, got[i])
		}
	}
	return out
}

// shrink cuts a text that is bounded already to fewer characters. Whole lines are kept, and the pointer.
func (g *Gate) shrink(ctx context.Context, c tool.Call, b Bounded, limit int) Bounded {
	if b.Artifact == nil && c.Name != ReadArtifact {
		b.Artifact = g.keepText(ctx, c, b)
	}
	end := fmt.Sprintf("[cut to %d characters: the results of this step were too large together]", limit)
	if a := b.Artifact; a != nil && a.Decision == chat.ArtifactCreated {
		end = join(end, "_artifact_uri: "+URI(a.ID))
	}
	room := limit - utf8.RuneCountInString(end) - 1
	switch {
	case room > 0:
		b.Text = join(firstLines(b.Text, room), end)
	case limit >= utf8.RuneCountInString(end):
		b.Text = end
	default:
		b.Text = summarise.TextBytes([]byte(b.Text), summarise.Options{Limit: max(limit, 1)}).Text
		if limit <= 0 {
			b.Text = ""
		}
	}
	if b.Preview != nil {
		p := *b.Preview
		p.Completeness, p.BoundedBy = chat.Incomplete, append(p.BoundedBy[:len(p.BoundedBy):len(p.BoundedBy)], chat.BoundByBatch)
		b.Preview = &p
	}
	return b
}

// keepText stores the text as it was, since the payload is gone by now.
func (g *Gate) keepText(ctx context.Context, c tool.Call, b Bounded) *chat.Artifact {
	if g.store == nil || g.o.Mode != Auto {
		return &chat.Artifact{Decision: chat.ArtifactSkipped}
	}
	spec := artifact.Spec{Owner: owner(c), CallID: c.ID, Tool: c.Name, Title: b.Summary, Format: chat.FormatText, Size: int64(len(b.Text))}
	m, _, err := g.put(ctx, spec, func(w *artifact.Writer) error {
		_, err := w.Write([]byte(b.Text))
		return err
	})
	if err != nil {
		d := decision(ctx, err)
		g.o.Log.WarnContext(ctx, "a result was not stored", "tool", c.Name, "call", c.ID, "decision", d, "err", err)
		return &chat.Artifact{Decision: d}
	}
	return m.Artifact()
}

// firstLines keeps whole lines; where not even one fits, its beginning.
func firstLines(s string, limit int) string {
	at, used := 0, 0
	for line := range strings.Lines(s) {
		used += utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))
		if used > limit {
			break
		}
		used++
		at += len(line)
	}
	if at == 0 {
		return summarise.TextBytes([]byte(s), summarise.Options{Limit: max(limit, 1)}).Text
	}
	return strings.TrimSuffix(s[:at], "\n")
}
