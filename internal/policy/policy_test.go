package policy_test

import (
	"strings"
	"sync"
	"testing"

	"agentd/internal/fault"
	"agentd/internal/policy"
)

func open(t *testing.T, text string, tools ...string) *policy.Policy {
	t.Helper()
	p := new(policy.Policy)
	if err := p.Replace(text); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAllows(t *testing.T) {
	p := open(t, `
# a comment
p, role:Reader, *, tool:get_*, allow
p, role:Reader, prod, tool:get_secret, deny
p, role:Writer, dev, tool:update_chart, allow
p, role:Sales readers, *, tool:x, allow
p, "role:odd, name", *, tool:x, allow
g, role:Boss, role:Writer, *
g, role:Boss, role:Reader, prod
p, role:Boss, prod, tool:run_sql, allow
p, role:Frozen, *, tool:*, deny
`)
	for _, tt := range []struct {
		name        string
		roles       string // separated by |
		class, tool string
		want        bool
	}{
		{"by pattern", "Reader", "prod", "get_chart", true},
		{"deny over a pattern", "Reader", "prod", "get_secret", false},
		{"the deny is of prod only", "Reader", "dev", "get_secret", true},
		{"without an entry", "Reader", "prod", "update_chart", false},
		{"other class", "Writer", "prod", "update_chart", false},
		{"own class", "Writer", "dev", "update_chart", true},
		{"inherited in every class", "Boss", "dev", "update_chart", true},
		{"inherited in prod only", "Boss", "prod", "get_chart", true},
		{"not inherited in dev", "Boss", "dev", "get_chart", false},
		{"an inherited deny", "Boss", "prod", "get_secret", false},
		{"any role", "Nobody|Reader", "prod", "get_chart", true},
		{"deny of any role wins", "Reader|Frozen", "prod", "get_chart", false},
		{"deny of any role wins, other order", "Frozen|Reader", "prod", "get_chart", false},
		{"a role with a blank", "Sales readers", "prod", "x", true},
		{"a role with a comma", "odd, name", "prod", "x", true},
		{"case of a role", "reader", "prod", "get_chart", false},
		{"case of a class", "Reader", "PROD", "get_chart", false},
		{"unknown class", "Reader", "", "get_chart", false},
		{"the star is no class", "Reader", "*", "get_chart", false},
		{"nobody", "", "prod", "get_chart", false},
		{"the prefix of the pattern alone", "Reader", "prod", "get_", true},
		{"shorter than the prefix", "Reader", "prod", "get", false},
		{"a pattern asked as a tool", "Writer", "dev", "*", false},
		{"a role's written form is no role", "role:Reader", "prod", "get_chart", false},
	} {
		roles := strings.Split(tt.roles, "|")
		if got := p.Allows(roles, tt.class, tt.tool); got != tt.want {
			t.Errorf("%s: Allows = %v, want %v", tt.name, got, tt.want)
		}
		if got := p.For(roles)(tt.class, tt.tool); got != tt.want {
			t.Errorf("%s: For = %v, want %v", tt.name, got, tt.want)
		}
		if got := p.Explain(roles, tt.class, tt.tool); got.Allowed != tt.want || got.Why == "" {
			t.Errorf("%s: Explain = %+v, want allowed %v", tt.name, got, tt.want)
		}
	}
}

// A tool that came after the policy was loaded is judged by the patterns, denies too.
func TestToolKnownLater(t *testing.T) {
	p, err := policy.Open(t.Context(), policy.Options{Tools: []string{"get_chart"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if !p.Allows([]string{"Admin"}, "prod", "mcp_new_tool") {
		t.Error("Admin is refused a tool of an MCP server")
	}
	if p.Allows([]string{"Alpha"}, "prod", "mcp_new_tool") {
		t.Error("Alpha has a tool that no rule names")
	}
	if p.Allows([]string{"Alpha", "Gamma", "sql_lab"}, "prod", "mcp_new_tool") {
		t.Error("all other stock roles have a tool that no rule names")
	}
}

func TestZeroPolicyDenies(t *testing.T) {
	var p policy.Policy
	p.Close()
	if p.Allows([]string{"Admin"}, "dev", "get_chart") || p.For([]string{"Admin"})("dev", "get_chart") || p.Explain([]string{"Admin"}, "dev", "get_chart").Allowed {
		t.Error("a policy that was never loaded allows something")
	}
}

func TestExplainNamesTheLine(t *testing.T) {
	p := open(t, "p, role:A, *, tool:x, allow\ng, role:B, role:A, *\np, role:B, prod, tool:x, deny\n")
	for _, tt := range []struct{ role, class, tool, rule, why string }{
		{"A", "prod", "x", "line 1: p, role:A, *, tool:x, allow", "The role A is allowed x in prod."},
		{"B", "dev", "x", "line 1: p, role:A, *, tool:x, allow", "The role A is allowed x in dev."},
		{"B", "prod", "x", "line 3: p, role:B, prod, tool:x, deny", "The role B is denied x in prod."},
		{"A", "prod", "y", "", "No rule allows y in prod to any of the roles."},
	} {
		got := p.Explain([]string{tt.role}, tt.class, tt.tool)
		if got.Rule != tt.rule || got.Why != tt.why {
			t.Errorf("Explain(%s, %s, %s) = %q, %q", tt.role, tt.class, tt.tool, got.Rule, got.Why)
		}
	}
}

func TestReplaceKeepsTheOldPolicy(t *testing.T) {
	p := open(t, "p, role:A, *, tool:x, allow\n")
	before := p.Version()
	for _, bad := range []string{"", "p, role:A, *, tool:x, Deny\n", "p, role:A, *, \"tool:x"} {
		if err := p.Replace(bad); fault.KindOf(err) != fault.Invalid {
			t.Errorf("Replace(%q) = %v, want Invalid", bad, err)
		}
		if !p.Allows([]string{"A"}, "prod", "x") || p.Version() != before {
			t.Errorf("after %q the old policy is gone", bad)
		}
	}
	if err := p.Replace("p, role:A, *, tool:y, allow\n"); err != nil {
		t.Fatal(err)
	}
	if p.Allows([]string{"A"}, "prod", "x") || !p.Allows([]string{"A"}, "prod", "y") || p.Version() == before {
		t.Error("the new policy is not in force")
	}
}

// Questions that are asked while the policy is replaced get the old answer or the new one, each whole.
func TestReplaceWhileAsked(t *testing.T) {
	texts := []string{"p, role:A, *, tool:x, allow\np, role:A, *, tool:y, deny\n", "p, role:A, *, tool:y, allow\np, role:A, *, tool:x, deny\n"}
	p := open(t, texts[0])
	var asking sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		asking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				may := p.For([]string{"A"})
				if may("prod", "x") == may("prod", "y") {
					t.Error("half of one policy and half of the other")
				}
				p.Explain([]string{"A"}, "prod", "x")
				p.Allows([]string{"A"}, "prod", "x")
			}
		})
	}
	for i := range 200 {
		if err := p.Replace(texts[i%2]); err != nil {
			t.Error(err)
		}
	}
	close(done)
	asking.Wait()
}

func TestMinRules(t *testing.T) {
	_, err := policy.Open(t.Context(), policy.Options{MinRules: 37})
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("36 rules of 37: %v", err)
	}
	for _, n := range []int{35, 36} {
		if _, err := policy.Open(t.Context(), policy.Options{MinRules: n}); err != nil {
			t.Errorf("36 rules of %d: %v", n, err)
		}
	}
}
