package offline

import (
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
	var b strings.Builder
	b.WriteString(fmt.Sprintf(head, w.count(total, kind)) + about + ":")
	shown := r.items[:min(listed, len(r.items))]
	for _, i := range shown {
		b.WriteString("\n- " + w.item(i))
	}
	if left := total - len(shown); left > 0 {
		b.WriteString("\n" + fmt.Sprintf(w.more, left))
	}
	return b.String()
}

func (w words) item(i item) string {
	s := plain(i.title)
	if i.url != "" && !strings.ContainsAny(i.url, " ()<>") {
		s = "[" + s + "](" + i.url + ")"
	}
	if i.id != "" {
		s += " (id " + i.id + ")"
	}
	if i.draft {
		s += ", " + w.draft
	}
	return s
}

// outcome tells the result of any other tool.
func (w words) outcome(tool string, r result) string {
	if r.object != nil {
		head := r.summary
		for _, prefix := range []string{"update_", "delete_", "refresh_", "create_", "apply_", "rollback_"} {
			if strings.HasPrefix(tool, prefix) {
				head = w.done + head
			}
		}
		return strings.TrimSpace(head + "\n" + w.object(r.object))
	}
	if len(r.items) > 0 {
		var b strings.Builder
		b.WriteString(r.summary)
		for _, i := range r.items[:min(listed, len(r.items))] {
			b.WriteString("\n- " + w.item(i))
		}
		if left := max(r.total, len(r.items)) - min(listed, len(r.items)); left > 0 {
			b.WriteString("\n" + fmt.Sprintf(w.more, left))
		}
		return strings.TrimSpace(b.String())
	}
	for _, prefix := range []string{"update_", "delete_", "refresh_", "create_", "apply_", "rollback_"} {
		if strings.HasPrefix(tool, prefix) {
			return w.done + cut(r.text)
		}
	}
	return cut(r.text)
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
		return ""
	}
	s := text(raw)
	if strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") {
		return "<" + s + ">"
	}
	return plain(shorten(s, 200))
}

// names are the first things of a list by their names, and how many there are.
func (w words) names(raw json.RawMessage) string {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil || len(all) == 0 {
		return ""
	}
	var out []string
	for _, one := range all[:min(listed, len(all))] {
		if one[0] == '[' {
			continue
		}
		if v := w.value(one); v != "" {
			out = append(out, v)
		}
	}
	s := num(len(all))
	if len(out) > 0 {
		s += " — " + strings.Join(out, ", ")
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
