package offload

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"agentd/internal/artifact"
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
	MaxBytes  int64 // of one payload that is passed on; 0 is 50 MiB
	Log       *slog.Logger
}

// References replaces <name>_uri arguments by what they name. It is safe for several goroutines.
type References struct {
	store *artifact.Store
	o     ReferenceOptions
	tools map[string]map[string]shape // tool → argument path → what its schema asks for
}

// shape is what an argument wants rows to be.
type shape struct {
	object     bool // the argument itself is an object
	positional bool // its items are arrays
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
		for _, path := range t.References {
			s, err := shapeOf(t.Schema, strings.Split(path, "."))
			if err != nil {
				return nil, fmt.Errorf("reference %s of tool %s: %w", path, t.Name, err)
			}
			if r.tools[t.Name] == nil {
				r.tools[t.Name] = map[string]shape{}
			}
			r.tools[t.Name][path] = s
		}
	}
	return r, nil
}

// Resolve returns c with every reference replaced by the stored payload. c itself is not changed. Where one
// cannot be resolved, nothing is: the error is Invalid with code missing_uris and names all of them, in order.
// Invalid with code inline_rows for rows given inline that should be a reference.
//
// Switched off, c comes back as it is, and the tool's own check answers.
func (r *References) Resolve(ctx context.Context, c tool.Call) (tool.Call, error) {
	paths := r.tools[c.Name]
	if r.o.Disabled || len(paths) == 0 || !startsWith(c.Args, '{') {
		return c, nil
	}
	x := resolution{r: r, ctx: ctx, who: owner(c), tool: c.Name, paths: paths}
	args, err := x.object("", c.Args)
	if err != nil {
		return c, err
	}
	if len(x.missing) > 0 {
		return c, missingURIs(x.missing)
	}
	if x.found == 0 {
		return c, nil
	}
	c.Args = args
	return c, nil
}

// resolution is one call being resolved.
type resolution struct {
	r       *References
	ctx     context.Context
	who     artifact.Owner
	tool    string
	paths   map[string]shape
	found   int
	missing []string
}

func (x *resolution) object(at string, b json.RawMessage) (json.RawMessage, error) {
	o, err := parseObject(b)
	if err != nil {
		return b, nil // the tool's own check says what is wrong with it
	}
	before := x.found
	replaced := map[string]bool{}
	// The references first: a value that one replaces is neither counted nor walked.
	for _, m := range slices.Clone(o) {
		name, isRef := strings.CutSuffix(m.name, suffix)
		want, optsIn := x.paths[at+name]
		if !isRef || !optsIn {
			continue
		}
		uris, many, ok := references(m.value)
		if !ok {
			continue
		}
		x.found++
		if o.find(name) >= 0 {
			x.r.o.Log.InfoContext(x.ctx, "an argument was given inline and as a reference; the reference counts", "tool", x.tool, "argument", at+name)
			o = o.without(name)
		}
		v, err := x.value(uris, many, want)
		if err != nil {
			return nil, err
		}
		o[o.find(m.name)] = member{name, v}
		replaced[name] = true
	}
	for i, m := range o {
		if replaced[m.name] {
			continue
		}
		if want, optsIn := x.paths[at+m.name]; optsIn && startsWith(m.value, '[') && !want.object {
			if n := items(m.value); n > x.r.o.InlineMax {
				return nil, inlineRows(at+m.name, n, x.r.o.InlineMax)
			}
		}
		if !x.below(at + m.name + ".") {
			continue
		}
		if o[i].value, err = x.nested(at+m.name+".", m.value); err != nil {
			return nil, err
		}
	}
	if x.found == before {
		return b, nil
	}
	return o.json(), nil
}

// below reports whether an argument somewhere under a path opts in.
func (x *resolution) below(prefix string) bool {
	for p := range x.paths {
		if strings.HasPrefix(p, prefix) {
			return true
		}
	}
	return false
}

// nested resolves within an object, or within each object of an array.
func (x *resolution) nested(at string, v json.RawMessage) (json.RawMessage, error) {
	if startsWith(v, '{') {
		return x.object(at, v)
	}
	var list []json.RawMessage
	if !startsWith(v, '[') || json.Unmarshal(v, &list) != nil {
		return v, nil
	}
	for i := range list {
		if !startsWith(list[i], '{') {
			continue
		}
		var err error
		if list[i], err = x.object(at, list[i]); err != nil {
			return nil, err
		}
	}
	return array(list), nil
}

// value is what replaces a reference: one payload, or an array of them.
func (x *resolution) value(uris []uri, many bool, want shape) (json.RawMessage, error) {
	var parts []json.RawMessage
	for _, u := range uris {
		v, err := x.r.load(x.ctx, x.who, u, want)
		switch fault.KindOf(err) {
		case "":
			parts = append(parts, v)
		case fault.Missing, fault.Gone:
			x.missing = append(x.missing, u.text)
		default:
			return nil, err
		}
	}
	if !many && len(parts) == 1 {
		return parts[0], nil
	}
	return array(parts), nil
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
	answer, _ := json.Marshal(struct { // of texts only
		Error string   `json:"error"`
		URIs  []string `json:"_missing_uris"`
		Hint  string   `json:"fix_hint"`
	}{
		fmt.Sprintf("invalid_args: %d of the stored results named cannot be used.", len(uris)), uris,
		"Use a URI that a result of this conversation gave you, or call the tool again that made the result. Nothing was executed.",
	})
	return &fault.Error{Kind: fault.Invalid, Code: "missing_uris", Answer: string(answer),
		Msg: "There is no such stored result in this conversation: " + strings.Join(uris, ", ") + ". Nothing was executed."}
}

func inlineRows(path string, n, limit int) error {
	msg := fmt.Sprintf("%s holds %d rows inline, and at most %d are taken. Pass the URI of the stored result as %s%s instead of copying its rows.", path, n, limit, path, suffix)
	return &fault.Error{Kind: fault.Invalid, Code: "inline_rows", Msg: msg,
		Fields: []fault.Field{{Pointer: "/" + strings.ReplaceAll(path, ".", "/"), Detail: fmt.Sprintf("must have at most %d items", limit)}}}
}
