package artifact

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

// Aggregate computes values over the rows that match, for each group of equal cells.
type Aggregate struct {
	GroupBy []string
	Values  []Value // at least one
}

// Value is one computed column. A column is not needed for count, which then counts rows.
type Value struct {
	Fn     string // one of Fns
	Column string
}

// Fns are the functions. All but count leave nulls out; sum and avg leave out what is no number.
var Fns = []string{"count", "count_distinct", "sum", "avg", "min", "max"}

const (
	maxGroups   = 10_000
	maxDistinct = 100_000
)

// sortedGroup is a group's row, and what orders it.
type sortedGroup struct {
	cells []json.RawMessage
	keys  []sortKey
}

// group is what was computed for one set of equal cells.
type group struct {
	key    []json.RawMessage
	values []*sum
}

type sum struct {
	rows, n  int64
	total    big.Rat
	least    json.RawMessage
	most     json.RawMessage
	distinct map[string]bool
}

// aggregate gives the groups in the order that is asked for, else that in which they were first seen; its cursor
// is a rank.
func (r *scan) aggregate(q Query, from position) (Page, error) {
	a := q.Aggregate
	if len(a.Values) == 0 {
		return Page{}, badQuery("/aggregate", "Name at least one value to compute.")
	}
	p := Page{Meta: r.m, Start: from.row, EOF: true}
	var by, of []int
	for _, name := range a.GroupBy {
		i := column(r.m, name)
		if i < 0 {
			return Page{}, noColumn(name, r.m.Columns)
		}
		by, p.Columns = append(by, i), append(p.Columns, r.m.Columns[i])
	}
	for _, v := range a.Values {
		if !slices.Contains(Fns, v.Fn) {
			return Page{}, badQuery("/aggregate", "There is no function %q. There are: %s.", v.Fn, strings.Join(Fns, ", "))
		}
		i := -1
		if v.Column != "" || v.Fn != "count" {
			if i = column(r.m, v.Column); i < 0 {
				return Page{}, noColumn(v.Column, r.m.Columns)
			}
		}
		of, p.Columns = append(of, i), append(p.Columns, chat.Column{Name: v.Fn + "(" + v.Column + ")"})
	}
	order, err := compileOrder(q.Sort, p.Columns)
	if err != nil {
		return Page{}, err
	}
	groups, err := r.groups(a, by, of)
	if err != nil {
		return Page{}, err
	}
	rows := make([]sortedGroup, len(groups))
	for i, g := range groups {
		cells := g.cells(a.Values)
		rows[i] = sortedGroup{cells, order.keys(cells)}
	}
	slices.SortStableFunc(rows, func(a, b sortedGroup) int { return order.compare(a.keys, b.keys) })
	room := newRoom(q.Request)
	for rank := from.row; rank < int64(len(rows)); rank++ {
		row := joinCells(rows[rank].cells)
		if !room.take(row) {
			p.EOF, p.Next = false, r.s.cursor(r.at, position{row: rank})
			break
		}
		p.Rows = append(p.Rows, row)
	}
	return p, nil
}

func (r *scan) groups(a *Aggregate, by, of []int) ([]*group, error) {
	var groups []*group
	index := map[string]*group{} // the cells of a group, joined → the group
	if len(by) == 0 {            // also of no rows at all there is a count
		g := newGroup(nil, len(of))
		groups, index[""] = append(groups, g), g
	}
	err := r.each(position{}, func(_ []byte, cells []json.RawMessage, _ position) (bool, error) {
		var key []byte
		for _, i := range by {
			key = append(append(key, same(cellAt(cells, i))...), 0)
		}
		g := index[string(key)]
		if g == nil {
			if len(groups) == maxGroups {
				return false, badQuery("/aggregate", "There are more than %d groups. Group by a column with fewer values.", maxGroups)
			}
			var cellsOf []json.RawMessage
			for _, i := range by {
				cellsOf = append(cellsOf, slices.Clone(cellAt(cells, i)))
			}
			g = newGroup(cellsOf, len(of))
			groups, index[string(key)] = append(groups, g), g
		}
		for n, i := range of {
			if err := g.values[n].add(a.Values[n].Fn, i, cells); err != nil {
				return false, err
			}
		}
		return true, nil
	})
	return groups, err
}

func newGroup(key []json.RawMessage, n int) *group {
	g := &group{key: key}
	for range n {
		g.values = append(g.values, &sum{})
	}
	return g
}

func (s *sum) add(fn string, at int, cells []json.RawMessage) error {
	s.rows++
	if at < 0 {
		return nil
	}
	c := cellAt(cells, at)
	if c[0] == 'n' {
		return nil
	}
	switch fn {
	case "sum", "avg":
		if !isNumber(c) {
			return nil
		}
		x, ok := exactNumber(string(c))
		if !ok {
			return fault.New(fault.Invalid, "A number is too large to be summed exactly.")
		}
		s.total.Add(&s.total, x)
	case "min":
		if s.least == nil || keyOf(c).compare(keyOf(s.least), false) < 0 {
			s.least = slices.Clone(c)
		}
	case "max":
		if s.most == nil || keyOf(c).compare(keyOf(s.most), false) > 0 {
			s.most = slices.Clone(c)
		}
	case "count_distinct":
		if s.distinct == nil {
			s.distinct = map[string]bool{}
		}
		v := same(c)
		if len(s.distinct) >= maxDistinct && !s.distinct[v] {
			return badQuery("/aggregate", "There are more than %d different values.", maxDistinct)
		}
		s.distinct[v] = true
	}
	s.n++
	return nil
}

// cells are a group's row.
func (g *group) cells(values []Value) []json.RawMessage {
	out := slices.Clone(g.key)
	for i, v := range values {
		out = append(out, json.RawMessage(g.values[i].value(v)))
	}
	return out
}

func (s *sum) value(v Value) string {
	switch v.Fn {
	case "count":
		if v.Column == "" {
			return strconv.FormatInt(s.rows, 10)
		}
		return strconv.FormatInt(s.n, 10)
	case "count_distinct":
		return strconv.Itoa(len(s.distinct))
	case "min":
		if s.least != nil {
			return string(s.least)
		}
	case "max":
		if s.most != nil {
			return string(s.most)
		}
	case "sum":
		if s.n > 0 {
			return shown(&s.total)
		}
	case "avg":
		if s.n > 0 {
			return shown(new(big.Rat).Quo(&s.total, new(big.Rat).SetInt64(s.n)))
		}
	}
	return "null"
}
