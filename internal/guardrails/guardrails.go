// Package guardrails decides whether a call runs, is asked about, or is refused. The decision is computed from
// declared data on three axes; no model has a word in it.
package guardrails

import (
	"fmt"
	"time"

	"agentd/internal/chat"
	"agentd/internal/tool"
)

// Countdown is how long the page holds back the approval of a dangerous call. The server does not wait.
const Countdown = 10 * time.Second

// An Action is what becomes of a call. The zero Action denies.
type Action uint8

// The actions.
const (
	Deny Action = iota
	Allow
	Confirm
)

func (a Action) String() string {
	switch a {
	case Allow:
		return "allow"
	case Confirm:
		return "confirm"
	}
	return "deny"
}

// strictness orders the actions: allow, confirm, deny.
func (a Action) strictness() int {
	switch a {
	case Allow:
		return 0
	case Confirm:
		return 1
	}
	return 2
}

// A Question is what is known of one call.
type Question struct {
	Tool      tool.Risk // of this very call: a dry run of a write is a Read
	Class     string    // of the call's environment; what is no class counts as prod
	Granted   bool      // RBAC and Superset's own permission
	Untrusted bool      // an argument stands in text that nobody vouches for
}

// A Verdict is the answer. The zero Verdict denies.
type Verdict struct {
	Action    Action
	Risk      tool.Risk     // what the call counts as: untrusted text raises a write
	Dangerous bool          // the card is a dangerous one
	Countdown time.Duration // with Dangerous
	Reason    string        // a sentence
	Rule      string        // what fired, as "write.prod" or "permission"
}

// Class normalises what people call an environment. What is not understood is prod and false.
func Class(s string) (class string, understood bool) { return chat.Class(s) }

// Decide answers by the built-in table.
func Decide(q Question) Verdict { return Table{}.Decide(q) }

// Decide answers one question. A call that is denied is never asked about.
func (t Table) Decide(q Question) Verdict {
	risk := known(q.Tool)
	class, _ := chat.Class(q.Class)
	if !q.Granted {
		return Verdict{Action: Deny, Risk: risk, Reason: "The permission for it is missing.", Rule: "permission"}
	}
	raised := q.Untrusted && risk == tool.Write
	if raised {
		risk = tool.Dangerous
	}
	v := Verdict{Action: t.at(risk, class), Risk: risk, Rule: string(risk) + "." + class}
	switch v.Action {
	case Allow:
		v.Reason = fmt.Sprintf("%s in %s runs without asking.", describe[risk], class)
	case Confirm:
		v.Reason = fmt.Sprintf("%s in %s needs a person's approval.", describe[risk], class)
		if risk == tool.Dangerous {
			v.Dangerous, v.Countdown = true, Countdown
		}
	default:
		v.Reason = fmt.Sprintf("%s in %s is switched off by the operator.", describe[risk], class)
	}
	if raised {
		v.Rule = "untrusted." + class
		v.Reason += " It repeats text from a page or a result that nobody vouches for."
	}
	return v
}

var describe = map[tool.Risk]string{
	tool.Read:      "Reading",
	tool.Query:     "Free SQL",
	tool.Write:     "A change",
	tool.Dangerous: "A wide or irreversible change",
}

// known maps every risk that nobody declared to Dangerous.
func known(r tool.Risk) tool.Risk {
	if _, ok := describe[r]; ok {
		return r
	}
	return tool.Dangerous
}
