package toolfilter_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	uicontext "agentd/internal/context"
	"agentd/internal/tool"
	"agentd/internal/toolfilter"
)

// TestLists: whatever was remembered before, the list is the one that would be made now.
func TestLists(t *testing.T) {
	set := func(names ...string) tool.Set {
		var tools []tool.Tool
		for _, n := range names {
			tools = append(tools, tool.Tool{Name: n, Risk: tool.Read})
		}
		s, err := tool.NewSet(tools...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	small, large := set("get_dashboard", "get_dataset"), set("get_dashboard", "get_dataset", "search_dashboards")
	var lists toolfilter.Lists
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, version := range []string{"v1", "v2"} {
				for _, role := range []string{"a", "b"} {
					for _, page := range []string{"", "dashboard", "dataset"} {
						for _, tools := range []tool.Set{small, large, {}} {
							allows := func(_, name string) bool { return role == "a" || version == "v2" || name == "get_dataset" }
							view := uicontext.View{ObjectType: page}
							want := toolfilter.Offer(tools, allows, []string{"dev"}, view, toolfilter.State{}).Names()
							got := lists.Offer(version, role, tools, allows, []string{"dev"}, view, false).Names()
							if !slices.Equal(got, want) {
								t.Errorf("%s %s on %q: %v, want %v", version, role, page, got, want)
							}
						}
					}
				}
			}
		})
	}
	wg.Wait()
	for i := range 2500 { // pages that nobody has do not pile up, and the answer stays right
		view := uicontext.View{ObjectType: fmt.Sprint("x", i)}
		if got := lists.Offer("v1", "a", small, func(string, string) bool { return true }, []string{"dev"}, view, false).Names(); len(got) != 2 {
			t.Fatalf("on %s: %v", view.ObjectType, got)
		}
	}
}
