// Package summarise makes bounded previews of results, in one pass and with memory that is bounded by the
// preview and not by the input. It is pure: it stores nothing and knows nothing of tools.
//
// A character is a Unicode code point everywhere.
package summarise

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"agentd/internal/chat"

	"github.com/go-json-experiment/json/jsontext"
)

// Defaults of Options.
const (
	DefaultLimit = 4000
	DefaultItems = 5
)

// Options bound a preview. The zero Options are the defaults.
type Options struct {
	Limit  int    // characters of Out.Text; an input of exactly Limit is shown as it is
	Items  int    // items or rows of a collection that is cut
	Notice int    // characters that a preview which is cut leaves free for its caller's own words
	Total  *int64 // how many there are at the source, where that is known and differs from what the input holds
	More   bool   // the source has more than the input, without saying how many
	Count  int64  // rows of the input, where Rows is given only the first of them; the others count as cut
	Tail   bool   // a text that is cut keeps its end too, as logs and errors need it

	// Reserved are keys of agentd's own that an input may not speak with. They get the prefix RenamedPrefix.
	Reserved []string
}

// RenamedPrefix goes before a reserved key of an input.
const RenamedPrefix = "tool_"

// Kind is what an input turned out to be.
type Kind string

// The kinds.
const (
	List   Kind = "list"   // a JSON array, or an object around one main array
	Table  Kind = "table"  // columns and rows
	Object Kind = "object" // any other JSON object
	Scalar Kind = "scalar" // a JSON string, number, boolean or null
	Prose  Kind = "text"   // what is no JSON
)

// Out is a preview in both its forms.
type Out struct {
	Text    string       // for the model; never longer than Options.Limit
	Preview chat.Preview // for the page; Returned and Total are set for collections, the rest is the caller's
	Kind    Kind
	Cut     bool  // Text says less than the input did
	Partial bool  // the input broke off: its items were counted up to there
	Count   int64 // items or rows of the input

	Main     string // key of the main array where the input is an object around one
	Siblings bool   // all the rest of that object is in the preview

	Renamed int   // reserved keys that were renamed
	Size    int64 // bytes read
}

func (o Options) withDefaults() Options {
	if o.Limit <= 0 {
		o.Limit = DefaultLimit
	}
	if o.Items <= 0 {
		o.Items = DefaultItems
	}
	o.Notice = max(0, min(o.Notice, o.Limit))
	return o
}

// room is what a preview that is cut may use.
func (o Options) room() int { return o.Limit - o.Notice }

// JSON previews r, which is read to its end. What is no JSON is previewed as text. Its only errors are those
// of r; a body that breaks off within an array is no error but Partial.
func JSON(r io.Reader, o Options) (Out, error) {
	o = o.withDefaults()
	src := newSource(r, o.Limit)
	whole, err := src.fits()
	if err != nil {
		return Out{}, err
	}
	if whole {
		return wholeJSON(src.head, o), nil
	}
	t, err := sampleTop(src.clipped(), o)
	if rerr := src.drain(); rerr != nil {
		return Out{}, rerr
	}
	switch {
	case err == nil:
	case errors.Is(err, io.ErrUnexpectedEOF) && t.main != nil && t.main.count > 0:
		t.partial = true
	default:
		return cutText(src, o), nil
	}
	out := t.render(o)
	out.Size = src.size
	return out, nil
}

// Text previews r as text, whatever it looks like. Its only errors are those of r.
func Text(r io.Reader, o Options) (Out, error) {
	o = o.withDefaults()
	src := newSource(r, o.Limit)
	whole, err := src.fits()
	if err != nil {
		return Out{}, err
	}
	if whole {
		return wholeText(src.head), nil
	}
	if err := src.drain(); err != nil {
		return Out{}, err
	}
	return cutText(src, o), nil
}

// Bytes is JSON of what is in memory already.
func Bytes(b []byte, o Options) Out {
	out, err := JSON(bytes.NewReader(b), o)
	if err != nil {
		panic("summarise: a bytes.Reader failed: " + err.Error())
	}
	return out
}

// TextBytes is Text of what is in memory already.
func TextBytes(b []byte, o Options) Out {
	out, err := Text(bytes.NewReader(b), o)
	if err != nil {
		panic("summarise: a bytes.Reader failed: " + err.Error())
	}
	return out
}

// wholeJSON shows an input that fits as it came.
func wholeJSON(b []byte, o Options) Out {
	raw := bytes.TrimSpace(b)
	d := jsontext.NewDecoder(bytes.NewReader(raw), lenient...)
	s := sampler{d: d, reserved: o.Reserved, all: true}
	n, err := s.value(0)
	if err == nil {
		_, err = d.ReadToken()
	}
	if !errors.Is(err, io.EOF) || n == nil {
		return wholeText(b)
	}
	out := Out{Text: string(raw), Size: int64(len(b)), Renamed: s.renamed}
	if s.renamed > 0 || !utf8.Valid(raw) {
		out.Text = string(n.append(nil))
	}
	if utf8.RuneCountInString(out.Text) > o.Limit { // the renaming made it longer
		t := topOf(n)
		t.renamed = s.renamed
		out = t.render(o)
		out.Size = int64(len(b))
		return out
	}
	switch n.kind {
	case '[':
		out.Kind, out.Count = List, int64(len(n.kids))
		out.Preview.Items = items(n.kids)
	case '{':
		out.Kind = Object
		if i := n.mainArray(); i >= 0 {
			out.Kind, out.Count = List, int64(len(n.kids[i].kids))
			out.Main, out.Siblings = n.names[i], true
			out.Preview.Items = items(n.kids[i].kids)
			out.Preview.Object = exact(n.without(i).append(nil))
			break
		}
		out.Preview.Object = exact(n.append(nil))
	case '"':
		out.Kind, out.Preview.Text = Scalar, n.text
	default:
		out.Kind, out.Preview.Text = Scalar, n.text
	}
	if out.Kind == List {
		out.counted(out.Count, o)
	}
	return out
}

// counted fills the numbers of a collection.
func (out *Out) counted(shown int64, o Options) {
	out.Preview.Returned = &shown
	switch {
	case o.Total != nil:
		total := max(*o.Total, out.Count)
		out.Preview.Total = &total
	case !o.More && !out.Partial:
		total := out.Count
		out.Preview.Total = &total
	}
}

// items renders nodes one by one for the page.
func items(kids []*node) []json.RawMessage {
	out := make([]json.RawMessage, len(kids))
	for i, k := range kids {
		out[i] = exact(k.append(nil))
	}
	return out
}
