package offload

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

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
		for _, path := range t.References {
			s, err := withURI(out[i].Schema, strings.Split(path, "."))
			if err != nil {
				return nil, err
			}
			out[i].Schema = s
		}
	}
	return out, nil
}

const uriSchema = `{"type":"string","description":"Instead of %s: the URI of a stored result (agentd+artifact:///…). Its rows are passed on without being retyped."}`

// withURI adds the reference beside the argument at a path of names.
func withURI(schema json.RawMessage, path []string) (json.RawMessage, error) {
	o, err := parseObject(schema)
	if err != nil {
		return nil, err
	}
	at := o.find("properties")
	if at < 0 {
		if at = o.find("items"); at < 0 {
			return nil, errNoArgument
		}
		inner, err := withURI(o[at].value, path)
		if err != nil {
			return nil, err
		}
		o[at].value = inner
		return o.json(), nil
	}
	props, err := parseObject(o[at].value)
	if err != nil {
		return nil, err
	}
	i := props.find(path[0])
	if i < 0 {
		return nil, errNoArgument
	}
	if len(path) > 1 {
		if props[i].value, err = withURI(props[i].value, path[1:]); err != nil {
			return nil, err
		}
		o[at].value = props.json()
		return o.json(), nil
	}
	if props.find(path[0]+suffix) < 0 {
		s := strings.Replace(uriSchema, "%s", string(inQuotes(path[0])), 1)
		props = slices.Insert(props, i+1, member{path[0] + suffix, json.RawMessage(s)})
	}
	o[at].value = props.json()
	return unrequired(o, path[0]).json(), nil
}

// inQuotes is a name within a JSON string.
func inQuotes(name string) []byte {
	b := quote(nil, name)
	return b[1 : len(b)-1]
}

// unrequired takes a name out of required.
func unrequired(o object, name string) object {
	i := o.find("required")
	if i < 0 {
		return o
	}
	var names []string
	if json.Unmarshal(o[i].value, &names) != nil {
		return o
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == name })
	if len(names) == 0 {
		return o.without("required")
	}
	b, err := json.Marshal(names)
	if err != nil {
		return o
	}
	o[i].value = b
	return o
}

var errNoArgument = errors.New("the schema has no such array or object")

// schemaNode is what of a schema says which shape an argument has.
type schemaNode struct {
	Type       json.RawMessage       `json:"type"`
	Properties map[string]schemaNode `json:"properties"`
	Items      *schemaNode           `json:"items"`
}

func (n schemaNode) is(typ string) bool {
	return strings.Contains(string(n.Type), `"`+typ+`"`) // type may be a list
}

func shapeOf(schema json.RawMessage, path []string) (shape, error) {
	var n schemaNode
	if err := json.Unmarshal(schema, &n); err != nil {
		return shape{}, err
	}
	for _, name := range path {
		if n.Properties == nil && n.Items != nil {
			n = *n.Items
		}
		next, ok := n.Properties[name]
		if !ok {
			return shape{}, errNoArgument
		}
		n = next
	}
	switch {
	case n.is("array"):
		return shape{positional: n.Items != nil && n.Items.is("array")}, nil
	case n.is("object"):
		return shape{object: true}, nil
	}
	return shape{}, errNoArgument
}

// Referable lists the arguments of a schema that a stored result can stand for: its arrays and objects. A tool
// from outside opts in with all of them.
func Referable(schema json.RawMessage) []string {
	o, err := parseObject(schema)
	if err != nil {
		return nil
	}
	at := o.find("properties")
	if at < 0 {
		return nil
	}
	props, err := parseObject(o[at].value)
	if err != nil {
		return nil
	}
	var names []string
	for _, p := range props {
		var n schemaNode
		if json.Unmarshal(p.value, &n) == nil && (n.is("array") || n.is("object")) && !strings.Contains(p.name, ".") {
			names = append(names, p.name)
		}
	}
	return names
}
