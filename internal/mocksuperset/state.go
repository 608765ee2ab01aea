package mocksuperset

import "slices"

// state is the whole metadata of one instance. A state that is served is never
// changed: a request that writes works on a fork, which takes the place of the
// served one when the request has succeeded. So a request is a transaction.
type state struct {
	tables map[string]*table
	mine   map[string]bool // table → copied into this fork, may be changed
}

func newState() *state {
	return &state{tables: map[string]*table{}, mine: map[string]bool{}}
}

// fork gives a state that shares every table until it writes to it.
func (s *state) fork() *state {
	out := newState()
	for name, t := range s.tables {
		out.tables[name] = t
	}
	return out
}

var noRows = &table{}

func (s *state) table(name string) *table {
	if t, ok := s.tables[name]; ok {
		return t
	}
	return noRows
}

func (s *state) own(name string) *table {
	if !s.mine[name] {
		t := s.table(name).copy()
		s.tables[name], s.mine[name] = t, true
	}
	return s.tables[name]
}

func (s *state) get(name string, id int) row { return s.table(name).rows[id] }

// find gives the first row whose column has the value, nil if there is none.
func (s *state) find(name, column string, value any) row {
	for r := range s.table(name).all() {
		if r[column] == value {
			return r
		}
	}
	return nil
}

func (s *state) where(name, column string, value any) []row {
	var out []row
	for r := range s.table(name).all() {
		if r[column] == value {
			out = append(out, r)
		}
	}
	return out
}

// insert adds r under the next id and gives it back with the id.
func (s *state) insert(name string, r row) row {
	t := s.own(name)
	r = r.with(row{"id": t.next()})
	t.put(r)
	return r
}

func (s *state) update(name string, id int, changes row) row {
	t := s.own(name)
	old, ok := t.rows[id]
	if !ok {
		return nil
	}
	r := old.with(changes)
	t.put(r)
	return r
}

func (s *state) remove(name string, id int) { s.own(name).drop(id) }

func (s *state) removeWhere(name, column string, value any) {
	for _, r := range s.where(name, column, value) {
		s.remove(name, r.id())
	}
}

// linked gives the rows of a table that a link table joins to one row:
// linked("dashboard_slices", "dashboard_id", 1, "slice_id", "slices") are the charts of dashboard 1.
func (s *state) linked(link, from string, id int, to, target string) []row {
	var out []row
	for _, l := range s.where(link, from, id) {
		if r := s.get(target, l.int(to)); r != nil {
			out = append(out, r)
		}
	}
	return out
}

// relink makes the links of one row exactly those to the given ids; links that stay keep their rows.
func (s *state) relink(link, from string, id int, to string, ids []int) {
	have := map[int]bool{}
	for _, l := range s.where(link, from, id) {
		if !slices.Contains(ids, l.int(to)) || have[l.int(to)] {
			s.remove(link, l.id())
			continue
		}
		have[l.int(to)] = true
	}
	for _, target := range ids {
		if !have[target] {
			have[target] = true
			s.insert(link, row{from: id, to: target})
		}
	}
}

func ids(rows []row) []int {
	out := make([]int, 0, len(rows))
	for _, r := range rows {
		out = append(out, r.id())
	}
	return out
}
