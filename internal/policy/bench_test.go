package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agentd/internal/chat"
	uicontext "agentd/internal/context"
	"agentd/internal/tool"
	"agentd/internal/toolfilter"
)

// tenRoles has 22 rules for each of 10 roles, a fifth of them patterns, a twentieth denies.
func tenRoles(tools []string) string {
	var b strings.Builder
	for r := range 10 {
		for k := range 22 {
			name, eff := tools[(r*7+k*3)%len(tools)], "allow"
			if k%5 == 4 {
				name = name[:4] + "*"
			}
			if k%20 == 19 {
				eff = "deny"
			}
			class := append(chat.Classes(), "*")[k%4]
			fmt.Fprintf(&b, "p, role:r%d, %s, tool:%s, %s\n", r, class, name, eff)
		}
	}
	return b.String()
}

// The whole list of a model step, RBAC and page, for somebody with all ten roles and for somebody with one, against
// asking Casbin about each tool and role. Looking up the roles is counted too.
func BenchmarkOfferAgainstCasbin(b *testing.B) {
	var tools []tool.Tool
	var names []string
	for _, o := range toolfilter.Operations() {
		tools = append(tools, tool.Tool{Name: o.Name, Risk: o.Risk})
		names = append(names, o.Name)
	}
	set, err := tool.NewSet(tools...)
	if err != nil {
		b.Fatal(err)
	}
	text := tenRoles(names)
	rules, _ := read(text)
	p := &Policy{opts: Options{Tools: names}}
	if err := p.Replace(text); err != nil {
		b.Fatal(err)
	}
	e, err := enforcer(rules)
	if err != nil {
		b.Fatal(err)
	}
	var ten []string
	for r := range 10 {
		ten = append(ten, fmt.Sprintf("r%d", r))
	}
	for _, tt := range []struct {
		name  string
		roles []string
	}{{"ten roles", ten}, {"one role", ten[:1]}} {
		b.Run(tt.name, func(b *testing.B) {
			began := time.Now()
			for _, role := range tt.roles {
				for _, name := range names {
					if _, err := e.Enforce("role:"+role, "prod", "tool:"+name); err != nil {
						b.Fatal(err)
					}
				}
			}
			casbin := float64(time.Since(began).Nanoseconds())
			b.ReportAllocs()
			seen := 0
			var lists toolfilter.Lists
			classes := []string{"prod"}
			for b.Loop() { // as a model step asks: what decides is looked up each time
				roles := strings.Join(tt.roles, "\x00")
				allows := func(class, name string) bool { return p.Allows(tt.roles, class, name) }
				seen += len(lists.Offer(p.Version(), roles, set, allows, classes, uicontext.View{}, false).Tools)
			}
			b.ReportMetric(casbin/(float64(b.Elapsed().Nanoseconds())/float64(b.N)), "x_casbin")
			b.ReportMetric(float64(seen)/float64(b.N), "tools/op")
		})
	}
}

// Only what Casbin is asked: is this role allowed this tool.
func BenchmarkAllowsAgainstCasbin(b *testing.B) {
	var names []string
	for _, o := range toolfilter.Operations() {
		names = append(names, o.Name)
	}
	text := tenRoles(names)
	rules, _ := read(text)
	p := &Policy{opts: Options{Tools: names}}
	if err := p.Replace(text); err != nil {
		b.Fatal(err)
	}
	e, err := enforcer(rules)
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	for _, name := range names {
		if _, err := e.Enforce("role:r1", "prod", "tool:"+name); err != nil {
			b.Fatal(err)
		}
	}
	casbin := float64(time.Since(began).Nanoseconds()) / float64(len(names))
	roles, i := []string{"r1"}, 0
	b.ReportAllocs()
	for b.Loop() {
		p.Allows(roles, "prod", names[i%len(names)])
		i++
	}
	b.ReportMetric(casbin/(float64(b.Elapsed().Nanoseconds())/float64(b.N)), "x_casbin")
}
