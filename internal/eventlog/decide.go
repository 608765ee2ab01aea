package eventlog

import (
	"bytes"
	"context"
	"encoding/json"
	"unicode/utf8"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

// Decide takes a decision exactly once and starts its run with it. Of several decisions one wins. Errors:
// Missing for a confirmation that is unknown, another's or of another conversation; Conflict with code
// already_decided after another decision, digest_mismatch when the person saw other arguments, run_active while
// a run goes on; Gone with code expired or superseded; Invalid for a decision that does not exist. An answer
// that finds the time over closes the confirmation as expired, once.
func (l *Log) Decide(ctx context.Context, in chat.Decision) (chat.Decided, error) {
	d := decision(in)
	to, ok := decisions[d.Decision]
	if !ok {
		return chat.Decided{}, &fault.Error{Kind: fault.Invalid, Msg: "A decision is approve, edit or reject.",
			Fields: []fault.Field{{Pointer: "/decision", Detail: "must be approve, edit or reject"}}}
	}
	if !utf8.Valid(d.EditedArgs) || (d.Decision == "edit") != (len(d.EditedArgs) > 0) {
		return chat.Decided{}, &fault.Error{Kind: fault.Invalid, Msg: "Edited arguments come with the decision edit, and only with it.",
			Fields: []fault.Field{{Pointer: "/edited_args", Detail: "must be an object with edit, and absent otherwise"}}}
	}
	var out chat.Decided
	var late error // the answer of an operation that is committed all the same
	err := l.apply(ctx, func(t *tx) error {
		out, late = chat.Decided{}, nil
		if err := t.lock("conversation " + d.Conversation); err != nil {
			return err
		}
		c, err := t.confirmation(d.ID)
		if err != nil {
			return err
		}
		if c == nil || c.Conversation != d.Conversation || c.User != d.owner() {
			return missingConfirmation()
		}
		if c.State != chat.ConfirmPending {
			out, err = d.again(*c)
			return err
		}
		if c.ArgsDigest != d.ArgsDigest {
			return &fault.Error{Kind: fault.Conflict, Code: "digest_mismatch", Msg: "The arguments are not those that the card showed."}
		}
		if !c.Expires.IsZero() && !t.now.Before(c.Expires) {
			var entries []chat.Entry
			if d.Expired != nil {
				entries = d.Expired(*c)
			}
			late = gone(chat.ConfirmExpired)
			return t.resolve(*c, chat.ConfirmExpired, "", "", entries)
		}
		if err := t.idle(d.Conversation); err != nil {
			return err
		}
		out = d.taken(*c, to, t)
		return d.store(t, out.Confirmation)
	})
	if err == nil {
		err = late
	}
	if err != nil {
		return chat.Decided{}, err
	}
	return out, nil
}

var decisions = map[string]chat.ConfirmState{
	"approve": chat.ConfirmClaimed,
	"edit":    chat.ConfirmClaimed,
	"reject":  chat.ConfirmRejected,
}

// decision is a chat.Decision on its way.
type decision chat.Decision

func (d *decision) owner() string {
	if d.Owner != "" {
		return d.Owner
	}
	return d.User
}

// again answers a decision about a confirmation that is closed.
func (d *decision) again(c chat.Confirmation) (chat.Decided, error) {
	if c.Decision == "" {
		return chat.Decided{}, gone(c.State)
	}
	if c.Decision != d.Decision || !sameJSON(c.EditedArgs, d.EditedArgs) {
		return chat.Decided{}, &fault.Error{Kind: fault.Conflict, Code: "already_decided", Msg: "This was decided before, and otherwise."}
	}
	return chat.Decided{Confirmation: c, RunID: c.DecisionRun, Replayed: true}, nil
}

func (d *decision) taken(c chat.Confirmation, to chat.ConfirmState, t *tx) chat.Decided {
	c.State, c.Decision, c.DecidedBy, c.DecidedAt = to, d.Decision, d.User, t.now
	c.Reason, c.EditedArgs, c.DecisionRun = clean(d.Reason), d.EditedArgs, d.Run.ID
	return chat.Decided{Confirmation: c, RunID: d.Run.ID}
}

func (d *decision) store(t *tx, c chat.Confirmation) error {
	if _, err := t.exec(`UPDATE confirmation SET state = ?, decision = ?, decided_by = ?, decided_at = ?, reason = ?, edited_args = ?, decision_run = ?
		WHERE id = ? AND state = 'pending'`,
		string(c.State), c.Decision, c.DecidedBy, micros(c.DecidedAt), c.Reason, string(c.EditedArgs), c.DecisionRun, c.ID); err != nil {
		return err
	}
	run := d.Run
	if err := t.insertRun(&run, ""); err != nil {
		return err
	}
	t.made.audit = append(t.made.audit, d.Audit...)
	lines, err := encodeEntries(d.Entries)
	if err != nil {
		return err
	}
	return t.append(c.Conversation, c.RunID, lines)
}

func gone(s chat.ConfirmState) error {
	if s == chat.ConfirmSuperseded {
		return &fault.Error{Kind: fault.Gone, Code: "superseded", Msg: "A newer message has replaced this question."}
	}
	return &fault.Error{Kind: fault.Gone, Code: "expired", Msg: "The time to answer has passed."}
}

// sameJSON compares two values up to insignificant space.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
