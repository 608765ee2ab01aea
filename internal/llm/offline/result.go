package offline

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// A result is what a tool's answer to the model says.
type result struct {
	status  string // denied, rejected, timeout, …; "" is a result
	message string // with a status

	summary string // the first words, where there are any
	total   int    // how many there are; -1 is not known
	atLeast bool
	items   []item
	object  []field // of a result that is one object
	text    string  // all of it

	warnings []string
	links    []link
}

// A link leads to a page of Superset.
type link struct{ title, url string }

// An item is one of a list.
type item struct {
	id, title, url string
	draft          bool
	trouble        string // what a check says of it, where that is not well
}

// A field of an object, in its order.
type field struct {
	name  string
	value json.RawMessage
}

var (
	foundLine = regexp.MustCompile(`^Found (at least )?(\d+) items?`)
	saysTotal = regexp.MustCompile(`^(?:Found|More than) (\d+) `)
)

// read understands both forms: words with items, one JSON value a line, and a status object.
func read(content string) result {
	r := result{total: -1, text: strings.TrimSpace(content)}
	var s struct{ Status, Message, Error, Reason string }
	if json.Unmarshal([]byte(r.text), &s) == nil && (s.Status != "" && s.Message != "" || s.Error != "") {
		r.status, r.message = s.Status, strings.TrimSpace(s.Message+" "+s.Reason)
		if s.Error != "" {
			r.status, r.message = "error", s.Error
		}
		return r
	}
	if fields, ok := readFields(r.text); ok { // the whole is one object, over several lines perhaps
		r.take(fields)
		return r
	}
	var columns []string
	for line := range strings.Lines(r.text) {
		line = strings.TrimSpace(line)
		switch m := foundLine.FindStringSubmatch(line); {
		case m != nil:
			r.total, _ = strconv.Atoi(m[2]) // digits, and a count that does not fit is none that is there
			r.atLeast = m[1] != ""
		case strings.HasPrefix(line, "Warning: "):
			r.warnings = append(r.warnings, strings.TrimPrefix(line, "Warning: "))
		case strings.HasPrefix(line, "Link: "):
			if words := strings.Fields(strings.TrimPrefix(line, "Link: ")); len(words) > 0 {
				r.links = append(r.links, link{strings.Join(words[:len(words)-1], " "), words[len(words)-1]})
			}
		case strings.HasPrefix(line, "Columns: "):
			_ = json.Unmarshal([]byte(strings.TrimPrefix(line, "Columns: ")), &columns) // without names rows have none
		case strings.HasPrefix(line, "["):
			r.row(columns, line)
		case strings.HasPrefix(line, "{"):
			if fields, ok := readFields(line); ok {
				r.take(fields)
			}
		case r.summary == "" && line != "" && !strings.HasPrefix(line, "In \""):
			r.summary = line
			if m := saysTotal.FindStringSubmatch(line); m != nil && r.total < 0 {
				r.total, _ = strconv.Atoi(m[1])
			}
		}
	}
	return r
}

// take adds an object: an item where it has the marks of one among others, else the object.
func (r *result) take(fields []field) {
	for _, f := range fields {
		switch f.name {
		case "summary":
			r.summary = text(f.value)
		case "result", "data", "rows", "items":
			r.list(f.value)
		case "total", "count":
			if n, err := strconv.Atoi(string(f.value)); err == nil {
				r.total = n
			}
		}
	}
	if r.items == nil && r.object == nil && r.total < 0 {
		r.object = fields
		return
	}
	if it, ok := itemOf(fields); ok {
		r.items = append(r.items, it)
	}
}

func (r *result) list(raw json.RawMessage) {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return
	}
	for _, one := range all {
		if fields, ok := readFields(string(one)); ok {
			if it, ok := itemOf(fields); ok {
				r.items = append(r.items, it)
			}
		}
	}
	if r.total < 0 {
		r.total = len(all)
	}
}

func (r *result) row(columns []string, line string) {
	var cells []json.RawMessage
	if json.Unmarshal([]byte(line), &cells) != nil {
		return
	}
	var fields []field
	for i, c := range cells {
		if i < len(columns) {
			fields = append(fields, field{columns[i], c})
		}
	}
	if it, ok := itemOf(fields); ok {
		r.items = append(r.items, it)
	}
}

// itemOf names an object by what the tools call its names.
func itemOf(fields []field) (item, bool) {
	var it item
	for _, f := range fields {
		switch f.name {
		case "id":
			it.id = text(f.value)
		case "title", "dashboard_title", "name", "table_name", "slice_name":
			if it.title == "" {
				it.title = text(f.value)
			}
		case "url":
			it.url = text(f.value)
		case "status":
			if s := text(f.value); s != "ok" {
				it.trouble = s
			}
		case "cause", "error":
			it.trouble = strings.TrimPrefix(it.trouble+": "+text(f.value), ": ")
		case "published":
			it.draft = string(f.value) == "false"
		}
	}
	return it, it.title != ""
}

// readFields reads one JSON object and keeps the order of its fields.
func readFields(s string) ([]field, bool) {
	if !strings.HasPrefix(s, "{") {
		return nil, false
	}
	d := json.NewDecoder(strings.NewReader(s))
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	var out []field
	for d.More() {
		name, err := d.Token()
		key, isText := name.(string)
		if err != nil || !isText {
			return nil, false
		}
		var v json.RawMessage
		if d.Decode(&v) != nil {
			return nil, false
		}
		out = append(out, field{key, v})
	}
	if _, err := d.Token(); err != nil || strings.TrimSpace(s[d.InputOffset():]) != "" {
		return nil, false
	}
	return out, true
}

// text is a JSON scalar in words; numbers stay as they are written.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
