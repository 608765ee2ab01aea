package mocksuperset

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// listing is what one resource lets itself be listed by.
type listing struct {
	table   string
	title   string // "Dashboard" in "List Dashboard"
	columns []string
	order   []string
	search  map[string]searchKind
	special map[string]specialFilter // "column:operator" → filter
	sees    func(*call, row) bool
	row     func(*call, row) obj         // all columns, related objects nested
	sortBy  func(*call, row, string) any // value of an order column that is not a plain one; nil: plain
	related map[string]relation          // many-to-many search columns
	whole   bool                         // no page cap: everything comes for size -1
	extra   []string                     // columns that always come and are not listed
}

type searchKind int

const (
	searchText searchKind = iota
	searchNumber
	searchBool
	searchOne  // one related object, by its id
	searchMany // several of them
	searchDate
)

// relation says how a many-to-many column is joined.
type relation struct{ link, from, to, table string }

type specialFilter func(c *call, r row, value any) bool

const (
	defaultPage = 20
	maxPage     = 100
)

// list answers GET of a collection.
func (c *call) list(l *listing) answer {
	v, a, good := c.argument()
	if !good {
		return a
	}
	q, isObject := v.(obj)
	if !isObject {
		return badSchema(v, "object")
	}
	if fault := listFault(q); fault != "" {
		return message(400, "Not a valid rison schema "+fault)
	}
	if q["columns"] != nil && q["select_columns"] != nil && len(q["columns"].([]any)) > 0 && len(q["select_columns"].([]any)) > 0 {
		return message(400, "Cannot use both select and sel columns")
	}
	rows := []row{}
	for r := range c.st.table(l.table).all() {
		if l.sees == nil || l.sees(c, r) {
			rows = append(rows, r)
		}
	}
	rows, a, good = c.filter(l, rows, q)
	if !good {
		return a
	}
	if a, good = c.sort(l, rows, q); !good {
		return a
	}
	count := len(rows)
	rows = pageOf(rows, q, l.whole)
	return ok(c.listBody(l, q, rows, count))
}

func (c *call) listBody(l *listing, q obj, rows []row, count int) obj {
	columns := chosenColumns(l, q)
	result := []any{}
	for _, r := range rows {
		full := l.row(c, r)
		out := project(full, columns)
		for _, name := range l.extra {
			out[name] = full[name]
		}
		result = append(result, out)
	}
	out := obj{"count": count, "ids": append([]int{}, ids(rows)...), "result": result}
	keys, _ := q["keys"].([]any)
	wants := func(key string) bool { return len(keys) == 0 || slices.Contains(keys, any(key)) }
	if wants("list_columns") {
		out["list_columns"] = columns
	}
	if wants("order_columns") {
		out["order_columns"] = l.order
	}
	if wants("list_title") {
		out["list_title"] = "List " + l.title
	}
	if wants("description_columns") {
		out["description_columns"] = obj{}
	}
	if wants("label_columns") {
		labels := obj{}
		for _, col := range columns {
			labels[col] = label(col)
		}
		out["label_columns"] = labels
	}
	return out
}

func chosenColumns(l *listing, q obj) []string {
	asked, _ := q["columns"].([]any)
	if len(asked) == 0 {
		asked, _ = q["select_columns"].([]any)
	}
	out := []string{}
	for _, a := range asked {
		if name, ok := a.(string); ok && slices.Contains(l.columns, name) {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return l.columns
	}
	return out
}

// project keeps the columns of an object; a dotted one keeps a field of a related object.
func project(full obj, columns []string) obj {
	out, nested := obj{}, map[string][]string{}
	for _, col := range columns {
		head, rest, dotted := strings.Cut(col, ".")
		if dotted {
			nested[head] = append(nested[head], rest)
			continue
		}
		out[col] = full[col]
	}
	for head, rest := range nested {
		switch v := full[head].(type) {
		case obj:
			out[head] = project(v, rest)
		case []any:
			list := []any{}
			for _, e := range v {
				list = append(list, project(e.(obj), rest))
			}
			out[head] = list
		default:
			out[head] = v
		}
	}
	return out
}

func label(column string) string {
	words := strings.FieldsFunc(column, func(r rune) bool { return r == '_' || r == '.' })
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, " ")
}

func pageOf(rows []row, q obj, whole bool) []row {
	size, page := asInt(q["page_size"]), asInt(q["page"])
	switch {
	case whole && size == -1:
		return rows
	case size == 0:
		size = defaultPage
	case !whole && (size < 0 || size > maxPage):
		size = maxPage
	}
	start := page * size
	if start < 0 || start >= len(rows) {
		return nil
	}
	return rows[start:min(start+size, len(rows))]
}

func (c *call) sort(l *listing, rows []row, q obj) (answer, bool) {
	column, _ := q["order_column"].(string)
	ascending := q["order_direction"] == "asc"
	if column == "" {
		column, ascending = "changed_on", false
		if !hasColumn(c.st.table(l.table), column) {
			column = "id"
		}
	} else if !slices.Contains(l.order, column) {
		return message(400, "Invalid order by column: "+column), false
	}
	keys := make(map[int]any, len(rows))
	for _, r := range rows {
		keys[r.id()] = c.sortKey(l, r, column)
	}
	sort.SliceStable(rows, func(i, j int) bool {
		order := compareValues(keys[rows[i].id()], keys[rows[j].id()])
		if ascending {
			return order < 0
		}
		return order > 0
	})
	return answer{}, true
}

func (c *call) sortKey(l *listing, r row, column string) any {
	switch column {
	case "changed_on_delta_humanized":
		return r["changed_on"]
	case "created_on_delta_humanized":
		return r["created_on"]
	case "changed_by.first_name", "created_by.first_name", "changed_by.last_name", "created_by.last_name":
		who, field, _ := strings.Cut(column, ".")
		if u := c.st.get("ab_user", r.int(who+"_fk")); u != nil {
			return u[field]
		}
		return nil
	}
	if l.sortBy != nil {
		if v := l.sortBy(c, r, column); v != nil {
			return v
		}
	}
	return r[column]
}

func hasColumn(t *table, name string) bool {
	for r := range t.all() {
		if _, ok := r[name]; ok {
			return true
		}
	}
	return false
}

// compareValues orders as SQLite does: null, numbers, texts by their bytes.
func compareValues(a, b any) int {
	rank := func(v any) int {
		switch v.(type) {
		case nil:
			return 0
		case string:
			return 2
		}
		return 1
	}
	if d := cmp.Compare(rank(a), rank(b)); d != 0 {
		return d
	}
	if x, ok := a.(string); ok {
		return strings.Compare(x, b.(string))
	}
	return cmp.Compare(number(a), number(b))
}

func number(v any) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case float64:
		return v
	case bool:
		return float64(asInt(v))
	}
	return 0
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
