package summarise

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	ellipsis    = "…"
	usefulValue = 20 // a member whose value would get fewer characters is left out
)

// fitter renders nodes within a budget and notes what it had to leave out.
type fitter struct {
	notes []string
	first []bool // of a row's cells, those that go before the others
}

// least is the smallest size that n can be rendered in.
func (n *node) least() int {
	switch n.kind {
	case '"':
		if n.cut {
			return 3 // "…"
		}
		return min(n.size, 3)
	case '{', '[':
		return 2
	}
	return n.size
}

// append renders n in at most budget characters, which is not below n.least(). The largest parts shrink first.
func (f *fitter) append(b []byte, n *node, budget int, path string, row bool) []byte {
	switch n.kind {
	case '"':
		return f.string(b, n, budget, path)
	case '{':
		return f.object(b, n, budget, path)
	case '[':
		return f.array(b, n, budget, path, row)
	}
	return append(b, n.text...)
}

func (f *fitter) note(path, format string, args ...any) {
	if path == "" {
		path = "the whole"
	}
	f.notes = append(f.notes, path+" ("+fmt.Sprintf(format, args...)+")")
}

func (f *fitter) string(b []byte, n *node, budget int, path string) []byte {
	if n.size <= budget && !n.cut {
		return quote(b, n.text)
	}
	at := cutAfter(n.text, budget-3, func(sign string) int {
		x := 0
		for _, r := range sign {
			x += quotedRune(r) - 1
		}
		return x
	})
	f.note(path, "%d of %d characters", utf8.RuneCountInString(n.text[:at]), n.full)
	return quote(b, n.text[:at]+ellipsis)
}

func (f *fitter) object(b []byte, n *node, budget int, path string) []byte {
	take, mins := make([]bool, len(n.kids)), make([]int, len(n.kids))
	left := budget - 1 // every member is charged a comma, and the first has none
	claim := func(i, least int) bool {
		cost := quoted(n.names[i]) + 1 + least + 1
		if cost > left {
			return false
		}
		take[i], mins[i] = true, least
		left -= cost
		return true
	}
	// Those that are always kept come first, all at their smallest; then what they say; then the others in order.
	var first, says []int
	for i, k := range n.kids {
		if kept[n.names[i]] && claim(i, k.least()) {
			first, says = append(first, i), append(says, min(k.size, keptSize)-mins[i])
		}
	}
	for j, more := range Share(left, says) {
		mins[first[j]] += more
		left -= more
	}
	for i, k := range n.kids {
		if !kept[n.names[i]] {
			claim(i, max(k.least(), min(k.size, usefulValue)))
		}
	}
	wants := make([]int, len(n.kids))
	for i, k := range n.kids {
		if take[i] {
			wants[i] = max(0, k.size-mins[i])
		}
	}
	extra := Share(left, wants)
	b = append(b, '{')
	shown, spare := int64(0), 0
	for i, k := range n.kids {
		if !take[i] {
			continue
		}
		if shown > 0 {
			b = append(b, ',')
		}
		shown++
		b = append(quote(b, n.names[i]), ':')
		from, may := len(b), mins[i]+extra[i]+spare
		b = f.append(b, k, may, path+"/"+pointer(n.names[i]), false)
		spare = may - utf8.RuneCount(b[from:])
	}
	if shown < n.count {
		f.note(path, "%d of %d keys", shown, n.count)
	}
	return append(b, '}')
}

// array keeps items from the start. A row keeps its positions: its cells shrink before any is left out.
func (f *fitter) array(b []byte, n *node, budget int, path string, row bool) []byte {
	b = append(b, '[')
	left, shown := budget-2, int64(0)
	if row && n.size > budget {
		return f.row(b, n, left, path)
	}
	for i, k := range n.kids {
		sep := min(i, 1)
		may := left - sep
		if k.size > may && (i > 0 || k.least() > may) {
			break
		}
		if i > 0 {
			b = append(b, ',')
		}
		from := len(b)
		b = f.append(b, k, may, fmt.Sprintf("%s/%d", path, i), false)
		left -= sep + utf8.RuneCount(b[from:])
		shown++
	}
	if shown < n.count {
		f.note(path, "first %d of %d items", shown, n.count)
	}
	return append(b, ']')
}

func (f *fitter) row(b []byte, n *node, left int, path string) []byte {
	var may, says []int
	for i, k := range n.kids {
		cost := k.least() + min(i, 1)
		if cost > left {
			break
		}
		left -= cost
		may = append(may, k.least())
		say := 0
		if i < len(f.first) && f.first[i] {
			say = min(k.size, keptSize) - k.least()
		}
		says = append(says, say)
	}
	for i, more := range Share(left, says) {
		may[i] += more
		left -= more
	}
	wants := make([]int, len(may))
	for i := range may {
		wants[i] = n.kids[i].size - may[i]
	}
	for i, more := range Share(left, wants) {
		if i > 0 {
			b = append(b, ',')
		}
		b = f.append(b, n.kids[i], may[i]+more, fmt.Sprintf("%s/%d", path, i), false)
	}
	if int64(len(may)) < n.count {
		f.note(path, "first %d of %d items", len(may), n.count)
	}
	return append(b, ']')
}

// say lists the notes in at most room characters, on a line of its own.
func (f *fitter) say(room int) string {
	const lead, end = "\nCut inside: ", "."
	if len(f.notes) == 0 {
		return ""
	}
	// What was left out further outside matters more.
	slices.SortStableFunc(f.notes, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	var b strings.Builder
	for i, n := range f.notes {
		more := ""
		if rest := len(f.notes) - i - 1; rest > 0 {
			more = fmt.Sprintf(" and %d more places", rest)
		}
		sep := ", "
		if i == 0 {
			sep = ""
		}
		if len(lead)+utf8.RuneCountInString(b.String()+sep+n+more)+len(end) > room {
			if i == 0 {
				return ""
			}
			return lead + b.String() + fmt.Sprintf(" and %d more places", len(f.notes)-i) + end
		}
		b.WriteString(sep + n)
	}
	return lead + b.String() + end
}

// pointer escapes a key for a JSON pointer.
func pointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
