package mocksuperset

import (
	"fmt"
	"strconv"
	"strings"
)

// conditions compiles filters, free SQL, time range and row-level rules.
func (k *compiler) conditions(q obj) *chartError {
	for _, f := range asList(q["filters"]) {
		filter, isObject := f.(obj)
		if !isObject {
			continue
		}
		if r := textOr(q["time_range"], ""); r != "" && filter["op"] == "TEMPORAL_RANGE" {
			// The range of the query, "No filter" included, wins over the filter's own.
			filter = obj{"col": filter["col"], "op": filter["op"], "val": r}
		}
		if fault := k.filter(filter); fault != nil {
			return fault
		}
	}
	if axis := textOr(q["granularity"], ""); axis != "" && k.columns[axis] != nil {
		if fault := k.timeRange(columnSQL(k.columns[axis]), textOr(q["time_range"], "")); fault != nil {
			return fault
		}
	}
	extras, _ := q["extras"].(obj)
	for name, into := range map[string]*[]string{"where": &k.where, "having": &k.having} {
		text := strings.TrimSpace(textOr(extras[name], ""))
		if text == "" {
			continue
		}
		list := code(tokens(text))
		if !balanced(list) || len(statements(text)) > 1 {
			return &chartError{text: "Invalid SQL clause: " + text}
		}
		if subQuery.MatchString(text) {
			return faultAnswered(problems(403, problem{message: "Custom SQL fields cannot contain sub-queries.", kind: "ADHOC_SUBQUERY_NOT_ALLOWED_ERROR", codes: []int{1037}}))
		}
		rendered, err := k.run.c.render(text, object(k.run.ds.str("template_params")))
		if err != nil {
			return queryFault(err.Error())
		}
		*into = append(*into, "("+rendered+")")
	}
	k.where = append(k.where, k.run.c.rules(k.run.ds)...)
	return nil
}

func (k *compiler) filter(f obj) *chartError {
	op, value := strings.ToUpper(textOr(f["op"], "")), f["val"]
	var expression, name string
	var kind any
	switch col := f["col"].(type) {
	case string:
		r, known := k.columns[col]
		if !known {
			k.out.rejected = append(k.out.rejected, obj{"reason": "not_in_datasource", "column": col})
			return nil
		}
		expression, name, kind = inParens(r), col, typeOf(r)
	case obj:
		text := textOr(col["sqlExpression"], "")
		if fault := freeSQL(text); fault != nil {
			return fault
		}
		expression, name = "("+text+")", textOr(col["label"], text)
	default:
		return nil
	}
	k.out.applied = append(k.out.applied, obj{"column": name})
	if op == "TEMPORAL_RANGE" {
		_ = k.timeRange(expression, textOr(value, "")) // a range that cannot be read filters nothing
		return nil
	}
	condition, fault := conditionSQL(expression, op, value, kind)
	if fault != nil {
		return fault
	}
	k.where = append(k.where, condition)
	return nil
}

// inParens is a column for a condition, where a calculated one needs parentheses.
func inParens(col row) string {
	if col.str("expression") != "" {
		return "(" + col.str("expression") + ")"
	}
	return columnSQL(col)
}

func conditionSQL(expression, op string, value, kind any) (string, *chartError) {
	switch op {
	case "IS NULL", "IS NOT NULL":
		return expression + " " + op, nil
	case "IS TRUE":
		return expression + " IS 1", nil
	case "IS FALSE":
		return expression + " IS 0", nil
	case "IN", "NOT IN":
		list := asList(value)
		if len(list) == 0 {
			return "", queryFault("Filter value list cannot be empty")
		}
		var parts []string
		null := false
		for _, v := range list {
			if v == nil {
				null = true
				continue
			}
			parts = append(parts, literal(v, kind))
		}
		in := expression + " " + op + " (" + strings.Join(parts, ", ") + ")"
		switch {
		case null && op == "IN" && len(parts) > 0:
			return "(" + expression + " IS NULL OR " + in + ")", nil
		case null && op == "IN":
			return expression + " IS NULL", nil
		case null && len(parts) > 0:
			return "(" + expression + " IS NOT NULL AND " + in + ")", nil
		case null:
			return expression + " IS NOT NULL", nil
		}
		return in, nil
	case "LIKE", "NOT LIKE":
		return expression + " " + op + " " + literal(value, nil), nil
	case "ILIKE", "NOT ILIKE":
		return "lower(" + expression + ") " + strings.Replace(op, "ILIKE", "LIKE", 1) + " lower(" + literal(value, nil) + ")", nil
	}
	if list, isList := value.([]any); isList {
		if len(list) == 0 {
			return "", queryFault("Filter value list cannot be empty")
		}
		value = list[0]
	}
	if value == nil {
		switch op {
		case "==":
			return expression + " IS NULL", nil
		case "!=":
			return expression + " IS NOT NULL", nil
		}
		return "", queryFault("Must specify a value for filters with comparison operators")
	}
	if op == "==" {
		op = "="
	}
	return expression + " " + op + " " + literal(value, kind), nil
}

// literal writes a value as SQL; a text that is a number counts as one where the column is a number.
func literal(v, kind any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case bool:
		return strconv.Itoa(asInt(v))
	case int:
		return strconv.Itoa(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		if kind == 0 {
			if _, err := strconv.ParseFloat(v, 64); err == nil {
				return v
			}
		}
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	}
	return "'" + strings.ReplaceAll(fmt.Sprint(v), "'", "''") + "'"
}

// timeRange compares texts, as SQLite does: the end does not belong to the range.
func (k *compiler) timeRange(expression, text string) *chartError {
	since, until, err := parseRange(text, k.run.c.s.clock.wall().UTC())
	if err != nil {
		return queryFault(err.Error())
	}
	if !since.IsZero() {
		k.where = append(k.where, expression+" >= '"+stored(since)+"'")
	}
	if !until.IsZero() {
		k.where = append(k.where, expression+" < '"+stored(until)+"'")
	}
	return nil
}
