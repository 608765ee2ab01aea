package offload

import (
	"slices"
	"strings"
)

// Bounds on what is looked for in a schema from outside, which may refer to itself.
const (
	maxDepth     = 4   // names in a path
	maxArguments = 100 // of one tool
	maxWays      = 100 // in which a value can be met
)

// argument is an array or object that a schema asks for. One path may have several, as in the branches of anyOf.
type argument struct {
	path   string // its names, with dots between them
	name   string // the last one
	shape  shape
	schema *tree
	among  *tree   // the properties that it is one of
	owners []*tree // the object schemas that may require it
}

// shape is what an argument takes. The zero shape is a list of anything.
type shape struct {
	object     bool // an object, and no list
	positional bool // a list of arrays
	plain      bool // a list of texts, numbers or the like
}

// or joins the shapes of one argument in several branches: what one of them takes is taken.
func (s shape) or(t shape) shape {
	switch {
	case s == t || t.object:
		return s
	case s.object:
		return t
	}
	return shape{}
}

// argumentsOf finds the arguments of a schema, in its order, and what is nested directly behind what it is in.
// Names with dots are left out: they could not be told from paths.
func argumentsOf(root *tree) []argument {
	w := walk{root: root}
	w.into(root, "", 1)
	return w.found
}

type walk struct {
	root  *tree
	found []argument
}

// into looks at the properties of a schema, in each of the ways in which it can be met.
func (w *walk) into(schema *tree, prefix string, depth int) {
	ways := w.ways(schema)
	for _, way := range ways {
		props := way.get("properties")
		if props == nil {
			continue
		}
		for _, p := range slices.Clone(props.members) {
			if len(w.found) == maxArguments {
				return
			}
			s, takes := w.shape(p.tree)
			if !takes || strings.Contains(p.name, ".") {
				continue
			}
			w.found = append(w.found, argument{prefix + p.name, p.name, s, p.tree, props, ways})
			if depth < maxDepth {
				w.below(p.tree, prefix+p.name+".", depth+1)
			}
		}
	}
}

// below goes on with what an argument is made of: its own properties, and those of its items.
func (w *walk) below(schema *tree, prefix string, depth int) {
	w.into(schema, prefix, depth)
	for _, way := range w.ways(schema) {
		if items := way.get("items"); items != nil {
			w.into(items, prefix, depth)
		}
	}
}

// ways are the schemas that say something of a value: the schema itself, what it refers to, and its branches.
func (w *walk) ways(schema *tree) []*tree {
	var out []*tree
	seen := map[*tree]bool{}
	var add func(*tree)
	add = func(t *tree) {
		if t == nil || t.kind != '{' || seen[t] || len(out) == maxWays {
			return
		}
		seen[t] = true
		out = append(out, t)
		if pointer, ok := strings.CutPrefix(t.get("$ref").text(), "#"); ok {
			add(w.root.at(unpercent(pointer)))
		}
		for _, k := range [...]string{"allOf", "anyOf", "oneOf"} {
			if branches := t.get(k); branches != nil {
				for _, b := range branches.items {
					add(b)
				}
			}
		}
	}
	add(schema)
	return out
}

// shape reads what a schema takes; ok is false for what is neither a list nor an object.
func (w *walk) shape(schema *tree) (s shape, ok bool) {
	var items []*tree
	list, anything, object := false, false, false
	for _, way := range w.ways(schema) {
		object = object || way.takes("object", "properties")
		if way.takes("array", "items", "prefixItems") {
			list = true
			of := w.ways(way.get("items"))
			anything = anything || !slices.ContainsFunc(of, (*tree).typed)
			items = append(items, of...)
		}
	}
	switch {
	case !list:
		return shape{object: true}, object
	case anything, slices.ContainsFunc(items, func(t *tree) bool { return t.takes("object", "properties") }):
		return shape{}, true
	case slices.ContainsFunc(items, func(t *tree) bool { return t.takes("array", "items", "prefixItems") }):
		return shape{positional: true}, true
	}
	return shape{plain: true}, true
}

// takes reports whether a schema names a type, alone or among others, or names none and has one of the keywords
// that go with it.
func (t *tree) takes(typ string, keywords ...string) bool {
	types := t.get("type")
	if types == nil {
		return slices.ContainsFunc(keywords, func(k string) bool { return t.get(k) != nil })
	}
	return types.text() == typ || slices.ContainsFunc(types.items, func(x *tree) bool { return x.text() == typ })
}

// typed reports whether a schema says anything of the type of a value.
func (t *tree) typed() bool {
	return slices.ContainsFunc([]string{"type", "enum", "const", "properties", "items", "prefixItems"}, func(k string) bool { return t.get(k) != nil })
}
