package llmtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/llm/llmtest"

	"github.com/google/go-cmp/cmp"
)

// recorder is a test that is not failed by what it is told.
type recorder struct {
	testing.TB
	errs     []string
	cleanups []func()
}

func (r *recorder) Helper()                      {}
func (r *recorder) Errorf(f string, args ...any) { r.errs = append(r.errs, fmt.Sprintf(f, args...)) }
func (r *recorder) Failed() bool                 { return len(r.errs) > 0 }
func (r *recorder) Cleanup(f func())             { r.cleanups = append(r.cleanups, f) }
func (r *recorder) end() []string {
	for _, f := range r.cleanups {
		f()
	}
	return r.errs
}

func prompt() chat.Prompt {
	return chat.Prompt{System: "sys", Messages: []chat.Message{chat.UserMessage{ID: "m", Text: "hi"}}}
}

func quiet(chat.Delta) error { return nil }

func TestScriptPlays(t *testing.T) {
	c := llmtest.Call("a", "f", `{"x":1}`)
	s := llmtest.NewScript(t,
		llmtest.Text("При", "вет"),
		llmtest.Calls(c),
		llmtest.Round{Text: []string{"cut"}, Finish: chat.FinishLength, Usage: chat.Usage{InputTokens: 3}},
		llmtest.Func(func(p chat.Prompt) llmtest.Round { return llmtest.Text(p.System) }),
		llmtest.Fail(fault.New(fault.Transient, "x")),
	)
	var deltas []chat.Delta
	out, err := s.Generate(t.Context(), prompt(), func(d chat.Delta) error { deltas = append(deltas, d); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]chat.Delta{{Offset: 0, Text: "При"}, {Offset: 3, Text: "вет"}}, deltas); diff != "" {
		t.Errorf("deltas (-want +got):\n%s", diff)
	}
	for i, want := range []chat.Completion{
		{Text: "Привет", Finish: chat.FinishStop},
		{Calls: []chat.ToolCall{c}, Finish: chat.FinishCalls},
		{Text: "cut", Finish: chat.FinishLength, Usage: chat.Usage{InputTokens: 3}},
		{Text: "sys", Finish: chat.FinishStop},
	} {
		if i > 0 {
			if out, err = s.Generate(t.Context(), prompt(), quiet); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, out); diff != "" {
			t.Errorf("round %d (-want +got):\n%s", i+1, diff)
		}
	}
	if _, err := s.Generate(t.Context(), prompt(), quiet); fault.KindOf(err) != fault.Transient {
		t.Errorf("got %v", err)
	}
	if n := len(s.Prompts()); n != 5 || s.Left() != 0 {
		t.Errorf("%d prompts, %d rounds left", n, s.Left())
	}
}

func TestScriptFailsItsTest(t *testing.T) {
	for _, row := range []struct {
		name   string
		rounds []llmtest.Round
		use    int
		prompt func(*chat.Prompt)
		want   string
	}{
		{"all is right", []llmtest.Round{llmtest.Text("a")}, 1, nil, ""},
		{"the script is over", []llmtest.Round{llmtest.Text("a")}, 2, nil, "round 2: the script is over"},
		{"a round is left", []llmtest.Round{llmtest.Text("a"), llmtest.Text("b")}, 1, nil, "1 rounds were not used"},
		{"a round that wants something else", []llmtest.Round{{Want: func(chat.Prompt) error { return errors.New("no tools") }}}, 1, nil, "round 1: no tools"},
		{"a call without its answer", []llmtest.Round{llmtest.Text("a")}, 1, func(p *chat.Prompt) {
			p.Messages = append(p.Messages, chat.AssistantMessage{Calls: []chat.ToolCall{llmtest.Call("a", "f", `{}`)}})
		}, "did not have response messages: a"},
		{"an answer without its call", []llmtest.Round{llmtest.Text("a")}, 1, func(p *chat.Prompt) {
			p.Messages = append(p.Messages, chat.ToolResult{CallID: "a", Tool: "f"})
		}, "must be a response to a preceeding message"},
		{"a tool without a schema", []llmtest.Round{llmtest.Text("a")}, 1, func(p *chat.Prompt) {
			p.Tools = []chat.ToolSpec{{Name: "f"}}
		}, "Invalid schema"},
		{"a step that said nothing is no harm", []llmtest.Round{llmtest.Text("a")}, 1, func(p *chat.Prompt) {
			p.Messages = append(p.Messages, chat.AssistantMessage{ID: "a"})
		}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := &recorder{TB: t}
			s := llmtest.NewScript(r, row.rounds...)
			p := prompt()
			if row.prompt != nil {
				row.prompt(&p)
			}
			for range row.use {
				_, err := s.Generate(t.Context(), p, quiet)
				if failed := len(r.errs) > 0; failed != (fault.KindOf(err) == fault.Invalid) {
					t.Errorf("the test failed: %t, the error: %v", failed, err)
				}
			}
			got := strings.Join(r.end(), "\n")
			if row.want == "" && got != "" || !strings.Contains(got, row.want) {
				t.Errorf("the test was told %q, want %q", got, row.want)
			}
		})
	}
}

func TestScriptHonoursTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.NewScript(t, llmtest.Wait("par"), llmtest.Text("a", "b"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := s.Generate(ctx, prompt(), quiet); fault.KindOf(err) != fault.Timeout {
			t.Errorf("after the deadline: %v", err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		n := 0
		if _, err := s.Generate(ctx, prompt(), func(chat.Delta) error { n++; cancel(); return nil }); fault.KindOf(err) != fault.Canceled || n != 1 {
			t.Errorf("after %d deltas: %v", n, err)
		}
		if _, err := s.Generate(ctx, prompt(), quiet); fault.KindOf(err) != fault.Canceled {
			t.Errorf("cancelled before: %v", err)
		}
	})
}
