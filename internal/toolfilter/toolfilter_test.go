package toolfilter_test

import (
	"testing"

	"agentd/internal/chat"
	uicontext "agentd/internal/context"
	"agentd/internal/tool"
	"agentd/internal/toolfilter"

	"github.com/google/go-cmp/cmp"
)

func all22(t testing.TB, more ...tool.Tool) tool.Set {
	t.Helper()
	var tools []tool.Tool
	for _, o := range toolfilter.Operations() {
		tools = append(tools, tool.Tool{Name: o.Name, Risk: o.Risk, Always: o.Name == toolfilter.ShowCapabilities})
	}
	s, err := tool.NewSet(append(tools, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func yes(string, string) bool { return true }
func no(string, string) bool  { return false }

func view(objectType string) uicontext.View { return uicontext.View{ObjectType: objectType} }

func TestOperations(t *testing.T) {
	seen := map[string]bool{}
	risks := map[tool.Risk]int{}
	for _, o := range toolfilter.Operations() {
		seen[o.Name] = true
		risks[o.Risk]++
	}
	if len(toolfilter.Operations()) != 22 || len(seen) != 22 {
		t.Errorf("%d operations, %d names; want 22", len(toolfilter.Operations()), len(seen))
	}
	if diff := cmp.Diff(map[tool.Risk]int{tool.Read: 11, tool.Query: 1, tool.Write: 6, tool.Dangerous: 4}, risks); diff != "" {
		t.Error(diff)
	}
}

func TestAffinity(t *testing.T) {
	for _, tt := range []struct {
		objectType string
		n          int
		known      bool
	}{
		{"dashboard", 9, true}, {"chart", 9, true}, {"dataset", 8, true}, {"migration", 5, true},
		{"", 22, false}, {"sqllab", 22, false}, {"database", 22, false}, {"no_such_thing", 22, false}, {"Dashboard", 22, false},
	} {
		set, known := toolfilter.Affinity(tt.objectType)
		if len(set) != tt.n || known != tt.known || set[0] != toolfilter.ShowCapabilities {
			t.Errorf("Affinity(%q) = %v, %v; want %d with show_capabilities, %v", tt.objectType, set, known, tt.n, tt.known)
		}
		got := toolfilter.Offer(all22(t), yes, chat.Classes(), view(tt.objectType), toolfilter.State{})
		if diff := cmp.Diff(set, got.Names()); diff != "" {
			t.Errorf("%q: list and table differ: %s", tt.objectType, diff)
		}
		if got.Affinity != 22-tt.n || got.RBAC != 0 || len(got.Hidden) != 22-tt.n {
			t.Errorf("%q: %d hidden by page, %d by role, %d in all", tt.objectType, got.Affinity, got.RBAC, len(got.Hidden))
		}
	}
}

func TestJudge(t *testing.T) {
	only := func(class, name string) func(string, string) bool {
		return func(c, n string) bool { return c == class && n == name }
	}
	get := tool.Tool{Name: "get_dataset"}
	mcp := tool.Tool{Name: "mcp_lineage", Affinity: []string{"dataset"}}
	reader := tool.Tool{Name: toolfilter.ReadArtifact, Always: true}
	for _, tt := range []struct {
		name    string
		tool    tool.Tool
		allows  toolfilter.Allows
		classes []string
		page    string
		state   toolfilter.State
		want    toolfilter.Verdict
	}{
		{"role and page", get, yes, []string{"prod"}, "dataset", toolfilter.State{}, toolfilter.Visible},
		{"role first, page second", get, no, []string{"prod"}, "dashboard", toolfilter.State{}, toolfilter.HiddenByRole},
		{"page", get, yes, []string{"prod"}, "dashboard", toolfilter.State{}, toolfilter.HiddenByPage},
		{"listed: one class is enough", get, only("dev", "get_dataset"), []string{"prod", "dev"}, "", toolfilter.State{}, toolfilter.Visible},
		{"called: its own class", get, only("dev", "get_dataset"), []string{"prod"}, "", toolfilter.State{}, toolfilter.HiddenByRole},
		{"no class", get, yes, nil, "", toolfilter.State{}, toolfilter.HiddenByRole},
		{"no policy", get, nil, []string{"dev"}, "", toolfilter.State{}, toolfilter.HiddenByRole},
		{"an open confirmation outlives the page", get, yes, []string{"prod"}, "dashboard", toolfilter.State{Held: []string{"get_dataset"}}, toolfilter.Visible},
		{"an open confirmation does not outlive the role", get, no, []string{"prod"}, "dataset", toolfilter.State{Held: []string{"get_dataset"}}, toolfilter.HiddenByRole},
		{"always", tool.Tool{Name: "show_capabilities", Always: true}, no, nil, "dataset", toolfilter.State{}, toolfilter.Visible},
		{"the name alone does not make it so", tool.Tool{Name: "show_capabilities"}, no, []string{"prod"}, "", toolfilter.State{}, toolfilter.HiddenByRole},
		{"artifacts without one", reader, yes, []string{"prod"}, "", toolfilter.State{}, toolfilter.NoArtifact},
		{"artifacts", reader, no, nil, "dataset", toolfilter.State{Artifacts: true}, toolfilter.Visible},
		{"unbuilt", tool.Tool{Name: "run_sql", Unbuilt: true}, yes, []string{"prod"}, "", toolfilter.State{}, toolfilter.Unbuilt},
		{"unbuilt is nobody's business without the role", tool.Tool{Name: "run_sql", Unbuilt: true}, no, []string{"prod"}, "", toolfilter.State{}, toolfilter.HiddenByRole},
		{"unbuilt and held", tool.Tool{Name: "run_sql", Unbuilt: true}, yes, []string{"prod"}, "", toolfilter.State{Held: []string{"run_sql"}}, toolfilter.Unbuilt},
		{"general, on a page", tool.Tool{Name: "run_sql"}, yes, []string{"prod"}, "chart", toolfilter.State{}, toolfilter.HiddenByPage},
		{"from outside, its page", mcp, yes, []string{"prod"}, "dataset", toolfilter.State{}, toolfilter.Visible},
		{"from outside, another page", mcp, yes, []string{"prod"}, "dashboard", toolfilter.State{}, toolfilter.HiddenByPage},
		{"from outside, no page", mcp, yes, []string{"prod"}, "", toolfilter.State{}, toolfilter.Visible},
		{"from outside, a chart is a dashboard", tool.Tool{Name: "m", Affinity: []string{"dashboard"}}, yes, []string{"prod"}, "chart", toolfilter.State{}, toolfilter.Visible},
		{"from outside without pages", tool.Tool{Name: "m"}, yes, []string{"prod"}, "dataset", toolfilter.State{}, toolfilter.HiddenByPage},
		{"an operation cannot be put on another page", tool.Tool{Name: "delete_dataset", Affinity: []string{"dashboard"}}, yes, []string{"prod"}, "dashboard", toolfilter.State{}, toolfilter.HiddenByPage},
	} {
		if got := toolfilter.Judge(tt.tool, tt.allows, tt.classes, view(tt.page), tt.state); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	var zero toolfilter.Verdict
	if zero == toolfilter.Visible {
		t.Error("the zero Verdict shows")
	}
}

// What the list shows is exactly what the guard lets through, for every page, role and state.
func TestListAndGuardAgree(t *testing.T) {
	set := all22(t, tool.Tool{Name: "read_artifact", Always: true}, tool.Tool{Name: "mcp_x", Affinity: []string{"dataset"}}, tool.Tool{Name: "later", Unbuilt: true})
	for i, allows := range []toolfilter.Allows{yes, no, func(c, n string) bool { return c == "dev" && len(n)%2 == 0 }} {
		for _, page := range []string{"", "dashboard", "chart", "dataset", "migration", "sqllab"} {
			for _, state := range []toolfilter.State{{}, {Artifacts: true, Held: []string{"delete_dataset"}}} {
				o := toolfilter.Offer(set, allows, chat.Classes(), view(page), state)
				offered := map[string]bool{}
				for _, n := range o.Names() {
					offered[n] = true
				}
				if len(o.Tools)+len(o.Hidden) != len(set.All()) {
					t.Errorf("%d, %q: %d + %d tools of %d", i, page, len(o.Tools), len(o.Hidden), len(set.All()))
				}
				for _, x := range set.All() {
					guard := toolfilter.Judge(x, allows, chat.Classes(), view(page), state)
					if offered[x.Name] != (guard == toolfilter.Visible) {
						t.Errorf("%d, %q: %s offered %v, guard %s", i, page, x.Name, offered[x.Name], guard)
					}
				}
			}
		}
	}
}

func TestOfferCounts(t *testing.T) {
	set := all22(t, tool.Tool{Name: "read_artifact", Always: true})
	o := toolfilter.Offer(set, func(_, n string) bool { return n != "get_dataset" && n != "get_dashboard" }, []string{"prod"}, view("dataset"), toolfilter.State{})
	if o.RBAC != 2 || o.Affinity != 22-8-1 || len(o.Tools) != 7 || len(o.Hidden) != 16 {
		t.Errorf("RBAC %d, affinity %d, %d offered, %d hidden", o.RBAC, o.Affinity, len(o.Tools), len(o.Hidden))
	}
}

func TestNearest(t *testing.T) {
	offered := []string{"show_capabilities", "search_dashboards", "get_dashboard", "check_dashboard", "update_dashboard", "delete_dashboard", "get_dataset", "run_sql"}
	for _, tt := range []struct {
		miss string
		want []string
	}{
		{"get_dashboard", []string{"get_dashboard"}},
		{"Get_Dashboard", []string{"get_dashboard"}},
		{"getDashboard", []string{"get_dashboard"}},
		{"get-dashboard", []string{"get_dashboard"}},
		{"superset.get_dashboard", []string{"get_dashboard"}},
		{"superset__superset__get_dashboard", []string{"get_dashboard"}},
		{"mcp_superset_run_sql", []string{"run_sql"}},
		{"run_sql_query", []string{"run_sql"}},
		{"search", []string{"search_dashboards"}},
		{"dashboard", []string{"get_dashboard", "check_dashboard", "update_dashboard"}},
		{"get_dashbord", []string{"get_dashboard"}},
		{"rn_sql", []string{"run_sql"}},
		{"send_mail", nil}, {"", nil}, {"___", nil}, {"ru", nil}, {"доска", nil},
	} {
		if diff := cmp.Diff(tt.want, toolfilter.Nearest(tt.miss, offered)); diff != "" {
			t.Errorf("Nearest(%q): %s", tt.miss, diff)
		}
	}
	if got := toolfilter.Nearest("get_dashboard", []string{"run_sql"}); got != nil {
		t.Errorf("a hidden tool's name is told: %v", got)
	}
}
