package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/policy"
	"agentd/internal/toolfilter"
)

const fine = "p, role:A, *, tool:x, allow\n"

// What Casbin loads without a word and then does not enforce.
func TestLintRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		line       int
		what       string // a part of the problem
	}{
		{"effect in another case", fine + "p, role:A, *, tool:x, Deny\n", 2, "exactly allow or deny"},
		{"comment after an effect", fine + "p, role:A, *, tool:x, deny # why\n", 2, "no comment may follow"},
		{"comment after an allow", "p, role:A, *, tool:x, allow # why\n", 1, "no comment may follow"},
		{"effect missing", fine + "p, role:A, *, tool:x\n", 2, "has 3 values"},
		{"one value too many", fine + "p, role:A, *, tool:x, allow, more\n", 2, "has 5 values"},
		{"another section", fine + "q, x, y\n", 2, "must be p or g"},
		{"half a quote", fine + "p, role:A, prod, \"tool:del", 2, "perhaps it was cut"},
		{"cut in a name", fine + "p, role:A, prod, tool:del", 2, "has 3 values"},
		{"cut in an effect", fine + "p, role:A, prod, tool:delete, den", 2, "exactly allow or deny"},
		{"cut in a class of g", fine + "g, role:B, role:A, pro", 2, "must be prod, staging, dev or *"},
		{"empty file", "", 0, "has no rules"},
		{"only comments", "# nothing\n", 0, "has no rules"},
		{"only inheritance", "g, role:B, role:A, *\n", 0, "has no rules"},
		{"only denies", "p, role:A, *, tool:x, deny\n", 0, "only denies"},
		{"fewer lines than it says", fine + "# rules: 2\n", 0, "says that it has 2 rules and has 1"},
		{"a user named like a role", "p, admin, *, tool:*, allow\n", 1, "role:NAME"},
		{"a user in a g line", fine + "g, alice, role:A, prod\n", 2, "role:NAME"},
		{"an empty role", "p, role:, *, tool:x, allow\n", 1, "role:NAME"},
		{"a role with a star", "p, role:*, *, tool:x, allow\n", 1, "role:NAME"},
		{"a class in another case", "p, role:A, PROD, tool:x, allow\n", 1, "must be prod, staging, dev or *"},
		{"a star in the middle", "p, role:A, *, tool:*_chart, allow\n", 1, "star last"},
		{"a tool without its prefix", "p, role:A, *, delete_chart, allow\n", 1, "star last"},
		{"a tool with a path parameter", "p, role:A, *, tool:/:id, allow\n", 1, "star last"},
		{"a star alone", "p, role:A, *, *, allow\n", 1, "star last"},
		{"inherits from itself", fine + "g, role:A, role:A, prod\n", 2, "inherit from itself"},
		{"a circle", fine + "g, role:A, role:B, prod\ng, role:B, role:A, *\n", 2, "inherit from itself"},
		{"a chain of 11", fine + chain(11), 2, "more than 10"},
	} {
		refused := ""
		for _, p := range policy.Lint(tt.text, nil, nil) {
			if p.Refuse && p.Line == tt.line {
				refused += p.What
			}
		}
		if !strings.Contains(refused, tt.what) {
			t.Errorf("%s: problems %v, want line %d with %q", tt.name, policy.Lint(tt.text, nil, nil), tt.line, tt.what)
		}
	}
}

func chain(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "g, role:r%d, role:r%d, *\n", i, i+1)
	}
	return b.String()
}

func TestLintAccepts(t *testing.T) {
	for _, text := range []string{
		fine, policy.Builtin(), fine + chain(9), fine + chain(10), "  p , role:A", strings.ReplaceAll(fine, "\n", "\r\n"),
		fine + "# rules: 1\n", "p, role:A, *, tool:*, allow\np, role:A, *, tool:x, deny\n", "p, role:Ünï cödé, *, tool:x, allow\n",
		fine + "g, role:B, role:A, prod\ng, role:A, role:B, dev\n", // no circle in any one class
	} {
		got := policy.Lint(text, nil, nil)
		if strings.HasPrefix(text, "  p ") {
			if len(got) == 0 {
				t.Errorf("a blank inside the kind is accepted: %q", text)
			}
			continue
		}
		if len(got) > 0 {
			t.Errorf("Lint(%.40q) = %v", text, got)
		}
	}
}

func TestLintReportsUnknownNames(t *testing.T) {
	text := "p, role:A, *, tool:get_dashbord, allow\np, role:B, *, tool:get_*, allow\np, role:A, *, tool:pet_*, deny\ng, role:C, role:Nobody, *\np, role:C, *, tool:*, allow\n"
	var got []string
	for _, p := range policy.Lint(text, []string{"get_dashboard"}, []string{"A"}) {
		if p.Refuse {
			t.Errorf("refused: %v", p)
		}
		got = append(got, p.String())
	}
	want := []string{
		`Line 1 names "tool:get_dashbord", which is no tool`,
		`Line 2 names the role "B", which nobody knows`,
		`Line 3 names "tool:pet_*", which is no tool`,
		`Line 4 names the role "Nobody", which nobody knows`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLintReportsToolsThatNobodyHas(t *testing.T) {
	tools := []string{"get_chart", "delete_chart", "show_capabilities", "read_artifact"}
	var got []string
	for _, p := range policy.Lint("p, role:A, dev, tool:get_*, allow\np, role:A, *, tool:delete_chart, deny\n", tools, nil) {
		got = append(got, p.String())
	}
	if len(got) != 1 || got[0] != `The policy allows the tool "delete_chart" to nobody` {
		t.Error(got)
	}
}

// Everybody with a stock role has what the role's permissions give, and nothing more.
func TestBuiltin(t *testing.T) {
	p, err := policy.Open(t.Context(), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	datasetWrites := []string{"refresh_dataset", "update_dataset", "create_dataset", "delete_dataset", "apply_migration", "rollback_migration"}
	for _, o := range toolfilter.Operations() {
		if o.Name == toolfilter.ShowCapabilities {
			continue
		}
		for role, want := range map[string]bool{
			"Admin": true, "Alpha": o.Name != "run_sql", "Gamma": o.Name != "run_sql" && !slices.Contains(datasetWrites, o.Name),
			"sql_lab": o.Name == "run_sql", "Public": false, "admin": false,
		} {
			for _, class := range chat.Classes() {
				if got := p.Allows([]string{role}, class, o.Name); got != want {
					t.Errorf("%s, %s in %s: %v", role, o.Name, class, got)
				}
			}
		}
	}
}

func FuzzLint(f *testing.F) {
	f.Add(fine)
	f.Add(policy.Builtin())
	f.Add("p, role:A, *, \"tool:x\ng, role:A, role:A, *")
	f.Fuzz(func(t *testing.T, text string) {
		refused := false
		for _, p := range policy.Lint(text, []string{"x"}, []string{"A"}) {
			refused = refused || p.Refuse
			if p.Line < 0 || p.What == "" {
				t.Errorf("problem %+v", p)
			}
		}
		// Lint and loading are of one mind.
		if err := new(policy.Policy).Replace(text); (err != nil) != refused {
			t.Errorf("refused %v, Replace: %v", refused, err)
		}
	})
}
