package summarise

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// node is what is kept of one JSON value.
type node struct {
	kind  byte     // '{', '[', '"', '0', 't', 'f', 'n'
	text  string   // a string decoded, another scalar as it stood
	names []string // of an object's members
	kids  []*node  // members or items that are kept, in order
	count int64    // members or items of the input
	full  int64    // characters of a string in the input
	cut   bool     // text is only the beginning of the string, and is shown with an ellipsis
	size  int      // characters of what is kept, as JSON
}

// kept are the keys that a preview never leaves out.
var kept = map[string]bool{
	"count": true, "total": true, "next": true, "cursor": true, "error": true,
	"message": true, "id": true, "uuid": true, "ok": true, "columns": true,
}

// usualLists are the keys under which an answer's main array stands.
var usualLists = map[string]bool{
	"result": true, "results": true, "data": true, "rows": true, "items": true, "records": true, "values": true, "content": true,
}

const (
	keptSize   = 200 // characters up to which a kept value goes before the others
	longestKey = 200 // a longer key is left out with its value
)

// measure sets size from the parts.
func (n *node) measure() {
	switch n.kind {
	case '"':
		n.size = quoted(n.text)
		if n.cut {
			n.size++
		}
		return
	case '{', '[':
	default:
		n.size = len(n.text)
		return
	}
	n.size = 2 + max(0, len(n.kids)-1)
	for i, k := range n.kids {
		n.size += k.size
		if n.kind == '{' {
			n.size += quoted(n.names[i]) + 1
		}
	}
}

// append renders all that is kept.
func (n *node) append(b []byte) []byte {
	switch n.kind {
	case '"':
		return quote(b, n.text)
	case '{', '[':
	default:
		return append(b, n.text...)
	}
	b = append(b, n.kind)
	for i, k := range n.kids {
		if i > 0 {
			b = append(b, ',')
		}
		if n.kind == '{' {
			b = append(quote(b, n.names[i]), ':')
		}
		b = k.append(b)
	}
	return append(b, n.kind+2) // in ASCII the closing sign is the opening one plus two
}

// mainArray returns the index of the member that is the object's main array, or -1.
func (n *node) mainArray() int {
	best := -1
	for i, k := range n.kids {
		if k.kind == '[' && len(k.kids) > 0 && (best < 0 || k.size > n.kids[best].size) {
			best = i
		}
	}
	if best >= 0 && !isMain(n.names[best], int64(n.kids[best].size), int64(n.size)) {
		return -1
	}
	return best
}

// isMain reports whether the largest array of an object is what the object is about.
func isMain(name string, size, whole int64) bool { return usualLists[name] || 2*size >= whole }

// without returns n less one member.
func (n *node) without(i int) *node {
	m := &node{kind: n.kind, count: n.count - 1}
	m.names = slices.Delete(slices.Clone(n.names), i, i+1)
	m.kids = slices.Delete(slices.Clone(n.kids), i, i+1)
	m.measure()
	return m
}

// quote appends s as a JSON string, with no escape that JSON does not ask for.
func quote(b []byte, s string) []byte {
	b, err := jsontext.AppendQuote(b, s)
	if err != nil {
		panic("summarise: a string was not valid: " + strconv.Quote(s))
	}
	return b
}

// quoted is the length of quote in characters.
func quoted(s string) int {
	n := 2
	for _, r := range s {
		n += quotedRune(r)
	}
	return n
}

func quotedRune(r rune) int {
	switch {
	case r == '"' || r == '\\' || r == '\b' || r == '\f' || r == '\n' || r == '\r' || r == '\t':
		return 2
	case r < ' ':
		return 6
	}
	return 1
}

// valid returns s with U+FFFD for each byte that is no UTF-8, so that it has as many characters as s.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.Map(func(r rune) rune { return r }, s)
}
