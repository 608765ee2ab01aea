package agent

import "agentd/internal/chat"

// How often is too often: the same call, and denials or made-up names in a row.
const (
	sameCallLimit = 3
	inARowLimit   = 3
)

// repetition notices a run that turns in circles. It is used by one goroutine.
type repetition struct {
	seen    map[string]seen // tool, environment and canonical arguments → what it came to
	denied  int             // in a row
	unknown int             // in a row
	outcome string
}

type seen struct {
	times int
	text  string
}

func newRepetition() repetition { return repetition{seen: map[string]seen{}} }

// note takes the answer of a call. The same call with another answer has brought something new and counts anew.
func (p *repetition) note(key, text string, denied, unknown bool) {
	s := p.seen[key]
	if s.text != text {
		s = seen{text: text}
	}
	s.times++
	p.seen[key] = s
	p.denied, p.unknown = inARow(p.denied, denied), inARow(p.unknown, unknown)
	switch {
	case p.denied >= inARowLimit:
		p.outcome = chat.OutcomeDenied
	case s.times >= sameCallLimit, p.unknown >= inARowLimit:
		p.outcome = chat.OutcomeRepetition
	}
}

func inARow(n int, again bool) int {
	if again {
		return n + 1
	}
	return 0
}

// stuck is the outcome that ends the run, or "".
func (p *repetition) stuck() string { return p.outcome }
