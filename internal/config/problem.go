package config

import (
	"slices"
	"strings"

	"agentd/internal/fault"
)

// problems collects what is wrong, so that it is told all at once.
type problems struct {
	found []problem
	where map[string]string // key → where its value came from, for what is noticed later
}

type problem struct{ key, at, detail string }

func (p *problems) add(key, at, detail string) {
	p.found = append(p.found, problem{key, at, detail})
}

// mark notes where the value of a key stands. Later sources win, as their values do.
func (p *problems) mark(key, at string) {
	if p.where == nil {
		p.where = map[string]string{}
	}
	p.where[key] = at
}

// place is where the value of key stands, else that of the group or list around it, else "".
func (p *problems) place(key string) string {
	for key != "" {
		if at, ok := p.where[key]; ok {
			return at
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
	return ""
}

// err is nil or one Invalid error with every problem, in the order of the keys.
func (p *problems) err() error {
	if len(p.found) == 0 {
		return nil
	}
	slices.SortStableFunc(p.found, func(a, b problem) int { return strings.Compare(a.key, b.key) })
	e := &fault.Error{Kind: fault.Invalid, Code: "config"}
	var b strings.Builder
	b.WriteString("The configuration cannot be used:")
	for _, f := range p.found {
		at, detail := f.at, f.detail
		if at == "" {
			at = p.place(f.key)
		}
		if at != "" {
			detail += " (" + at + ")"
		}
		key := f.key
		if key == "" {
			key = "configuration"
		}
		b.WriteString("\n  " + key + " " + detail)
		e.Fields = append(e.Fields, fault.Field{Pointer: key, Detail: detail})
	}
	e.Msg = b.String()
	return e
}
