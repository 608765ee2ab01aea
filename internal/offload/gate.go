// Package offload is the one place that shortens results: the gate between a tool and the model. It makes a
// preview, keeps the whole as an artifact where the preview cut something, and reads artifacts back, for the
// model and as arguments of later calls.
package offload

import (
	"context"
	"encoding/json"
	"fmt"
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

// Bound makes a result fit. It never fails: that a result could not be stored is said in the artifact's
// decision and in the text, and a call that went well stays one that went well. It closes the result.
func (g *Gate) Bound(ctx context.Context, c tool.Call, r tool.Result) Bounded {
	defer r.Close()
	limit := g.Limit(c.Name)
	say := frame(r, limit)
	out, shown := g.preview(c, r, limit-say.size())
	if out.Renamed > 0 {
		g.o.Log.WarnContext(ctx, "reserved keys of a tool's output were renamed", "tool", c.Name, "call", c.ID, "keys", out.Renamed)
	}
	b := Bounded{Summary: r.Summary, Artifact: r.Artifact}
	if shown {
		b.Preview = &out.Preview
		complete(&out, r)
		if c.Name == ReadArtifact && out.Preview.Returned != nil {
			out.Preview.Total = r.Total
			if r.Bounded {
				out.Preview.Completeness, out.Preview.BoundedBy = chat.Incomplete, []string{chat.BoundByPreview}
			}
		}
	}
	if r.Artifact == nil && shown && (out.Cut || r.Keep) && c.Name != ReadArtifact {
		b.Artifact = g.keep(ctx, c, r, &out)
	}
	if b.Summary == "" {
		b.Summary = count(out)
	}
	say.notice = notice(out, b.Artifact, g.o.Narrowing[c.Name], c.Name == ReadArtifact, limit-say.size()-utf8.RuneCountInString(out.Text))
	b.Text = say.around(out.Text)
	return b
}

// reserved are the keys that only agentd may speak with.
var reserved = []string{"_artifact", "_artifact_uri", "_missing_uris"}

// preview leaves room for the notice where it cuts. shown is false where there is no payload.
func (g *Gate) preview(c tool.Call, r tool.Result, room int) (out summarise.Out, shown bool) {
	room = max(room, 1)
	o := summarise.Options{Limit: room, Notice: min(noticeRoom, room/2), Total: r.Total, More: r.Bounded, Reserved: reserved, Tail: logLike(r.Data)}
	if r.Keep && r.Artifact == nil { // there will be a notice, cut or not
		o.Limit, o.Notice = room-o.Notice, 0
	}
	if c.Name == ReadArtifact { // a page counts itself; its place in the whole stands in the summary
		o.Total, o.More = nil, false
	} else if r.Bounded || r.Total != nil {
		o.Limit -= min(sourceRoom, room/4) // an uncut result says so too
		o.Notice -= min(sourceRoom, room/4)
	}
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

// complete says whether the result was seen to its end. An empty result, and one that is no collection and was
// not cut, says nothing.
func complete(out *summarise.Out, r tool.Result) {
	p := &out.Preview
	collection := out.Kind == summarise.List || out.Kind == summarise.Table
	if collection && out.Count == 0 || !collection && !out.Cut {
		p.Returned, p.Total = nil, nil
		return
	}
	source := collection && (r.Bounded || r.Total != nil && *r.Total > out.Count)
	if source {
		p.BoundedBy = append(p.BoundedBy, chat.BoundBySource)
	}
	if out.Cut {
		p.BoundedBy = append(p.BoundedBy, chat.BoundByPreview)
	}
	switch {
	case source || out.Cut:
		p.Completeness = chat.Incomplete
	case out.Partial:
		p.Completeness = chat.Unsure
	default:
		p.Completeness = chat.Complete
	}
}

// count is a summary of a result that came without one.
func count(out summarise.Out) string {
	p := out.Preview
	switch {
	case p.Returned == nil:
		return ""
	case p.Total != nil && *p.Total != *p.Returned:
		return fmt.Sprintf("%d of %d items.", *p.Returned, *p.Total)
	case p.Total == nil:
		return fmt.Sprintf("%d items, and there are more.", *p.Returned)
	}
	return fmt.Sprintf("%d items.", *p.Returned)
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
