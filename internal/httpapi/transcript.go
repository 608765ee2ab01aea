package httpapi

import (
	"encoding/json"
	"fmt"

	"agentd/internal/chat"
)

// Kinds of items.
const (
	itemRun          = "run"
	itemMessage      = "message"
	itemCall         = "call"
	itemConfirmation = "confirmation"
)

// An item is one thing that is seen in a conversation. It keeps the events that it was reduced from as they were on
// the wire, each in its place, so that a page which applies them after a reload shows what it showed live.
// What came later and took the place of something earlier has left nothing of it: no deltas beside a final text.
type item struct {
	Kind     string `json:"kind"`
	Seq      int64  `json:"seq"` // of its first event; items are in this order
	RunID    string `json:"run_id"`
	At       string `json:"at"`
	State    string `json:"state"`               // run, call, confirmation: see the fields below; message: partial, final
	FoldedBy string `json:"folded_by,omitempty"` // the message that replaced this or something before it

	// Message. Text is what the deltas gave so far while State is partial.
	MessageID string `json:"message_id,omitempty"`
	Role      string `json:"role,omitempty"`
	Text      string `json:"text,omitempty"`
	Replaces  string `json:"replaces,omitempty"`

	// Call: running, retrying, done, failed, timed_out, unknown, denied, applied, not_applied, still_unknown.
	CallID string `json:"call_id,omitempty"`
	Tool   string `json:"tool,omitempty"`

	// Confirmation: pending, approved, edited, rejected, expired, superseded.
	ConfirmationID string `json:"confirmation_id,omitempty"`

	// Events. Start is run_started, tool_start or confirm_required; Retry is tool_retry; End is what closed it;
	// Outcome is the tool_outcome of a write whose end was unknown. A run's state is that of its end: the outcome of
	// run_finished, error, or going.
	Start   json.RawMessage `json:"start,omitempty"`
	Retry   json.RawMessage `json:"retry,omitempty"`
	End     json.RawMessage `json:"end,omitempty"`
	Outcome json.RawMessage `json:"outcome,omitempty"`

	Usage *chat.Usage `json:"usage,omitempty"` // of a run: the sum of its steps

	text []rune // of a message that is not final
}

// A transcript is the reduced form of a log: a pure fold over its records in order. The zero transcript is empty.
type transcript struct {
	Last  int64 // seq of the last record
	items []*item
	byKey map[string]*item // kind and id → item
}

// apply folds one record in. Records that were applied already change nothing. Events of an unknown type only
// move the position.
func (t *transcript) apply(r chat.Record) error {
	if r.Seq <= t.Last {
		return nil
	}
	t.Last = r.Seq
	switch e := r.Event.(type) {
	case *chat.TextDelta:
		t.delta(r, e)
		return nil
	case *chat.MessageEvent:
		t.message(r, e)
		return nil
	case *chat.Usage:
		t.usage(r, e)
		return nil
	}
	wire, err := encode(r)
	if err != nil {
		return fmt.Errorf("reduce the log: %w", err)
	}
	switch e := r.Event.(type) {
	case *chat.RunStarted:
		t.at(itemRun, r.RunID, r).begin("going", wire)
	case *chat.RunFinished:
		t.at(itemRun, r.RunID, r).end(e.Outcome, wire)
	case *chat.RunError:
		t.at(itemRun, r.RunID, r).end("error", wire)
	case *chat.ConfirmRequired:
		t.at(itemConfirmation, e.ConfirmationID, r).begin(string(chat.ConfirmPending), wire)
		t.at(itemConfirmation, e.ConfirmationID, r).named(e.CallID, e.Tool)
	case *chat.ConfirmResolved:
		t.at(itemConfirmation, e.ConfirmationID, r).end(e.Decision, wire)
	default:
		t.call(r, wire)
	}
	return nil
}

// call folds the events of a call.
func (t *transcript) call(r chat.Record, wire json.RawMessage) {
	of := func(id, tool string) *item { return t.at(itemCall, id, r).named(id, tool) }
	switch e := r.Event.(type) {
	case *chat.ToolStart:
		of(e.CallID, e.Tool).begin("running", wire)
	case *chat.ToolRetry:
		i := of(e.CallID, e.Tool)
		i.State, i.Retry = "retrying", wire
	case *chat.ToolResultEvent:
		of(e.CallID, e.Tool).end("done", wire)
	case *chat.ToolError:
		of(e.CallID, e.Tool).end("failed", wire)
	case *chat.PermissionDenied:
		of(e.CallID, e.Tool).end("denied", wire)
	case *chat.ToolTimeout:
		state := "timed_out"
		if e.Outcome == chat.UnknownOutcome {
			state = "unknown"
		}
		of(e.CallID, e.Tool).end(state, wire)
	case *chat.ToolOutcome:
		i := of(e.CallID, "")
		i.State, i.Outcome = e.Outcome, wire
	}
}

// at finds an item, or makes it where its first event stands.
func (t *transcript) at(kind, id string, r chat.Record) *item {
	key := kind + "\x00" + id
	if i, ok := t.byKey[key]; ok {
		return i
	}
	i := &item{Kind: kind, Seq: r.Seq, RunID: r.RunID, At: r.At.UTC().Format(wireTime)}
	if kind == itemConfirmation {
		i.ConfirmationID = id
	}
	if t.byKey == nil {
		t.byKey = map[string]*item{}
	}
	t.byKey[key] = i
	t.items = append(t.items, i)
	return i
}

// list gives the items in the order of their first events.
func (t *transcript) list() []*item {
	for _, i := range t.items {
		if i.State == "partial" {
			i.Text = string(i.text)
		}
	}
	return list(t.items)
}

func (i *item) begin(state string, wire json.RawMessage) { i.State, i.Start = state, wire }

// end closes an item. What was found by reading back is not overtaken by a late answer.
func (i *item) end(state string, wire json.RawMessage) {
	if i.Outcome == nil {
		i.State, i.End = state, wire
	}
}

func (i *item) named(call, tool string) *item {
	i.CallID = call
	if tool != "" {
		i.Tool = tool
	}
	return i
}
