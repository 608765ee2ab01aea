package agent

import (
	"testing"

	"agentd/internal/tool"
)

// TestMerged: the set is made anew when the tools outside change, and only then.
func TestMerged(t *testing.T) {
	own, err := tool.NewSet(tool.Tool{Name: "own"})
	if err != nil {
		t.Fatal(err)
	}
	var m merged
	first := []tool.Tool{{Name: "a"}, {Name: "b"}}
	for _, tt := range []struct {
		name string
		more []tool.Tool
		want int
		same bool // the set of the step before
	}{
		{"none yet", nil, 1, false},
		{"they come", first, 3, false},
		{"nothing changed", first, 3, true},
		{"the same names in another list", []tool.Tool{{Name: "a"}, {Name: "b"}}, 3, false},
		{"one goes", first[:1], 2, false},
		{"all go", []tool.Tool{}, 1, false},
	} {
		before := m.last.Load()
		got := m.with(own, tt.more)
		if n := len(got.All()); n != tt.want || (m.last.Load() == before) != tt.same {
			t.Errorf("%s: %d tools, want %d; made anew %v", tt.name, n, tt.want, m.last.Load() != before)
		}
	}
}
