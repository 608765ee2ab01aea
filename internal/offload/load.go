package offload

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// load reads the payload that a reference names, in the shape that the argument wants, and checks that it is what was
// stored. Missing or Gone where the owner has no such thing, or it has no such part; Invalid where it cannot be
// passed on; Internal where it is damaged.
func (r *References) load(ctx context.Context, who artifact.Owner, u uri, want shape) (chat.ArtifactMeta, json.RawMessage, error) {
	if u.conversation != "" && u.conversation != who.Conversation {
		return chat.ArtifactMeta{}, nil, fault.New(fault.Missing, "There is no such stored result.")
	}
	m, err := r.store.Stat(ctx, who, u.id)
	switch {
	case err != nil:
		return m, nil, err
	case m.Format == chat.FormatBinary:
		return m, nil, &fault.Error{Kind: fault.Invalid, Code: codeNotPassed, Msg: "The stored result " + u.text + " is a file. It can be downloaded, not passed on."}
	case m.Size > r.o.MaxBytes:
		return m, nil, tooMuch("The stored result "+u.text, m.Size, r.o.MaxBytes)
	}
	b, err := r.payload(ctx, who, m)
	if err != nil {
		return m, nil, err
	}
	v, ok, err := part(m, b, want, u.pointer)
	if err != nil {
		return m, nil, fault.Wrap(fault.Internal, "", err)
	}
	if !ok {
		return m, nil, fault.New(fault.Missing, "The stored result has no such part.")
	}
	return m, v, nil
}

// payload reads what is stored. What is not what was written is never passed on.
func (r *References) payload(ctx context.Context, who artifact.Owner, m chat.ArtifactMeta) ([]byte, error) {
	_, body, err := r.store.Open(ctx, who, m.ID)
	if err != nil {
		if inner, ok := errors.AsType[*fault.Error](errors.Unwrap(err)); ok && inner.Kind == fault.Missing {
			return nil, inner // it was removed meanwhile, or its file was lost
		}
		return nil, err
	}
	defer body.Close()
	b := make([]byte, m.Size)
	if _, err := io.ReadFull(body, b); err != nil {
		return nil, fault.Wrap(fault.Internal, "", err)
	}
	if sum := sha256.Sum256(b); m.SHA256 != "" && hex.EncodeToString(sum[:]) != m.SHA256 {
		return nil, fault.Wrap(fault.Internal, "", fmt.Errorf("artifact %s: its payload is not what was stored", m.ID))
	}
	return b, nil
}

// part is what a reference stands for. In a document a pointer counts from its root, or else from its rows.
func part(m chat.ArtifactMeta, b []byte, want shape, pointer string) (v json.RawMessage, ok bool, err error) {
	if m.Format == chat.FormatJSON && pointer != "" {
		if v, ok := pick(b, pointer); ok {
			return v, true, nil
		}
	}
	whole, err := shaped(m, b, want)
	if err != nil {
		return nil, false, err
	}
	v, ok = pick(whole, pointer)
	return v, ok, nil
}

// shaped makes a JSON value of a payload.
func shaped(m chat.ArtifactMeta, b []byte, want shape) (json.RawMessage, error) {
	switch {
	case m.Format == chat.FormatText:
		return quote(nil, string(b)), nil
	case m.Format == chat.FormatJSON && want.object:
		return b, nil
	case m.Format == chat.FormatJSON:
		return rowsWithin(b), nil
	case len(b) == 0, len(m.Columns) == 0, bare(m):
	case b[0] == '[' && want.plain && len(m.Columns) == 1:
		return rowsAs(b, '[', alone)
	case b[0] == '[' && !want.positional:
		return rowsAs(b, '[', keyed(m.Columns))
	case b[0] == '{' && want.positional:
		return rowsAs(b, '{', ordered(m.Columns, "[", "]"))
	case b[0] == '{' && want.plain && len(m.Columns) == 1:
		return rowsAs(b, '{', ordered(m.Columns, "", ""))
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

// rowsAs makes an array of rows that begin with open. as reads what is in one and writes what it becomes.
func rowsAs(lines []byte, open jsontext.Kind, as func(out []byte, d *jsontext.Decoder) ([]byte, error)) (json.RawMessage, error) {
	out := append(make([]byte, 0, 2*len(lines)+2), '[')
	d := jsontext.NewDecoder(bytes.NewBuffer(lines), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for first := true; d.PeekKind() == open; first = false {
		_, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		if !first {
			out = append(out, ',')
		}
		if out, err = as(out, d); err != nil {
			return nil, err
		}
		if _, err := d.ReadToken(); err != nil {
			return nil, err
		}
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("a row is not as the others: %w", err)
	}
	return append(out, ']'), nil
}

// keyed writes a row as an object, with its keys in column order.
func keyed(cols []chat.Column) func([]byte, *jsontext.Decoder) ([]byte, error) {
	keys := keysOf(cols)
	return func(out []byte, d *jsontext.Decoder) ([]byte, error) {
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
		return append(out, '}'), nil
	}
}

// alone writes a row of one column as its value.
func alone(out []byte, d *jsontext.Decoder) ([]byte, error) {
	v, err := d.ReadValue()
	return append(out, v...), err
}

// ordered writes an object as its values in column order, null for what it does not have.
func ordered(cols []chat.Column, before, after string) func([]byte, *jsontext.Decoder) ([]byte, error) {
	at := map[string]int{}
	for i, c := range cols {
		at[c.Name] = i
	}
	cells := make([][]byte, len(cols))
	return func(out []byte, d *jsontext.Decoder) ([]byte, error) {
		for i := range cells {
			cells[i] = append(cells[i][:0], "null"...)
		}
		for d.PeekKind() == '"' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			i, known := at[name.String()]
			v, err := d.ReadValue()
			if err != nil {
				return nil, err
			}
			if known {
				cells[i] = append(cells[i][:0], v...)
			}
		}
		out = append(out, before...)
		out = append(out, bytes.Join(cells, []byte{','})...)
		return append(out, after...), nil
	}
}

// keysOf quotes the columns' names.
func keysOf(cols []chat.Column) [][]byte {
	var keys [][]byte
	for _, name := range artifact.Names(cols) {
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
	part, ok := pick(b, "/"+escaped.Replace(out.Main))
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
	for token := range strings.SplitSeq(pointer[1:], "/") {
		if !step(d, unescaped.Replace(token)) {
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
