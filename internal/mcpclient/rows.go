package mcpclient

import (
	"encoding/json"
	"math"
	"strconv"

	"agentd/internal/chat"
	"agentd/internal/tool"
)

// maxBeside bounds, in bytes, what stands beside rows. Nothing shortens a hint later.
const maxBeside = 1000

// rows makes a table of a payload that names its columns: {"columns": […], "rows" or "data": […], …}, with rows by
// position or by name. Values stay the tokens that they are. It is false for everything else, and for what would
// lose something as a table; a list of objects is as good as it is.
func rows(out *tool.Result, payload json.RawMessage) bool {
	var m map[string]json.RawMessage
	if len(payload) == 0 || payload[0] != '{' || json.Unmarshal(payload, &m) != nil {
		return false
	}
	cols, ok := columns(m["columns"])
	if !ok {
		return false
	}
	key := "rows"
	if _, has := m[key]; !has {
		key = "data"
	}
	var list []json.RawMessage
	if json.Unmarshal(m[key], &list) != nil || list == nil {
		return false
	}
	for i, r := range list {
		if list[i], ok = positional(r, cols); !ok {
			return false
		}
	}
	delete(m, "columns")
	delete(m, key)
	total, more, hint, ok := beside(m, len(list))
	if !ok {
		return false
	}
	out.Rows, out.Total, out.Bounded, out.Hint = &tool.Table{Columns: cols, Rows: list}, total, more, hint
	return true
}

// columns reads names, or objects that have one. Each must have its own.
func columns(raw json.RawMessage) ([]chat.Column, bool) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return nil, false
	}
	out := make([]chat.Column, len(list))
	seen := map[string]bool{}
	for i, c := range list {
		if json.Unmarshal(c, &out[i].Name) != nil {
			var o struct {
				Name       string `json:"name"`
				ColumnName string `json:"column_name"`
				Type       any    `json:"type"`
				DataType   any    `json:"data_type"`
			}
			if json.Unmarshal(c, &o) != nil {
				return nil, false
			}
			out[i].Name = o.Name
			if o.Name == "" {
				out[i].Name = o.ColumnName
			}
			if t, is := o.Type.(string); is {
				out[i].Type = t
			} else if t, is := o.DataType.(string); is {
				out[i].Type = t
			}
		}
		if out[i].Name == "" || seen[out[i].Name] {
			return nil, false
		}
		seen[out[i].Name] = true
	}
	return out, true
}

// positional is a row as an array in the order of the columns. What a row does not have is null.
func positional(row json.RawMessage, cols []chat.Column) (json.RawMessage, bool) {
	var cells []json.RawMessage
	if len(row) > 0 && row[0] == '[' {
		return row, json.Unmarshal(row, &cells) == nil && len(cells) == len(cols)
	}
	var named map[string]json.RawMessage
	if json.Unmarshal(row, &named) != nil || named == nil {
		return nil, false
	}
	found := 0
	cells = make([]json.RawMessage, len(cols))
	for i, c := range cols {
		v, has := named[c.Name]
		if !has {
			v = json.RawMessage("null")
		} else {
			found++
		}
		cells[i] = v
	}
	return join(cells), found == len(named)
}

// beside reads what stands beside n rows: their number at the source, whether there are more, and for the model the
// rest. It is false where the rest is too much to be told.
func beside(m map[string]json.RawMessage, n int) (total *int64, more bool, hint string, ok bool) {
	rest := map[string]json.RawMessage{}
	for k, v := range m {
		if empty(v) {
			continue
		}
		if v[0] == '{' || v[0] == '[' {
			return nil, false, "", false
		}
		switch k {
		case "total", "total_count", "total_rows":
			if t, is := whole(v); is && t >= int64(n) {
				total = &t
				continue
			}
		case "row_count", "rowcount", "count":
			if t, is := whole(v); is && t == int64(n) {
				continue
			}
		case "success":
			continue
		case "next", "next_cursor", "nextCursor", "has_more", "truncated":
			more = true
		}
		rest[k] = v
	}
	if total != nil && *total > int64(n) {
		more = true
	}
	if len(rest) > 0 {
		b, err := json.Marshal(rest) // keys in order
		if err != nil || len(b) > maxBeside {
			return nil, false, "", false
		}
		hint = "Beside the rows the tool gave " + string(b)
	}
	return total, more, hint, true
}

// whole reads an integer as it stands, also one that was written as 5.0.
func whole(v json.RawMessage) (int64, bool) {
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}
