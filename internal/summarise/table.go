package summarise

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"agentd/internal/chat"

	"github.com/go-json-experiment/json/jsontext"
)

// Rows previews tabular data: the columns once, rows as positional arrays. It fails on a row that is no JSON
// array. The columns of the preview are marked where a shown cell is an integer that a browser would round.
func Rows(cols []chat.Column, rows []json.RawMessage, o Options) (Out, error) {
	o = o.withDefaults()
	names := &node{kind: '[', count: int64(len(cols))}
	for _, c := range cols {
		k := &node{kind: '"', text: valid(c.Name)}
		k.full = utf8.RuneCountInString(k.text)
		k.measure()
		names.kids = append(names.kids, k)
	}
	names.measure()

	out := Out{Kind: Table, Count: max(int64(len(rows)), o.Count)}
	w := newWords(out.Count, o, false)
	size := len(w.head()) + len(columnsWord) + names.size + len(w.tail(int64(len(rows))))
	for _, r := range rows {
		out.Size += int64(len(r))
		size += 1 + utf8.RuneCount(r)
	}
	items, budget := len(rows), o.Limit
	if size > o.Limit || out.Count > int64(len(rows)) {
		out.Cut = true
		items, budget = min(o.Items, len(rows)), o.room()
	}
	var kids []*node
	for i, r := range rows[:items] {
		s := sampler{d: jsontext.NewDecoder(bytes.NewReader(r), lenient...), all: !out.Cut}
		n, err := s.value(budget)
		if err != nil || n.kind != '[' {
			return Out{}, fmt.Errorf("row %d is no JSON array: %w", i, err)
		}
		kids = append(kids, n)
	}
	out.Preview.Columns = slices.Clone(cols)
	f := &fitter{}
	room := budget - w.room()
	notes := min(noteRoom, room/noteShare)
	if !out.Cut {
		room, notes = o.Limit+w.room(), 0
	}
	header := ""
	if room -= notes + len(columnsWord); room >= 2 {
		b := f.append(nil, names, max(2, min(names.size, room/2)), "/columns", false)
		header = columnsWord + string(b)
		room -= utf8.RuneCount(b)
	}
	lines := f.lines(kids, room)
	text := w.head() + header
	for _, l := range lines {
		text += "\n" + string(l)
		out.Preview.Rows = append(out.Preview.Rows, exact(l))
	}
	text += w.tail(int64(len(lines))) + f.say(notes)
	out.Text = string([]rune(text)[:min(utf8.RuneCountInString(text), budget)])
	for _, n := range kids[:len(lines)] {
		for i, c := range n.kids {
			if i < len(cols) && c.kind == '0' && beyond(c.text) {
				out.Preview.Columns[i].Exact = true
			}
		}
	}
	out.counted(int64(len(lines)), o)
	return out, nil
}

const columnsWord = "\nColumns: "
