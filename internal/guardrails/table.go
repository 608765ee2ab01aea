package guardrails

import (
	"fmt"
	"slices"
	"strings"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/tool"
)

// A Table says for each risk and class what happens. The zero Table is the built-in one. It is never changed
// after NewTable and is safe for several goroutines.
type Table struct {
	own map[cell]Action // what the operator set
}

type cell struct {
	risk  tool.Risk
	class string
}

// builtin is what is milder than asking, or the same; what is not in it is asked.
var builtin = map[cell]Action{
	{tool.Read, chat.ClassDev}:     Allow,
	{tool.Read, chat.ClassStaging}: Allow,
	{tool.Read, chat.ClassProd}:    Allow,
	{tool.Query, chat.ClassDev}:    Allow,
}

func (t Table) at(risk tool.Risk, class string) Action {
	if a, ok := t.own[cell{risk, class}]; ok {
		return a
	}
	if a, ok := builtin[cell{risk, class}]; ok {
		return a
	}
	return Confirm
}

var (
	risks   = []string{string(tool.Read), string(tool.Query), string(tool.Write), string(tool.Dangerous)}
	actions = map[string]Action{"allow": Allow, "confirm": Confirm, "deny": Deny}
)

// NewTable changes the built-in table: risk → class → allow, confirm or deny. Everything may be made stricter and
// only a write in dev looser. Its error is Invalid and names every key that is not so.
func NewTable(set map[string]map[string]string) (Table, error) {
	t := Table{own: map[cell]Action{}}
	var bad []fault.Field
	for risk, row := range set {
		for class, word := range row {
			key := "guardrails." + risk + "." + class
			c := cell{tool.Risk(risk), class}
			a, ok := actions[word]
			switch {
			case !slices.Contains(risks, risk):
				bad = append(bad, fault.Field{Pointer: key, Detail: "must be one of read, query, write, dangerous"})
			case !slices.Contains(chat.Classes(), class):
				bad = append(bad, fault.Field{Pointer: key, Detail: "must name prod, staging or dev"})
			case !ok:
				bad = append(bad, fault.Field{Pointer: key, Detail: fmt.Sprintf("is %q, must be allow, confirm or deny", word)})
			case a.strictness() < (Table{}).at(c.risk, c.class).strictness() && c != cell{tool.Write, chat.ClassDev}:
				bad = append(bad, fault.Field{Pointer: key, Detail: fmt.Sprintf("is %q, must not be looser than %s", word, (Table{}).at(c.risk, c.class))})
			default:
				t.own[c] = a
			}
		}
	}
	if len(bad) == 0 {
		return t, nil
	}
	slices.SortFunc(bad, func(a, b fault.Field) int { return strings.Compare(a.Pointer, b.Pointer) })
	msg := "The table of risks cannot be used:"
	for _, f := range bad {
		msg += " " + f.Pointer + " " + f.Detail + "."
	}
	return Table{}, &fault.Error{Kind: fault.Invalid, Msg: msg, Fields: bad}
}
