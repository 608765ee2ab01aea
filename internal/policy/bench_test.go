package policy

import (
	"fmt"
	"slices"
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

// The whole list of a model step, RBAC and page, against asking Casbin about each tool.
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
	rules, problems := read(text)
	if slices.ContainsFunc(problems, refuses) {
		b.Fatal(problems)
	}
	p := &Policy{opts: Options{Tools: names}}
	if err := p.Replace(text); err != nil {
		b.Fatal(err)
	}
	e, err := enforcer(rules)
	if err != nil {
		b.Fatal(err)
	}
	const rounds = 3
	began := time.Now()
	for range rounds {
		for r := range 10 {
			for _, name := range names {
				if _, err := e.Enforce(fmt.Sprintf("role:r%d", r), "prod", "tool:"+name); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	casbin := float64(time.Since(began).Nanoseconds()) / (rounds * 10)

	allows := make([]func(class, tool string) bool, 10)
	for r := range allows {
		allows[r] = p.For([]string{fmt.Sprintf("r%d", r)})
	}
	b.ReportAllocs()
	r, seen := 0, 0
	for b.Loop() {
		seen += len(toolfilter.Offer(set, allows[r%10], []string{"prod"}, uicontext.View{}, toolfilter.State{}).Tools)
		r++
	}
	b.ReportMetric(casbin/(float64(b.Elapsed().Nanoseconds())/float64(b.N)), "x_casbin")
	b.ReportMetric(float64(seen)/float64(b.N), "tools/op")
}
