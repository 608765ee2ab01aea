package eventlogtest

import (
	"testing"

	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/fault"

	"github.com/google/go-cmp/cmp"
)

func runs(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	want := d.start("r1")
	got, err := d.log.Run(ctx, "r1")
	d.ok(err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored run (-want +got):\n%s", diff)
	}
	_, err = d.log.Run(ctx, "nope")
	d.fails(err, fault.Missing, "")
	active, ok, err := d.log.ActiveRun(ctx, d.conv.ID)
	d.ok(err)
	if !ok || active.ID != "r1" {
		t.Errorf("active run: got %q, %v", active.ID, ok)
	}

	_, _, err = d.log.StartRun(ctx, eventlog.Start{Run: d.run("r2"), Entries: []chat.Entry{said("x", "again")}})
	d.fails(err, fault.Conflict, "run_active")
	missing := d.run("r3")
	missing.Conversation = "nope"
	_, _, err = d.log.StartRun(ctx, eventlog.Start{Run: missing})
	d.fails(err, fault.Missing, "")

	other := d.run("r4")
	other.Conversation = d.create(user).ID
	_, _, err = d.log.StartRun(ctx, eventlog.Start{Run: other, MaxPerUser: 1})
	d.fails(err, fault.RateLimited, "too_many_runs")
	_, _, err = d.log.StartRun(ctx, eventlog.Start{Run: other, MaxPerUser: 2})
	d.ok(err)
	all, err := d.log.ActiveRuns(ctx)
	d.ok(err)
	if len(all) != 2 {
		t.Errorf("active runs: got %d, want 2", len(all))
	}

	d.end("r1")
	if _, ok, err := d.log.ActiveRun(ctx, d.conv.ID); ok || err != nil {
		t.Errorf("after the end a run is active: %v, %v", ok, err)
	}
	first, replayed, err := d.log.StartRun(ctx, eventlog.Start{Run: d.run("r5"), Key: "k", Entries: []chat.Entry{said("m5", "five")}})
	d.ok(err)
	if replayed {
		t.Error("the first use of a key is replayed")
	}
	again, replayed, err := d.log.StartRun(ctx, eventlog.Start{Run: d.run("r6"), Key: "k", Entries: []chat.Entry{said("m6", "five")}})
	d.ok(err)
	if !replayed || !cmp.Equal(first, again) {
		t.Errorf("the second use of a key: replayed %v, run %q", replayed, again.ID)
	}
	d.end("r5")
	again, replayed, err = d.log.StartRun(ctx, eventlog.Start{Run: d.run("r7"), Key: "k"})
	d.ok(err)
	if !replayed || again.ID != "r5" || !again.Ended {
		t.Errorf("a key after its run has ended: replayed %v, run %+v", replayed, again)
	}
	if diff := cmp.Diff([]string{"r1 message", "r1 run_finished", "r5 message", "r5 run_finished"}, d.types()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func writes(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	d.start("r1")
	for name, w := range map[string]eventlog.Write{
		"an end without its event":  {End: true, Entries: []chat.Entry{delta("x")}},
		"a terminal event alone":    {Entries: []chat.Entry{finished("answered")}},
		"two terminal events":       {End: true, Entries: []chat.Entry{finished("answered"), {Event: &chat.RunError{}}}},
		"a late end":                {End: true, Late: true, Entries: []chat.Entry{finished("answered")}},
		"an entry without an event": {Entries: []chat.Entry{delta("x"), {}}},
	} {
		w.RunID = "r1"
		if _, err := d.log.Write(ctx, w); fault.KindOf(err) != fault.Internal {
			t.Errorf("%s: got %v, want an internal error", name, err)
		}
	}
	_, err := d.log.Write(ctx, eventlog.Write{RunID: "nope", Entries: []chat.Entry{delta("x")}})
	d.fails(err, fault.Missing, "")
	if n := d.write(eventlog.Write{RunID: "r1", Entries: []chat.Entry{delta("a"), delta("b")}}); n != 3 {
		t.Errorf("last seq: got %d, want 3", n)
	}
	// A write that fails at its end leaves nothing behind.
	_, err = d.log.Write(ctx, eventlog.Write{
		RunID: "r1", Entries: []chat.Entry{delta("never")}, Audit: []chat.AuditRow{{Kind: "never"}},
		Move: []eventlog.Move{{ID: "nope", From: []chat.ConfirmState{chat.ConfirmPending}, To: chat.ConfirmDone}},
	})
	d.fails(err, fault.Conflict, "confirmation_state")
	d.end("r1")
	_, err = d.log.Write(ctx, eventlog.Write{RunID: "r1", Entries: []chat.Entry{delta("late")}})
	d.fails(err, fault.Conflict, "run_ended")
	_, err = d.log.Write(ctx, eventlog.Write{RunID: "r1", Entries: []chat.Entry{finished("answered")}, End: true})
	d.fails(err, fault.Conflict, "run_ended")
	d.write(eventlog.Write{RunID: "r1", Late: true, Entries: []chat.Entry{{Event: &chat.ToolOutcome{CallID: "c", Outcome: chat.OutcomeApplied}}}})
	want := []string{"r1 message", "r1 text_delta", "r1 text_delta", "r1 run_finished", "r1 tool_outcome"}
	if diff := cmp.Diff(want, d.types()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	rows, err := d.log.AuditRows(ctx, eventlog.AuditFilter{})
	d.ok(err)
	if len(rows) != 0 {
		t.Errorf("the failed write left %d audit rows", len(rows))
	}
}

// claims is that only the last who claimed a run writes it.
func claims(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	d.start("r1")
	write := func(epoch int64, late, end bool) error {
		w := eventlog.Write{RunID: "r1", Epoch: epoch, Late: late, End: end, Entries: []chat.Entry{delta("x")}}
		if end {
			w.Entries = []chat.Entry{finished(chat.OutcomeAnswered)}
		}
		_, err := d.log.Write(ctx, w)
		return err
	}
	first, err := d.log.Claim(ctx, "r1")
	d.ok(err)
	d.ok(write(first, false, false))
	second, err := d.log.Claim(ctx, "r1")
	d.ok(err)
	if first == 0 || second == first {
		t.Fatalf("epochs: %d, then %d", first, second)
	}
	d.fails(write(first, false, false), fault.Conflict, "run_taken")
	d.fails(write(first, true, false), fault.Conflict, "run_taken")
	d.fails(write(first, false, true), fault.Conflict, "run_taken")
	d.ok(write(0, false, false))
	d.ok(write(second, false, false))
	d.ok(write(second, false, true))
	d.ok(write(second, true, false))
	d.fails(write(first, false, false), fault.Conflict, "run_ended")
	_, err = d.log.Claim(ctx, "r1")
	d.fails(err, fault.Conflict, "run_ended")
	_, err = d.log.Claim(ctx, "nope")
	d.fails(err, fault.Missing, "")
	want := []string{"r1 message", "r1 text_delta", "r1 text_delta", "r1 text_delta", "r1 run_finished", "r1 text_delta"}
	if diff := cmp.Diff(want, d.types()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
