package offload

import (
	"bytes"
	"encoding/json"
	"slices"

	"agentd/internal/fault"

	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object with its members in order and their values as they stood, so that replacing one
// rewrites nothing of the others.
type object []member

type member struct {
	name  string
	value json.RawMessage
}

// parseObject is Invalid for what is no JSON object. Values are copies.
func parseObject(b []byte) (object, error) {
	d := jsontext.NewDecoder(bytes.NewReader(b))
	t, err := d.ReadToken()
	if err != nil || t.Kind() != '{' {
		return nil, fault.Wrap(fault.Invalid, "The arguments are not a JSON object.", err)
	}
	var o object
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, fault.Wrap(fault.Invalid, "The arguments are not valid JSON.", err)
		}
		m := member{name: name.String()}
		v, err := d.ReadValue()
		if err != nil {
			return nil, fault.Wrap(fault.Invalid, "The arguments are not valid JSON.", err)
		}
		m.value = json.RawMessage(bytes.Clone(v))
		o = append(o, m)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, fault.Wrap(fault.Invalid, "The arguments are not valid JSON.", err)
	}
	return o, nil
}

// find returns the place of a member, or -1.
func (o object) find(name string) int {
	return slices.IndexFunc(o, func(m member) bool { return m.name == name })
}

// json renders o.
func (o object) json() json.RawMessage {
	n := 2
	for _, m := range o {
		n += len(m.name) + len(m.value) + 8
	}
	b := append(make([]byte, 0, n), '{')
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(quote(b, m.name), ':')
		b = append(b, m.value...)
	}
	return append(b, '}')
}

func quote(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // its error is broken UTF-8, which it replaces
	return b
}

func startsWith(v json.RawMessage, c byte) bool { return len(v) > 0 && v[0] == c }
