// Package llmtest holds models for tests: a script within the process, and the check that a provider would
// make of a prompt. scriptserver has the same over HTTP.
package llmtest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"unicode/utf8"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

// A Round is one model step of a script. The zero Round is an empty answer.
type Round struct {
	Text   []string // deltas
	Calls  []chat.ToolCall
	Finish chat.FinishReason // "" is FinishCalls where there are calls, else FinishStop
	Usage  chat.Usage

	Err  error // returned after the text instead of an answer
	Wait bool  // after the text, silence until the context ends

	Want func(chat.Prompt) error // what must be true of the prompt
	Func func(chat.Prompt) Round // makes the round from the prompt; Want is still asked
}

// Text is a round of words.
func Text(deltas ...string) Round { return Round{Text: deltas} }

// Calls is a round of tool calls.
func Calls(calls ...chat.ToolCall) Round { return Round{Calls: calls} }

// Call is a tool call.
func Call(id, name, args string) chat.ToolCall {
	return chat.ToolCall{ID: id, Name: name, Args: []byte(args)}
}

// Fail is a round that ends with an error.
func Fail(err error) Round { return Round{Err: err} }

// Wait is a round that says something and is then silent until the context ends.
func Wait(deltas ...string) Round { return Round{Text: deltas, Wait: true} }

// Func is a round that depends on the prompt.
func Func(f func(chat.Prompt) Round) Round { return Round{Func: f} }

// Script is a model that plays rounds. It fails its test when it is asked for more rounds than it has, when a
// prompt is one that a provider would refuse, when a round's Want is not met, and when rounds are left at the
// end of the test. It is safe for several goroutines, and the rounds then go to whoever asks first.
type Script struct {
	t testing.TB

	mu      sync.Mutex
	rounds  []Round
	prompts []chat.Prompt
}

// NewScript returns a model for a test.
func NewScript(t testing.TB, rounds ...Round) *Script {
	s := &Script{t: t, rounds: rounds}
	t.Cleanup(func() {
		t.Helper()
		if n := s.Left(); n > 0 && !t.Failed() {
			t.Errorf("script: %d rounds were not used", n)
		}
	})
	return s
}

// Left returns how many rounds are left.
func (s *Script) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.rounds)
}

// Prompts returns what the model was asked so far.
func (s *Script) Prompts() []chat.Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.prompts)
}

// Generate plays the next round, as llm.Client's Generate would: errors are *fault.Error, a cancelled context
// is Canceled whatever the round says, the sink's error is returned as it is.
func (s *Script) Generate(ctx context.Context, p chat.Prompt, sink func(chat.Delta) error) (chat.Completion, error) {
	s.t.Helper()
	if err := ctx.Err(); err != nil {
		return chat.Completion{}, gone(err)
	}
	r, err := s.next(p)
	if err != nil {
		s.t.Errorf("script: %v", err)
		return chat.Completion{}, fault.Wrap(fault.Invalid, "The model provider refused the request.", err)
	}
	var out chat.Completion
	for _, t := range r.Text {
		if err := ctx.Err(); err != nil {
			return chat.Completion{}, gone(err)
		}
		if err := sink(chat.Delta{Offset: utf8.RuneCountInString(out.Text), Text: t}); err != nil {
			return chat.Completion{}, err
		}
		out.Text += t
	}
	if r.Wait {
		<-ctx.Done()
	}
	if err := ctx.Err(); err != nil {
		return chat.Completion{}, gone(err)
	}
	if r.Err != nil {
		return chat.Completion{}, r.Err
	}
	out.Calls, out.Finish, out.Usage = slices.Clone(r.Calls), r.Finish, r.Usage
	if out.Finish == "" {
		out.Finish = chat.FinishStop
		if len(out.Calls) > 0 {
			out.Finish = chat.FinishCalls
		}
	}
	return out, nil
}

func (s *Script) next(p chat.Prompt) (Round, error) {
	s.mu.Lock()
	s.prompts = append(s.prompts, p)
	n := len(s.prompts)
	var r Round
	over := len(s.rounds) == 0
	if !over {
		r, s.rounds = s.rounds[0], s.rounds[1:]
	}
	s.mu.Unlock()
	if err := Check(p); err != nil {
		return r, roundError(n, err)
	}
	if over {
		return r, roundError(n, errors.New("the script is over"))
	}
	if r.Want != nil {
		if err := r.Want(p); err != nil {
			return r, roundError(n, err)
		}
	}
	if r.Func != nil {
		r = r.Func(p)
	}
	return r, nil
}

func gone(err error) error {
	k := fault.Canceled
	if errors.Is(err, context.DeadlineExceeded) {
		k = fault.Timeout
	}
	return fault.Wrap(k, "The model step was cancelled.", err)
}
