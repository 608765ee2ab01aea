package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"agentd/internal/chat"
)

// maxInheritance is how many steps Casbin follows; what is further away would silently not count.
const maxInheritance = 10

// A Problem is something wrong in a policy's text. A text with a problem that is Refuse is never loaded;
// the others are worth a warning.
type Problem struct {
	Line   int // from 1; 0 is the whole text
	What   string
	Refuse bool
}

func (p Problem) String() string {
	if p.Line == 0 {
		return "The policy " + p.What
	}
	return fmt.Sprintf("Line %d %s", p.Line, p.What)
}

// toolShape is a name or a prefix with one last star: Casbin ignores whatever stands after the first star.
var toolShape = regexp.MustCompile(`^tool:([A-Za-z0-9_-]{1,64}|[A-Za-z0-9_-]{0,63}\*)$`)

var countLine = regexp.MustCompile(`(?m)^#\s*rules:\s*(\d+)\s*$`)

// Lint reports everything wrong with text, by line. Casbin itself accepts most of it and then fails open: an
// effect "Deny" or a comment after "deny" is a rule that never denies.
//
// Names that are not in tools or roles are reported and not refused; a nil list is not looked at.
func Lint(text string, tools, roles []string) []Problem {
	rules, out := read(text)
	for _, r := range rules {
		for _, what := range shape(r) {
			out = append(out, Problem{Line: r.line, What: what, Refuse: true})
		}
	}
	if !slices.ContainsFunc(out, refuses) {
		out = append(out, whole(text, rules)...)
	}
	out = append(out, strangers(rules, tools, roles)...)
	if !slices.ContainsFunc(out, refuses) {
		out = append(out, dead(rules, tools)...)
	}
	slices.SortStableFunc(out, func(a, b Problem) int { return a.Line - b.Line })
	return out
}

func refuses(p Problem) bool { return p.Refuse }

func shape(r rule) (wrong []string) {
	want := map[string]int{"p": 4, "g": 3}[r.kind]
	switch {
	case want == 0:
		return []string{fmt.Sprintf("begins with %q, it must be p or g", r.kind)}
	case len(r.fields) != want:
		return []string{fmt.Sprintf("has %d values after %s, it must have %d", len(r.fields), r.kind, want)}
	}
	bad := func(format string, a ...any) { wrong = append(wrong, fmt.Sprintf(format, a...)) }
	role := func(s string) {
		name, ok := strings.CutPrefix(s, rolePrefix)
		if !ok || name == "" || name != strings.TrimSpace(name) || strings.ContainsAny(name, "#*") {
			bad("names %q, a role is written role:NAME", s)
		}
	}
	class := func(s string) {
		if s != anyClass && !slices.Contains(chat.Classes(), s) {
			bad("names the class %q, it must be prod, staging, dev or *", s)
		}
	}
	role(r.fields[0])
	if r.kind == "g" {
		role(r.fields[1])
		class(r.fields[2])
		return wrong
	}
	class(r.fields[1])
	if !toolShape.MatchString(r.fields[2]) {
		bad("names %q, a tool is written tool:NAME or tool:PREFIX* with the star last", r.fields[2])
	}
	if e := r.fields[3]; e != "allow" && e != "deny" {
		bad("ends with %q, it must be exactly allow or deny, and no comment may follow", e)
	}
	return wrong
}

// whole looks at what only all lines together show.
func whole(text string, rules []rule) (out []Problem) {
	allow, deny := 0, 0
	for _, r := range rules {
		switch {
		case r.kind == "g":
		case r.fields[3] == "allow":
			allow++
		default:
			deny++
		}
	}
	switch {
	case allow+deny == 0:
		out = append(out, Problem{What: "has no rules, so it allows nothing; perhaps it was cut", Refuse: true})
	case allow == 0:
		out = append(out, Problem{What: "only denies, so it allows nothing: what is not allowed is denied anyway", Refuse: true})
	}
	if m := countLine.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err != nil || n != len(rules) {
			out = append(out, Problem{What: fmt.Sprintf("says that it has %s rules and has %d", m[1], len(rules)), Refuse: true})
		}
	}
	return append(out, chains(rules)...)
}

// chains refuses inheritance in a circle and chains that Casbin would not follow to their end.
func chains(rules []rule) (out []Problem) {
	for _, class := range chat.Classes() {
		up := parents(rules, class)
		for _, r := range rules {
			if r.kind != "g" || r.fields[2] != anyClass && r.fields[2] != class {
				continue
			}
			switch depth, circle := climb(up, r.fields[0], nil); {
			case circle:
				out = append(out, Problem{Line: r.line, What: "lets " + r.fields[0] + " inherit from itself", Refuse: true})
			case depth > maxInheritance:
				out = append(out, Problem{Line: r.line, What: fmt.Sprintf("makes a chain of more than %d roles", maxInheritance), Refuse: true})
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// parents maps a role → the roles whose tools it also has in class.
func parents(rules []rule, class string) map[string][]string {
	up := map[string][]string{}
	for _, r := range rules {
		if r.kind == "g" && (r.fields[2] == anyClass || r.fields[2] == class) {
			up[r.fields[0]] = append(up[r.fields[0]], r.fields[1])
		}
	}
	return up
}

func climb(up map[string][]string, role string, path []string) (depth int, circle bool) {
	if slices.Contains(path, role) {
		return 0, true
	}
	if len(path) > maxInheritance {
		return 1, false
	}
	for _, p := range up[role] {
		d, c := climb(up, p, append(path, role))
		if c {
			return 0, true
		}
		depth = max(depth, d+1)
	}
	return depth, false
}

// strangers reports names that nothing answers to: a tool that was renamed, a role that nobody has.
func strangers(rules []rule, tools, roles []string) (out []Problem) {
	note := func(r rule, what string) { out = append(out, Problem{Line: r.line, What: what}) }
	for _, r := range rules {
		if r.kind == "p" && len(r.fields) == 4 && tools != nil {
			pattern := strings.TrimPrefix(r.fields[2], toolPrefix)
			if pattern != "*" && !slices.ContainsFunc(tools, func(t string) bool { return matches(pattern, t) }) {
				note(r, fmt.Sprintf("names %q, which is no tool", r.fields[2]))
			}
		}
		if roles == nil || len(r.fields) < 2 {
			continue
		}
		named := r.fields[:1]
		if r.kind == "g" {
			named = r.fields[1:2] // the first is the name that this line makes
		}
		for _, s := range named {
			if name := strings.TrimPrefix(s, rolePrefix); !slices.Contains(roles, name) && !defined(rules, s) {
				note(r, fmt.Sprintf("names the role %q, which nobody knows", name))
			}
		}
	}
	return out
}

// always are the tools that no policy is asked about.
var always = []string{"show_capabilities", "read_artifact"}

// dead reports the tools that no rule allows to anybody.
func dead(rules []rule, tools []string) (out []Problem) {
	for _, t := range tools {
		allowed := slices.ContainsFunc(rules, func(r rule) bool {
			return r.kind == "p" && r.fields[3] == "allow" && matches(r.fields[2], toolPrefix+t)
		})
		if !allowed && !slices.Contains(always, t) {
			out = append(out, Problem{What: fmt.Sprintf("allows the tool %q to nobody", t)})
		}
	}
	return out
}

// defined reports whether the policy itself makes role by a g line.
func defined(rules []rule, role string) bool {
	return slices.ContainsFunc(rules, func(r rule) bool { return r.kind == "g" && len(r.fields) > 0 && r.fields[0] == role })
}
