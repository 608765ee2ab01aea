package artifact

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

// Order is a column to sort by. Nulls come last, numbers before texts.
type Order struct {
	Column string
	Desc   bool
}

const (
	maxOrders = 3
	maxKey    = 256 // bytes of a cell that order it; longer ones that begin alike keep their stored order
)

// orders is what rows are sorted by: columns by where they are.
type orders []struct {
	at   int
	desc bool
}

func compileOrder(sort []Order, cols []chat.Column) (orders, error) {
	if len(sort) > maxOrders {
		return nil, badQuery("/sort", "Rows can be sorted by at most %d columns.", maxOrders)
	}
	by := make(orders, len(sort))
	for i, o := range sort {
		// "count" is as good a name for "count()".
		at := slices.IndexFunc(cols, func(c chat.Column) bool { return c.Name == o.Column || c.Name == o.Column+"()" })
		if at < 0 {
			return nil, noColumn(o.Column, cols)
		}
		by[i].at, by[i].desc = at, o.Desc
	}
	return by, nil
}

// keys are what orders a row, one for each order.
func (by orders) keys(cells []json.RawMessage) []sortKey {
	keys := make([]sortKey, len(by))
	for i, o := range by {
		k := keyOf(cellAt(cells, o.at))
		if k.rank != rankNumber && len(k.text) > maxKey {
			k.text = k.text[:maxKey]
		}
		k.text = strings.Clone(k.text) // so that the row can go
		keys[i] = k
	}
	return keys
}

func (by orders) compare(a, b []sortKey) int {
	for i, o := range by {
		if d := a[i].compare(b[i], o.desc); d != 0 {
			return d
		}
	}
	return 0
}

// ranked is a row to be sorted: where it is, and what orders it.
type ranked struct {
	at   position
	size int
	keys []sortKey
}

// sorted gives a page of the sorted rows; its cursor is a rank.
func (r *scan) sorted(q Query, from position) (Page, error) {
	take, err := project(r.m, q.Columns)
	if err != nil {
		return Page{}, err
	}
	by, err := compileOrder(q.Sort, r.m.Columns)
	if err != nil {
		return Page{}, err
	}
	var rows []ranked
	err = r.each(position{}, func(line []byte, cells []json.RawMessage, at position) (bool, error) {
		rows = append(rows, ranked{at: at, size: len(line), keys: by.keys(cells)})
		return true, nil
	})
	if err != nil {
		return Page{}, err
	}
	slices.SortStableFunc(rows, func(a, b ranked) int { return by.compare(a.keys, b.keys) })
	p := Page{Meta: r.m, Columns: take.columns, Start: from.row, EOF: true}
	room := newRoom(q.Request)
	for rank := from.row; rank < int64(len(rows)); rank++ {
		line, err := r.line(rows[rank])
		if err != nil {
			return Page{}, err
		}
		row, err := take.row(line)
		if err != nil {
			return Page{}, fault.Wrap(fault.Internal, "", err)
		}
		if !room.take(row) {
			p.EOF, p.Next = false, r.s.cursor(r.at, position{row: rank})
			break
		}
		p.Rows = append(p.Rows, row)
	}
	return p, nil
}

// line reads one row where it lies.
func (r *scan) line(p ranked) ([]byte, error) {
	body, err := r.s.open(r.ctx, &r.m, p.at.offset)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	line := make([]byte, p.size)
	if _, err := io.ReadFull(body, line); err != nil {
		return nil, fault.Wrap(fault.Internal, "", err)
	}
	return line, nil
}

// sortKey is what orders a cell.
type sortKey struct {
	rank int
	near float64 // of a number: what it is as a float
	text string
}

const (
	rankNumber = iota
	rankText
	rankOther
	rankNull
)

func keyOf(c json.RawMessage) sortKey {
	switch {
	case c[0] == 'n':
		return sortKey{rank: rankNull}
	case isNumber(c):
		near, _ := strconv.ParseFloat(string(c), 64) // out of range gives an infinity, which is right here
		return sortKey{rankNumber, near, string(c)}
	case c[0] == '"':
		return sortKey{rank: rankText, text: plain(c)}
	}
	return sortKey{rank: rankOther, text: string(c)}
}

func (k sortKey) compare(o sortKey, desc bool) int {
	d := cmp.Compare(k.rank, o.rank)
	if k.rank == rankNull || o.rank == rankNull {
		return d // last in both directions
	}
	if d == 0 && k.rank == rankNumber {
		d = compareNear(k.near, o.near, k.text, o.text)
	} else if d == 0 {
		d = strings.Compare(k.text, o.text)
	}
	if desc {
		return -d
	}
	return d
}
