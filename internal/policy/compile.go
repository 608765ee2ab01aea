package policy

import (
	"fmt"
	"strings"

	"agentd/internal/chat"

	"github.com/casbin/casbin/v2"
	"github.com/casbin/casbin/v2/model"
	"github.com/casbin/casbin/v2/util"
)

// modelText: deny of any role wins, what no rule allows is denied. keyMatch, never keyMatch2: there ":" is a
// parameter and tool:delete would match tool:read.
const modelText = `
[request_definition]
r = sub, dom, obj
[policy_definition]
p = sub, dom, obj, eft
[role_definition]
g = _, _, _
[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))
[matchers]
m = (p.dom == "*" || r.dom == p.dom) && keyMatch(r.obj, p.obj) && g(r.sub, p.sub, r.dom)
`

// effect is what the rules of one role say of one tool.
type effect uint8

const (
	allows effect = 1 << iota
	denies
)

// A set is what one role may in one class, its inherited rules too.
type set struct {
	tools map[string]effect // tool → effect, patterns already counted for the tools known at load
	wild  []wildcard        // for tools that came later
}

type wildcard struct {
	pattern string // with its star
	effect  effect
}

func (s *set) of(tool string) effect {
	if e, ok := s.tools[tool]; ok {
		return e
	}
	var e effect
	for _, w := range s.wild {
		if util.KeyMatch(tool, w.pattern) {
			e |= w.effect
		}
	}
	return e
}

// compiled is one version of a policy. It is never changed after it is built.
type compiled struct {
	version string
	rules   []rule
	sets    map[string]map[string]*set // class → role → set
}

// enforcer loads rules into Casbin. "*" as the class of a g line becomes one line for each class, since
// Casbin's domains know no star.
func enforcer(rules []rule) (*casbin.SyncedEnforcer, error) {
	m, err := model.NewModelFromString(modelText)
	if err != nil {
		return nil, err
	}
	e, err := casbin.NewSyncedEnforcer(m)
	if err != nil {
		return nil, err
	}
	e.EnableAutoSave(false)
	for _, r := range rules {
		if r.kind == "p" {
			_, err = e.AddPolicy(r.fields)
		} else {
			err = group(e, r.fields)
		}
		if err != nil {
			return nil, fmt.Errorf("load %s: %w", r, err)
		}
	}
	return e, nil
}

func group(e *casbin.SyncedEnforcer, f []string) error {
	classes := []string{f[2]}
	if f[2] == anyClass {
		classes = chat.Classes()
	}
	for _, c := range classes {
		if _, err := e.AddGroupingPolicy(f[0], f[1], c); err != nil {
			return err
		}
	}
	return nil
}

// compile turns Casbin's rules into one set for each class and role. Asking Casbin itself scans every rule.
func compile(version string, rules []rule, tools []string) (*compiled, error) {
	e, err := enforcer(rules)
	if err != nil {
		return nil, err
	}
	c := &compiled{version: version, rules: rules, sets: map[string]map[string]*set{}}
	for _, class := range chat.Classes() {
		c.sets[class] = map[string]*set{}
		for role := range roles(rules) {
			inherited, err := e.GetImplicitRolesForUser(role, class)
			if err != nil {
				return nil, fmt.Errorf("roles of %s: %w", role, err)
			}
			s := &set{tools: map[string]effect{}}
			for _, from := range append(inherited, role) {
				own, err := e.GetFilteredPolicy(0, from)
				if err != nil {
					return nil, fmt.Errorf("rules of %s: %w", from, err)
				}
				s.add(own, class)
			}
			s.spread(tools)
			c.sets[class][strings.TrimPrefix(role, rolePrefix)] = s
		}
	}
	return c, nil
}

func (s *set) add(rules [][]string, class string) {
	for _, r := range rules {
		if r[1] != anyClass && r[1] != class {
			continue
		}
		e := allows
		if r[3] == "deny" {
			e = denies
		}
		tool := strings.TrimPrefix(r[2], toolPrefix)
		if strings.HasSuffix(tool, "*") {
			s.wild = append(s.wild, wildcard{tool, e})
		} else {
			s.tools[tool] |= e
		}
	}
}

// spread counts the patterns into the map, for every tool that is known or named.
func (s *set) spread(tools []string) {
	for _, t := range tools {
		if _, ok := s.tools[t]; !ok {
			s.tools[t] = 0
		}
	}
	for t := range s.tools {
		for _, w := range s.wild {
			if util.KeyMatch(t, w.pattern) {
				s.tools[t] |= w.effect
			}
		}
	}
}

func roles(rules []rule) map[string]bool {
	out := map[string]bool{}
	for _, r := range rules {
		out[r.fields[0]] = true
		if r.kind == "g" {
			out[r.fields[1]] = true
		}
	}
	return out
}
