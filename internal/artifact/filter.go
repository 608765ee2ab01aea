package artifact

import (
	"encoding/json"
	"slices"
	"strings"

	"agentd/internal/chat"

	"github.com/go-json-experiment/json/jsontext"
)

// Condition is a comparison of one column with a value, which is written as text. Numbers are compared as
// numbers, exactly; anything else as text.
type Condition struct {
	Column string
	Op     string // one of Ops
	Value  string // of no meaning to is_null and not_null
}

// Ops are the comparisons. Only is_null and not_null are true of a null.
var Ops = []string{"eq", "ne", "lt", "le", "gt", "ge", "contains", "is_null", "not_null"}

type condition struct {
	at int // of the stored columns
	op string
	v  string
}

func compileFilter(m chat.ArtifactMeta, filter []Condition) ([]condition, error) {
	var out []condition
	for _, c := range filter {
		i := column(m, c.Column)
		if i < 0 {
			return nil, noColumn(c.Column, m.Columns)
		}
		if !slices.Contains(Ops, c.Op) {
			return nil, badQuery("/filter", "There is no comparison %q. There are: %s.", c.Op, strings.Join(Ops, ", "))
		}
		out = append(out, condition{i, c.Op, c.Value})
	}
	return out, nil
}

func column(m chat.ArtifactMeta, name string) int {
	return slices.IndexFunc(m.Columns, func(c chat.Column) bool { return c.Name == name })
}

func (r *scan) matches(cells []json.RawMessage) bool {
	for _, c := range r.conditions {
		if !c.holds(cellAt(cells, c.at)) {
			return false
		}
	}
	return true
}

func cellAt(cells []json.RawMessage, i int) json.RawMessage {
	if i >= len(cells) || cells[i] == nil {
		return null
	}
	return cells[i]
}

func (c condition) holds(cell json.RawMessage) bool {
	isNull := cell[0] == 'n'
	switch {
	case c.op == "is_null":
		return isNull
	case c.op == "not_null":
		return !isNull
	case isNull:
		return false
	case c.op == "contains":
		return strings.Contains(strings.ToLower(plain(cell)), strings.ToLower(c.v))
	}
	var d int
	switch {
	case isNumber(cell) && isNumber([]byte(c.v)):
		d = compareNumbers(string(cell), c.v)
	default:
		d = strings.Compare(plain(cell), c.v)
	}
	switch c.op {
	case "eq":
		return d == 0
	case "ne":
		return d != 0
	case "lt":
		return d < 0
	case "le":
		return d <= 0
	case "gt":
		return d > 0
	}
	return d >= 0
}

// plain is a cell as text: a string without its quotes, anything else as it stands.
func plain(cell []byte) string {
	if len(cell) > 0 && cell[0] == '"' {
		if b, err := jsontext.AppendUnquote(nil, cell); err == nil {
			return string(b)
		}
	}
	return string(cell)
}
