package policy

import (
	"fmt"
	"slices"
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
	allow, deny bits
	wild        []wildcard // for tools that came later
}

type wildcard struct {
	pattern string // with its star
	effect  effect
}

// later is the effect on a tool that was not known at load.
func (s *set) later(tool string) (e effect) {
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
	index   map[string]int      // tool that is known or named → its bit
	sets    map[string]*byClass // role → its sets
}

// byClass has one set for each of classes.
type byClass [3]set

var classes = chat.Classes()

func (c *compiled) allows(roles []string, class, tool string) bool {
	n := slices.Index(classes, class)
	if n < 0 {
		return false
	}
	i, known := c.index[tool]
	var e effect
	for _, r := range roles {
		s := c.sets[r]
		switch {
		case s == nil:
		case !known:
			e |= s[n].later(tool)
		default:
			e |= s[n].of(i)
		}
	}
	return e == allows
}

func (s *set) of(i int) (e effect) {
	if s.allow.has(i) {
		e |= allows
	}
	if s.deny.has(i) {
		e |= denies
	}
	return e
}

// bits is a set of small numbers.
type bits []uint64

func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bits) set(i int)      { b[i/64] |= 1 << (i % 64) }

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
	in := []string{f[2]}
	if f[2] == anyClass {
		in = classes
	}
	for _, c := range in {
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
	c := &compiled{version: version, rules: rules, index: indexOf(rules, tools), sets: map[string]*byClass{}}
	words := c.words()
	for role := range roles(rules) {
		own := new(byClass)
		for n, class := range classes {
			inherited, err := e.GetImplicitRolesForUser(role, class)
			if err != nil {
				return nil, fmt.Errorf("roles of %s: %w", role, err)
			}
			s := &own[n]
			s.allow, s.deny = make(bits, words), make(bits, words)
			for _, from := range append(inherited, role) {
				rs, err := e.GetFilteredPolicy(0, from)
				if err != nil {
					return nil, fmt.Errorf("rules of %s: %w", from, err)
				}
				s.add(rs, class, c.index)
			}
		}
		c.sets[strings.TrimPrefix(role, rolePrefix)] = own
	}
	return c, nil
}

func (c *compiled) words() int { return (len(c.index) + 63) / 64 }

// indexOf gives a bit to every tool that is known or that a rule names.
func indexOf(rules []rule, tools []string) map[string]int {
	index := map[string]int{}
	give := func(tool string) {
		if _, ok := index[tool]; !ok {
			index[tool] = len(index)
		}
	}
	for _, t := range tools {
		give(t)
	}
	for _, r := range rules {
		if r.kind == "p" && !strings.HasSuffix(r.fields[2], "*") {
			give(strings.TrimPrefix(r.fields[2], toolPrefix))
		}
	}
	return index
}

func (s *set) add(rules [][]string, class string, index map[string]int) {
	for _, r := range rules {
		if r[1] != anyClass && r[1] != class {
			continue
		}
		e, into := allows, s.allow
		if r[3] == "deny" {
			e, into = denies, s.deny
		}
		pattern := strings.TrimPrefix(r[2], toolPrefix)
		if !strings.HasSuffix(pattern, "*") {
			into.set(index[pattern])
			continue
		}
		s.wild = append(s.wild, wildcard{pattern, e})
		for tool, i := range index {
			if util.KeyMatch(tool, pattern) {
				into.set(i)
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
