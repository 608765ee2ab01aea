package eventlogtest

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/fault"

	"github.com/google/go-cmp/cmp"
)

func confirmations(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	want := d.asked("r1", "c1")
	got, err := d.log.Confirmation(ctx, "c1", user)
	d.ok(err)
	want.State, want.Created = chat.ConfirmPending, d.now
	if diff := cmp.Diff(want, got); diff != "" { // the arguments byte for byte
		t.Errorf("stored confirmation (-want +got):\n%s", diff)
	}
	_, err = d.log.Confirmation(ctx, "c1", "bob")
	d.fails(err, fault.Missing, "")
	conv, err := d.log.Conversation(ctx, d.conv.ID, user)
	d.ok(err)
	if conv.OpenConfirmations != 1 {
		t.Errorf("open confirmations of the conversation: got %d, want 1", conv.OpenConfirmations)
	}
	_, _, err = d.log.StartRun(ctx, eventlog.Start{Run: d.run("r2")})
	d.fails(err, fault.Conflict, "confirmation_open")
	_, _, err = d.log.StartRun(ctx, eventlog.Start{Run: d.run("r2"), Entries: []chat.Entry{said("m2", "instead")}, Supersede: resolved("superseded")})
	d.ok(err)
	if diff := cmp.Diff([]string{"r1 message", "r1 confirm_required", "r1 run_finished", "r1 confirm_resolved", "r2 message"}, d.types()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	d.end("r2")
	d.asked("r3", "c3")
	d.count(1, chat.ConfirmPending)
	d.count(1, chat.ConfirmSuperseded)
	d.count(2, chat.ConfirmPending, chat.ConfirmSuperseded)
	d.count(2)

	// Expiry: a moment before, at it, and again.
	for _, step := range []struct {
		at   time.Duration
		want int
	}{{time.Hour - time.Microsecond, 0}, {time.Hour, 1}, {2 * time.Hour, 0}} {
		start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		d.now = start.Add(step.at)
		n, err := d.log.ExpireConfirmations(ctx, resolved("expired"))
		d.ok(err)
		if n != step.want {
			t.Errorf("expired after %v: got %d, want %d", step.at, n, step.want)
		}
	}
	d.count(1, chat.ConfirmExpired)
	open2, err := d.log.OpenConfirmations(ctx, d.conv.ID)
	d.ok(err)
	if len(open2) != 0 {
		t.Errorf("open after expiry: %d", len(open2))
	}
}

func (d *desk) count(want int, states ...chat.ConfirmState) {
	d.Helper()
	got, err := d.log.Confirmations(d.Context(), user, states...)
	d.ok(err)
	if len(got) != want {
		d.Errorf("confirmations in %v: got %d, want %d", states, len(got), want)
	}
}

func (d *desk) decision(c chat.Confirmation, decision, run string) eventlog.Decision {
	r := d.run(run)
	r.Cause, r.ConfirmationID = chat.CauseDecision, c.ID
	return eventlog.Decision{
		ID: c.ID, Conversation: d.conv.ID, User: user, Decision: decision, ArgsDigest: c.ArgsDigest, Run: r,
		Entries: resolved(decision)(c), Expired: resolved("expired"),
	}
}

func decisions(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	c := d.asked("r1", "c1")
	decide := func(change func(*eventlog.Decision)) (eventlog.Decided, error) {
		dec := d.decision(c, "approve", fmt.Sprintf("d%d", d.n))
		d.n++
		change(&dec)
		return d.log.Decide(ctx, dec)
	}
	for name, change := range map[string]func(*eventlog.Decision){
		"unknown":              func(x *eventlog.Decision) { x.ID = "nope" },
		"another user":         func(x *eventlog.Decision) { x.User = "bob" },
		"another conversation": func(x *eventlog.Decision) { x.Conversation = d.create(user).ID },
	} {
		if _, err := decide(change); fault.KindOf(err) != fault.Missing {
			t.Errorf("%s: got %v, want missing", name, err)
		}
	}
	_, err := decide(func(x *eventlog.Decision) { x.Decision = "yes" })
	d.fails(err, fault.Invalid, "")
	_, err = decide(func(x *eventlog.Decision) { x.Decision = "edit" })
	d.fails(err, fault.Invalid, "")
	_, err = decide(func(x *eventlog.Decision) { x.EditedArgs = json.RawMessage(`{}`) })
	d.fails(err, fault.Invalid, "")
	_, err = decide(func(x *eventlog.Decision) { x.ArgsDigest = "other" })
	d.fails(err, fault.Conflict, "digest_mismatch")

	edit := func(args string) func(*eventlog.Decision) {
		return func(x *eventlog.Decision) {
			x.Decision, x.EditedArgs, x.Reason = "edit", json.RawMessage(args), "better"
			x.Audit = []chat.AuditRow{{Kind: "decided", User: user}}
		}
	}
	won, err := decide(edit(`{"a": 2}`))
	d.ok(err)
	if won.Replayed || won.RunID == "" || won.Confirmation.State != chat.ConfirmClaimed || string(won.Confirmation.EditedArgs) != `{"a": 2}` {
		t.Errorf("first decision: %+v", won)
	}
	stored, err := d.log.Confirmation(ctx, "c1", user)
	d.ok(err)
	if diff := cmp.Diff(won.Confirmation, stored); diff != "" {
		t.Errorf("the answer differs from what is stored (-answer +stored):\n%s", diff)
	}
	run, ok, err := d.log.ActiveRun(ctx, d.conv.ID)
	d.ok(err)
	if !ok || run.ID != won.RunID || run.Cause != chat.CauseDecision || run.ConfirmationID != "c1" {
		t.Errorf("the decision's run: %v %+v", ok, run)
	}
	again, err := decide(edit(`{"a":2}`))
	d.ok(err)
	if !again.Replayed || again.RunID != won.RunID {
		t.Errorf("the same decision again: %+v", again)
	}
	_, err = decide(edit(`{"a":3}`))
	d.fails(err, fault.Conflict, "already_decided")
	_, err = decide(func(x *eventlog.Decision) { x.Decision = "reject" })
	d.fails(err, fault.Conflict, "already_decided")

	// The state moves on; the same decision is still answered.
	move := func(from, to chat.ConfirmState, end bool) error {
		w := eventlog.Write{RunID: won.RunID, Move: []eventlog.Move{{ID: "c1", From: []chat.ConfirmState{from}, To: to}}, End: end}
		if end {
			w.Entries = []chat.Entry{finished(chat.OutcomeAnswered)}
		}
		_, err := d.log.Write(ctx, w)
		return err
	}
	d.ok(move(chat.ConfirmClaimed, chat.ConfirmExecuting, false))
	d.fails(move(chat.ConfirmClaimed, chat.ConfirmExecuting, false), fault.Conflict, "confirmation_state")
	d.ok(move(chat.ConfirmExecuting, chat.ConfirmDone, true))
	again, err = decide(edit(`{"a":2}`))
	d.ok(err)
	if !again.Replayed || again.Confirmation.State != chat.ConfirmDone {
		t.Errorf("the same decision after the end: %+v", again)
	}
	want := []string{"r1 message", "r1 confirm_required", "r1 run_finished", "r1 confirm_resolved", won.RunID + " run_finished"}
	if diff := cmp.Diff(want, d.types()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	rows, err := d.log.AuditRows(ctx, eventlog.AuditFilter{})
	d.ok(err)
	if len(rows) != 1 {
		t.Errorf("audit rows: got %d, want one for one decision", len(rows))
	}

	t.Run("an expired card is closed once", func(t *testing.T) {
		c = d.asked("r2", "c2")
		d.now = c.Expires
		for range 2 {
			_, err := decide(func(*eventlog.Decision) {})
			d.fails(err, fault.Gone, "expired")
		}
		if got := d.types(); got[len(got)-1] != "r2 confirm_resolved" || got[len(got)-2] != "r2 run_finished" {
			t.Errorf("events end with %q", got[len(got)-2:])
		}
	})
	t.Run("a superseded card is gone", func(t *testing.T) {
		c = d.asked("r3", "c3")
		_, _, err := d.log.StartRun(ctx, eventlog.Start{Run: d.run("r4"), Supersede: resolved("superseded")})
		d.ok(err)
		_, err = decide(func(*eventlog.Decision) {})
		d.fails(err, fault.Gone, "superseded")
		d.end("r4")
	})
	t.Run("a second card waits for the first one's run", func(t *testing.T) {
		d.start("r5")
		for _, id := range []string{"c5a", "c5b"} {
			cc := c
			cc.ID, cc.RunID, cc.Expires = id, "r5", d.now.Add(time.Hour)
			d.write(eventlog.Write{RunID: "r5", Confirm: []chat.Confirmation{cc}})
		}
		d.write(eventlog.Write{RunID: "r5", Entries: []chat.Entry{finished(chat.OutcomeAwaiting)}, End: true})
		_, err := decide(func(x *eventlog.Decision) { x.ID = "c5a" })
		d.ok(err)
		_, err = decide(func(x *eventlog.Decision) { x.ID = "c5b" })
		d.fails(err, fault.Conflict, "run_active")
	})
	t.Run("of many decisions one wins", func(t *testing.T) {
		d := newDesk(t, p)
		for i := range 10 {
			c := d.asked(fmt.Sprint("race", i, d.conv.ID), fmt.Sprint("card", i, d.conv.ID))
			var won, replayed, lost atomic.Int64
			var wg sync.WaitGroup
			for k := range 8 {
				wg.Go(func() {
					decision := []string{"approve", "reject"}[k%2]
					got, err := d.log.Decide(ctx, d.decision(c, decision, fmt.Sprint("dr", i, k, d.conv.ID)))
					switch {
					case err == nil && got.Replayed:
						replayed.Add(1)
					case err == nil:
						won.Add(1)
					case fault.CodeOf(err) == "already_decided":
						lost.Add(1)
					default:
						t.Errorf("decision: %v", err)
					}
				})
			}
			wg.Wait()
			if won.Load() != 1 || replayed.Load() != 3 || lost.Load() != 4 {
				t.Fatalf("won %d, replayed %d, lost %d; want 1, 3, 4", won.Load(), replayed.Load(), lost.Load())
			}
			run, _, err := d.log.ActiveRun(ctx, d.conv.ID)
			d.ok(err)
			d.end(run.ID)
		}
	})
}

func cancel(t *testing.T, p Place) {
	var mu sync.Mutex
	var told []string
	log := p.Open(t, eventlog.Options{OnCancel: func(id string) { mu.Lock(); told = append(told, id); mu.Unlock() }})
	d := &desk{T: t, log: log, now: time.Now()}
	d.conv = d.create(user)
	ctx := t.Context()
	stop := func() string {
		t.Helper()
		id, err := log.Cancel(ctx, d.conv.ID, resolved("rejected"), chat.AuditRow{Kind: "decided"})
		d.ok(err)
		return id
	}
	if id := stop(); id != "" {
		t.Errorf("cancel of nothing: %q", id)
	}
	d.start("r1")
	for range 2 {
		if id := stop(); id != "r1" {
			t.Errorf("cancelled run: got %q, want r1", id)
		}
	}
	mu.Lock()
	if len(told) == 0 || told[0] != "r1" {
		t.Errorf("told of cancels: %q", told)
	}
	mu.Unlock()
	run, err := log.Run(ctx, "r1")
	d.ok(err)
	if !run.Cancelled || run.Ended {
		t.Errorf("after cancel: %+v", run)
	}
	d.end("r1")
	d.asked("r2", "c2")
	for range 2 {
		if id := stop(); id != "" {
			t.Errorf("cancel while a person is asked: got run %q", id)
		}
	}
	c, err := log.Confirmation(ctx, "c2", user)
	d.ok(err)
	if c.State != chat.ConfirmRejected {
		t.Errorf("confirmation after cancel: %s", c.State)
	}
	want := []string{"r1 message", "r1 run_finished", "r2 message", "r2 confirm_required", "r2 run_finished", "r2 confirm_resolved"}
	if diff := cmp.Diff(want, d.types()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	rows, err := log.AuditRows(ctx, eventlog.AuditFilter{})
	d.ok(err)
	if len(rows) != 2 {
		t.Errorf("audit rows: got %d, want one for the run and one for the card", len(rows))
	}
}
