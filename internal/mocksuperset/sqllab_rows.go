package mocksuperset

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// success ends the query and answers with its rows. They are written one by one, since they may be many.
func (x *execution) success(f *frame, factor string) answer {
	names := uniqueNames(f.names)
	kinds := make([]string, len(names))
	columns := []any{}
	for i, n := range names {
		kinds[i] = guessType(f, i)
		var kind, generic any
		if t := kinds[i]; t != "" && !hasBytes(f, i) {
			kind, generic = t, genericType(t)
		}
		columns = append(columns, obj{"column_name": n, "name": n, "type": kind, "type_generic": generic, "is_dttm": false})
	}
	x.finish(row{"status": "success", "rows": len(f.rows), "limiting_factor": factor, "executed_sql": x.query["executed_sql"], "limit": x.query["limit"]})
	body := labBody{id: x.query.id(), query: x.c.queryBody(x.query), columns: columns, names: names, kinds: kinds, rows: f.rows}
	body.query["extra"] = obj{"progress": nil, "columns": columns}
	if key := x.c.s.results.keep(body); key != "" {
		body.query["resultsKey"] = key
	}
	return body.answer(x.c.s.display)
}

// A labBody is SQL Lab's answer to a query that succeeded.
type labBody struct {
	id           int
	query        obj
	columns      []any
	names, kinds []string // of the columns
	rows         [][]any
}

// answer has the members in the order of the real one, where the columns come after the rows, and no more than most
// rows.
func (b labBody) answer(most int) answer {
	columns := dumps(b.columns)
	before := `{"query_id":` + dumps(b.id) + `,"status":"success","data":[`
	after := `],"columns":` + columns + `,"selected_columns":` + columns + `,"expanded_columns":[],"query":` + dumps(b.query)
	rows := b.rows
	if len(rows) > most {
		rows = rows[:most]
		after += `,"displayLimitReached":true`
	}
	return answer{status: 200, ctype: "application/json", stream: func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 64<<10)
		_, _ = out.WriteString(before) // Flush reports the first error
		writeRows(out, rows, b.names, b.kinds)
		_, _ = out.WriteString(after + "}\n")
		return out.Flush()
	}}
}

func writeRows(out *bufio.Writer, rows [][]any, names, kinds []string) {
	keys := make([]string, len(names))
	for i, n := range names {
		keys[i] = escaped(dumps(n)) + ":"
		if i > 0 {
			keys[i] = "," + keys[i]
		}
	}
	for i, r := range rows {
		if i > 0 {
			_ = out.WriteByte(',')
		}
		_ = out.WriteByte('{')
		for c, key := range keys {
			_, _ = out.WriteString(key)
			_, _ = out.WriteString(escaped(dumps(labValue(r[c], kinds[c]))))
		}
		_ = out.WriteByte('}')
	}
}

// escaped writes letters beyond ASCII as Python does: a letter beyond the 16 bits is two escapes.
func escaped(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		return text
	}
	var out []byte
	for _, u := range utf16.Encode([]rune(text)) {
		if u > unicode.MaxASCII {
			out = fmt.Appendf(out, `\u%04x`, u)
			continue
		}
		out = append(out, byte(u))
	}
	return string(out)
}

func uniqueNames(names []string) []string {
	out, seen := make([]string, len(names)), map[string]int{}
	for i, n := range names {
		out[i] = n
		if seen[n] > 0 {
			out[i] = n + "__" + itoa(seen[n])
		}
		seen[n]++
	}
	return out
}

// hasBytes reports whether a column is one whose type SQL Lab does not tell.
func hasBytes(f *frame, column int) bool {
	for _, r := range f.rows {
		if _, isBytes := r[column].([]byte); isBytes {
			return true
		}
	}
	return false
}

// labValue is a value of SQL Lab in a column of a guessed type: whole numbers beyond 2^53 are texts, mixed kinds too.
func labValue(v any, kind string) any {
	switch v := v.(type) {
	case int64:
		switch {
		case kind == "STRING":
			return strconv.FormatInt(v, 10)
		case kind == "FLOAT":
			return pyFloat(float64(v))
		case v > 1<<53-1 || v < -(1<<53-1):
			return strconv.FormatInt(v, 10)
		}
		return v
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil
		}
		if kind == "STRING" {
			return dumps(pyFloat(v))
		}
		return pyFloat(v)
	case []byte:
		return bytesText(v)
	}
	return v
}
