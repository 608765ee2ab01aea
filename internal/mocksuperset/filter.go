package mocksuperset

import (
	"fmt"
	"slices"
	"strings"
)

var (
	textOps   = []string{"sw", "ew", "ct", "eq", "nsw", "new", "nct", "neq", "in", "not_in"}
	numberOps = []string{"eq", "gt", "lt", "neq", "in", "not_in"}
	boolOps   = []string{"eq", "neq"}
	dateOps   = []string{"eq", "gt", "lt", "neq"}
	oneOps    = []string{"rel_o_m", "nrel_o_m"}
	manyOps   = []string{"rel_m_m"}
	allOps    = slices.Concat(textOps, []string{"gt", "lt"}, oneOps, manyOps)
)

func opsOf(kind searchKind) []string {
	switch kind {
	case searchNumber:
		return numberOps
	case searchBool:
		return boolOps
	case searchDate:
		return dateOps
	case searchOne:
		return oneOps
	case searchMany:
		return manyOps
	}
	return textOps
}

// filter keeps the rows that pass every filter of q. As in the real one an
// operator that nobody knows is no filter at all.
func (c *call) filter(l *listing, rows []row, q obj) ([]row, answer, bool) {
	filters, _ := q["filters"].([]any)
	for _, f := range filters {
		f := f.(obj)
		column, op, value := f["col"].(string), f["opr"].(string), f["value"]
		kind, searchable := l.search[column]
		special, isSpecial := l.special[column+":"+op]
		switch {
		case isSpecial:
			rows = keep(rows, func(r row) bool { return special(c, r, value) })
			continue
		case !slices.Contains(allOps, op) && searchable:
			continue
		case !slices.Contains(allOps, op), searchable && !slices.Contains(opsOf(kind), op):
			return nil, message(400, fmt.Sprintf("Filter operation: %s not allowed on column: %s", op, column)), false
		case !searchable:
			return nil, message(400, "Filter column: "+column+" not allowed to filter"), false
		}
		if isTextOp(op) {
			if fault := notTexts(value); fault != "" {
				return nil, reply(500, obj{"error": fault}), false
			}
		}
		rows = c.filterPlain(l, rows, kind, column, op, value)
	}
	return rows, answer{}, true
}

func (c *call) filterPlain(l *listing, rows []row, kind searchKind, column, op string, value any) []row {
	switch op {
	case "rel_m_m":
		return c.filterMany(l, rows, column, value)
	case "rel_o_m", "nrel_o_m":
		foreign := column + "_fk"
		if column == "database" {
			foreign = "database_id"
			if l.table == "saved_query" {
				foreign = "db_id"
			}
		}
		id, _ := toInt(value)
		return keep(rows, func(r row) bool { return (r[foreign] == id) == (op == "rel_o_m") })
	}
	return keep(rows, func(r row) bool {
		v := r[column]
		if kind == searchBool {
			v = r.bool(column)
		}
		return matches(v, op, value)
	})
}

// filterMany: an id that does not exist takes the filter away.
func (c *call) filterMany(l *listing, rows []row, column string, value any) []row {
	rel, ok := l.related[column]
	if !ok {
		return rows
	}
	wanted := []any{value}
	if list, isList := value.([]any); isList {
		wanted = list
	}
	for _, w := range wanted {
		id, _ := toInt(w)
		n, isInt := id.(int)
		if !isInt || c.st.get(rel.table, n) == nil {
			continue
		}
		rows = keep(rows, func(r row) bool {
			for _, l := range c.st.where(rel.link, rel.from, r.id()) {
				if l.int(rel.to) == n {
					return true
				}
			}
			return false
		})
	}
	return rows
}

func isTextOp(op string) bool {
	return slices.Contains([]string{"sw", "nsw", "ew", "new", "ct", "nct"}, op)
}

// notTexts is the complaint about a value that is no text where one is needed.
func notTexts(value any) string {
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	for _, v := range list {
		switch v.(type) {
		case string:
		case int:
			return `can only concatenate str (not "int") to str`
		case bool:
			return `can only concatenate str (not "bool") to str`
		case nil:
			return `can only concatenate str (not "NoneType") to str`
		default:
			return `can only concatenate str (not "float") to str`
		}
	}
	return ""
}

func matches(have any, op string, value any) bool {
	if isTextOp(op) {
		list, isList := value.([]any)
		if !isList {
			list = []any{value}
		}
		for _, v := range list {
			if !likeOp(have, op, v.(string)) {
				return false
			}
		}
		return true
	}
	switch op {
	case "eq":
		return equal(have, value)
	case "neq":
		return have != nil && !equal(have, value)
	case "gt":
		return have != nil && compareValues(have, value) > 0
	case "lt":
		return have != nil && compareValues(have, value) < 0
	case "in", "not_in":
		list, isList := value.([]any)
		if !isList {
			list = []any{value}
		}
		found := slices.ContainsFunc(list, func(v any) bool { return equal(have, v) })
		if op == "in" {
			return found
		}
		return have != nil && !found
	}
	return true
}

func equal(have, want any) bool {
	if have == nil || want == nil {
		return have == nil && want == nil
	}
	if b, ok := want.(bool); ok {
		if h, ok := have.(bool); ok {
			return h == b
		}
		return asInt(have) == asInt(b)
	}
	return fmt.Sprint(have) == fmt.Sprint(want)
}

func likeOp(have any, op, value string) bool {
	text, ok := have.(string)
	if !ok {
		return false
	}
	switch op {
	case "sw":
		return like(text, value+"%")
	case "nsw":
		return !like(text, value+"%")
	case "ew":
		return like(text, "%"+value)
	case "new":
		return !like(text, "%"+value)
	case "ct":
		return like(text, "%"+value+"%")
	}
	return !like(text, "%"+value+"%")
}

// like is LIKE as SQLite has it: % and _ are wildcards, case counts outside ASCII only.
func like(text, pattern string) bool {
	return likeRunes([]rune(lowerASCII(text)), []rune(lowerASCII(pattern)))
}

func likeRunes(text, pattern []rune) bool {
	t, p, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '%':
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == '_' || pattern[p] == text[t]):
			p, t = p+1, t+1
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '%' {
		p++
	}
	return p == len(pattern)
}

func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

func keep(rows []row, good func(row) bool) []row {
	out := make([]row, 0, len(rows))
	for _, r := range rows {
		if good(r) {
			out = append(out, r)
		}
	}
	return out
}
