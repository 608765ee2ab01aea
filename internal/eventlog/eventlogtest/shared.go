package eventlogtest

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agentd/internal/eventlog"
	"agentd/internal/fault"
)

// liveness is when nothing of a conversation may expire.
func liveness(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	now := func() time.Time { return d.now }
	other := p.Open(t, eventlog.Options{Now: now}) // another replica
	is := func(what string, want bool) {
		t.Helper()
		for _, l := range []*eventlog.Log{d.log, other} {
			if got, err := l.Live(ctx, d.conv.ID); err != nil || got != want {
				t.Errorf("%s: live %t, %v", what, got, err)
			}
		}
	}
	is("new", false)
	until := d.now.Add(time.Minute)
	d.ok(other.Watched(ctx, d.conv.ID, until))
	d.ok(other.Watched(ctx, d.conv.ID, until.Add(-time.Second))) // earlier: nothing
	is("watched", true)
	d.now = until.Add(-time.Microsecond)
	is("watched just so", true)
	d.now = until
	is("not watched any more", false)

	d.start("r1")
	is("a run", true)
	d.end("r1")
	is("no run any more", false)
	d.asked("r2", "q")
	is("a question", true)
	d.now = d.now.Add(48 * time.Hour)
	if _, err := d.log.ExpireConfirmations(ctx, resolved("expired")); err != nil {
		t.Fatal(err)
	}
	is("a question that has expired", false)
	d.ok(d.log.Watched(ctx, d.conv.ID, d.now.Add(time.Hour)))
	d.ok(d.log.DeleteConversation(ctx, d.conv.ID, user))
	d.ok(d.log.Watched(ctx, d.conv.ID, d.now.Add(2*time.Hour)))
	is("deleted", false)
}

func shared(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	now := func() time.Time { return d.now }
	replicas := []*eventlog.Log{d.log, p.Open(t, eventlog.Options{Now: now}), p.Open(t, eventlog.Options{Now: now})}

	var mu sync.Mutex
	var wg sync.WaitGroup
	keys := map[string]int{}
	var took atomic.Int64
	for i := range 30 {
		wg.Go(func() {
			l := replicas[i%len(replicas)]
			k, err := l.Secret(ctx, "cursors")
			if err != nil || len(k) != 32 || bytes.Equal(k, make([]byte, 32)) {
				t.Errorf("key %x, %v", k, err)
			}
			mu.Lock()
			keys[string(k)]++
			mu.Unlock()
			switch err := l.Spend(ctx, "token", d.now.Add(time.Minute)); {
			case err == nil:
				took.Add(1)
			case fault.KindOf(err) != fault.Conflict || fault.CodeOf(err) != "spent":
				t.Errorf("spend: %v", err)
			}
		})
	}
	wg.Wait()
	if len(keys) != 1 {
		t.Errorf("there are %d keys of one name", len(keys))
	}
	if n := took.Load(); n != 1 {
		t.Errorf("%d took what counts once", n)
	}
	if k, err := d.log.Secret(ctx, "other"); err != nil || keys[string(k)] > 0 {
		t.Errorf("the key of another name is %x, %v", k, err)
	}
	d.now = d.now.Add(time.Minute - time.Microsecond)
	d.fails(d.log.Spend(ctx, "token", d.now.Add(time.Minute)), fault.Conflict, "spent")
	d.now = d.now.Add(time.Microsecond)
	d.ok(replicas[1].Spend(ctx, "token", d.now.Add(time.Minute)))
}
