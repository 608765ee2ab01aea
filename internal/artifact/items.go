package artifact

import (
	"bytes"

	"agentd/internal/chat"

	"github.com/go-json-experiment/json/jsontext"
)

// itemColumns gathers the keys of items that are objects, in the order in which they were first seen.
type itemColumns struct {
	names []string
	seen  map[string]bool
	other bool // an item was no object
}

// maxItemColumns bounds the columns of items. An item keeps its other keys, they are just no columns.
const maxItemColumns = 200

// itemType marks the one column of items that are no objects: the row is the value itself.
const itemType = "item"

func (c *itemColumns) see(row []byte) {
	if c.other {
		return
	}
	if len(row) == 0 || row[0] != '{' {
		c.other = true
		return
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(row), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return
		}
		if s := name.String(); !c.seen[s] && len(c.names) < maxItemColumns {
			c.seen[s] = true
			c.names = append(c.names, s)
		}
		if d.SkipValue() != nil {
			return
		}
	}
}

func (c *itemColumns) columns() []chat.Column {
	if c.other || len(c.names) == 0 {
		return []chat.Column{{Name: "value", Type: itemType}}
	}
	cols := make([]chat.Column, len(c.names))
	for i, n := range c.names {
		cols[i].Name = n
	}
	return cols
}

// Bare reports whether the lines of a stored list are values of any kind and not rows: then it has one column
// that is the value.
func Bare(cols []chat.Column) bool { return len(cols) == 1 && cols[0].Type == itemType }
