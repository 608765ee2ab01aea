package mcpclient

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// clean takes out of a text what a person who reads it would not see: control and format signs, among them those
// that turn the direction of writing, private signs, and selectors that can carry hidden text. Lines stay lines.
func clean(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(strings.ToValidUTF8(text, "\uFFFD"))
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.In(r, unicode.C) || unicode.Is(unicode.Variation_Selector, r)) {
			return -1
		}
		return r
	}, text))
}

// cleanTexts cleans the texts for people within a schema. A schema in which there is nothing to clean comes back as
// it is.
func cleanTexts(schema json.RawMessage) (json.RawMessage, error) {
	d := jsontext.NewDecoder(bytes.NewReader(schema))
	var out bytes.Buffer
	e := jsontext.NewEncoder(&out)
	changed := false
	for depth := -1; depth != 0; depth = d.StackDepth() {
		name := nameOf(d)
		if d.PeekKind() != '"' || name != "description" && name != "title" {
			t, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			if err := e.WriteToken(t); err != nil {
				return nil, err
			}
			continue
		}
		t, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		text := clean(t.String())
		changed = changed || text != t.String()
		if err := e.WriteToken(jsontext.String(text)); err != nil {
			return nil, err
		}
	}
	if !changed {
		return schema, nil
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// nameOf is the name whose value comes next, or "".
func nameOf(d *jsontext.Decoder) string {
	if kind, n := d.StackIndex(d.StackDepth()); kind != '{' || n%2 == 0 {
		return ""
	}
	return d.StackPointer().LastToken()
}
