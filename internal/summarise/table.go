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
	out := Out{Kind: Table, Count: max(int64(len(rows)), o.Count)}
	out.Preview.Columns = slices.Clone(cols)
	names := &node{kind: '[', count: int64(len(cols))}
	for i, c := range cols {
		if slices.Contains(o.Reserved, c.Name) {
			out.Preview.Columns[i].Name = RenamedPrefix + c.Name
			out.Renamed++
		}
		k := &node{kind: '"', text: valid(out.Preview.Columns[i].Name)}
		k.full = int64(utf8.RuneCountInString(k.text))
		k.measure()
		names.kids = append(names.kids, k)
	}
	names.measure()

	w := newWords(out.Count, o, false)
	beside := len(w.head()) + len(columnsWord) + names.size + len(w.tail(int64(len(rows))))
	size := beside
	for _, r := range rows {
		out.Size += int64(len(r))
		size += 1 + utf8.RuneCount(r)
	}
	out.Cut = size > o.Limit || out.Count > int64(len(rows))
	kids, renamed, err := rowsOf(rows, out.Cut, o)
	if err != nil {
		return Out{}, err
	}
	if !out.Cut && renamed > 0 { // new names are longer
		size = beside
		for _, k := range kids {
			size += 1 + k.size
		}
		if out.Cut = size > o.Limit; out.Cut {
			kids = kids[:min(o.Items, len(kids))]
		}
	}
	out.Renamed += renamed

	f := &fitter{}
	budget, room, notes := o.Limit, o.Limit, 0
	if out.Cut {
		budget = o.room()
		room = budget - w.room()
		notes = min(noteRoom, room/noteShare)
	}
	header := ""
	if room -= notes + len(columnsWord); room >= 2 {
		most := names.size
		if out.Cut {
			most = max(2, min(names.size, room/2))
		}
		b := f.append(nil, names, most, "/columns", false)
		header = columnsWord + string(b)
		room -= utf8.RuneCount(b)
	}
	f.first = make([]bool, len(cols))
	for i, c := range cols {
		f.first[i] = kept[c.Name]
	}
	lines := f.lines(kids, room)
	text := w.head() + header
	for _, l := range lines {
		text += "\n" + string(l)
		out.Preview.Rows = append(out.Preview.Rows, exact(l))
	}
	text += w.tail(int64(len(lines))) + f.say(notes)
	out.Text = string(fitting(budget, text, w.head()))
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

// rowsOf reads rows: of a table that is cut only as many as are shown, each within bounds.
func rowsOf(rows []json.RawMessage, cut bool, o Options) (kids []*node, renamed int, err error) {
	if cut {
		rows = rows[:min(o.Items, len(rows))]
	}
	for i, r := range rows {
		s := sampler{d: jsontext.NewDecoder(bytes.NewBuffer(r), lenient...), reserved: o.Reserved, all: !cut}
		n, err := s.value(o.room())
		if err != nil || n.kind != '[' {
			return nil, 0, fmt.Errorf("row %d is no JSON array: %w", i, err)
		}
		kids, renamed = append(kids, n), renamed+s.renamed
	}
	return kids, renamed, nil
}

const columnsWord = "\nColumns: "
