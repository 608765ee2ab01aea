package httpapi

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"io"
	"strings"

	"agentd/internal/artifact"
	"agentd/internal/chat"
)

// A rowWriter takes rows one after the other. Nothing of them is kept.
type rowWriter interface {
	begin([]chat.Column) error
	row(json.RawMessage) error
	end() error
}

// convertArtifact streams stored rows in another format, a page at a time.
func (a *API) convertArtifact(c *call, id, format string) error {
	var w rowWriter = &jsonRows{w: bufio.NewWriter(c.Response())}
	if format == formatCSV {
		w = &csvRows{w: csv.NewWriter(c.Response())}
	}
	q := artifact.Request{}
	for first := true; ; first = false {
		p, err := a.o.Artifacts.Read(c.Request().Context(), c.owner(), id, q)
		if err != nil {
			return err
		}
		if first {
			if err := w.begin(p.Columns); err != nil {
				return err
			}
		}
		for _, r := range p.Rows {
			if err := w.row(r); err != nil {
				return err
			}
		}
		if p.EOF {
			return w.end()
		}
		q.Cursor = p.Next
	}
}

// jsonRows writes {"columns": […], "rows": [[…], …]}; values are copied as they are stored.
type jsonRows struct {
	w    *bufio.Writer
	more bool
}

func (j *jsonRows) begin(cols []chat.Column) error {
	b, err := marshal(list(cols))
	if err != nil {
		return err
	}
	_, err = j.w.WriteString(`{"columns":` + string(b) + `,"rows":[`)
	return err
}

func (j *jsonRows) row(r json.RawMessage) error {
	if j.more {
		if err := j.w.WriteByte(','); err != nil {
			return err
		}
	}
	j.more = true
	if err := j.w.WriteByte('\n'); err != nil {
		return err
	}
	_, err := j.w.Write(r)
	return err
}

func (j *jsonRows) end() error {
	if _, err := io.WriteString(j.w, "\n]}\n"); err != nil {
		return err
	}
	return j.w.Flush()
}

// csvRows writes RFC 4180. NULL is an empty cell, an empty string too: the format has no other.
type csvRows struct {
	w     *csv.Writer
	cells []json.RawMessage
	line  []string
}

func (c *csvRows) begin(cols []chat.Column) error {
	c.w.UseCRLF = true
	for _, col := range cols {
		c.line = append(c.line, harmless(col.Name))
	}
	return c.w.Write(c.line)
}

func (c *csvRows) row(r json.RawMessage) error {
	c.cells, c.line = c.cells[:0], c.line[:0]
	if err := json.Unmarshal(r, &c.cells); err != nil {
		return err
	}
	for _, v := range c.cells {
		s, err := cell(v)
		if err != nil {
			return err
		}
		c.line = append(c.line, s)
	}
	return c.w.Write(c.line)
}

func (c *csvRows) end() error {
	c.w.Flush()
	return c.w.Error()
}

// cell is a value as text: numbers as they are stored, texts without quotes, anything else as JSON.
func cell(v json.RawMessage) (string, error) {
	switch {
	case len(v) == 0 || string(v) == "null":
		return "", nil
	case v[0] == '"':
		var s string
		err := json.Unmarshal(v, &s)
		return harmless(s), err
	}
	return string(v), nil
}

// harmless keeps a spreadsheet from taking text for a formula. Numbers that are kept as text stay as they are.
func harmless(s string) string {
	if s == "" || !strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return s
	}
	if json.Valid([]byte(s)) {
		return s // a negative number
	}
	return "'" + s
}
