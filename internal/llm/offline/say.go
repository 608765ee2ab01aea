package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	listed  = 10  // items named in an answer
	longest = 600 // code points of a result that is quoted
)

func num(n int) string { return strconv.Itoa(n) }

// can lists the orders that lead to the tools on offer.
func (w words) can(tools map[string]schema) string {
	var lines []string
	for _, e := range w.examples {
		if _, ok := tools[e.tool]; ok {
			lines = append(lines, "- "+e.text)
		}
	}
	if lines == nil {
		return w.canNothing
	}
	return w.canDo + "\n" + strings.Join(lines, "\n")
}

func (w words) which(kind string) string {
	if q, ok := w.whichKind[kind]; ok {
		return q
	}
	return w.whichKind["dashboard"]
}

func (w words) notOffered(tool string) string { return fmt.Sprintf(w.missing, tool) }

// refused says what became of a call that gave no result, with the words of the result behind it.
func (w words) refused(r result) string {
	key := r.status
	switch {
	case strings.Contains(r.status, "not_applied"):
		key = "not_executed"
	case strings.Contains(r.status, "applied"): // a lost answer that reading back has found
		return w.done + cut(r.message)
	case strings.Contains(r.status, "unknown") && r.status != "unknown_tool":
		key = "unknown"
	case strings.Contains(r.status, "reject"):
		key = "rejected"
	}
	say, ok := w.statuses[key]
	if !ok {
		say = w.other
	}
	return say + "\n\n" + quote(cut(r.message))
}

// list names what a search found.
func (w words) list(r result, kind, query string) string {
	about := ""
	if query != "" {
		about = fmt.Sprintf(w.about, query)
	}
	total := r.total
	if total < 0 {
		total = len(r.items)
	}
	if total == 0 {
		plural := strings.TrimLeft(w.count(0, kind), "0 ")
		return fmt.Sprintf(w.none, plural) + about + "."
	}
	head := w.found
	if r.atLeast {
		head = w.atLeast
	}
	return fmt.Sprintf(head, w.count(total, kind)) + about + ":\n" + w.items(r.items, total)
}

func (w words) item(i item) string {
	s := plain(i.title)
	if i.url != "" && !strings.ContainsAny(i.url, " ()<>") {
		s = "[" + s + "](" + i.url + ")"
	}
	if number.MatchString(i.id) { // made-up ids say nothing to a person
		s += " (id " + i.id + ")"
	}
	if i.trouble != "" {
		s += " — " + plain(i.trouble)
	}
	if i.draft {
		s += ", " + w.draft
	}
	return s
}

// outcome tells the result of any other tool.
func (w words) outcome(tool string, r result) string {
	head := r.summary
	if changes(tool) {
		head = w.done + head
	}
	parts := []string{head}
	switch {
	case r.object != nil:
		parts = append(parts, w.object(r.object))
	case len(r.items) > 0:
		parts = append(parts, w.items(r.items, r.total))
	case r.summary == "":
		parts[0] += cut(r.text)
	}
	for _, l := range r.links {
		if strings.Contains(strings.Join(parts, "\n"), "("+l.url+")") {
			continue
		}
		parts = append(parts, "- "+w.item(item{title: cmp.Or(l.title, l.url), url: l.url}))
	}
	for _, x := range r.warnings {
		parts = append(parts, "\n"+quote(plain(cut(x))))
	}
	return strings.TrimSpace(strings.Join(slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" }), "\n"))
}

// changes reports whether a tool changes something, by its name.
func changes(tool string) bool {
	verb, _, _ := strings.Cut(tool, "_")
	return slices.Contains([]string{"update", "delete", "refresh", "create", "apply", "rollback"}, verb)
}

func (w words) items(all []item, total int) string {
	var lines []string
	shown := all[:min(listed, len(all))]
	for _, i := range shown {
		lines = append(lines, "- "+w.item(i))
	}
	if left := max(total, len(all)) - len(shown); left > 0 {
		lines = append(lines, fmt.Sprintf(w.more, left))
	}
	return strings.Join(lines, "\n")
}

// object tells the fields of an object that are words, and how many things stand in its lists.
func (w words) object(fields []field) string {
	var lines []string
	for _, f := range fields {
		if slices.Contains([]string{"summary", "ok", "uuid", "warnings", "links", "meta", "truncated"}, f.name) {
			continue
		}
		if v := w.value(f.value); v != "" {
			name := f.name
			if n, ok := w.fields[name]; ok {
				name = n
			}
			lines = append(lines, "- "+strings.ReplaceAll(name, "_", " ")+": "+v)
		}
	}
	return strings.Join(lines, "\n")
}

func (w words) value(raw json.RawMessage) string {
	switch raw[0] {
	case 'n':
		return ""
	case 't':
		return w.yes
	case 'f':
		return w.no
	case '[':
		return w.names(raw)
	case '{':
		fields, _ := readFields(string(raw))
		if it, ok := itemOf(fields); ok {
			return w.item(it)
		}
		return w.change(fields)
	}
	s := text(raw)
	if strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") {
		return "<" + s + ">"
	}
	return plain(shorten(s, 200))
}

// change tells a field of a diff: its name and its new value.
func (w words) change(fields []field) string {
	var name, after string
	for _, f := range fields {
		switch f.name {
		case "field":
			name = text(f.value)
		case "after":
			after = w.value(f.value)
		}
	}
	if name == "" {
		return ""
	}
	if n, ok := w.fields[name]; ok {
		name = n
	}
	return plain(name) + " → " + cmp.Or(after, "–")
}

// names are the first things of a list by their names, and how many there are. Where a check found some that
// are not well, only those are named.
func (w words) names(raw json.RawMessage) string {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil || len(all) == 0 {
		return ""
	}
	var named, troubled []string
	for _, one := range all {
		if fields, ok := readFields(string(one)); ok {
			if it, ok := itemOf(fields); ok && it.trouble != "" {
				troubled = append(troubled, w.item(it))
			}
		}
		if v := w.value(one); one[0] != '[' && v != "" && len(named) < listed {
			named = append(named, v)
		}
	}
	s := num(len(all))
	if troubled != nil {
		return s + "\n  - " + strings.Join(troubled, "\n  - ")
	}
	if len(named) > 0 {
		s += " — " + strings.Join(named, ", ")
	}
	if len(all) > listed {
		s += " …"
	}
	return s
}

// plain keeps a title from being read as markup.
func plain(s string) string {
	return strings.NewReplacer("[", "(", "]", ")", "\n", " ", "`", "'", "*", "∗", "_", "\\_", "<", "‹", ">", "›").Replace(s)
}

func cut(s string) string { return shorten(strings.TrimSpace(s), longest) }

func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}

func quote(s string) string { return "> " + strings.ReplaceAll(s, "\n", "\n> ") }
