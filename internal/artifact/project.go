package artifact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agentd/internal/chat"
	"agentd/internal/fault"

	"github.com/go-json-experiment/json/jsontext"
)

// projection makes rows by position of stored lines, with the columns that were asked for.
type projection struct {
	stored  []chat.Column
	columns []chat.Column
	at      []int // columns[i] is stored[at[i]]
	whole   bool  // all of them, in their order
}

// project is Invalid with code columns where a name is not there, and names those that are.
func project(m chat.ArtifactMeta, names []string) (projection, error) {
	p := projection{stored: m.Columns}
	if len(names) == 0 {
		p.columns, p.whole = m.Columns, true
		for i := range m.Columns {
			p.at = append(p.at, i)
		}
		return p, nil
	}
	if m.Format != chat.FormatRows {
		return p, &fault.Error{Kind: fault.Invalid, Code: "columns", Msg: "This stored result has no columns."}
	}
	for _, n := range names {
		i := slices.IndexFunc(m.Columns, func(c chat.Column) bool { return c.Name == n })
		if i < 0 {
			return p, noColumn(n, m.Columns)
		}
		p.at = append(p.at, i)
		p.columns = append(p.columns, m.Columns[i])
	}
	return p, nil
}

func noColumn(name string, cols []chat.Column) error {
	const shown = 30
	var names []string
	for _, c := range cols[:min(len(cols), shown)] {
		names = append(names, c.Name)
	}
	if len(cols) > shown {
		names = append(names, fmt.Sprintf("and %d more", len(cols)-shown))
	}
	there := strings.Join(names, ", ")
	return &fault.Error{Kind: fault.Invalid, Code: "columns", Msg: fmt.Sprintf("There is no column %q. There are: %s.", name, there),
		Fields: []fault.Field{{Pointer: "/columns", Detail: "must be among " + there}}}
}

var null = json.RawMessage("null")

// row returns a line as an array by position. Missing cells are null. A row that no page could hold comes with its
// largest cells cut.
func (p projection) row(line []byte) (json.RawMessage, error) {
	bare, large := Bare(p.stored), len(line)+2 >= MaxPageBytes
	switch {
	case bare && !large:
		return slices.Concat([]byte("["), line, []byte("]")), nil
	case p.whole && !large && len(line) > 0 && line[0] == '[':
		return line, nil
	}
	cells, err := p.rowCells(line)
	if err != nil {
		return nil, err
	}
	taken := make([]json.RawMessage, len(p.at))
	for i, at := range p.at {
		taken[i] = cellAt(cells, at)
	}
	row := joinCells(taken)
	if len(row) >= MaxPageBytes {
		row = shorten(taken, MaxPageBytes-1)
	}
	return row, nil
}

func joinCells(cells []json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for i, c := range cells {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, c...)
	}
	return append(out, ']')
}

// rowCells is cells for lines of any kind.
func (p projection) rowCells(line []byte) ([]json.RawMessage, error) {
	if Bare(p.stored) {
		return []json.RawMessage{line}, nil
	}
	return p.cells(line)
}

// cells returns the values of a line in the order of the stored columns.
func (p projection) cells(line []byte) ([]json.RawMessage, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(line), jsontext.AllowDuplicateNames(true))
	open, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	var cells []json.RawMessage
	if open.Kind() == '{' {
		cells = make([]json.RawMessage, len(p.stored))
	}
	for k := d.PeekKind(); k != ']' && k != '}'; k = d.PeekKind() {
		i := len(cells)
		if open.Kind() == '{' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			s := name.String()
			i = slices.IndexFunc(p.stored, func(c chat.Column) bool { return c.Name == s })
		}
		v, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		switch {
		case i < 0: // a key beyond the columns that are kept
		case i < len(cells):
			cells[i] = bytes.Clone(v)
		default:
			cells = append(cells, bytes.Clone(v))
		}
	}
	return cells, nil
}
