// Package confirm words questions to people: the card, what an answer means for the model, and what is bound to
// it. Who wins a race of answers is decided by the log's compare-and-set, never here.
package confirm

import (
	"crypto/rand"
	"encoding/json"
	"time"

	"agentd/internal/chat"
	"agentd/internal/tool"
)

// Countdown is how long the page keeps the button of a dangerous call locked. The server does not wait for it.
const Countdown = 10 * time.Second

// Decisions are what a card can be answered with, in the order shown.
var Decisions = []string{Approve, Edit, Reject}

// The decisions.
const (
	Approve = "approve"
	Edit    = "edit"
	Reject  = "reject"
)

// The ways a card is closed, as the event names them.
const (
	Approved   = "approved"
	Edited     = "edited"
	Rejected   = "rejected"
	Expired    = "expired"
	Superseded = "superseded"
)

// A Question is a call that a person must answer for.
type Question struct {
	Call          tool.Call        // as the model gave it
	Passed        []chat.Reference // the stored results that its references name
	Schema        json.RawMessage  // of the arguments, for an edit
	Risk          chat.Risk
	Dangerous     bool
	Preview       tool.Preview
	PolicyVersion string
	TTL           time.Duration
	Now           time.Time
}

// Ask makes the record and the card of q. The id is random and never the model's call id, so it cannot be guessed
// and each question has its own.
func Ask(q Question) (chat.Confirmation, *chat.ConfirmRequired) {
	p := q.Preview.ConfirmPreview
	if p.Diff == nil {
		p.Diff = []chat.Change{}
	}
	if p.BlastRadius == nil {
		p.BlastRadius = []chat.Dependent{}
	}
	p.References, p.Notes = q.Passed, append(p.Notes[:len(p.Notes):len(p.Notes)], passedOn(q.Passed)...)
	c := chat.Confirmation{
		ID: "cnf_" + rand.Text(), Conversation: q.Call.Conversation, RunID: q.Call.RunID, User: q.Call.Who.User,
		CallID: q.Call.ID, Tool: q.Call.Name, Args: q.Call.Args, ArgsDigest: Digest(q.Call.Args, q.Passed...), EnvID: q.Call.Env,
		Risk: q.Risk, PolicyVersion: q.PolicyVersion, Fingerprint: q.Preview.Fingerprint, Preview: p,
		Created: q.Now, Expires: q.Now.Add(q.TTL), State: chat.ConfirmPending,
	}
	return c, Card(c, q.Dangerous, q.Schema)
}

// Card is the event that shows c.
func Card(c chat.Confirmation, dangerous bool, schema json.RawMessage) *chat.ConfirmRequired {
	ev := &chat.ConfirmRequired{
		ConfirmationID: c.ID, CallID: c.CallID, Tool: c.Tool, Args: c.Args, ArgsDigest: c.ArgsDigest, EnvID: c.EnvID,
		Risk: c.Risk, Dangerous: dangerous, AllowedDecisions: Decisions, EditSchema: schema, Preview: c.Preview, ExpiresAt: c.Expires,
	}
	if dangerous {
		ev.CountdownSeconds = int(Countdown / time.Second)
	}
	return ev
}

// Resolve is the entry that closes c. Every way but an approval and an edit is also the call's answer, in words
// that keep a model from taking a person's decision for a failure and repeating the call.
func Resolve(c chat.Confirmation, how, by, reason string) chat.Entry {
	e := chat.Entry{Event: &chat.ConfirmResolved{ConfirmationID: c.ID, Decision: how, By: by, Reason: reason}}
	text, closes := answers[how]
	if !closes {
		return e
	}
	a := answer{Status: how, Executed: false, Message: text, Reason: reason}
	b, err := json.Marshal(a)
	if err != nil {
		panic("confirm: " + err.Error()) // two texts and a boolean always marshal
	}
	e.Note = &chat.Note{Result: &chat.ToolResult{CallID: c.CallID, Tool: c.Tool, Content: string(b)}}
	return e
}

type answer struct {
	Status   string `json:"status"`
	Executed bool   `json:"executed"`
	Message  string `json:"message"`
	Reason   string `json:"reason,omitempty"`
}

var answers = map[string]string{
	Rejected:   "A person decided against this call. It was not executed. This is a decision and not a failure: do not repeat the call.",
	Expired:    "Nobody answered in time, so this call was not executed. Do not repeat it unless the person asks again.",
	Superseded: "The person wrote something new instead of answering, so this call was not executed. Do not repeat it unless the person asks again.",
}
