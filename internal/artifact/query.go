package artifact

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

// Capabilities are what can be asked of rows beyond reading them in order.
type Capabilities struct {
	Filter, Sort, Aggregate bool
}

// Capable is a backend that is near enough for its rows to be read through for one page. Other backends have no
// capabilities.
type Capable interface{ Capabilities() Capabilities }

// Query is a Request with conditions. The zero Query is the first page.
type Query struct {
	Request
	Filter    []Condition // all of them must hold
	Sort      []Order     // at most three; of groups: by their columns and by what is computed, as in sum(amount)
	Aggregate *Aggregate  // then Columns is not used
}

// Query returns a page of the rows that match. It reads through the artifact once, for a sorted page twice; it
// holds the sort keys and not the rows. Errors are those of Read, Invalid with code unsupported_capability
// where the backend or the format has no such thing, and with code query for a condition that makes no sense.
//
// A cursor is a position in what the query gives. It is refused with another query.
func (s *Store) Query(ctx context.Context, who Owner, id string, q Query) (Page, error) {
	if len(q.Filter) == 0 && len(q.Sort) == 0 && q.Aggregate == nil {
		return s.Read(ctx, who, id, q.Request)
	}
	m, err := s.Stat(ctx, who, id)
	if err != nil {
		return Page{}, err
	}
	if err := s.capable(m, q); err != nil {
		return Page{}, err
	}
	run := scan{s: s, ctx: ctx, m: m, at: place{id, q.print()}}
	from, err := s.position(run.at, q.Cursor)
	if err != nil {
		return Page{}, err
	}
	if run.conditions, err = compileFilter(m, q.Filter); err != nil {
		return Page{}, err
	}
	switch {
	case q.Aggregate != nil:
		return run.aggregate(q, from)
	case len(q.Sort) > 0:
		return run.sorted(q, from)
	}
	return run.filtered(q, from)
}

// Capabilities are those of the store's backend.
func (s *Store) Capabilities() Capabilities {
	if c, ok := s.backend.(Capable); ok {
		return c.Capabilities()
	}
	return Capabilities{}
}

func (s *Store) capable(m chat.ArtifactMeta, q Query) error {
	c := s.Capabilities()
	if m.Format != chat.FormatRows {
		c = Capabilities{}
	}
	for _, x := range []struct {
		asked, has bool
		what       string
	}{
		{len(q.Filter) > 0, c.Filter, "filter"}, {len(q.Sort) > 0, c.Sort, "sort"}, {q.Aggregate != nil, c.Aggregate, "aggregate"},
	} {
		if x.asked && !x.has {
			return &fault.Error{Kind: fault.Invalid, Code: "unsupported_capability", Msg: "This stored result cannot be asked to " + x.what + ". Read it page by page.",
				Fields: []fault.Field{{Pointer: "/" + x.what, Detail: "is not supported here"}}}
		}
	}
	return nil
}

func badQuery(pointer, format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	return &fault.Error{Kind: fault.Invalid, Code: "query", Msg: msg, Fields: []fault.Field{{Pointer: pointer, Detail: msg}}}
}

// scan reads the rows of an artifact that match.
type scan struct {
	s          *Store
	ctx        context.Context
	m          chat.ArtifactMeta
	at         place
	conditions []condition
}

// each calls do with the line, the cells by stored column, and the position of every row that matches. do
// returns false to stop.
func (r *scan) each(from position, do func(line []byte, cells []json.RawMessage, at position) (bool, error)) error {
	if from.offset >= r.m.Size {
		return nil
	}
	body, err := r.s.open(r.ctx, &r.m, from.offset)
	if err != nil {
		return err
	}
	defer body.Close()
	all, err := project(r.m, nil)
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(io.LimitReader(body, r.m.Size-from.offset), 256<<10)
	for at := from; ; {
		if at.row%1024 == 0 && r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		line, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fault.Wrap(fault.Internal, "", err)
		}
		cells, err := all.rowCells(line)
		if err != nil {
			return fault.Wrap(fault.Internal, "", err)
		}
		if r.matches(cells) {
			more, err := do(line, cells, at)
			if err != nil || !more {
				return err
			}
		}
		at.row++
		at.offset += int64(len(line)) + 1
	}
}

// filtered goes on where the last page ended: its cursor is a place in the artifact.
func (r *scan) filtered(q Query, from position) (Page, error) {
	take, err := project(r.m, q.Columns)
	if err != nil {
		return Page{}, err
	}
	p := Page{Meta: r.m, Columns: take.columns, Start: from.row, EOF: true}
	room := newRoom(q.Request)
	err = r.each(from, func(line []byte, _ []json.RawMessage, at position) (bool, error) {
		row, err := take.row(line)
		if err != nil {
			return false, fault.Wrap(fault.Internal, "", err)
		}
		if !room.take(row) {
			p.EOF, p.Next = false, r.s.cursor(r.at, at)
			return false, nil
		}
		p.Rows = append(p.Rows, row)
		return true, nil
	})
	return p, err
}

// room is what a page may still hold.
type room struct {
	rows, bytes, chars int
	bounded            bool // chars counts
	any                bool // a row was taken: the first one always is
}

func newRoom(q Request) *room {
	r := &room{rows: q.Limit, bytes: MaxPageBytes, chars: q.Chars, bounded: q.Chars > 0}
	if r.rows <= 0 || r.rows > MaxPageRows {
		r.rows = MaxPageRows
	}
	return r
}

func (r *room) take(row []byte) bool {
	r.rows--
	r.bytes -= len(row) + 1
	r.chars -= utf8.RuneCount(row) + 1
	if r.any && (r.rows < 0 || r.bytes < 0 || r.bounded && r.chars < 0) {
		return false
	}
	r.any = true
	return true
}
