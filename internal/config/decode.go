package config

import (
	"fmt"
	"reflect"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"
)

// A reading turns a source into values and collects what is wrong with it.
type reading struct {
	at       func(*yaml.Node) string // where a node stands, for people
	problems *problems
	depth    int
}

// maxDepth is more than any configuration has; an anchor may hold itself.
const maxDepth = 20

// value reads a node as a t: a typed scalar, []any, or map[string]any. ok is false when it was refused.
func (r reading) value(n *yaml.Node, t reflect.Type, key string) (v any, ok bool) {
	if r.depth++; r.depth > maxDepth {
		r.problems.add(key, r.at(n), "is nested too deep")
		return nil, false
	}
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if t.Kind() == reflect.Pointer { // a value that may be left out
		t = t.Elem()
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" && t.Kind() != reflect.String {
		return nil, false // a key without a value is left as it is
	}
	if key != "" {
		r.problems.mark(key, r.at(n))
	}
	refuse := func(want string) (any, bool) {
		r.problems.add(key, r.at(n), "must be "+want)
		return nil, false
	}
	switch t.Kind() {
	case reflect.Struct:
		if n.Kind != yaml.MappingNode {
			return refuse("a group of keys: " + known(t))
		}
		return r.group(n, t, key), true
	case reflect.Map:
		if n.Kind != yaml.MappingNode {
			if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
				return map[string]any{}, true // [] for "none" is what people write
			}
			return refuse("names with values")
		}
		return r.names(n, t, key), true
	case reflect.Slice:
		return r.list(n, t, key)
	}
	if n.Kind != yaml.ScalarNode {
		return refuse("one value")
	}
	return scalar(n, t, refuse)
}

func scalar(n *yaml.Node, t reflect.Type, refuse func(string) (any, bool)) (any, bool) {
	s := n.Value
	switch {
	case t == durationType:
		d, err := time.ParseDuration(s)
		if err != nil {
			return refuse("a duration such as 30s, 10m or 1h")
		}
		return d, true
	case t == sizeType:
		b, err := ParseSize(s)
		if err != nil {
			return refuse("a size such as 100MB or 2GB")
		}
		return b, true
	case t.Kind() == reflect.Bool:
		if s != "true" && s != "false" {
			return refuse("true or false")
		}
		return s == "true", true
	case t.Kind() == reflect.Int:
		i, err := strconv.Atoi(s)
		if err != nil {
			return refuse("a whole number")
		}
		return i, true
	}
	if n.Tag == "!!null" {
		return "", true
	}
	if n.Tag != "!!str" && n.Style == 0 && n.Tag != "" {
		return refuse("a text; put it in quotes")
	}
	return s, true
}

func (r reading) list(n *yaml.Node, t reflect.Type, key string) (any, bool) {
	if n.Kind != yaml.SequenceNode {
		r.problems.add(key, r.at(n), "must be a list")
		return nil, false
	}
	out := make([]any, 0, len(n.Content))
	for i, c := range n.Content {
		if v, ok := r.value(c, t.Elem(), fmt.Sprintf("%s[%d]", key, i)); ok {
			out = append(out, v)
		}
	}
	return out, true
}

// names reads a map whose keys are free.
func (r reading) names(n *yaml.Node, t reflect.Type, key string) map[string]any {
	out := map[string]any{}
	for k, v := range r.pairs(n, key) {
		if x, ok := r.value(v, t.Elem(), join(key, k.Value)); ok {
			out[k.Value] = x
		}
	}
	return out
}

// group reads the keys of a struct; others are refused.
func (r reading) group(n *yaml.Node, t reflect.Type, key string) map[string]any {
	types := map[string]reflect.Type{}
	for _, f := range fieldsOf(t) {
		types[f.key] = f.typ
	}
	out := map[string]any{}
	for k, v := range r.pairs(n, key) {
		ft, ok := types[k.Value]
		if !ok {
			r.problems.add(join(key, k.Value), r.at(k), "is not known; here may stand "+known(t))
			continue
		}
		if x, ok := r.value(v, ft, join(key, k.Value)); ok {
			out[k.Value] = x
		}
	}
	return out
}

// pairs lists the keys and values of a mapping; a key that comes twice is refused.
func (r reading) pairs(n *yaml.Node, key string) func(func(k, v *yaml.Node) bool) {
	return func(yield func(k, v *yaml.Node) bool) {
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			if seen[k.Value] {
				r.problems.add(join(key, k.Value), r.at(k), "stands here a second time")
				continue
			}
			seen[k.Value] = true
			if !yield(k, n.Content[i+1]) {
				return
			}
		}
	}
}

func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}
