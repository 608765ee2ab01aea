package mocksuperset

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// process does one step of post-processing. What the mock does not know it refuses.
func (t *chartTable) process(step obj) (*chartTable, *chartError) {
	options, _ := step["options"].(obj)
	switch operation := textOr(step["operation"], ""); operation {
	case "pivot":
		return t.pivot(options)
	case "flatten", "escape_separator", "unescape_separator":
		return t, nil
	case "rename":
		return t.rename(options)
	case "select":
		return t.choose(options)
	case "sort":
		return t.sorted(options)
	case "cum":
		return t.cumulate(options)
	case "contribution":
		return t.contribute(options)
	case "histogram":
		return t.histogram(options)
	case "boxplot":
		return t.boxplot(options)
	default:
		return nil, queryFault("the mock does not know the post-processing " + operation)
	}
}

func (t *chartTable) at(name string) int { return slices.Index(t.names, name) }

func (t *chartTable) missing(names []any) *chartError {
	var lacking []any
	for _, n := range names {
		if text, isText := n.(string); !isText || t.at(text) < 0 {
			lacking = append(lacking, n)
		}
	}
	if len(lacking) > 0 {
		return queryFault("Referenced columns not available in DataFrame.")
	}
	return nil
}

// keyText orders and names values of pivoted columns.
func keyText(v any) string {
	switch v := v.(type) {
	case nil:
		return "<NULL>"
	case time.Time:
		return v.Format("2006-01-02 15:04:05")
	}
	return csvValue(v)
}

func lessValue(a, b any) bool {
	x, xTime := a.(time.Time)
	y, yTime := b.(time.Time)
	if xTime && yTime {
		return x.Before(y)
	}
	return compareValues(plainNumber(a), plainNumber(b)) < 0
}

func plainNumber(v any) any {
	if n, isInt := v.(int64); isInt {
		return int(n)
	}
	return v
}

// pivot turns values of columns into columns: one row an index, one column a metric and value.
func (t *chartTable) pivot(o obj) (*chartTable, *chartError) {
	index, columns := asList(o["index"]), asList(o["columns"])
	aggregates, _ := o["aggregates"].(obj)
	if len(index) == 0 || len(aggregates) == 0 {
		return nil, queryFault("Pivot operation requires at least one index")
	}
	var metrics []string
	for _, n := range t.names {
		if _, wanted := aggregates[n]; wanted {
			metrics = append(metrics, n)
		}
	}
	sort.Strings(metrics)
	if fault := t.missing(slices.Concat(index, columns)); fault != nil {
		return nil, fault
	}
	if len(metrics) != len(aggregates) {
		return nil, queryFault("Referenced columns not available in DataFrame.")
	}
	type cell struct{ row, col string }
	cells, rowKeys, colKeys := map[cell][][]any{}, map[string][]any{}, map[string][]any{}
	pickAll := func(r []any, names []any) ([]any, string) {
		var values []any
		var texts []string
		for _, n := range names {
			v := r[t.at(n.(string))]
			values, texts = append(values, v), append(texts, keyText(v))
		}
		return values, strings.Join(texts, ", ")
	}
	for _, r := range t.rows {
		rv, rk := pickAll(r, index)
		cv, ck := pickAll(r, columns)
		rowKeys[rk], colKeys[ck] = rv, cv
		cells[cell{rk, ck}] = append(cells[cell{rk, ck}], r)
	}
	out := &chartTable{}
	for _, n := range index {
		out.names, out.types = append(out.names, n.(string)), append(out.types, t.types[t.at(n.(string))])
	}
	cols := sortedByValues(colKeys)
	for _, m := range metrics {
		for _, ck := range cols {
			name := m
			if len(columns) > 0 {
				name += ", " + ck
			}
			out.names, out.types = append(out.names, name), append(out.types, any(0))
		}
	}
	for _, rk := range sortedByValues(rowKeys) {
		line := slices.Clone(rowKeys[rk])
		for _, m := range metrics {
			op, _ := aggregates[m].(obj)
			for _, ck := range cols {
				v, fault := aggregate(cells[cell{rk, ck}], t.at(m), textOr(op["operator"], "mean"))
				if fault != nil {
					return nil, fault
				}
				line = append(line, v)
			}
		}
		out.rows = append(out.rows, line)
	}
	out.widen()
	return out, nil
}

func sortedByValues(keys map[string][]any) []string {
	out := sortedKeys(keys)
	sort.SliceStable(out, func(i, j int) bool {
		a, b := keys[out[i]], keys[out[j]]
		for n := range a {
			if lessValue(a[n], b[n]) {
				return true
			}
			if lessValue(b[n], a[n]) {
				return false
			}
		}
		return false
	})
	return out
}

func aggregate(rows [][]any, column int, operator string) (any, *chartError) {
	var numbers []float64
	for _, r := range rows {
		if f, isNumber := asFloat(r[column]); isNumber {
			numbers = append(numbers, f)
		}
	}
	if len(numbers) == 0 {
		return nil, nil
	}
	sum := 0.0
	for _, n := range numbers {
		sum += n
	}
	switch operator {
	case "mean":
		return sum / float64(len(numbers)), nil
	case "sum":
		return sum, nil
	case "min":
		return slices.Min(numbers), nil
	case "max":
		return slices.Max(numbers), nil
	case "count":
		return int64(len(numbers)), nil
	}
	return nil, queryFault("the mock does not know the operator " + operator)
}

func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func (t *chartTable) rename(o obj) (*chartTable, *chartError) {
	names, _ := o["columns"].(obj)
	out := &chartTable{names: slices.Clone(t.names), types: t.types, rows: t.rows}
	for i, n := range out.names {
		if fresh, renamed := names[n].(string); renamed {
			out.names[i] = fresh
		}
	}
	return out, nil
}

func (t *chartTable) choose(o obj) (*chartTable, *chartError) {
	wanted := asList(o["columns"])
	if fault := t.missing(wanted); fault != nil {
		return nil, fault
	}
	out := &chartTable{rows: make([][]any, len(t.rows))}
	for _, n := range wanted {
		at := t.at(n.(string))
		out.names, out.types = append(out.names, t.names[at]), append(out.types, t.types[at])
		for i, r := range t.rows {
			out.rows[i] = append(out.rows[i], r[at])
		}
	}
	return out.rename(obj{"columns": o["rename"]})
}

func (t *chartTable) sorted(o obj) (*chartTable, *chartError) {
	by := asList(o["by"])
	if fault := t.missing(by); fault != nil {
		return nil, fault
	}
	ascending := o["ascending"] != false
	out := &chartTable{names: t.names, types: t.types, rows: slices.Clone(t.rows)}
	sort.SliceStable(out.rows, func(i, j int) bool {
		for _, n := range by {
			a, b := out.rows[i][t.at(n.(string))], out.rows[j][t.at(n.(string))]
			if lessValue(a, b) {
				return ascending
			}
			if lessValue(b, a) {
				return !ascending
			}
		}
		return false
	})
	return out, nil
}

func (t *chartTable) cumulate(o obj) (*chartTable, *chartError) {
	columns, _ := o["columns"].(obj)
	if textOr(o["operator"], "sum") != "sum" {
		return nil, queryFault("the mock cumulates sums only")
	}
	out := &chartTable{names: t.names, types: t.types}
	sums := make([]float64, len(t.names))
	for _, r := range t.rows {
		line := slices.Clone(r)
		for i, n := range t.names {
			if _, wanted := columns[n]; wanted {
				if f, isNumber := asFloat(r[i]); isNumber {
					sums[i] += f
					line[i] = sums[i]
				}
			}
		}
		out.rows = append(out.rows, line)
	}
	return out, nil
}

func (t *chartTable) contribute(o obj) (*chartTable, *chartError) {
	wanted := asList(o["columns"])
	if len(wanted) == 0 {
		return nil, queryFault("the mock needs the columns of a contribution named")
	}
	if fault := t.missing(wanted); fault != nil {
		return nil, fault
	}
	byRow := textOr(o["orientation"], "column") == "row"
	out := &chartTable{names: t.names, types: t.types}
	for _, r := range t.rows {
		line := slices.Clone(r)
		for _, n := range wanted {
			at, total := t.at(n.(string)), 0.0
			if byRow {
				for _, m := range wanted {
					f, _ := asFloat(r[t.at(m.(string))])
					total += f
				}
			} else {
				for _, other := range t.rows {
					f, _ := asFloat(other[at])
					total += f
				}
			}
			if f, isNumber := asFloat(r[at]); isNumber && total != 0 {
				line[at] = f / total
			}
		}
		out.rows = append(out.rows, line)
	}
	return out, nil
}

// histogram counts values in bins of one width.
func (t *chartTable) histogram(o obj) (*chartTable, *chartError) {
	name := textOr(o["column"], "")
	if t.at(name) < 0 || len(asList(o["groupby"])) > 0 {
		return nil, queryFault("the mock makes histograms of one column without groups")
	}
	bins := asInt(o["bins"])
	if bins <= 0 {
		bins = 5
	}
	var values []float64
	for _, r := range t.rows {
		if f, isNumber := asFloat(r[t.at(name)]); isNumber {
			values = append(values, f)
		}
	}
	out := &chartTable{}
	if len(values) == 0 {
		return out, nil
	}
	low, high := slices.Min(values), slices.Max(values)
	width := (high - low) / float64(bins)
	counts := make([]int64, bins)
	for _, v := range values {
		at := bins - 1
		if width > 0 {
			at = min(int((v-low)/width), bins-1)
		}
		counts[at]++
	}
	line := []any{}
	for i, n := range counts {
		from := low + float64(i)*width
		out.names, out.types = append(out.names, fmt.Sprintf("%s - %s", shortFloat(from), shortFloat(from+width))), append(out.types, any(0))
		line = append(line, n)
	}
	out.rows = [][]any{line}
	return out, nil
}

func shortFloat(f float64) string { return dumps(pyFloat(f)) }

// boxplot tells mean, median, quartiles, whiskers, count and outliers of each metric and group.
func (t *chartTable) boxplot(o obj) (*chartTable, *chartError) {
	groups, metrics := asList(o["groupby"]), asList(o["metrics"])
	if fault := t.missing(slices.Concat(groups, metrics)); fault != nil {
		return nil, fault
	}
	byKey, keys := map[string][][]any{}, map[string][]any{}
	for _, r := range t.rows {
		var values []any
		var texts []string
		for _, g := range groups {
			v := r[t.at(g.(string))]
			values, texts = append(values, v), append(texts, keyText(v))
		}
		k := strings.Join(texts, ", ")
		byKey[k], keys[k] = append(byKey[k], r), values
	}
	out := &chartTable{}
	for _, g := range groups {
		out.names, out.types = append(out.names, g.(string)), append(out.types, t.types[t.at(g.(string))])
	}
	for _, m := range metrics {
		for _, part := range []string{"mean", "median", "max", "min", "q1", "q3", "count", "outliers"} {
			out.names, out.types = append(out.names, m.(string)+"__"+part), append(out.types, any(0))
		}
	}
	for _, k := range sortedByValues(keys) {
		line := slices.Clone(keys[k])
		for _, m := range metrics {
			line = append(line, boxValues(byKey[k], t.at(m.(string)))...)
		}
		out.rows = append(out.rows, line)
	}
	return out, nil
}

func boxValues(rows [][]any, column int) []any {
	var v []float64
	sum := 0.0
	for _, r := range rows {
		if f, isNumber := asFloat(r[column]); isNumber {
			v, sum = append(v, f), sum+f
		}
	}
	if len(v) == 0 {
		return []any{nil, nil, nil, nil, nil, nil, int64(0), []any{}}
	}
	slices.Sort(v)
	at := func(share float64) float64 {
		pos := share * float64(len(v)-1)
		low := int(pos)
		if low+1 >= len(v) {
			return v[low]
		}
		if pos == float64(low) {
			return v[low]
		}
		return (v[low] + v[low+1]) / 2
	}
	q1, q3 := at(0.25), at(0.75)
	reach := 1.5 * (q3 - q1)
	low, high, outliers := v[len(v)-1], v[0], []any{}
	for _, f := range v {
		if f < q1-reach || f > q3+reach {
			outliers = append(outliers, pyFloat(f))
			continue
		}
		low, high = min(low, f), max(high, f)
	}
	return []any{sum / float64(len(v)), at(0.5), high, low, q1, q3, int64(len(v)), outliers}
}
