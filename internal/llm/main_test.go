package llm_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"agentd/internal/chat"
	"agentd/internal/llm"
	"agentd/internal/llm/scriptserver"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scripted returns a client of the openai provider over a server that plays rounds, and the waits it would make.
func scripted(t testing.TB, rounds ...scriptserver.Round) (*llm.Client, *scriptserver.Server, *[]time.Duration) {
	t.Helper()
	s := scriptserver.New(scriptserver.Script{Rounds: rounds})
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	c, err := llm.New(llm.Options{Provider: llm.OpenAI, BaseURL: h.URL + "/v1", Model: "m", HTTP: h.Client(), IdleTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return c, s, llm.RecordWaits(c)
}

// screen applies deltas as a page does, and fails on a gap.
type screen struct {
	t       testing.TB
	text    string
	deltas  int
	resets  int
	onDelta func()
}

func (s *screen) sink(d chat.Delta) error {
	s.deltas++
	r := []rune(s.text)
	switch {
	case d.Offset > len(r):
		s.t.Errorf("delta at %d after %d code points", d.Offset, len(r))
		return nil
	case d.Offset == 0 && len(r) > 0:
		s.resets++
	}
	if !utf8.ValidString(d.Text) {
		s.t.Errorf("delta %q is not valid UTF-8", d.Text)
	}
	s.text = string(r[:d.Offset]) + d.Text
	if s.onDelta != nil {
		s.onDelta()
	}
	return nil
}

var tools = []chat.ToolSpec{
	{Name: "f", Description: "does f", Schema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"integer","maximum":9007199254740993}},"additionalProperties":false}`)},
	{Name: "g", Description: "does g", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
}

func prompt() chat.Prompt {
	return chat.Prompt{System: "sys", Tools: tools, Messages: []chat.Message{chat.UserMessage{ID: "m1", Text: "hi"}}}
}

// generate asks once and checks that what was shown is what was answered.
func generate(t testing.TB, c *llm.Client, p chat.Prompt) (chat.Completion, *screen, error) {
	t.Helper()
	s := &screen{t: t}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	out, err := c.Generate(ctx, p, s.sink)
	if err == nil && s.text != out.Text {
		t.Errorf("shown %q, answered %q", short(s.text), short(out.Text))
	}
	return out, s, err
}

func short(s string) string {
	if len(s) > 100 {
		return s[:100] + "…"
	}
	return s
}

func call(id, name, args string) chat.ToolCall {
	return chat.ToolCall{ID: id, Name: name, Args: json.RawMessage(args)}
}

func contains(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

// silentAfter says something and is then silent until the client leaves.
func silentAfter(chunks int, text ...string) scriptserver.Round {
	return scriptserver.Round{Text: text, Silence: &chunks}
}
