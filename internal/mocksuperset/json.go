package mocksuperset

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

var errTrailing = errors.New("more than one JSON value")

func newBytesReader(b []byte) io.Reader { return bytes.NewReader(b) }

// encode writes v as Flask does: sorted keys, no escapes for HTML, one line.
// It panics on a value that is no JSON: such a value is a mistake in this package.
func encode(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("mocksuperset: answer is not JSON: " + err.Error())
	}
	return out.Bytes()
}

// dumps is the text that Superset stores when it writes JSON into a column.
func dumps(v any) string { return strings.TrimSuffix(string(encode(v)), "\n") }
