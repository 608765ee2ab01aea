package supersettools

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"agentd/internal/superset"
)

// A chartQuery is what a saved query_context asks of its dataset, as far as it can be told without running it.
type chartQuery struct {
	DatasetID int
	Columns   []string // named anywhere: as columns, in simple metrics, in filters
	Metrics   []string // saved metrics, by name
	SQL       []string // free SQL of columns, metrics and filters
	Filters   []queryFilter
	Range     string
}

type queryFilter struct {
	Col json.RawMessage `json:"col"`
	Op  string          `json:"op"`
	Val json.RawMessage `json:"val,omitempty"`
}

// parseQuery reads a query_context. One that is empty or broken is not ok: Superset cannot run the chart.
func parseQuery(text string) (q chartQuery, ok bool) {
	var in struct {
		Datasource struct {
			ID   json.Number `json:"id"`
			Type string      `json:"type"`
		} `json:"datasource"`
		Queries []struct {
			Columns []json.RawMessage   `json:"columns"`
			Metrics []json.RawMessage   `json:"metrics"`
			Filters []queryFilter       `json:"filters"`
			OrderBy [][]json.RawMessage `json:"orderby"`
			Range   string              `json:"time_range"`
			Extras  struct {
				Where  string `json:"where"`
				Having string `json:"having"`
			} `json:"extras"`
		} `json:"queries"`
	}
	if json.Unmarshal([]byte(text), &in) != nil || len(in.Queries) == 0 {
		return q, false
	}
	if n, err := in.Datasource.ID.Int64(); err == nil {
		q.DatasetID = int(n)
	}
	for _, one := range in.Queries {
		for _, c := range one.Columns {
			q.column(c)
		}
		for _, m := range one.Metrics {
			q.metric(m)
		}
		for _, f := range one.Filters {
			q.column(f.Col)
			q.Filters = append(q.Filters, f)
		}
		for _, o := range one.OrderBy {
			// A name here is a column or a metric, and stands in one of those lists too.
			if len(o) > 0 && len(o[0]) > 0 && o[0][0] == '{' {
				q.metric(o[0])
			}
		}
		for _, sql := range []string{one.Extras.Where, one.Extras.Having} {
			if sql != "" {
				q.SQL = append(q.SQL, sql)
			}
		}
		if one.Range != "" && one.Range != "No filter" {
			q.Range = one.Range
		}
	}
	return q, true
}

var plainName = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_]*$`)

// column takes a name, or an object with SQL. SQL that is a plain name, as on the time axis, is a column.
func (q *chartQuery) column(raw json.RawMessage) {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		q.Columns = appendNew(q.Columns, name)
		return
	}
	var c struct {
		SQL string `json:"sqlExpression"`
	}
	if json.Unmarshal(raw, &c) == nil && c.SQL != "" {
		if plainName.MatchString(c.SQL) {
			q.Columns = appendNew(q.Columns, c.SQL)
			return
		}
		q.SQL = append(q.SQL, c.SQL)
	}
}

// metric takes the name of a saved metric, an aggregate of a column, or SQL.
func (q *chartQuery) metric(raw json.RawMessage) {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		q.Metrics = appendNew(q.Metrics, name)
		return
	}
	var m struct {
		Type   string `json:"expressionType"`
		SQL    string `json:"sqlExpression"`
		Column struct {
			Name string `json:"column_name"`
		} `json:"column"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return
	}
	if m.Type == "SQL" {
		q.SQL = append(q.SQL, m.SQL)
	} else if m.Column.Name != "" {
		q.Columns = appendNew(q.Columns, m.Column.Name)
	}
}

func appendNew(list []string, v string) []string {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

// mentions reports whether the query needs a column: by name, in free SQL, or in a saved metric or calculated column
// that it uses. SQL is looked at word by word, so a column may be named that only stands in a text.
func (q chartQuery) mentions(column string, d superset.Dataset) bool {
	if slices.Contains(q.Columns, column) || slices.ContainsFunc(q.SQL, func(sql string) bool { return hasWord(sql, column) }) {
		return true
	}
	for _, m := range d.Metrics {
		if slices.Contains(q.Metrics, m.Name) && hasWord(m.Expression, column) {
			return true
		}
	}
	for _, c := range d.Columns {
		if c.Expression != "" && slices.Contains(q.Columns, c.Name) && hasWord(c.Expression, column) {
			return true
		}
	}
	return false
}

// hasWord reports whether a name stands in SQL as a word of its own.
func hasWord(sql, word string) bool {
	for at := 0; ; {
		i := strings.Index(sql[at:], word)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(word)
		before, after := strings.TrimRightFunc(sql[:from], isNameRune), strings.TrimLeftFunc(sql[to:], isNameRune)
		if len(before) == from && len(after) == len(sql)-to {
			return true
		}
		at = to
	}
}

func isNameRune(r rune) bool { return r == '_' || plainName.MatchString("_"+string(r)) }

// disagrees names columns and metrics of the chart's parameters that the saved query does not ask for. Nothing in
// Superset makes the two agree.
func (q chartQuery) disagrees(params string) []string {
	var in struct {
		Metric  json.RawMessage   `json:"metric"`
		Metrics []json.RawMessage `json:"metrics"`
		GroupBy []json.RawMessage `json:"groupby"`
	}
	if json.Unmarshal([]byte(params), &in) != nil {
		return nil
	}
	var want chartQuery
	for _, m := range append(in.Metrics, in.Metric) {
		want.metric(m)
	}
	for _, c := range in.GroupBy {
		want.column(c)
	}
	var out []string
	for _, m := range want.Metrics {
		if m != "" && !slices.Contains(q.Metrics, m) {
			out = append(out, m)
		}
	}
	for _, c := range want.Columns {
		if c != "" && !slices.Contains(q.Columns, c) {
			out = append(out, c)
		}
	}
	return out
}

// lacking names the columns and saved metrics of the query that the dataset does not have.
func (q chartQuery) lacking(d superset.Dataset) (columns, metrics []string) {
	for _, c := range q.Columns {
		if !slices.ContainsFunc(d.Columns, func(v superset.Column) bool { return v.Name == c }) {
			columns = append(columns, c)
		}
	}
	for _, m := range q.Metrics {
		if !slices.ContainsFunc(d.Metrics, func(v superset.Metric) bool { return v.Name == m }) {
			metrics = append(metrics, m)
		}
	}
	return columns, metrics
}
