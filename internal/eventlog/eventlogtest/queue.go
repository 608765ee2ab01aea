package eventlogtest

import (
	"slices"
	"testing"
	"time"

	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/fault"
)

// queue: runs that wait begin in their order, one at a time, and never while a person is asked.
func queue(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	next := func(want string) {
		t.Helper()
		got, err := d.log.Next(ctx, d.conv.ID)
		d.ok(err)
		if got != want {
			t.Fatalf("next is %q, want %q", got, want)
		}
	}
	next("")
	d.start("r1")
	for _, id := range []string{"r2", "r3"} {
		d.now = d.now.Add(time.Second)
		run, _, err := d.log.StartRun(ctx, eventlog.Start{Run: d.run(id), Queue: true, Entries: []chat.Entry{said("m-"+id, id)}})
		d.ok(err)
		if !run.Queued || run.Ended {
			t.Fatalf("while r1 goes on: %+v", run)
		}
	}
	_, _, err := d.log.StartRun(ctx, eventlog.Start{Run: d.run("r4"), Queue: true, MaxPerUser: 3})
	d.fails(err, fault.RateLimited, "too_many_runs")
	_, err = d.log.Write(ctx, eventlog.Write{RunID: "r2", Entries: []chat.Entry{said("x", "too early")}})
	d.fails(err, fault.Conflict, "run_ended")
	if active, err := d.log.ActiveRuns(ctx); err != nil || len(active) != 1 || active[0].ID != "r1" {
		t.Errorf("active runs %v, %v", active, err)
	}
	next("")
	d.end("r1")
	if waiting, err := d.log.Waiting(ctx); err != nil || !slices.Equal(waiting, []string{d.conv.ID}) {
		t.Errorf("waiting: %v, %v", waiting, err)
	}
	next("r2")
	next("")
	c := chat.Confirmation{ID: "c1", Conversation: d.conv.ID, RunID: "r2", User: user, CallID: "call", Args: []byte("{}"), Expires: d.now.Add(time.Hour)}
	d.write(eventlog.Write{RunID: "r2", Confirm: []chat.Confirmation{c}, Entries: []chat.Entry{finished(chat.OutcomeAwaiting)}, End: true})
	next("")
	_, err = d.log.Cancel(ctx, d.conv.ID, func(chat.Confirmation) []chat.Entry { return nil })
	d.ok(err)
	next("r3")
	d.end("r3")
	if waiting, err := d.log.Waiting(ctx); err != nil || len(waiting) != 0 {
		t.Errorf("nothing waits any more: %v, %v", waiting, err)
	}
	run, _, err := d.log.StartRun(ctx, eventlog.Start{Run: d.run("r5"), Queue: true})
	d.ok(err)
	if run.Queued {
		t.Error("nothing goes on, and the run waits")
	}
}
