package offload

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/tool"

	"github.com/go-json-experiment/json/jsontext"
)

// suffix makes a reference of an argument's name.
const suffix = "_uri"

// ReferenceOptions of References. The zero value is on, with the default.
type ReferenceOptions struct {
	Disabled  bool
	InlineMax int   // rows that an argument that opts in takes inline; 0 is 20
	MaxBytes  int64 // of all payloads together that are passed on in one call, and of each to be read; 0 is 50 MiB
	Log       *slog.Logger
}

// References replaces <name>_uri arguments by what they name. It is safe for several goroutines.
type References struct {
	store *artifact.Store
	o     ReferenceOptions
	tools map[string]map[string]shape // tool → argument path → what its schema asks for
}

// NewReferences reads of each tool which arguments opt in. It fails on one that the schema does not have as an
// array or object.
func NewReferences(store *artifact.Store, tools []tool.Tool, o ReferenceOptions) (*References, error) {
	if o.InlineMax == 0 {
		o.InlineMax = 20
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 50 << 20
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	r := &References{store: store, o: o, tools: map[string]map[string]shape{}}
	for _, t := range tools {
		if len(t.References) == 0 {
			continue
		}
		shapes, err := shapesOf(t.Schema, t.References)
		if err != nil {
			return nil, fmt.Errorf("references of tool %s: %w", t.Name, err)
		}
		r.tools[t.Name] = shapes
	}
	return r, nil
}

// Resolve returns c with every reference replaced by the stored payload, and with what was passed on in Passed. c
// itself is not changed. Where one cannot be resolved, nothing is: the error is Invalid with code missing_uris and
// names all of them, in order. Invalid with code inline_rows for rows given inline that should be a reference, with
// code not_passed for a stored result that is there and cannot be passed on.
//
// Switched off, c comes back as it is, and the tool's own check answers.
func (r *References) Resolve(ctx context.Context, c tool.Call) (tool.Call, error) {
	paths := r.tools[c.Name]
	if r.o.Disabled || len(paths) == 0 {
		return c, nil
	}
	x := resolution{r: r, ctx: ctx, who: owner(c), tool: c.Name, paths: paths}
	args := x.object("", "", c.Args)
	switch {
	case len(x.missing) > 0:
		return c, missingURIs(x.missing)
	case x.refused != nil:
		return c, x.refused
	case len(x.passed) > 0:
		c.Args, c.Passed = args, x.passed
	}
	return c, nil
}

// resolution is one call being resolved. Within it, a path is made of names and a pointer is where the value stands.
type resolution struct {
	r       *References
	ctx     context.Context
	who     artifact.Owner
	tool    string
	paths   map[string]shape
	passed  []chat.Reference
	size    int64    // of what is passed on so far
	missing []string // in order
	refused error    // the first of what is there and may not be
}

// object returns b with its references replaced, or b itself where it has none. What is no object is left to the
// tool's own check.
func (x *resolution) object(path, pointer string, b json.RawMessage) json.RawMessage {
	o, err := parseObject(b)
	if err != nil {
		return b
	}
	before := len(x.passed)
	replaced := map[string]bool{}
	for _, m := range o {
		if ref, ok := x.reference(path, m); ok {
			replaced[ref.name] = true
		}
	}
	out := make(object, 0, len(o))
	for _, m := range o {
		at := pointer + "/" + escaped.Replace(m.name)
		ref, is := x.reference(path, m)
		switch {
		case is:
			out = append(out, member{ref.name, x.value(at, ref)})
		case replaced[m.name]: // neither counted nor walked
			x.r.o.Log.InfoContext(x.ctx, "an argument was given inline and as a reference; the reference counts", "tool", x.tool, "argument", path+m.name)
		default:
			x.inline(path+m.name, at, m.value)
			out = append(out, member{m.name, x.nested(path+m.name+".", at, m.value)})
		}
	}
	if len(x.passed) == before {
		return b
	}
	return out.json()
}

// reference is an argument <name>_uri that stands for <name>.
type reference struct {
	name string
	uris []uri
	many bool
	want shape
}

// reference reads a member as a reference; ok is false for every other one.
func (x *resolution) reference(path string, m member) (r reference, ok bool) {
	name, is := strings.CutSuffix(m.name, suffix)
	want, optsIn := x.paths[path+name]
	if !is || !optsIn {
		return r, false
	}
	uris, many, ok := references(m.value)
	return reference{name, uris, many, want}, ok
}

// inline refuses rows that a model retyped. A list of texts or numbers is no row data.
func (x *resolution) inline(path, pointer string, v json.RawMessage) {
	want, optsIn := x.paths[path]
	if !optsIn || want.object || want.plain || !startsWith(v, '[') {
		return
	}
	if n := items(v); n > x.r.o.InlineMax {
		x.refuse(inlineRows(path, pointer, n, x.r.o.InlineMax))
	}
}

func (x *resolution) refuse(err error) {
	if x.refused == nil {
		x.refused = err
	}
}

// nested resolves within an object, or within each object of an array.
func (x *resolution) nested(path, pointer string, v json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	switch {
	case !x.below(path):
	case startsWith(v, '{'):
		return x.object(path, pointer, v)
	case startsWith(v, '[') && json.Unmarshal(v, &list) == nil:
		for i := range list {
			list[i] = x.object(path, fmt.Sprint(pointer, "/", i), list[i])
		}
		return array(list)
	}
	return v
}

// below reports whether an argument somewhere under a path opts in.
func (x *resolution) below(path string) bool {
	for p := range x.paths {
		if strings.HasPrefix(p, path) {
			return true
		}
	}
	return false
}

// value is what replaces a reference: one payload, or an array of them.
func (x *resolution) value(pointer string, ref reference) json.RawMessage {
	var parts []json.RawMessage
	for _, u := range ref.uris {
		m, v, err := x.r.load(x.ctx, x.who, u, ref.want)
		x.size += int64(len(v))
		if err == nil && x.size > x.r.o.MaxBytes {
			err = tooMuch("The stored results", x.size, x.r.o.MaxBytes)
		}
		switch fault.KindOf(err) {
		case "":
			parts = append(parts, v)
			x.passed = append(x.passed, chat.Reference{
				Argument: pointer, URI: u.text, Tool: m.Tool, Title: m.Title, Rows: m.Rows, SizeBytes: m.Size, SHA256: m.SHA256,
			})
		case fault.Missing, fault.Gone:
			x.missing = append(x.missing, u.text)
		default:
			x.refuse(err)
		}
	}
	if !ref.many && len(parts) == 1 {
		return parts[0]
	}
	return array(parts)
}

func array(parts []json.RawMessage) json.RawMessage { return list(parts) }

// items counts the items of an array.
func items(v json.RawMessage) int {
	d := jsontext.NewDecoder(strings.NewReader(string(v)))
	if _, err := d.ReadToken(); err != nil {
		return 0
	}
	n := 0
	for d.PeekKind() != ']' {
		if d.SkipValue() != nil {
			return n
		}
		n++
	}
	return n
}

// missingURIs is what the model reads; nothing was dispatched, and nothing is tried again.
func missingURIs(uris []string) error {
	hint := "Use a URI that a result of this conversation gave you, or call the tool again that made the result. Nothing was executed."
	if slices.ContainsFunc(uris, func(u string) bool { return strings.Contains(u, "#") }) {
		hint = "What follows # must be a JSON pointer to a part that is there; without it the whole result is passed on. " + hint
	}
	answer, _ := json.Marshal(struct { // of texts only
		Error string   `json:"error"`
		URIs  []string `json:"_missing_uris"`
		Hint  string   `json:"fix_hint"`
	}{fmt.Sprintf("invalid_args: %d of the stored results named cannot be used.", len(uris)), uris, hint})
	return &fault.Error{Kind: fault.Invalid, Code: "missing_uris", Answer: string(answer),
		Msg: "There is no such stored result in this conversation: " + strings.Join(uris, ", ") + ". Nothing was executed."}
}

func inlineRows(path, pointer string, n, limit int) error {
	msg := fmt.Sprintf("%s holds %d rows inline, and at most %d are taken. Pass the URI of the stored result as %s%s instead of copying its rows.", path, n, limit, path, suffix)
	return &fault.Error{Kind: fault.Invalid, Code: "inline_rows", Msg: msg, Fields: []fault.Field{{Pointer: pointer, Detail: fmt.Sprintf("must have at most %d items", limit)}}}
}

// tooMuch is the refusal of what would have to be held in memory.
func tooMuch(what string, size, limit int64) error {
	return &fault.Error{Kind: fault.Invalid, Code: codeNotPassed, Msg: fmt.Sprintf("%s would be %d bytes, and at most %d are passed on in one call. Take less of it: aggregate, or name a part.", what, size, limit)}
}

const codeNotPassed = "not_passed"
