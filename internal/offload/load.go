package offload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/summarise"

	"github.com/go-json-experiment/json/jsontext"
)

// load reads the payload that a reference names, in the shape that the argument wants. Missing or Gone where
// the owner has no such thing, or it has no such part; Invalid where it cannot be passed on.
func (r *References) load(ctx context.Context, who artifact.Owner, u uri, want shape) (json.RawMessage, error) {
	if u.conversation != "" && u.conversation != who.Conversation {
		return nil, fault.New(fault.Missing, "There is no such stored result.")
	}
	m, err := r.store.Stat(ctx, who, u.id)
	if err != nil {
		return nil, err
	}
	switch {
	case m.Format == chat.FormatBinary:
		return nil, fault.New(fault.Invalid, "The stored result "+u.text+" is a file. It can be downloaded, not passed on.")
	case m.Size > r.o.MaxBytes:
		return nil, fault.New(fault.Invalid, fmt.Sprintf("The stored result %s has %d bytes, and at most %d can be passed on.", u.text, m.Size, r.o.MaxBytes))
	}
	_, body, err := r.store.Open(ctx, who, u.id)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	b := make([]byte, m.Size)
	if _, err := io.ReadFull(body, b); err != nil {
		return nil, fault.Wrap(fault.Internal, "", err)
	}
	v, err := shaped(m, b, want)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, "", err)
	}
	if u.pointer == "" {
		return v, nil
	}
	part, ok := pick(v, u.pointer)
	if !ok {
		return nil, fault.New(fault.Missing, "The stored result has no such part.")
	}
	return part, nil
}

// shaped makes a JSON value of a payload.
func shaped(m chat.ArtifactMeta, b []byte, want shape) (json.RawMessage, error) {
	switch m.Format {
	case chat.FormatText:
		return quote(nil, string(b)), nil
	case chat.FormatJSON:
		if want.object {
			return b, nil
		}
		return rowsWithin(b), nil
	}
	if len(b) > 0 && b[0] == '[' && !want.positional && len(m.Columns) > 0 && !bare(m) {
		return keyed(m.Columns, b)
	}
	// Items as they were, or rows by position: the lines are the array but for its signs.
	out := append(make([]byte, 0, len(b)+2), '[')
	out = append(out, bytes.TrimSuffix(b, []byte{'\n'})...)
	for i := 1; i < len(out); i++ {
		k := bytes.IndexByte(out[i:], '\n')
		if k < 0 {
			break
		}
		i += k
		out[i] = ',' // a line break within a string is escaped, so this is none
	}
	return append(out, ']'), nil
}

// bare reports whether the lines of an artifact are values and not rows.
func bare(m chat.ArtifactMeta) bool { return artifact.Bare(m.Columns) }

// keyed makes objects of rows by position, with the keys in column order.
func keyed(cols []chat.Column, lines []byte) (json.RawMessage, error) {
	keys := keysOf(cols)
	out := make([]byte, 0, 2*len(lines)+2)
	out = append(out, '[')
	d := jsontext.NewDecoder(bytes.NewBuffer(lines), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for first := true; d.PeekKind() == '['; first = false {
		if _, err := d.ReadToken(); err != nil {
			return nil, err
		}
		if !first {
			out = append(out, ',')
		}
		out = append(out, '{')
		for i := 0; d.PeekKind() != ']'; i++ {
			v, err := d.ReadValue()
			if err != nil {
				return nil, err
			}
			if i >= len(keys) {
				continue // a cell without a column has no name
			}
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(out, keys[i]...), v...)
		}
		if _, err := d.ReadToken(); err != nil {
			return nil, err
		}
		out = append(out, '}')
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("a row is no array: %w", err)
	}
	return append(out, ']'), nil
}

// keysOf quotes the columns' names, with a number behind one that comes again.
func keysOf(cols []chat.Column) [][]byte {
	seen := map[string]int{}
	var keys [][]byte
	for _, c := range cols {
		name := c.Name
		for seen[name] > 0 {
			seen[c.Name]++
			name = fmt.Sprintf("%s_%d", c.Name, seen[c.Name])
		}
		seen[name]++
		keys = append(keys, append(quote(nil, name), ':'))
	}
	return keys
}

// rowsWithin takes the rows out of an answer around them: what is passed on is the payload, not its envelope.
func rowsWithin(b []byte) json.RawMessage {
	out := summarise.Bytes(b, summarise.Options{Limit: 1, Items: 1})
	if out.Kind != summarise.List || out.Main == "" {
		return b
	}
	part, ok := pick(b, "/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(out.Main))
	if !ok {
		return b
	}
	return part
}

// pick returns the part of a JSON value that a JSON pointer names, as it stands.
func pick(v []byte, pointer string) (json.RawMessage, bool) {
	if pointer == "" {
		return v, true
	}
	if pointer[0] != '/' {
		return nil, false
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(v), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for _, token := range strings.Split(pointer[1:], "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		if !step(d, token) {
			return nil, false
		}
	}
	part, err := d.ReadValue()
	return bytes.Clone(part), err == nil
}

// step moves d before the member or item of the next value.
func step(d *jsontext.Decoder, token string) bool {
	t, err := d.ReadToken()
	if err != nil {
		return false
	}
	switch t.Kind() {
	case '{':
		for d.PeekKind() == '"' {
			name, err := d.ReadToken()
			if err != nil {
				return false
			}
			if name.String() == token {
				return true
			}
			if d.SkipValue() != nil {
				return false
			}
		}
	case '[':
		n, ok := index(token)
		for i := 0; ok && d.PeekKind() != ']'; i++ {
			if i == n {
				return d.PeekKind() != 0
			}
			if d.SkipValue() != nil {
				return false
			}
		}
	}
	return false
}

// index reads a position as JSON pointers write it.
func index(s string) (int, bool) {
	if s == "" || len(s) > 9 || len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}
