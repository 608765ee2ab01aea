package offload

import (
	"encoding/json"
	"errors"
	"slices"

	"agentd/internal/tool"
)

// Shown returns tools as the model is told of them: beside every argument that opts in stands <name>_uri, and
// <name> is no longer required. What Bind checks stays as it was, since references are resolved before it.
// Switched off, the tools come back as they are.
func (r *References) Shown(tools []tool.Tool) ([]tool.Tool, error) {
	out := slices.Clone(tools)
	if r.o.Disabled {
		return out, nil
	}
	for i, t := range out {
		if len(t.References) == 0 {
			continue
		}
		s, err := withURIs(t.Schema, t.References)
		if err != nil {
			return nil, err
		}
		out[i].Schema = s
	}
	return out, nil
}

// withURIs adds the references beside the arguments of some paths.
func withURIs(schema json.RawMessage, paths []string) (json.RawMessage, error) {
	root, err := parseTree(schema)
	if err != nil {
		return nil, err
	}
	all := argumentsOf(root)
	for _, path := range paths {
		known := false
		for _, a := range all {
			if a.path == path {
				known = true
				a.offerURI()
			}
		}
		if !known {
			return nil, errNoArgument
		}
	}
	return root.json(nil), nil
}

// offerURI changes the schema around a.
func (a argument) offerURI() {
	if a.among.get(a.name+suffix) == nil {
		i := slices.IndexFunc(a.among.members, func(m branch) bool { return m.tree == a.schema })
		a.among.members = slices.Insert(a.among.members, i+1, branch{a.name + suffix, &tree{kind: '{', members: []branch{
			{"type", leaf("string")},
			{"description", leaf("Instead of " + a.name + ": the URI of a stored result (" + URI("…") + "). Its rows are passed on without being retyped.")},
		}}})
	}
	for _, o := range a.owners {
		required := o.get("required")
		if required == nil {
			continue
		}
		required.items = slices.DeleteFunc(required.items, func(n *tree) bool { return n.text() == a.name })
		if len(required.items) == 0 {
			o.members = slices.DeleteFunc(o.members, func(m branch) bool { return m.name == "required" })
		}
	}
}

var errNoArgument = errors.New("the schema has no such array or object")

// shapesOf reads of a schema what the arguments of some paths want rows to be.
func shapesOf(schema json.RawMessage, paths []string) (map[string]shape, error) {
	root, err := parseTree(schema)
	if err != nil {
		return nil, err
	}
	found := map[string]shape{}
	for _, a := range argumentsOf(root) {
		s, again := found[a.path]
		if again {
			a.shape = s.or(a.shape)
		}
		found[a.path] = a.shape
	}
	out := map[string]shape{}
	for _, p := range paths {
		s, ok := found[p]
		if !ok {
			return nil, errNoArgument
		}
		out[p] = s
	}
	return out, nil
}

// Referable lists the arguments of a schema that a stored result can stand for, as tool.Tool.References names them:
// its arrays and objects, nested ones included. A tool from outside opts in with all of them. An argument beside
// which the tool has a <name>_uri of its own is none.
func Referable(schema json.RawMessage) []string {
	root, err := parseTree(schema)
	if err != nil {
		return nil
	}
	var paths []string
	for _, a := range argumentsOf(root) {
		if a.among.get(a.name+suffix) == nil && len(a.name)+len(suffix) <= maxArgument && !slices.Contains(paths, a.path) {
			paths = append(paths, a.path)
		}
	}
	return paths
}

// maxArgument is the longest name of an argument that model providers take.
const maxArgument = 64
