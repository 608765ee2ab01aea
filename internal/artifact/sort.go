package artifact

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"

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

// place is a row to be sorted: where it is, and what orders it.
type place struct {
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
	if len(q.Sort) > maxOrders {
		return Page{}, badQuery("/sort", "Rows can be sorted by at most %d columns.", maxOrders)
	}
	by := make([]int, len(q.Sort))
	for i, o := range q.Sort {
		if by[i] = column(r.m, o.Column); by[i] < 0 {
			return Page{}, noColumn(o.Column, r.m.Columns)
		}
	}
	var rows []place
	err = r.each(position{}, func(line []byte, cells []json.RawMessage, at position) (bool, error) {
		p := place{at: at, size: len(line), keys: make([]sortKey, len(by))}
		for i, c := range by {
			k := keyOf(cellAt(cells, c))
			if k.rank != rankNumber && len(k.text) > maxKey {
				k.text = k.text[:maxKey]
			}
			k.text = strings.Clone(k.text) // so that the row can go
			p.keys[i] = k
		}
		rows = append(rows, p)
		return true, nil
	})
	if err != nil {
		return Page{}, err
	}
	slices.SortStableFunc(rows, func(a, b place) int {
		for i, o := range q.Sort {
			if d := a.keys[i].compare(b.keys[i], o.Desc); d != 0 {
				return d
			}
		}
		return 0
	})
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
			p.EOF, p.Next = false, r.s.cursor(r.m.ID, position{row: rank})
			break
		}
		p.Rows = append(p.Rows, row)
	}
	return p, nil
}

// line reads one row where it lies.
func (r *scan) line(p place) ([]byte, error) {
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
		return sortKey{rankNumber, string(c)}
	case c[0] == '"':
		return sortKey{rankText, plain(c)}
	}
	return sortKey{rankOther, string(c)}
}

func (k sortKey) compare(o sortKey, desc bool) int {
	d := cmp.Compare(k.rank, o.rank)
	if k.rank == rankNull || o.rank == rankNull {
		return d // last in both directions
	}
	if d == 0 && k.rank == rankNumber {
		d = compareNumbers(k.text, o.text)
	} else if d == 0 {
		d = strings.Compare(k.text, o.text)
	}
	if desc {
		return -d
	}
	return d
}
