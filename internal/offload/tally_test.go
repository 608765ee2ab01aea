package offload_test

import (
	"strings"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/offload"
	"agentd/internal/tool"

	"github.com/google/go-cmp/cmp"
)

func TestTally(t *testing.T) {
	g := offload.New(nil, offload.Options{MaxChars: 100, ToolChars: offload.LimitsOf([]tool.Tool{{Name: "t"}, {Name: "small", MaxChars: 10}, {Name: "large", MaxChars: 1000}})})
	var got offload.Tally
	for _, r := range []chat.ToolResult{
		{Tool: "t", Content: strings.Repeat("ü", 100)}, {Tool: "t", Content: strings.Repeat("x", 101)},
		{Tool: "small", Content: strings.Repeat("x", 10)}, {Tool: "small", Content: strings.Repeat("x", 11)},
		{Tool: "large", Content: strings.Repeat("x", 101)},
	} {
		got.Add(g, r)
	}
	if diff := cmp.Diff(offload.Tally{Count: 5, Characters: 323, Largest: 101, OverBudget: 3}, got); diff != "" {
		t.Errorf("tally (-want +got):\n%s", diff)
	}
}
