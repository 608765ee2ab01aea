package config

import (
	"slices"
	"strings"

	"agentd/internal/fault"
)

// problems collects what is wrong, so that it is told all at once.
type problems struct{ found []problem }

type problem struct{ key, at, detail string }

func (p *problems) add(key, at, detail string) {
	p.found = append(p.found, problem{key, at, detail})
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
		detail := f.detail
		if f.at != "" {
			detail += " (" + f.at + ")"
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
