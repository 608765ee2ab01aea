package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"agentd/internal/fault"
)

// An object is a JSON object that is read member by member. Every misfit is noted and reading goes on, so that
// one answer names them all. Optional members may be null, which is the same as leaving them out.
type object struct {
	at   string // JSON pointer
	raw  map[string]json.RawMessage
	seen map[string]bool
	bad  *[]fault.Field // shared with the objects inside
}

// newObject takes text that is known to be a valid object, or nil for an empty one.
func newObject(at string, text json.RawMessage, bad *[]fault.Field) *object {
	o := &object{at: at, raw: map[string]json.RawMessage{}, seen: map[string]bool{}, bad: bad}
	if text != nil {
		if err := json.Unmarshal(text, &o.raw); err != nil {
			o.refuse("", "must be a JSON object")
		}
	}
	return o
}

// refuse notes that a member does not fit; "" is the object itself.
func (o *object) refuse(name, detail string) {
	at := o.at
	if name != "" {
		at = o.pointer(name)
	}
	*o.bad = append(*o.bad, fault.Field{Pointer: at, Detail: detail})
}

func (o *object) pointer(name string) string {
	return o.at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// member returns the text of a member, and false where it is absent or null.
func (o *object) member(name string) (json.RawMessage, bool) {
	o.seen[name] = true
	v, ok := o.raw[name]
	if !ok || string(v) == "null" {
		return nil, false
	}
	return v, true
}

// has reports whether the member is there and not null.
func (o *object) has(name string) bool {
	_, ok := o.member(name)
	return ok
}

// refusedAt reports whether the member was noted already: one detail for each is enough.
func (o *object) refusedAt(name string) bool {
	at := o.pointer(name)
	return slices.ContainsFunc(*o.bad, func(f fault.Field) bool { return f.Pointer == at })
}

// must notes an absent member.
func (o *object) must(name, detail string) {
	if !o.has(name) {
		o.refuse(name, "is required: "+detail)
	}
}

// text reads a string of at most limit code points; "" where it is absent or does not fit.
func (o *object) text(name string, limit int) string {
	v, ok := o.member(name)
	if !ok {
		return ""
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		o.refuse(name, "must be a string")
		return ""
	}
	if n := utf8.RuneCountInString(s); n > limit {
		o.refuse(name, fmt.Sprintf("must have at most %d characters, has %d", limit, n))
		return ""
	}
	if strings.ContainsRune(s, 0) {
		o.refuse(name, "must not contain the character U+0000")
		return ""
	}
	return s
}

// pattern reads a string that must match; what says in words what would be right.
func (o *object) pattern(name string, re *regexp.Regexp, what string) string {
	v, ok := o.member(name)
	if !ok {
		return ""
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		o.refuse(name, "must be a string")
		return ""
	}
	if !re.MatchString(s) {
		o.refuse(name, "must be "+what)
		return ""
	}
	return s
}

// oneOf reads a string of a closed set.
func (o *object) oneOf(name string, set ...string) string {
	v, ok := o.member(name)
	if !ok {
		return ""
	}
	var s string
	if json.Unmarshal(v, &s) != nil || !slices.Contains(set, s) {
		o.refuse(name, "must be one of "+strings.Join(set, ", "))
		return ""
	}
	return s
}

// flag reads a boolean.
func (o *object) flag(name string) bool {
	v, ok := o.member(name)
	if !ok {
		return false
	}
	var b bool
	if json.Unmarshal(v, &b) != nil {
		o.refuse(name, "must be true or false")
	}
	return b
}

// texts reads a list of strings.
func (o *object) texts(name string, limit int) []string {
	v, ok := o.member(name)
	if !ok {
		return nil
	}
	var s []*string // a null inside is no string
	if json.Unmarshal(v, &s) != nil || slices.Contains(s, nil) {
		o.refuse(name, "must be a list of strings")
		return nil
	}
	if len(s) > limit {
		o.refuse(name, fmt.Sprintf("must have at most %d entries, has %d", limit, len(s)))
		return nil
	}
	var out []string
	for _, p := range s {
		out = append(out, *p)
	}
	return out
}

// object reads a member that is an object itself; an empty one where it is absent or does not fit.
func (o *object) object(name string) *object {
	v, ok := o.member(name)
	if ok && v[0] != '{' {
		o.refuse(name, "must be an object")
		v = nil
	}
	return newObject(o.pointer(name), v, o.bad)
}

// arguments reads an object that is handed on as it came.
func (o *object) arguments(name string) json.RawMessage {
	v, ok := o.member(name)
	if ok && v[0] != '{' {
		o.refuse(name, "must be an object")
		return nil
	}
	return v
}

// done notes the members that nobody asked for. It is called once, after the last member was read.
func (o *object) done() {
	known := slices.Sorted(maps.Keys(o.seen))
	for _, name := range slices.Sorted(maps.Keys(o.raw)) {
		switch {
		case o.seen[name]:
		case len(known) == 0:
			o.refuse(name, "is not known: no fields are expected here")
		default:
			o.refuse(name, "is not known: the fields are "+strings.Join(known, ", "))
		}
	}
}

// err is the error of everything that was noted, here and inside; nil if nothing was.
func (o *object) err() error { return refused(*o.bad) }
