// Package offload is the one place that shortens results: the gate between a tool and the model. It makes a
// preview, keeps the whole as an artifact where the preview cut something, and reads artifacts back, for the
// model and as arguments of later calls.
package offload

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"unicode/utf8"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/summarise"
	"agentd/internal/tool"

	"github.com/go-json-experiment/json/jsontext"
)

// ReadArtifact is the name of the tool that reads back. Its results are pages within the limit by construction
// and pass the gate without a pointer, so that reading can never loop.
const ReadArtifact = "read_artifact"

// Mode says when artifacts are made.
type Mode string

// The modes. The zero Mode is Auto.
const (
	Auto     Mode = "auto"     // whenever a preview cut something
	Explicit Mode = "explicit" // only where a tool was asked for the whole
	Off      Mode = "off"      // never
)

// Options of a Gate. Zero values are the defaults of the configuration's documentation.
type Options struct {
	MaxChars   int                 // characters of a result for the model
	BatchChars int                 // characters of all results of one model step
	ToolChars  map[string]int      // tool → a smaller limit of its own
	Narrowing  map[string][]string // tool → its arguments that make a result smaller; see NarrowingOf
	MaxHeld    int64               // bytes of a result in memory that are still stored
	Mode       Mode
	Log        *slog.Logger // nil is slog.Default
}

func (o Options) withDefaults() Options {
	if o.MaxChars <= 0 {
		o.MaxChars = summarise.DefaultLimit
	}
	if o.BatchChars <= 0 {
		o.BatchChars = 200_000
	}
	if o.MaxHeld <= 0 {
		o.MaxHeld = 50 << 20
	}
	if o.Mode == "" {
		o.Mode = Auto
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// Gate bounds results. It is safe for several goroutines.
type Gate struct {
	store *artifact.Store
	o     Options
}

// New returns a gate over a store, which may be nil: then nothing is kept.
func New(store *artifact.Store, o Options) *Gate { return &Gate{store: store, o: o.withDefaults()} }

// Bounded is a result as it leaves the gate.
type Bounded struct {
	Text     string // for the model; never more characters than the limit, notices included
	Summary  string
	Preview  *chat.Preview  // nil where the result has no payload
	Artifact *chat.Artifact // nil where the question of keeping it did not arise
}

// Limit is how many characters the model gets of a tool's result.
func (g *Gate) Limit(tool string) int {
	if n := g.o.ToolChars[tool]; n > 0 && n < g.o.MaxChars {
		return n
	}
	return g.o.MaxChars
}

// Words shortens what an error says to limit characters: its beginning, and its end, where causes stand.
func (g *Gate) Words(text string, limit int) string {
	return summarise.TextBytes([]byte(text), summarise.Options{Limit: limit, Tail: true}).Text
}

// Bound makes a result fit. It never fails: that a result could not be stored is said in the artifact's
// decision and in the text, and a call that went well stays one that went well. It closes the result.
func (g *Gate) Bound(ctx context.Context, c tool.Call, r tool.Result) Bounded {
	defer r.Close()
	return g.bound(ctx, c, r, g.Limit(c.Name), nil)
}

// bound makes a result fit a limit. was is what it was bounded to before, where the budget of its step asks for less.
func (g *Gate) bound(ctx context.Context, c tool.Call, r tool.Result, limit int, was *Bounded) Bounded {
	say := frame(r, limit)
	room := limit - say.size()
	out, shown := g.preview(c, &r, room)
	if out.Renamed > 0 && was == nil {
		g.o.Log.WarnContext(ctx, "reserved keys of a tool's output were renamed", "tool", c.Name, "call", c.ID, "keys", out.Renamed)
	}
	b := Bounded{Summary: r.Summary, Artifact: r.Artifact}
	if shown {
		b.Preview = &out.Preview
		if was != nil && was.Preview != nil {
			bounds(&out, c, r, was.Preview)
		} else {
			bounds(&out, c, r, nil)
		}
	}
	if r.Artifact == nil && shown && (out.Cut || r.Keep) && c.Name != ReadArtifact {
		b.Artifact = g.keep(ctx, c, r, &out)
	}
	if b.Summary == "" {
		b.Summary = count(out)
	}
	w := ending{out: out, artifact: b.Artifact, narrowing: g.o.Narrowing[c.Name], reading: c.Name == ReadArtifact, batch: was != nil}
	say.notice = w.notice(room - utf8.RuneCountInString(out.Text))
	b.Text = say.around(out.Text)
	return b
}

// reserved are the keys that only agentd may speak with.
var reserved = []string{"_artifact", "_artifact_uri", "_missing_uris"}

// preview leaves room for the notice where it cuts. shown is false where there is no payload. What stands beside a
// list may tell of more than the tool said; then it is noted in r.
func (g *Gate) preview(c tool.Call, r *tool.Result, room int) (out summarise.Out, shown bool) {
	o := summarise.Options{Limit: max(room, 1), Reserved: reserved, Tail: logLike(r.Data)}
	o.Notice = min(noticeRoom, o.Limit/2)
	reading := c.Name == ReadArtifact
	if !reading { // a page counts itself; its place in the whole stands in the summary
		o.Total, o.More = r.Total, r.Bounded
	}
	if out, shown = look(*r, o); !shown {
		return out, shown
	}
	if !reading && beside(out, r) {
		o.Total, o.More = r.Total, r.Bounded
		out, _ = look(*r, o)
	}
	if out.Cut {
		return out, shown
	}
	// What fits may have to be told of all the same.
	need := 0
	if r.Keep && r.Artifact == nil {
		need = o.Notice
	} else if !reading {
		told := out
		bounds(&told, c, *r, nil)
		need = utf8.RuneCountInString(ending{out: told}.seen()) + 1
	}
	if left := o.Limit - need; need > 1 && utf8.RuneCountInString(out.Text) > left && left > 0 {
		o.Limit, o.Notice = left, min(o.Notice, left/2)
		out, _ = look(*r, o)
	}
	return out, shown
}

// look previews a payload as what it is.
func look(r tool.Result, o summarise.Options) (out summarise.Out, shown bool) {
	switch {
	case r.Rows != nil:
		if r.Rows.Stream != nil {
			o.Count = r.Rows.Stream.Count
		}
		out, err := summarise.Rows(r.Rows.Columns, r.Rows.Rows, o)
		if err == nil {
			return out, true
		}
		// A row that is no array is the tool's mistake; what it gave is still shown, as the list it is.
		return summarise.Bytes(list(r.Rows.Rows), o), true
	case len(r.Data) > 0 && r.Data[0] == '"':
		// A text that came as JSON is shown as the text it is.
		if text, err := jsontext.AppendUnquote(nil, r.Data); err == nil {
			return summarise.TextBytes(text, o), true
		}
		return summarise.Bytes(r.Data, o), true
	case len(r.Data) > 0 && string(r.Data) != "null":
		return summarise.Bytes(r.Data, o), true
	}
	return summarise.Out{}, false
}

// list joins rows into a JSON array.
func list(rows []json.RawMessage) []byte {
	b := []byte{'['}
	for i, r := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, r...)
	}
	return append(b, ']')
}

// join puts lines together, without the empty ones.
func join(lines ...string) string {
	var kept []string
	for _, l := range lines {
		if l != "" {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "\n")
}
