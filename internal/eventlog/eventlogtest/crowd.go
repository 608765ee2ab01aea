package eventlogtest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/fault"

	"github.com/google/go-cmp/cmp"
)

// crowd writes from many goroutines, some writes failing after they wrote, while readers follow.
func crowd(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	const writers, each = 16, 40
	failed, fail := context.WithCancel(ctx) // a reader does not wait for a writer that has failed
	defer fail()
	var wg sync.WaitGroup
	for w := range writers {
		conv := d.create(user).ID
		run := fmt.Sprint("r", w)
		_, _, err := d.log.StartRun(ctx, eventlog.Start{Run: chat.Run{ID: run, Conversation: conv, Who: chat.Identity{User: user}}})
		d.ok(err)
		wg.Go(func() {
			for i := range each {
				if i%10 == 3 {
					_, err := d.log.Write(ctx, eventlog.Write{RunID: run, Entries: []chat.Entry{delta("undone")},
						Move: []eventlog.Move{{ID: "nope", From: []chat.ConfirmState{chat.ConfirmPending}, To: chat.ConfirmDone}}})
					if fault.CodeOf(err) != "confirmation_state" {
						t.Errorf("a write that must fail: %v", err)
					}
				}
				n, err := d.log.Write(ctx, eventlog.Write{RunID: run, Entries: []chat.Entry{delta(fmt.Sprint(i))}, Audit: []chat.AuditRow{{Kind: "guard"}}})
				if err != nil || n != int64(i)+1 {
					t.Errorf("write %d of %s: seq %d, %v", i, run, n, err)
					fail()
					return
				}
			}
		})
		wg.Go(func() {
			for seen := int64(0); seen < each; {
				changed := d.log.Changed(conv)
				got, err := d.log.Read(ctx, conv, seen, 7)
				if err != nil {
					t.Errorf("read: %v", err)
					return
				}
				for _, r := range got {
					if seen++; r.Seq != seen || r.Event.(*chat.TextDelta).Text != fmt.Sprint(seen-1) {
						t.Errorf("reader of %s: seq %d, %v; want seq %d", conv, r.Seq, r.Event, seen)
						return
					}
				}
				if len(got) > 0 {
					continue
				}
				select {
				case <-changed:
				case <-failed.Done():
					return
				}
			}
		})
	}
	wg.Wait()
	rows, err := d.log.AuditRows(ctx, eventlog.AuditFilter{})
	d.ok(err)
	if len(rows) != writers*each {
		t.Errorf("audit rows: got %d, want %d", len(rows), writers*each)
	}
	d.ok(d.log.VerifyAudit(ctx))
}

// reopened is what a restart finds, and what a closed log says.
func reopened(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	c := d.asked("r1", "c1")
	d.ok(d.log.Close())
	d.ok(d.log.Close())
	_, err := d.log.Write(ctx, eventlog.Write{RunID: "r1", Entries: []chat.Entry{delta("x")}, Late: true})
	d.fails(err, fault.Transient, "")
	d.log = p.Open(t, eventlog.Options{Now: func() time.Time { return d.now }})
	if diff := cmp.Diff([]string{"r1 message", "r1 confirm_required", "r1 run_finished"}, d.types()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	got, err := d.log.Decide(ctx, d.decision(c, "approve", "r2"))
	d.ok(err)
	if got.RunID != "r2" {
		t.Errorf("decision after a restart: %+v", got)
	}
	d.ok(d.log.VerifyAudit(ctx))
}
