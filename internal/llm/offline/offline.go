// Package offline is a small deterministic planner in the place of a model: it needs no key, no network and no
// weights. It understands a few orders in English and Russian, uses only the tools it is offered, and says what it is.
package offline

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

// Generate makes one step. The same prompt gives the same step. Its only errors are Canceled, Timeout where
// the context's time is over, and the sink's own.
func Generate(ctx context.Context, p chat.Prompt, sink func(chat.Delta) error) (chat.Completion, error) {
	s := plan(p)
	out := chat.Completion{Text: s.text, Finish: chat.FinishStop}
	for i, piece := range pieces(s.text) {
		if err := ctx.Err(); err != nil {
			return chat.Completion{}, gone(err)
		}
		if err := sink(chat.Delta{Offset: i * pieceSize, Text: piece}); err != nil {
			return chat.Completion{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return chat.Completion{}, gone(err)
	}
	if s.tool != "" {
		out.Finish = chat.FinishCalls
		out.Calls = []chat.ToolCall{{ID: callID(p), Name: s.tool, Args: s.args}}
	}
	return out, nil
}

// pieceSize is the length of a delta in code points. There is no delay between them: the reader gathers anyway.
const pieceSize = 12

func pieces(s string) []string {
	var out []string
	for r := []rune(s); len(r) > 0; {
		n := min(pieceSize, len(r))
		out = append(out, string(r[:n]))
		r = r[n:]
	}
	return out
}

// callID counts the calls of the conversation, so that ids are unique in it without chance.
func callID(p chat.Prompt) string {
	n := 1
	for _, m := range p.Messages {
		if a, ok := m.(chat.AssistantMessage); ok {
			n += len(a.Calls)
		}
	}
	return "offline_" + strconv.Itoa(n)
}

// A step is what to do next: say something, or call a tool, with words before it or without.
type step struct {
	text string
	tool string
	args json.RawMessage
}

// plan decides by what the user asked last and by what was done about it since.
func plan(p chat.Prompt) step {
	at := -1
	for i, m := range p.Messages {
		if _, ok := m.(chat.UserMessage); ok {
			at = i
		}
	}
	if at < 0 {
		return step{text: english.introduction}
	}
	user := p.Messages[at].(chat.UserMessage)
	t := turn{scene: look(p, user), first: at == 0}
	t.ask = understand(user.Text, t.scene)
	t.w = wordsFor(user.Text, t.language)
	for _, m := range p.Messages[at+1:] {
		switch m := m.(type) {
		case chat.AssistantMessage:
			t.calls = append(t.calls, m.Calls...)
		case chat.ToolResult:
			t.results = append(t.results, m)
		}
	}
	s := t.next()
	if s.tool == "" && t.first && utf8.RuneCountInString(s.text) > 0 && !t.ask.introduces() {
		s.text += "\n\n" + t.w.signature
	}
	return s
}

func gone(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &fault.Error{Kind: fault.Timeout, Code: "model_canceled", Msg: "The time limit passed during the model step.", Err: err}
	}
	return &fault.Error{Kind: fault.Canceled, Code: "model_canceled", Msg: "The model step was cancelled.", Err: err}
}
