// Package toolfilter picks the tools that a model step is offered: first what the role may use, then what the
// page is about.
package toolfilter

import (
	uicontext "agentd/internal/context"
	"agentd/internal/tool"
)

// Offered is what one model step may choose from, and what it may not.
type Offered struct {
	Tools    []tool.Tool // in the order of the set
	RBAC     int         // how many the role hides
	Affinity int         // how many the page hides
	Hidden   []Hidden    // every other tool of the set, in its order
}

// Hidden is a tool that is not offered.
type Hidden struct {
	Name string
	Why  Verdict
}

// Offer judges every tool of the set. It is asked anew for each model step, over all tools that there are by then.
func Offer(tools tool.Set, allows Allows, classes []string, view uicontext.View, s State) Offered {
	all := tools.All()
	page, known := pageFor[view.ObjectType]
	verdicts := make([]Verdict, len(all))
	visible := 0
	for i := range all {
		verdicts[i] = judge(&all[i], allows, classes, view.ObjectType, page, known, &s)
		if verdicts[i] == Visible {
			visible++
		}
	}
	var o Offered
	o.Tools = make([]tool.Tool, 0, visible)
	if n := len(all) - visible; n > 0 {
		o.Hidden = make([]Hidden, 0, n)
	}
	for i, v := range verdicts {
		switch v {
		case Visible:
			o.Tools = append(o.Tools, all[i])
			continue
		case HiddenByRole:
			o.RBAC++
		case HiddenByPage:
			o.Affinity++
		}
		o.Hidden = append(o.Hidden, Hidden{Name: all[i].Name, Why: v})
	}
	return o
}

// Names lists the names of the offered tools in order.
func (o Offered) Names() []string {
	out := make([]string, len(o.Tools))
	for i := range o.Tools {
		out[i] = o.Tools[i].Name
	}
	return out
}
