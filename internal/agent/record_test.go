package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"agentd/internal/agent"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/tool"
)

// TestLongErrors: what a failure says reaches the model within the limit of a result, with its end; kind and advice stay.
func TestLongErrors(t *testing.T) {
	for _, size := range []int{3800, 4000, 9000, 300_000} {
		for _, fill := range []string{"a word ", "\"quoted\"\n", "ü\x01"} {
			msg := "Superset: Traceback. " + strings.Repeat(fill, size/utf8.RuneCountInString(fill)) + " no such table: sales"
			s := &shelf{ran: map[string]int{}, run: func(context.Context, int) error {
				return &fault.Error{Kind: fault.Invalid, Msg: msg, Status: 422}
			}}
			m := rounds(t, calls("get_dashboard", `{"dashboard":"1"}`), text("Done."))
			w := newWorld(t, m, &rules{}, agent.Limits{}, s.tool("get_dashboard", tool.Read))
			if got := types(w.say("Open it")); got != "tool_start tool_error:invalid finished:answered" {
				t.Fatalf("events: %s", got)
			}
			last := m.prompts[len(m.prompts)-1]
			r, ok := last.Messages[len(last.Messages)-1].(chat.ToolResult)
			var said struct{ Status, Message string }
			if !ok || json.Unmarshal([]byte(r.Content), &said) != nil {
				t.Fatalf("the model reads %v", last.Messages[len(last.Messages)-1])
			}
			if n := utf8.RuneCountInString(r.Content); n > 4000 {
				t.Errorf("%d characters for an error of %d", n, size)
			}
			if said.Status != "invalid" || !strings.HasPrefix(said.Message, "Superset: Traceback.") || !strings.HasSuffix(said.Message, "no such table: sales") {
				t.Errorf("the model reads %.80s … %s", r.Content, r.Content[max(0, len(r.Content)-80):])
			}
		}
	}
}
