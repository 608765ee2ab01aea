package mocksuperset

import (
	"bytes"
	"unicode/utf8"
)

// ordered is a JSON object whose keys keep their order: rows of data.
type ordered []keyed

type keyed struct {
	key   string
	value any
}

// MarshalJSON writes the keys in their order.
func (o ordered) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, e := range o {
		if i > 0 {
			out.WriteString(", ")
		}
		out.WriteString(dumps(e.key))
		out.WriteString(": ")
		out.WriteString(dumps(e.value))
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// bytesText is what becomes of bytes: text when they are one.
func bytesText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return "[bytes]"
}
