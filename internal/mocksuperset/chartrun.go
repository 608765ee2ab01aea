package mocksuperset

import (
	"encoding/csv"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// chartRun runs the queries of one context.
type chartRun struct {
	c      *call
	ds     row
	kind   string // result_type
	format string
	csvs   []string
}

// one answers one query.
func (run *chartRun) one(q obj) (obj, *chartError) {
	switch run.kind {
	case "columns":
		list := []any{}
		for _, col := range run.c.columns(run.ds) {
			list = append(list, obj{"column_name": col["column_name"], "verbose_name": col["verbose_name"], "dtype": dtype(col)})
		}
		return obj{"data": list}, nil
	case "timegrains":
		list := []any{}
		for _, g := range grainNames {
			list = append(list, obj{"duration": g[0], "name": g[1], "function": g[2]})
		}
		return obj{"data": list}, nil
	case "query":
		return run.onlySQL(q)
	case "samples", "drill_detail":
		q = run.samples(q)
	}
	k, fault := run.compile(q)
	if fault != nil {
		return nil, fault
	}
	if len(k.missing) > 0 {
		return nil, queryFault("Columns missing in dataset: " + pyRepr(k.missing))
	}
	t, fault := run.execute(k)
	if fault != nil {
		return nil, fault
	}
	count := len(t.rows)
	if run.kind != "samples" {
		for _, step := range asList(q["post_processing"]) {
			if o, isObject := step.(obj); isObject {
				if t, fault = t.process(o); fault != nil {
					return nil, fault
				}
			}
		}
	}
	return run.payload(k, t, count), nil
}

// dtype knows times, numbers and, for all else, texts.
func dtype(col row) int {
	switch {
	case col.bool("is_dttm"):
		return 2
	case col["type"] != nil && genericType(col.str("type")) == 0:
		return 0
	}
	return 1
}

func (run *chartRun) onlySQL(q obj) (obj, *chartError) {
	k, fault := run.compile(q)
	if fault == nil {
		return obj{"language": "sql", "query": k.out.sql + ";"}, nil
	}
	if fault.answer == nil {
		return obj{"language": "sql", "error": strings.TrimPrefix(fault.text, "Error: ")}, nil
	}
	list, _ := object(string(fault.answer.body))["errors"].([]any)
	if len(list) == 0 {
		return nil, fault
	}
	e := list[0].(obj)
	extra, _ := e["extra"].(obj)
	if e["error_type"] != "INVALID_SQL_ERROR" {
		return nil, fault
	}
	return obj{"language": "sql", "query": extra["sql"], "error": e["message"]}, nil
}

// samples asks for all columns and no metrics, 1,000 rows unless the query says another number.
func (run *chartRun) samples(q obj) obj {
	names := []any{}
	for _, col := range run.c.columns(run.ds) {
		names = append(names, col["column_name"])
	}
	out := obj{"columns": names, "filters": q["filters"], "extras": q["extras"], "row_limit": 1000, "row_offset": q["row_offset"]}
	if n := asInt(q["row_limit"]); n > 0 {
		out["row_limit"] = n
	}
	return out
}

// execute runs the SQL and makes a table of it, times of the axis as times.
func (run *chartRun) execute(k *compiler) (*chartTable, *chartError) {
	db := run.c.st.get("dbs", run.ds.int("database_id"))
	if db == nil {
		return nil, faultAnswered(notFound)
	}
	source, err := run.c.s.data.database(db.str("sqlalchemy_uri"))
	if err != nil {
		var unreachable *errUnreachable
		if errors.As(err, &unreachable) && !unreachable.driver {
			return nil, queryFault(err.Error())
		}
		return nil, faultAnswered(run.c.refusal(backend(500, err.Error())))
	}
	f, err := query(run.c.r.Context(), source, k.out.sql, -1)
	if err != nil {
		return nil, queryFault(sqliteText(err))
	}
	t := &chartTable{names: k.out.labels, types: make([]any, len(k.out.labels))}
	for i, label := range k.out.labels {
		if col, known := k.columns[label]; known {
			t.types[i] = typeOf(col)
			if col.bool("is_dttm") {
				t.types[i] = 2
			}
		}
		if k.out.axis[label] {
			t.types[i] = 2
		}
		if k.out.numbers[label] && len(f.rows) == 0 {
			t.types[i] = 0
		}
	}
	for _, r := range f.rows {
		values := make([]any, len(r))
		for i, v := range r {
			values[i] = v
			if text, isText := v.(string); isText && k.out.axis[t.names[i]] {
				if at, valid := axisTime(text); valid {
					values[i] = at
				}
			}
			if b, isBytes := v.([]byte); isBytes {
				values[i] = bytesText(b)
			}
		}
		t.rows = append(t.rows, values)
	}
	t.widen()
	return t, nil
}

func axisTime(text string) (time.Time, bool) {
	for _, layout := range []string{"2006-01-02 15:04:05.999999", "2006-01-02", "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// chartTable is the result on its way through post-processing. Values are nil,
// int64, float64, string or time.Time.
type chartTable struct {
	names []string
	types []any // kind by the dataset, nil unknown
	rows  [][]any
}

// widen makes floats of whole numbers that share a column with a null or a float, as the real one's tables do.
func (t *chartTable) widen() {
	for i := range t.names {
		ints, others := 0, 0
		pure := true
		for _, r := range t.rows {
			switch r[i].(type) {
			case int64:
				ints++
			case nil, float64:
				others++
			default:
				pure = false
			}
		}
		if !pure || ints == 0 || others == 0 {
			continue
		}
		for _, r := range t.rows {
			if n, isInt := r[i].(int64); isInt {
				r[i] = float64(n)
			}
		}
	}
}

// kindAt is the kind of a column: by the dataset when it is a time, else by its values.
func (t *chartTable) kindAt(i int) any {
	if t.types[i] == 2 {
		return 2
	}
	for _, r := range t.rows {
		switch r[i].(type) {
		case int64, float64:
			return 0
		case time.Time:
			return 2
		case string:
			return 1
		}
	}
	if t.types[i] != nil {
		return t.types[i]
	}
	return 1
}

func jsonValue(v any) any {
	switch v := v.(type) {
	case time.Time:
		return pyFloat(float64(v.UnixMilli()))
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil
		}
		return pyFloat(v)
	}
	return v
}

func (run *chartRun) payload(k *compiler, t *chartTable, count int) obj {
	data, kinds, index := []any{}, []any{}, []any{}
	for i := range t.names {
		kinds = append(kinds, t.kindAt(i))
	}
	for n, r := range t.rows {
		o := ordered{}
		for i, name := range t.names {
			o = append(o, keyed{name, jsonValue(r[i])})
		}
		data = append(data, o)
		index = append(index, n)
	}
	if run.format == "csv" {
		run.csvs = append(run.csvs, run.csvText(t))
	}
	names := append([]string{}, t.names...)
	if run.kind == "results" {
		return obj{"data": data, "colnames": names, "coltypes": kinds, "rowcount": len(t.rows), "sql_rowcount": count, "detected_currency": nil}
	}
	labels, applied, rejected := obj{}, k.out.applied, k.out.rejected
	for _, n := range t.names {
		labels[n] = strings.Split(n, ", ")
	}
	for l, m := range k.out.saved {
		if v := m.str("verbose_name"); v != "" {
			labels[v] = []string{l}
		}
	}
	if applied == nil {
		applied = []any{}
	}
	if rejected == nil {
		rejected = []any{}
	}
	return obj{
		"cache_key": digest(k.out.sql), "cached_dttm": nil, "queried_dttm": run.c.s.clock.now().Format("2006-01-02T15:04:05+00:00"),
		"cache_timeout": 86400, "applied_template_filters": []any{}, "annotation_data": obj{}, "error": nil, "is_cached": nil,
		"query": k.out.sql + ";\n\n", "status": "success", "stacktrace": nil, "rowcount": len(t.rows), "sql_rowcount": count,
		"from_dttm": nil, "to_dttm": nil, "label_map": labels, "colnames": names, "indexnames": index, "coltypes": kinds, "data": data,
		"result_format": run.format, "detected_currency": nil, "applied_filters": applied, "rejected_filters": rejected,
	}
}

func (run *chartRun) csvText(t *chartTable) string {
	titles := run.c.verboseMap(run.ds)
	var out strings.Builder
	w := csv.NewWriter(&out)
	line := make([]string, len(t.names))
	for i, n := range t.names {
		line[i] = textOr(titles[n], n)
	}
	_ = w.Write(line) // a strings.Builder does not fail
	for _, r := range t.rows {
		for i, v := range r {
			line[i] = csvValue(v)
		}
		_ = w.Write(line)
	}
	w.Flush()
	return out.String()
}

func csvValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return dumps(pyFloat(v))
	case time.Time:
		return v.Format("2006-01-02 15:04:05")
	}
	text, _ := v.(string)
	return text
}

// csv answers the first query as a file, several as a zip.
func (run *chartRun) csv([]any) answer {
	stamp := run.c.s.clock.now().Format("20060102_150405")
	if len(run.csvs) != 1 {
		return message(400, "the mock gives one query as CSV, not several")
	}
	return answer{status: 200, ctype: "text/csv; charset=utf-8", body: []byte(run.csvs[0])}.
		with("Content-Disposition", "attachment; filename="+stamp+".csv")
}
