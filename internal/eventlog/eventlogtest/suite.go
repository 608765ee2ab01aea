// Package eventlogtest holds the suite that the event log passes over every database.
package eventlogtest

import (
	"encoding/json"
	"testing"
	"time"

	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/fault"
)

// A Place is one empty database of a test's.
type Place struct {
	// Open opens a log over the database, another one at each call, and closes it with the test. The options name
	// no place: Open adds it.
	Open func(t *testing.T, o eventlog.Options) *eventlog.Log
	// Exec runs a statement past the log, as somebody who tampers would.
	Exec func(t *testing.T, statement string)
}

// Run runs the suite over places that are made for it.
func Run(t *testing.T, make func(t *testing.T) Place) {
	for _, g := range []struct {
		name string
		run  func(*testing.T, Place)
	}{
		{"conversations", conversations},
		{"records", records},
		{"runs", runs},
		{"writes", writes},
		{"claims", claims},
		{"queue", queue},
		{"confirmations", confirmations},
		{"decisions", decisions},
		{"cancel", cancel},
		{"remembered and feedback", answers},
		{"audit", audit},
		{"artifacts", artifacts},
		{"migrations", migrations},
		{"many at once", crowd},
		{"live conversations", liveness},
		{"what replicas share", shared},
		{"reopened", reopened},
	} {
		t.Run(g.name, func(t *testing.T) { g.run(t, make(t)) })
	}
}

// A desk is a log with one conversation, and shortcuts that fail the test.
type desk struct {
	*testing.T
	log  *eventlog.Log
	conv chat.Conversation
	n    int
	now  time.Time
}

const user = "ann"

func newDesk(t *testing.T, p Place) *desk {
	d := &desk{T: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	d.log = p.Open(t, eventlog.Options{Now: func() time.Time { return d.now }})
	d.conv = d.create(user)
	return d
}

func (d *desk) create(owner string) chat.Conversation {
	d.Helper()
	c, err := d.log.CreateConversation(d.Context(), owner)
	d.ok(err)
	return c
}

func (d *desk) ok(err error) {
	d.Helper()
	if err != nil {
		d.Fatalf("got error %v (%s), want none", err, fault.CodeOf(err))
	}
}

// fails checks kind and code; the code "" is the kind.
func (d *desk) fails(err error, kind fault.Kind, code string) {
	d.Helper()
	if code == "" {
		code = string(kind)
	}
	if fault.KindOf(err) != kind || fault.CodeOf(err) != code {
		d.Fatalf("got %v (kind %q, code %q), want kind %q, code %q", err, fault.KindOf(err), fault.CodeOf(err), kind, code)
	}
}

func (d *desk) run(id string) chat.Run {
	return chat.Run{ID: id, Conversation: d.conv.ID, Who: chat.Identity{User: user, Roles: []string{"Alpha"}}, Cause: chat.CauseMessage, MessageID: "m-" + id}
}

// start starts a run with a user message.
func (d *desk) start(id string) chat.Run {
	d.Helper()
	run, replayed, err := d.log.StartRun(d.Context(), eventlog.Start{Run: d.run(id), Entries: []chat.Entry{said("m-"+id, "hello "+id)}})
	d.ok(err)
	if replayed {
		d.Fatalf("run %s is replayed", id)
	}
	return run
}

func (d *desk) write(w eventlog.Write) int64 {
	d.Helper()
	n, err := d.log.Write(d.Context(), w)
	d.ok(err)
	return n
}

func (d *desk) end(id string) {
	d.Helper()
	d.write(eventlog.Write{RunID: id, Entries: []chat.Entry{finished(chat.OutcomeAnswered)}, End: true})
}

// asked is a run that has ended with a pending confirmation of it.
func (d *desk) asked(run, id string) chat.Confirmation {
	d.Helper()
	d.start(run)
	c := chat.Confirmation{
		ID: id, Conversation: d.conv.ID, RunID: run, User: user, CallID: "call-" + id, Tool: "update_chart",
		Args: json.RawMessage("{\"b\": 1,  \"a\":\"<\u00e9>\"}"), ArgsDigest: "digest-" + id, EnvID: "prod", Expires: d.now.Add(time.Hour),
	}
	d.write(eventlog.Write{
		RunID: run, Confirm: []chat.Confirmation{c}, End: true,
		Entries: []chat.Entry{{Event: &chat.ConfirmRequired{ConfirmationID: id, Args: c.Args}}, finished(chat.OutcomeAwaiting)},
	})
	return c
}

// types lists the conversation's events, each with the run it belongs to, and checks that seqs have no gap.
func (d *desk) types() []string {
	d.Helper()
	records, err := d.log.Read(d.Context(), d.conv.ID, 0, 0)
	d.ok(err)
	var out []string
	for i, r := range records {
		if r.Seq != int64(i)+1 {
			d.Fatalf("record %d has seq %d", i+1, r.Seq)
		}
		out = append(out, r.RunID+" "+r.Event.Type())
	}
	return out
}

func said(id, text string) chat.Entry {
	return chat.Entry{
		Event: &chat.MessageEvent{MessageID: id, Role: chat.RoleUser, Text: text},
		Note:  &chat.Note{User: &chat.UserMessage{ID: id, Text: text}},
	}
}

func finished(outcome string) chat.Entry {
	return chat.Entry{Event: &chat.RunFinished{Outcome: outcome}}
}

func delta(text string) chat.Entry {
	return chat.Entry{Event: &chat.TextDelta{MessageID: "a", Text: text}}
}

func resolved(decision string) func(chat.Confirmation) []chat.Entry {
	return func(c chat.Confirmation) []chat.Entry {
		return []chat.Entry{{
			Event: &chat.ConfirmResolved{ConfirmationID: c.ID, Decision: decision},
			Note:  &chat.Note{Result: &chat.ToolResult{CallID: c.CallID, Tool: c.Tool, Content: decision}},
		}}
	}
}
