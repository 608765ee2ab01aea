package agent

import (
	"slices"

	"agentd/internal/chat"
)

// A story is a conversation folded from its log: what the model sees of it, and where each call stands.
// It is used by one goroutine.
type story struct {
	messages []chat.Message // users and steps, in order; results are looked up by call
	results  map[string]chat.ToolResult
	calls    map[string]chat.ToolCall
	started  map[string]*chat.ToolStart
	timeouts map[string]*chat.ToolTimeout
	failed   map[string]*chat.ToolError
	cards    map[string]*chat.ConfirmRequired // by confirmation id
	open     map[string]string                // call id → confirmation id of its pending card
	rejected map[string]bool                  // callKey of what a person rejected since they last wrote
	runs     map[string]*chat.RunStarted
	waiting  map[string]chat.UserMessage // message id → written, and its run has not begun
	edited   map[string]string           // message id → the message that it replaces
	retried  map[string]string           // call id → the call that it repeats
	artifact bool                        // something was stored that can be read back
}

func newStory() *story {
	return &story{
		results: map[string]chat.ToolResult{}, calls: map[string]chat.ToolCall{}, started: map[string]*chat.ToolStart{},
		timeouts: map[string]*chat.ToolTimeout{}, failed: map[string]*chat.ToolError{}, cards: map[string]*chat.ConfirmRequired{},
		open: map[string]string{}, rejected: map[string]bool{}, runs: map[string]*chat.RunStarted{},
		waiting: map[string]chat.UserMessage{}, edited: map[string]string{}, retried: map[string]string{},
	}
}

// add folds one entry of run's. Applying the whole log gives the same story as having lived it.
func (s *story) add(run string, e chat.Entry) {
	switch ev := e.Event.(type) {
	case *chat.MessageEvent:
		if e.Note != nil && e.Note.User != nil {
			s.waiting[ev.MessageID] = *e.Note.User
			if ev.Replaces != "" {
				s.edited[ev.MessageID] = ev.Replaces
			}
		}
	case *chat.RunStarted:
		s.runs[run] = ev
		s.begin(ev)
	case *chat.ToolStart:
		s.started[ev.CallID] = ev
		if ev.RetryOf != "" {
			s.retried[ev.CallID] = ev.RetryOf
		}
	case *chat.ToolTimeout:
		s.timeouts[ev.CallID] = ev
	case *chat.ToolError:
		s.failed[ev.CallID] = ev
	case *chat.ToolResultEvent:
		s.artifact = s.artifact || ev.Artifact != nil && ev.Artifact.ID != "" && ev.Artifact.Format != "binary"
	case *chat.ConfirmRequired:
		s.cards[ev.ConfirmationID] = ev
		s.open[ev.CallID] = ev.ConfirmationID
	case *chat.ConfirmResolved:
		s.resolve(ev)
	}
	if e.Note == nil {
		return
	}
	if st := e.Note.Step; st != nil {
		s.messages = append(s.messages, *st)
		for _, c := range st.Calls {
			s.calls[c.ID] = c
		}
	}
	if r := e.Note.Result; r != nil {
		if _, twice := s.results[r.CallID]; !twice { // a call has one answer, the first
			s.results[r.CallID] = *r
		}
	}
}

// begin places the user's message where its run begins, so that a queued message does not stand inside the run
// that was going when it was written.
func (s *story) begin(ev *chat.RunStarted) {
	m, ok := s.waiting[ev.MessageID]
	if !ok || ev.Cause != chat.CauseMessage {
		return
	}
	delete(s.waiting, ev.MessageID)
	if old, ok := s.edited[ev.MessageID]; ok {
		if i := slices.IndexFunc(s.messages, func(m chat.Message) bool { u, ok := m.(chat.UserMessage); return ok && u.ID == old }); i >= 0 {
			s.messages = s.messages[:i]
		}
	}
	s.messages = append(s.messages, m)
	clear(s.rejected)
}

func (s *story) resolve(ev *chat.ConfirmResolved) {
	card, ok := s.cards[ev.ConfirmationID]
	if !ok {
		return
	}
	if s.open[card.CallID] == ev.ConfirmationID {
		delete(s.open, card.CallID)
	}
	if ev.Decision == "rejected" {
		s.rejected[card.Tool+"\x00"+card.EnvID+"\x00"+card.ArgsDigest] = true
	}
}

// interrupted is the answer that a call gets in the prompt when a crash or a stop left it without one.
const interrupted = `{"status":"interrupted","message":"This call was interrupted and has no result. Nothing is known about it; call again if it is still needed."}`

// prompt renders the messages for a model: each call is answered exactly once, directly after its step, in order,
// and nothing answers a call that was not made.
func (s *story) prompt() []chat.Message {
	out := make([]chat.Message, 0, len(s.messages)*2)
	for _, m := range s.messages {
		a, ok := m.(chat.AssistantMessage)
		if !ok {
			out = append(out, m)
			continue
		}
		if a.Text == "" && len(a.Calls) == 0 {
			continue
		}
		out = append(out, a)
		for _, c := range a.Calls {
			r, ok := s.results[c.ID]
			if !ok {
				r = chat.ToolResult{CallID: c.ID, Tool: c.Name, Content: interrupted}
			}
			out = append(out, r)
		}
	}
	return out
}

// unanswered lists the last step's calls that have neither a result nor an open card.
func (s *story) unanswered() []chat.ToolCall {
	var out []chat.ToolCall
	for _, c := range s.lastStep().Calls {
		if _, done := s.results[c.ID]; !done && s.open[c.ID] == "" {
			out = append(out, c)
		}
	}
	return out
}

// lastStep is the last step if no user wrote after it, else the zero step.
func (s *story) lastStep() chat.AssistantMessage {
	if len(s.messages) == 0 {
		return chat.AssistantMessage{}
	}
	a, _ := s.messages[len(s.messages)-1].(chat.AssistantMessage)
	return a
}

// lastUser is the text that a person wrote last.
func (s *story) lastUser() chat.UserMessage {
	for _, m := range slices.Backward(s.messages) {
		if u, ok := m.(chat.UserMessage); ok {
			return u
		}
	}
	return chat.UserMessage{}
}

// texts are what tools returned: descriptions, markdown and rows that anybody may have written.
func (s *story) texts() []string {
	out := make([]string, 0, len(s.results))
	for _, r := range s.results {
		out = append(out, r.Content)
	}
	return out
}
