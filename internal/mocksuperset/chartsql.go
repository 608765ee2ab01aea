package mocksuperset

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// compiled is a query of chart data as SQL.
type compiled struct {
	sql      string
	labels   []string
	axis     map[string]bool // labels whose values are times of the axis
	numbers  map[string]bool // labels of metrics
	saved    map[string]row  // labels of saved metrics → the metric
	applied  []any
	rejected []any
}

// compiler turns one query object into SQL over one dataset.
type compiler struct {
	run     *chartRun
	columns map[string]row
	metrics map[string]row
	out     compiled
	where   []string
	having  []string
	orders  []string
	missing []any
}

var subQuery = regexp.MustCompile(`(?i)\(\s*select\b`)

func (run *chartRun) compile(q obj) (*compiler, *chartError) {
	k := &compiler{run: run, columns: map[string]row{}, metrics: map[string]row{}}
	k.out.axis, k.out.numbers, k.out.saved = map[string]bool{}, map[string]bool{}, map[string]row{}
	for _, col := range run.c.columns(run.ds) {
		k.columns[col.str("column_name")] = col
	}
	for _, m := range run.c.metrics(run.ds) {
		k.metrics[m.str("metric_name")] = m
	}
	var selects, groups []string
	columns := asList(q["columns"])
	if len(columns) == 0 {
		columns = asList(q["groupby"])
	}
	metrics, hasMetrics := q["metrics"].([]any)
	if len(columns) == 0 && len(metrics) == 0 {
		return nil, queryFault("Empty query?")
	}
	add := func(expression, label string) {
		selects = append(selects, expression+" AS "+quoteName(label))
		k.out.labels = append(k.out.labels, label)
	}
	for _, col := range columns {
		expression, label, fault := k.column(col, textOr(q["granularity"], ""), q)
		if fault != nil {
			return nil, fault
		}
		add(expression, label)
		groups = append(groups, expression)
	}
	for _, m := range metrics {
		expression, label, fault := k.metric(m)
		if fault != nil {
			return nil, fault
		}
		add(expression, label)
		k.out.numbers[label] = true
	}
	if fault := duplicateLabels(k.out.labels); fault != nil {
		return nil, fault
	}
	if fault := k.conditions(q); fault != nil {
		return nil, fault
	}
	if fault := k.order(q); fault != nil {
		return nil, fault
	}
	from, fault := k.from()
	if fault != nil {
		return nil, fault
	}
	text := "SELECT " + strings.Join(selects, ", ") + " \nFROM " + from
	if len(k.where) > 0 {
		text += " \nWHERE " + strings.Join(k.where, " AND ")
	}
	if hasMetrics && len(groups) > 0 {
		text += " GROUP BY " + strings.Join(groups, ", ")
	}
	if len(k.having) > 0 {
		text += " \nHAVING " + strings.Join(k.having, " AND ")
	}
	if len(k.orders) > 0 {
		text += " ORDER BY " + strings.Join(k.orders, ", ")
	}
	k.out.sql = text + fmt.Sprintf("\n LIMIT %d OFFSET %d", rowLimit(q), asInt(q["row_offset"]))
	return k, nil
}

func rowLimit(q obj) int {
	n := asInt(q["row_limit"])
	if n <= 0 {
		n = 50000
	}
	return min(n, 100000)
}

func duplicateLabels(labels []string) *chartError {
	seen, twice := map[string]bool{}, []string{}
	for _, l := range labels {
		if seen[l] && !slices.Contains(twice, l) {
			twice = append(twice, l)
		}
		seen[l] = true
	}
	if len(twice) == 0 {
		return nil
	}
	return &chartError{text: "Duplicate column/metric labels: " + strings.Join(quoteAll(twice), ", ") + ". Please make sure all columns and metrics have a unique label."}
}

// column gives the SQL and the label of a column: one of the dataset, or free SQL.
func (k *compiler) column(col any, granularity string, q obj) (string, string, *chartError) {
	switch col := col.(type) {
	case string:
		r, known := k.columns[col]
		if !known {
			k.missing = append(k.missing, col)
			return "(" + col + ")", col, nil
		}
		extras, _ := q["extras"].(obj)
		grain := textOr(extras["time_grain_sqla"], "")
		if col != granularity || !r.bool("is_dttm") {
			return columnSQL(r), col, nil
		}
		k.out.axis[col] = true
		expression, fault := grained(columnSQL(r), grain)
		return expression, col, fault
	case obj:
		text := textOr(col["sqlExpression"], "")
		label := textOr(col["label"], text)
		var expression string
		if r, known := k.columns[text]; known {
			expression = columnSQL(r)
		} else if fault := freeSQL(text); fault != nil {
			return "", "", fault
		} else {
			expression = "(" + text + ")"
		}
		grain := textOr(col["timeGrain"], "")
		if col["columnType"] == "BASE_AXIS" {
			// Values become times only where the label, too, is a column of the dataset.
			if r, known := k.columns[text]; known && (r.bool("is_dttm") || grain != "") && k.columns[label] != nil {
				k.out.axis[label] = true
			}
		}
		expression, fault := grained(expression, grain)
		return expression, label, fault
	}
	return "", "", queryFault("a column is a name or an object")
}

// grained rounds a time down to a grain.
func grained(expression, grain string) (string, *chartError) {
	if grain == "" {
		return expression, nil
	}
	form, known := grainSQL[grain]
	if !known {
		return "", queryFault("No grain spec for " + grain + " for database sqlite")
	}
	return strings.ReplaceAll(form, "{col}", expression), nil
}

func columnSQL(col row) string {
	if e := col.str("expression"); e != "" {
		return e
	}
	return quoteName(col.str("column_name"))
}

// freeSQL refuses what is no expression.
func freeSQL(text string) *chartError {
	list := code(tokens(text))
	if !balanced(list) {
		return faultAnswered(invalidSQL("SELECT "+text, list))
	}
	if subQuery.MatchString(text) {
		return queryFault("Custom SQL fields cannot contain sub-queries.")
	}
	return nil
}

// invalidSQL is what the parser says to SQL that does not hold together.
func invalidSQL(text string, list []token) answer {
	near, column := "", 1
	if len(list) > 0 {
		last := list[len(list)-1]
		near, column = last.text, last.at+len(last.text)+len("SELECT ")
	}
	return problems(422, problem{message: fmt.Sprintf("Error parsing near '%s' at line 1:%d", near, column), kind: "INVALID_SQL_ERROR",
		extra: obj{"sql": text, "engine": "sqlite", "line": 1, "column": column}, codes: []int{1003}})
}

func (k *compiler) metric(m any) (string, string, *chartError) {
	switch m := m.(type) {
	case string:
		r, known := k.metrics[m]
		if !known {
			return "", "", queryFault("Metric '" + m + "' does not exist")
		}
		expression := r.str("expression")
		if list := code(tokens(expression)); !balanced(list) {
			return "", "", faultAnswered(invalidSQL("SELECT "+expression, list))
		}
		k.out.saved[m] = r
		return expression, m, nil
	case obj:
		if name, saved := m["metric_name"].(string); saved && m["expressionType"] == nil {
			return k.metric(name)
		}
		label := textOr(m["label"], "")
		if m["expressionType"] == "SQL" {
			text := textOr(m["sqlExpression"], "")
			if fault := freeSQL(text); fault != nil {
				return "", "", fault
			}
			if label == "" {
				label = text
			}
			return text, label, nil
		}
		col, _ := m["column"].(obj)
		name := textOr(col["column_name"], "")
		expression := quoteName(name)
		if r, known := k.columns[name]; known {
			expression = columnSQL(r)
		}
		aggregate := strings.ToUpper(textOr(m["aggregate"], ""))
		if label == "" {
			label = aggregate + "(" + name + ")"
		}
		switch aggregate {
		case "SUM", "AVG", "COUNT", "MIN", "MAX":
			return aggregate + "(" + expression + ")", label, nil
		case "COUNT_DISTINCT":
			return "COUNT(DISTINCT " + expression + ")", label, nil
		}
		return "", "", queryFault("the mock does not know the aggregate " + aggregate)
	}
	return "", "", queryFault("a metric is a name or an object")
}

// from is the table, or the SQL of a virtual dataset with row-level rules inside.
func (k *compiler) from() (string, *chartError) {
	c, ds := k.run.c, k.run.ds
	if kindOf(ds) != "virtual" {
		name := quoteName(ds.str("table_name"))
		if s := ds.str("schema"); s != "" {
			name = quoteName(s) + "." + name
		}
		return name, nil
	}
	text, err := c.renderedSQL(ds)
	if err != nil {
		return "", queryFault(err.Error())
	}
	if list := code(tokens(text)); !balanced(list) {
		return "", faultAnswered(invalidSQL(text, list))
	}
	text = withRules(text, func(table string) string {
		for _, other := range c.st.where("tables", "table_name", table) {
			if other.int("database_id") == ds.int("database_id") && kindOf(other) == "physical" {
				return strings.Join(c.rules(other), " AND ")
			}
		}
		return ""
	})
	return "(" + text + "\n) AS virtual_table", nil
}

// rules are the conditions that row-level rules put on a dataset for the caller.
// Rules of one group are alternatives.
func (c *call) rules(ds row) []string {
	groups := map[string][]string{}
	var order []string
	for _, l := range c.st.where("rls_filter_tables", "table_id", ds.id()) {
		rule := c.st.get("row_level_security_filters", l.int("rls_filter_id"))
		if rule == nil || !c.ruleHolds(rule) {
			continue
		}
		key := rule.str("group_key")
		if key == "" {
			key = "\x00" + itoa(rule.id())
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], "("+rule.str("clause")+")")
	}
	var out []string
	for _, key := range order {
		clause := strings.Join(groups[key], " OR ")
		if len(groups[key]) > 1 {
			clause = "(" + clause + ")"
		}
		out = append(out, clause)
	}
	return out
}

// ruleHolds: a regular rule is for who has one of its roles, a base one for who has none.
func (c *call) ruleHolds(rule row) bool {
	has := false
	for _, l := range c.st.where("rls_filter_roles", "rls_filter_id", rule.id()) {
		for _, r := range c.roles() {
			has = has || r.id() == l.int("role_id")
		}
	}
	return has == (rule.str("filter_type") != "Base")
}

func (k *compiler) order(q obj) *chartError {
	for _, o := range asList(q["orderby"]) {
		pair, _ := o.([]any)
		if len(pair) != 2 {
			continue
		}
		direction := "DESC"
		if pair[1] == true {
			direction = "ASC"
		}
		if name, isText := pair[0].(string); isText && slices.Contains(k.out.labels, name) {
			k.orders = append(k.orders, quoteName(name)+" "+direction)
			continue
		}
		expression := ""
		switch by := pair[0].(type) {
		case string:
			if r, known := k.columns[by]; known {
				expression = columnSQL(r)
			} else if _, known := k.metrics[by]; known {
				expression, _, _ = k.metric(by)
			} else {
				return queryFault("Unknown column used in orderby: " + by)
			}
		case obj:
			var fault *chartError
			if expression, _, fault = k.metric(by); fault != nil {
				return fault
			}
		}
		if expression != "" {
			k.orders = append(k.orders, expression+" "+direction)
		}
	}
	return nil
}
