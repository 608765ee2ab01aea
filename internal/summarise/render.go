package summarise

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

const (
	noteShare = 6   // the list of what was cut gets at most a sixth of the room
	noteRoom  = 240 // and no more than this
	usefulRow = 200 // below this many characters of it an item says little: fewer items then
)

// render makes the preview of an input that does not fit.
func (t *top) render(o Options) Out {
	out := Out{Cut: true, Partial: t.partial, Renamed: t.renamed}
	if t.main != nil {
		t.list(&out, o)
	} else {
		t.other(&out, o)
	}
	return out
}

// other renders one value that is no collection.
func (t *top) other(out *Out, o Options) {
	f := &fitter{}
	room := o.room()
	notes := min(noteRoom, room/noteShare)
	var b []byte
	if t.root.least() <= room-notes {
		b = f.append(nil, t.root, room-notes, "", false)
	} else if t.root.kind == '0' { // a part of its digits would be another number
		b = fitting(room, fmt.Sprintf("A number of %d characters.", len(t.root.text)))
	}
	out.Text = string(b) + f.say(notes)
	out.Kind = Scalar
	switch t.root.kind {
	case '{':
		out.Kind = Object
		out.Preview.Object = exact(b)
	case '"':
		if b != nil {
			out.Preview.Text = firstGraphemes(t.root.text, max(0, room-notes-1)) + ellipsis
		}
	default:
		out.Preview.Text = string(b)
	}
}

// list renders the first items under a header that counts all.
func (t *top) list(out *Out, o Options) {
	out.Kind, out.Count, out.Main = List, t.main.count, t.name
	f := &fitter{}
	w := newWords(t.main.count, o, t.partial)
	room := o.room() - w.room()
	notes := min(noteRoom, room/noteShare)
	room -= notes

	before := ""
	if t.root != nil && len(t.root.kids) > 0 && room/3 >= 2 {
		b := f.append(nil, t.root, min(t.root.size, room/3), "", false)
		out.Preview.Object = exact(b)
		before = string(b) + "\n"
		out.Siblings = len(f.notes) == 0
	} else {
		out.Siblings = t.root == nil || t.root.count == 0
	}
	if t.root != nil && utf8.RuneCountInString(t.name) <= longestKey {
		before += "In " + string(quote(nil, t.name)) + ":\n"
	}
	if n := utf8.RuneCountInString(before); n <= room {
		room -= n
	} else {
		before, out.Preview.Object, out.Siblings = "", nil, false
	}
	kids := t.main.kids[:min(len(t.main.kids), o.Items)]
	lines := f.lines(kids, room)
	shown := int64(len(lines))
	out.Preview.Items = make([]json.RawMessage, 0, len(lines))
	text := before + w.head()
	for _, l := range lines {
		text += "\n" + string(l)
		out.Preview.Items = append(out.Preview.Items, exact(l))
	}
	text += w.tail(shown) + f.say(notes)
	out.counted(shown, o)
	out.Text = string(fitting(o.room(), text, w.head()))
}

// fitting returns the first of some texts that fits, or nothing: half of a sentence may say another number.
func fitting(room int, texts ...string) []byte {
	for _, s := range texts {
		if utf8.RuneCountInString(s) <= room {
			return []byte(s)
		}
	}
	return nil
}

// lines renders as many items as say something in room characters, each with a line break before it.
func (f *fitter) lines(kids []*node, room int) [][]byte {
	k := len(kids)
	var wants []int
	for ; k > 0; k-- {
		wants = wants[:0]
		useful := 0
		for _, n := range kids[:k] {
			wants = append(wants, n.size)
			useful += min(n.size, usefulRow) + 1
		}
		if useful <= room || k == 1 {
			break
		}
	}
	shares := Share(room-k, wants)
	var out [][]byte
	spare := 0
	for i, n := range kids[:k] {
		may := shares[i] + spare
		if n.least() > may {
			break
		}
		l := f.append(nil, n, may, fmt.Sprintf("/%d", i), true)
		spare = may - utf8.RuneCount(l)
		out = append(out, l)
	}
	return out
}
