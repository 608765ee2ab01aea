package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"agentd/internal/chat"
)

// The compiled sets answer exactly what Casbin answers: random policies with patterns, denies, every class and inheritance.
func TestCompiledEqualsCasbin(t *testing.T) {
	tools := []string{"get_chart", "get_dashboard", "get", "update_chart", "delete_chart", "tool10", "tool1", "later_a", "later"}
	known := tools[:6]
	patterns := append([]string{"*", "get_*", "get*", "tool1*", "later*", "delete_*"}, tools...)
	classes := append(chat.Classes(), "*")
	asked := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		pick := func(s []string) string { return s[r.IntN(len(s))] }
		var b strings.Builder
		fmt.Fprintln(&b, "p, role:r0, *, tool:get_chart, allow")
		for range r.IntN(25) {
			eff := "allow"
			if r.IntN(4) == 0 {
				eff = "deny"
			}
			fmt.Fprintf(&b, "p, role:r%d, %s, tool:%s, %s\n", r.IntN(6), pick(classes), pick(patterns), eff)
		}
		for range r.IntN(6) {
			lo := r.IntN(5)
			fmt.Fprintf(&b, "g, role:r%d, role:r%d, %s\n", lo, lo+1+r.IntN(5-lo), pick(classes))
		}
		rules, problems := read(b.String())
		if problems = append(problems, Lint(b.String(), nil, nil)...); len(problems) > 0 {
			t.Fatalf("seed %d: %v\n%s", seed, problems, &b)
		}
		c, err := compile("v", rules, known)
		if err != nil {
			t.Fatal(err)
		}
		p := new(Policy)
		p.now.Store(c)
		e, err := enforcer(rules)
		if err != nil {
			t.Fatal(err)
		}
		for u := range 12 {
			roles := []string{fmt.Sprintf("r%d", r.IntN(7)), fmt.Sprintf("r%d", r.IntN(7))}[:1+u%2]
			for _, class := range chat.Classes() {
				for _, role := range roles {
					if _, err := e.AddGroupingPolicy(fmt.Sprintf("user:%d", u), rolePrefix+role, class); err != nil {
						t.Fatal(err)
					}
				}
				for _, tool := range tools {
					want, err := e.Enforce(fmt.Sprintf("user:%d", u), class, toolPrefix+tool)
					if err != nil {
						t.Fatal(err)
					}
					asked++
					if got := p.Allows(roles, class, tool); got != want {
						t.Fatalf("seed %d: Allows(%v, %s, %s) = %v, Casbin %v\n%s", seed, roles, class, tool, got, want, &b)
					}
					if got := p.For(roles)(class, tool); got != want {
						t.Fatalf("seed %d: For(%v)(%s, %s) = %v, Casbin %v\n%s", seed, roles, class, tool, got, want, &b)
					}
					if got := p.Explain(roles, class, tool).Allowed; got != want {
						t.Fatalf("seed %d: Explain(%v, %s, %s) = %v, Casbin %v\n%s", seed, roles, class, tool, got, want, &b)
					}
				}
			}
		}
	}
	t.Logf("%d questions", asked)
}
