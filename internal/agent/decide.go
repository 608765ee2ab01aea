package agent

import (
	"context"
	"encoding/json"
	"errors"

	"agentd/internal/chat"
	"agentd/internal/confirm"
	"agentd/internal/fault"
	"agentd/internal/tool"

	"github.com/oklog/ulid/v2"
)

// Decide takes a person's answer to a card. Of several answers one wins; the same answer again gets the same
// reply. Errors: Missing for what is not there or not theirs; Conflict (already_decided, digest_mismatch,
// run_active); Gone (expired, superseded); Invalid for edited arguments that do not fit, when nothing was decided.
func (s *Service) Decide(ctx context.Context, who chat.Identity, conversation, id string, in DecisionInput) (Decided, error) {
	c, err := s.o.Store.Confirmation(ctx, id, who.User)
	if err != nil {
		return Decided{}, err
	}
	if c.Conversation != conversation {
		return Decided{}, fault.New(fault.Missing, "There is no such confirmation.")
	}
	how, err := s.checkDecision(ctx, who, c, in)
	if err != nil {
		return Decided{}, err
	}
	r := chat.Run{
		ID: "run_" + ulid.Make().String(), Conversation: conversation, Who: who, Cause: chat.CauseDecision,
		EnvID: c.EnvID, ConfirmationID: c.ID, Started: s.o.Now(),
	}
	if asked, err := s.o.Store.Run(ctx, c.RunID); err == nil {
		r.MessageID, r.EnvID, r.View = asked.MessageID, asked.EnvID, asked.View
	}
	r.Who.Credential = nil
	d, err := s.o.Store.Decide(ctx, chat.Decision{
		ID: c.ID, Conversation: conversation, User: who.User, Decision: in.Decision, ArgsDigest: in.ArgsDigest,
		EditedArgs: in.EditedArgs, Reason: in.Reason, Key: in.Key, Run: r,
		Entries: []chat.Entry{confirm.Resolve(c, how, who.User, in.Reason)},
		Expired: expired,
		Audit:   []chat.AuditRow{decidedRow(c, who, in)},
	})
	if err != nil {
		return Decided{}, err
	}
	out := Decided{RunID: d.RunID, State: d.Confirmation.State, Replayed: d.Replayed}
	if d.Replayed {
		return out, nil
	}
	return out, s.start(ctx, d.RunID, who.Credential)
}

// checkDecision refuses what can never be decided, before anything is stored.
func (s *Service) checkDecision(ctx context.Context, who chat.Identity, c chat.Confirmation, in DecisionInput) (how string, err error) {
	field := func(p, d string) error {
		return &fault.Error{Kind: fault.Invalid, Msg: "The decision has values that cannot be used.", Fields: []fault.Field{{Pointer: p, Detail: d}}}
	}
	if in.Remember {
		return "", field("/remember", "is not offered by this server; leave it out or send false")
	}
	switch in.Decision {
	case confirm.Approve, confirm.Reject:
		if len(in.EditedArgs) > 0 {
			return "", field("/edited_args", "goes with the decision edit only")
		}
		if in.Decision == confirm.Approve {
			return confirm.Approved, nil
		}
		return confirm.Rejected, nil
	case confirm.Edit:
	default:
		return "", field("/decision", "must be approve, edit or reject")
	}
	if len(in.EditedArgs) == 0 {
		return "", field("/edited_args", "must hold the whole arguments with the decision edit")
	}
	t, ok := s.tools().Find(c.Tool)
	if !ok || t.Bind == nil {
		return "", fault.New(fault.Gone, "The tool of this confirmation is no longer available.")
	}
	call := tool.Call{ToolCall: chat.ToolCall{ID: c.CallID, Name: c.Tool, Args: in.EditedArgs}, Who: who, Env: c.EnvID, Conversation: c.Conversation}
	if s.o.References != nil {
		call, err = s.o.References.Resolve(ctx, call)
	}
	if err == nil {
		_, err = t.Bind(call)
	}
	if err == nil {
		return confirm.Edited, s.sameEnv(c, in.EditedArgs)
	}
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Kind == fault.Invalid {
		out := *e
		out.Fields = nil
		for _, f := range e.Fields {
			out.Fields = append(out.Fields, fault.Field{Pointer: "/edited_args" + f.Pointer, Detail: f.Detail})
		}
		if len(out.Fields) == 0 {
			out.Fields = []fault.Field{{Pointer: "/edited_args", Detail: e.Msg}}
		}
		return "", &out
	}
	return "", err
}

// sameEnv keeps an edit in the environment that the card showed.
func (s *Service) sameEnv(c chat.Confirmation, args json.RawMessage) error {
	if env := argsEnv(args); env != "" && env != c.EnvID {
		return &fault.Error{Kind: fault.Invalid, Msg: "An edit stays in the environment of its card.", Fields: []fault.Field{{Pointer: "/edited_args/env_id", Detail: "must be " + c.EnvID + " or left out"}}}
	}
	return nil
}

// Retry runs a failed read again, as a call of its own whose result the model goes on with. Errors: Missing for a
// call that is not of the conversation; Conflict not_retryable for everything but a failed read, run_active while
// a run is going.
func (s *Service) Retry(ctx context.Context, who chat.Identity, conversation, call string) (Retried, error) {
	recs, err := s.o.Store.History(ctx, conversation)
	if err != nil {
		return Retried{}, err
	}
	st := newStory()
	asked := ""
	for _, rec := range recs {
		st.add(rec.RunID, rec.Entry)
		if rec.Note != nil && rec.Note.Result != nil && rec.Note.Result.CallID == call {
			asked = rec.RunID
		}
	}
	if _, ok := st.calls[call]; !ok {
		return Retried{}, fault.New(fault.Missing, "There is no such call.")
	}
	failed, timeout := st.failed[call], st.timeouts[call]
	if (failed == nil || !failed.Retryable) && (timeout == nil || !timeout.Retryable) {
		return Retried{}, &fault.Error{Kind: fault.Conflict, Code: "not_retryable", Msg: "Only a read that failed can be run again."}
	}
	old, err := s.o.Store.Run(ctx, asked)
	if err != nil {
		return Retried{}, err
	}
	r := chat.Run{
		ID: "run_" + ulid.Make().String(), Conversation: conversation, Who: who, Cause: chat.CauseRetry,
		MessageID: old.MessageID, EnvID: old.EnvID, View: old.View, RetryOf: call, CallID: newCallID(), Started: s.o.Now(),
	}
	r.Who.Credential = nil
	run, _, err := s.o.Store.StartRun(ctx, chat.Start{Run: r, MaxPerUser: s.o.Limits.RunsPerUser})
	if err != nil {
		return Retried{}, err
	}
	return Retried{RunID: run.ID, CallID: run.CallID}, s.start(ctx, run.ID, who.Credential)
}

func newCallID() string { return "call_" + ulid.Make().String() }

func fieldsOf(err error) []fault.Field {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Fields
	}
	return nil
}
