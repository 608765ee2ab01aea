package offload

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// tree is a JSON value taken apart, with members in order and numbers as they stood. It is one of an object, an
// array and a value of neither kind.
type tree struct {
	members []branch // of an object
	items   []*tree  // of an array
	value   json.RawMessage
	kind    jsontext.Kind
}

type branch struct {
	name string
	*tree
}

// parseTree fails on what is not one JSON value, or has a name twice.
func parseTree(b []byte) (*tree, error) {
	return growTree(jsontext.NewDecoder(bytes.NewReader(b)))
}

func growTree(d *jsontext.Decoder) (*tree, error) {
	t := &tree{kind: d.PeekKind()}
	if t.kind != '{' && t.kind != '[' {
		v, err := d.ReadValue()
		t.value = json.RawMessage(bytes.Clone(v))
		return t, err
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() != ']' && d.PeekKind() != '}' {
		name := ""
		if t.kind == '{' {
			n, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			name = n.String()
		}
		below, err := growTree(d)
		if err != nil {
			return nil, err
		}
		if t.kind == '{' {
			t.members = append(t.members, branch{name, below})
		} else {
			t.items = append(t.items, below)
		}
	}
	_, err := d.ReadToken()
	return t, err
}

// leaf is a text.
func leaf(s string) *tree { return &tree{kind: '"', value: quote(nil, s)} }

// get returns a member, or nil; t may be nil.
func (t *tree) get(name string) *tree {
	if t == nil {
		return nil
	}
	for _, m := range t.members {
		if m.name == name {
			return m.tree
		}
	}
	return nil
}

// text is the string that t is, or "".
func (t *tree) text() string {
	var s string
	if t == nil || t.kind != '"' || json.Unmarshal(t.value, &s) != nil {
		return ""
	}
	return s
}

// at follows a JSON pointer, or returns nil.
func (t *tree) at(pointer string) *tree {
	if pointer == "" {
		return t
	}
	if pointer[0] != '/' {
		return nil
	}
	for _, token := range strings.Split(pointer[1:], "/") {
		token = unescaped.Replace(token)
		if n, ok := index(token); ok && t != nil && t.kind == '[' {
			if n >= len(t.items) {
				return nil
			}
			t = t.items[n]
			continue
		}
		t = t.get(token)
	}
	return t
}

// json appends t.
func (t *tree) json(b []byte) []byte {
	switch t.kind {
	case '{':
		b = append(b, '{')
		for i, m := range t.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = m.tree.json(append(quote(b, m.name), ':'))
		}
		return append(b, '}')
	case '[':
		b = append(b, '[')
		for i, item := range t.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.json(b)
		}
		return append(b, ']')
	}
	return append(b, t.value...)
}
