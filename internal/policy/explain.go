package policy

import (
	"fmt"
	"slices"
	"strings"

	"agentd/internal/chat"
)

// An Explanation says why Allows answers as it does.
type Explanation struct {
	Allowed bool
	Rule    string // the line that decided; "" where none did
	Why     string // a sentence
}

// Explain is Allows with the rule that decided: the first deny, else the first allow.
func (p *Policy) Explain(roles []string, class, tool string) Explanation {
	c := p.now.Load()
	if c == nil {
		return Explanation{Why: "No policy is loaded."}
	}
	if !slices.Contains(chat.Classes(), class) {
		return Explanation{Why: fmt.Sprintf("%q is no class of environments.", class)}
	}
	up := parents(c.rules, class)
	var allow *Explanation
	for _, r := range roles {
		held := lineage(up, rolePrefix+r)
		for _, u := range c.rules {
			if u.kind != "p" || !slices.Contains(held, u.fields[0]) || u.fields[1] != anyClass && u.fields[1] != class ||
				!matches(u.fields[2], toolPrefix+tool) {
				continue
			}
			by := strings.TrimPrefix(u.fields[0], rolePrefix)
			if u.fields[3] == "deny" {
				return Explanation{Rule: u.String(), Why: fmt.Sprintf("The role %s is denied %s in %s.", by, tool, class)}
			}
			if allow == nil {
				allow = &Explanation{Allowed: true, Rule: u.String(), Why: fmt.Sprintf("The role %s is allowed %s in %s.", by, tool, class)}
			}
		}
	}
	if allow != nil {
		return *allow
	}
	return Explanation{Why: fmt.Sprintf("No rule allows %s in %s to any of the roles.", tool, class)}
}

// lineage is role and everything it inherits from. Lint has refused circles.
func lineage(up map[string][]string, role string) []string {
	out := []string{role}
	for i := 0; i < len(out); i++ {
		for _, p := range up[out[i]] {
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}
