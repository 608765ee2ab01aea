package httpapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"agentd/internal/artifact"
	"agentd/internal/chat"
)

// A rowForm appends rows to text, one after the other. Values are copied as they are stored, but where the form has
// its own way to write them.
type rowForm interface {
	begin(to []byte, cols []chat.Column) ([]byte, error)
	row(to []byte, cells []json.RawMessage) ([]byte, error)
	end(to []byte) []byte
}

// convertRows streams stored rows in another form. Nothing of them is kept.
func convertRows(w io.Writer, form rowForm, m chat.ArtifactMeta, payload io.Reader) error {
	out := bufio.NewWriterSize(w, 64<<10)
	line, err := form.begin(nil, m.Columns)
	if err != nil {
		return err
	}
	if _, err := out.Write(line); err != nil {
		return err
	}
	err = artifact.EachRow(m, payload, func(cells []json.RawMessage) error {
		if line, err = form.row(line[:0], cells); err != nil {
			return err
		}
		_, err := out.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := out.Write(form.end(line[:0])); err != nil {
		return err
	}
	return out.Flush()
}

// rowsIn is how rows leave in a format; nil where they leave as they are stored. begins is how the payload begins.
func rowsIn(format string, m chat.ArtifactMeta, begins []byte) rowForm {
	switch {
	case format == formatCSV:
		return csvRows{}
	case format == chat.FormatJSON:
		return &jsonRows{}
	case bytes.HasPrefix(begins, []byte("[")) && len(m.Columns) > 0 && !artifact.Bare(m.Columns):
		return &objectRows{}
	}
	return nil
}

// jsonRows is {"columns": […], "rows": [[…], …]}.
type jsonRows struct{ more bool }

func (*jsonRows) begin(to []byte, cols []chat.Column) ([]byte, error) {
	b, err := marshal(list(cols))
	if err != nil {
		return nil, err
	}
	return append(append(append(to, `{"columns":`...), b...), `,"rows":[`...), nil
}

func (j *jsonRows) row(to []byte, cells []json.RawMessage) ([]byte, error) {
	if j.more {
		to = append(to, ',')
	}
	j.more = true
	to = append(to, "\n["...)
	for i, c := range cells {
		if i > 0 {
			to = append(to, ',')
		}
		to = append(to, c...)
	}
	return append(to, ']'), nil
}

func (*jsonRows) end(to []byte) []byte { return append(to, "\n]}\n"...) }

// objectRows is each row by position as an object on a line of its own: keys in the order of the columns, a number
// behind a name that comes again.
type objectRows struct{ keys [][]byte }

func (o *objectRows) begin(to []byte, cols []chat.Column) ([]byte, error) {
	for _, name := range artifact.Names(cols) {
		b, err := marshal(name)
		if err != nil {
			return nil, err
		}
		o.keys = append(o.keys, append(b, ':'))
	}
	return to, nil
}

func (o *objectRows) row(to []byte, cells []json.RawMessage) ([]byte, error) {
	sign := byte('{')
	for i, key := range o.keys { // a cell without a column has no name
		to = append(append(append(to, sign), key...), cells[i]...)
		sign = ','
	}
	return append(to, "}\n"...), nil
}

func (*objectRows) end(to []byte) []byte { return to }
