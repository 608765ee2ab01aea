package mocksuperset

import (
	"iter"
	"slices"
)

// table is one metadata table: rows by id, in the order of their ids.
type table struct {
	ids  []int
	rows map[int]row
}

func (t *table) all() iter.Seq[row] {
	return func(yield func(row) bool) {
		for _, id := range t.ids {
			if !yield(t.rows[id]) {
				return
			}
		}
	}
}

func (t *table) copy() *table {
	rows := make(map[int]row, len(t.rows))
	for id, r := range t.rows {
		rows[id] = r
	}
	return &table{ids: slices.Clone(t.ids), rows: rows}
}

func (t *table) put(r row) {
	id := r.id()
	if _, ok := t.rows[id]; !ok {
		at, _ := slices.BinarySearch(t.ids, id)
		t.ids = slices.Insert(t.ids, at, id)
	}
	t.rows[id] = r
}

func (t *table) drop(id int) {
	if at, ok := slices.BinarySearch(t.ids, id); ok {
		t.ids = slices.Delete(t.ids, at, at+1)
		delete(t.rows, id)
	}
}

// next is the id of the next new row. As on SQLite it is one more than the
// highest there is, so that the id of a deleted last row comes again.
func (t *table) next() int {
	if len(t.ids) == 0 {
		return 1
	}
	return t.ids[len(t.ids)-1] + 1
}
