package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"agentd/internal/chat"
)

// step asks the model once and answers the calls that it makes. A non-empty outcome ends the run.
func (r *run) step(ctx context.Context) (outcome string, err error) {
	r.offer()
	// The id is the same when the step is repeated after a crash, so that its deltas replace the old ones.
	id := fmt.Sprintf("msg_%s_%d", r.ID, r.steps+1)
	done, err := r.generate(ctx, id)
	if err != nil {
		return "", err
	}
	m := chat.AssistantMessage{ID: id, Text: strings.ToValidUTF8(done.Text, "\uFFFD")}
	cut := done.Finish == chat.FinishLength
	if !cut && done.Finish != chat.FinishFilter { // what was cut is never executed
		m.Calls = own(done.Calls)
	}
	switch {
	case len(m.Calls) > 0:
	case cut:
		outcome = chat.OutcomeTokenBudget
	default:
		outcome = chat.OutcomeAnswered
	}
	if len(m.Calls) == 0 && strings.TrimSpace(m.Text) == "" {
		m.Text = sentence("empty", r.Who.Language)
	}
	var entries []chat.Entry
	if m.Text != "" {
		entries = append(entries, chat.Entry{Event: &chat.MessageEvent{MessageID: id, Role: chat.RoleAssistant, Text: m.Text}})
	}
	entries = append(entries, chat.Entry{Event: &done.Usage, Note: &chat.Note{Step: &m}})
	r.steps++
	if outcome != "" { // written together with the terminal event: one sync less a run
		r.final = entries
		return outcome, nil
	}
	if err := r.write(ctx, chat.Write{Entries: entries}); err != nil {
		return "", err
	}
	return "", r.calls(ctx, m.Calls)
}

// generate streams one completion. What was said before a stop or a failure stays in the conversation.
func (r *run) generate(ctx context.Context, id string) (chat.Completion, error) {
	var said strings.Builder
	g := newGather(func(offset int, text string) error {
		return r.write(ctx, chat.Write{Entries: []chat.Entry{chatDelta(id, offset, text)}})
	})
	shown := r.offered.Tools
	if r.o.References != nil {
		var err error
		if shown, err = r.o.References.Shown(shown); err != nil {
			return chat.Completion{}, err
		}
	}
	p := chat.Prompt{System: system(r.Who, r.View, r.EnvID, r.o.Environments), Messages: r.story.prompt(), Tools: specs(shown)}
	done, err := r.o.Model.Generate(ctx, p, func(d chat.Delta) error {
		if d.Offset == 0 {
			said.Reset()
		}
		said.WriteString(d.Text)
		return g.add(d)
	})
	if err == nil {
		return done, g.close(false) // the final text replaces the deltas
	}
	if gerr := g.close(true); errors.As(gerr, new(*storeError)) {
		return done, gerr
	}
	if said.Len() > 0 {
		m := chat.AssistantMessage{ID: id, Text: strings.ToValidUTF8(said.String(), "\uFFFD")}
		r.final = append(r.final, chat.Entry{Event: &chat.MessageEvent{MessageID: id, Role: chat.RoleAssistant, Text: m.Text}, Note: &chat.Note{Step: &m}})
	}
	return done, err
}

// own gives each call an id that is unique in the conversation, whatever the provider sent, and arguments that
// can be stored and sent back.
func own(calls []chat.ToolCall) []chat.ToolCall {
	out := make([]chat.ToolCall, len(calls))
	for i, c := range calls {
		out[i] = chat.ToolCall{ID: newCallID(), Name: name(c.Name), Args: arguments(c.Args)}
	}
	return out
}

// maxName is the longest tool name that providers take back in a history.
const maxName = 64

// name keeps a made-up name from breaking every later request: only what providers accept remains.
func name(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, s)
	if s == "" {
		return "unnamed"
	}
	return s[:min(len(s), maxName)]
}

// invalidArgs marks arguments that were no JSON object; no tool has an argument of this name.
const invalidArgs = "_invalid_json"

func arguments(a json.RawMessage) json.RawMessage {
	text := strings.TrimSpace(strings.ToValidUTF8(string(a), "\uFFFD"))
	if text == "" {
		return json.RawMessage(`{}`)
	}
	if text[0] == '{' && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	b, err := json.Marshal(map[string]string{invalidArgs: text})
	if err != nil {
		panic("agent: " + err.Error()) // a text always marshals
	}
	return b
}
