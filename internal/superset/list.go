package superset

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"agentd/internal/fault"
)

// PageCap is the largest page that Superset gives; it cuts larger ones without a word.
const PageCap = 100

// A Page is one page of a list. Total is Superset's count over all pages.
type Page[T any] struct {
	Total int
	Rows  []T
}

// Paging is which page of a list and in which order. Order by a column of Superset's; "" leaves it to Superset.
type Paging struct {
	Page int // from 0
	Size int // 1 to PageCap; 0 is PageCap
	By   string
	Desc bool
}

// A query is one list request, and what must hold of each row that comes back.
type query[T any] struct {
	class   class
	columns names
	filters []object
	paging  Paging
	id      func(T) int
	fits    []func(T) bool
}

// list reads one page and checks that it is an answer to the question: Superset drops operators that it does not know
// and filters on ids that are not there, and under load it answers with another request's filter. What does not fit
// is Mismatch.
func list[T any](ctx context.Context, s *Session, q query[T]) (Page[T], error) {
	p := q.paging
	if p.Size <= 0 || p.Size > PageCap {
		p.Size = PageCap
	}
	arg := object{{"columns", q.columns}, {"keys", names{"none"}}, {"page", p.Page}, {"page_size", p.Size}}
	if len(q.filters) > 0 {
		arg = append(arg, member{"filters", q.filters})
	}
	if p.By != "" {
		dir := name("asc")
		if p.Desc {
			dir = "desc"
		}
		arg = append(arg, member{"order_column", name(p.By)}, member{"order_direction", dir})
	}
	var got struct {
		Count  *int  `json:"count"`
		IDs    []int `json:"ids"`
		Result []T   `json:"result"`
	}
	done := s.c.turn(ctx, q.class)
	err := s.get(ctx, "/api/v1/"+string(q.class)+"/", "q="+rison(arg), &got)
	done()
	if err != nil {
		return Page[T]{}, err
	}
	if got.Count == nil || *got.Count < 0 || len(got.Result) > p.Size || len(got.IDs) != len(got.Result) {
		return Page[T]{}, mismatch("The list that came back is not the page that was asked for.")
	}
	// A page of the middle is full and the last one holds the rest.
	if want := min(p.Size, max(0, *got.Count-p.Page*p.Size)); len(got.Result) != want {
		return Page[T]{}, mismatch(fmt.Sprintf("Superset counts %d objects, but this page has %d instead of %d.", *got.Count, len(got.Result), want))
	}
	seen := make(map[int]bool, len(got.Result))
	for _, row := range got.Result {
		if id := q.id(row); id <= 0 || seen[id] {
			return Page[T]{}, mismatch("The list that came back has an object twice or without an id.")
		} else {
			seen[id] = true
		}
		for _, fit := range q.fits {
			if !fit(row) {
				return Page[T]{}, mismatch("Superset answered with objects that do not fit the filter; it mixes up lists that are asked for at the same time. Ask once more.")
			}
		}
	}
	return Page[T]{Total: *got.Count, Rows: got.Result}, nil
}

// all reads page after page until limit rows are there or the list ends. Total is that of the first page; a list that
// changes meanwhile is Mismatch.
func all[T any](ctx context.Context, s *Session, q query[T], limit int) (Page[T], error) {
	q.paging.Page, q.paging.Size = 0, PageCap
	out, err := list(ctx, s, q)
	if err != nil {
		return out, err
	}
	seen := map[int]bool{}
	for _, row := range out.Rows {
		seen[q.id(row)] = true
	}
	for len(out.Rows) < min(out.Total, limit) {
		q.paging.Page++
		next, err := list(ctx, s, q)
		if err != nil {
			return out, err
		}
		if next.Total != out.Total || len(next.Rows) == 0 {
			return out, mismatch("The list changed while it was read.")
		}
		for _, row := range next.Rows {
			if seen[q.id(row)] {
				return out, mismatch("The list changed while it was read.")
			}
			seen[q.id(row)] = true
		}
		out.Rows = append(out.Rows, next.Rows...)
	}
	return out, nil
}

func mismatch(msg string) *fault.Error { return fault.New(fault.Mismatch, msg) }

// contains reports whether text contains pattern as SQL's ILIKE '%pattern%' does, in which % and _ are wildcards.
func contains(text, pattern string) bool {
	t, p := []rune(strings.ToLower(text)), []rune(strings.ToLower(pattern))
	for i := range len(t) + 1 {
		if prefix(t[i:], p) {
			return true
		}
	}
	return false
}

func prefix(t, p []rune) bool {
	for len(p) > 0 {
		switch {
		case p[0] == '%':
			for i := range len(t) + 1 {
				if prefix(t[i:], p[1:]) {
					return true
				}
			}
			return false
		case len(t) == 0 || p[0] != '_' && p[0] != t[0]:
			return false
		}
		t, p = t[1:], p[1:]
	}
	return true
}

// A Ref names an object the way a person does: by one of ID, UUID, Slug and Link.
type Ref struct {
	ID   int
	UUID string
	Slug string
	Link string // key of a permalink, which is looked up first
}

// String is the reference as it stands in an address.
func (r Ref) String() string {
	switch {
	case r.ID != 0:
		return strconv.Itoa(r.ID)
	case r.UUID != "":
		return r.UUID
	}
	return r.Slug
}

// is reports whether an object with these names is the one that r names.
func (r Ref) is(id int, uuid, slug string) bool {
	switch {
	case r.ID != 0:
		return r.ID == id
	case r.UUID != "":
		return strings.EqualFold(r.UUID, uuid)
	}
	return r.Slug != "" && r.Slug == slug
}

// A Person is a user of Superset as objects name them.
type Person struct {
	ID        int    `json:"id"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
}

// Name is the person's full name.
func (p Person) Name() string { return strings.TrimSpace(p.FirstName + " " + p.LastName) }

// A Label is an id with a name: a role, a tag, a database.
type Label struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}
