package llm_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/llm"
)

// TestRealModel speaks with a real model behind an OpenAI-compatible server, where AGENTD_TEST_MODEL_URL names one
// (as http://127.0.0.1:18080/v1). It asserts what holds for any small model: the wire, not the words.
func TestRealModel(t *testing.T) {
	base := os.Getenv("AGENTD_TEST_MODEL_URL")
	if base == "" {
		t.Skip("AGENTD_TEST_MODEL_URL is not set: no real model to speak with")
	}
	conns := &http.Transport{}
	t.Cleanup(conns.CloseIdleConnections)
	c, err := llm.New(llm.Options{Provider: llm.OpenAI, BaseURL: base, Model: "any", IdleTimeout: 2 * time.Minute, HTTP: &http.Client{Transport: conns}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	search := chat.ToolSpec{Name: "search_dashboards", Description: "Searches dashboards by their title.", Schema: json.RawMessage(
		`{"type":"object","properties":{"query":{"type":"string","description":"Part of the title"},"limit":{"type":"integer"}},"required":["query"],"additionalProperties":false}`)}
	p := chat.Prompt{Tools: []chat.ToolSpec{search}, Messages: []chat.Message{chat.UserMessage{ID: "m1", Text: "Find dashboards about sales"}}}

	s := &screen{t: t}
	out, err := c.Generate(ctx, p, s.sink)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Calls) != 1 || out.Calls[0].Name != "search_dashboards" || out.Finish != chat.FinishCalls {
		t.Fatalf("got %+v", out)
	}
	var args struct{ Query string }
	if err := json.Unmarshal(out.Calls[0].Args, &args); err != nil || args.Query == "" {
		t.Errorf("arguments %s: %v", out.Calls[0].Args, err)
	}
	if out.Usage.InputTokens <= 0 || out.Usage.OutputTokens <= 0 {
		t.Errorf("usage %+v", out.Usage)
	}

	out.Calls[0].ID = "call_1"
	p.Messages = append(p.Messages, chat.AssistantMessage{ID: "a1", Text: out.Text, Calls: out.Calls},
		chat.ToolResult{CallID: "call_1", Tool: "search_dashboards", Content: `[{"id": 7, "title": "Sales overview"}]`})
	s = &screen{t: t}
	second, err := c.Generate(ctx, p, s.sink)
	if err != nil {
		t.Fatal(err)
	}
	if second.Text == "" || s.text != second.Text || s.deltas < 2 {
		t.Errorf("the answer %q came in %d deltas as %q", second.Text, s.deltas, s.text)
	}
	if second.Usage.InputTokens <= out.Usage.InputTokens {
		t.Errorf("a longer prompt costs %d tokens, the shorter one %d", second.Usage.InputTokens, out.Usage.InputTokens)
	}

	stop, cancelNow := context.WithCancel(ctx)
	defer cancelNow()
	story := chat.Prompt{Messages: []chat.Message{chat.UserMessage{ID: "m1", Text: "Count from 1 to 300, one number a line."}}}
	_, err = c.Generate(stop, story, func(chat.Delta) error { cancelNow(); return nil })
	if fault.KindOf(err) != fault.Canceled {
		t.Errorf("after a cancel: %v", err)
	}
}
