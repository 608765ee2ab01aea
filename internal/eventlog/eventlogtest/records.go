package eventlogtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/fault"

	"github.com/google/go-cmp/cmp"
)

func records(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	if n, err := d.log.Last(ctx, d.conv.ID); n != 0 || err != nil {
		t.Errorf("last of an empty conversation: %d, %v", n, err)
	}
	_, err := d.log.Last(ctx, "nope")
	d.fails(err, fault.Missing, "")
	_, err = d.log.Read(ctx, "nope", 0, 10)
	d.fails(err, fault.Missing, "")

	run := d.start("r1")
	before := d.log.Changed(d.conv.ID)
	quiet := d.log.Changed(d.create(user).ID)
	var want []chat.Record
	want = append(want, chat.Record{Conversation: d.conv.ID, Seq: 1, RunID: run.ID, At: d.now, Entry: said("m-r1", "hello r1")})
	for i := range 9 {
		e := delta(fmt.Sprintf("<b>&\u2028 %d", i))
		d.now = d.now.Add(time.Millisecond)
		d.write(eventlog.Write{RunID: "r1", Entries: []chat.Entry{e}})
		want = append(want, chat.Record{Conversation: d.conv.ID, Seq: int64(i) + 2, RunID: run.ID, At: d.now, Entry: e})
	}
	<-before
	select {
	case <-quiet:
		t.Error("a conversation that did not change was announced")
	default:
	}
	for _, c := range []struct {
		after int64
		limit int
		from  int
		to    int
	}{{0, 0, 0, 10}, {0, 3, 0, 3}, {3, 3, 3, 6}, {9, 3, 9, 10}, {10, 3, 10, 10}, {99, 3, 10, 10}} {
		got, err := d.log.Read(ctx, d.conv.ID, c.after, c.limit)
		d.ok(err)
		if diff := cmp.Diff(append([]chat.Record{}, want[c.from:c.to]...), append([]chat.Record{}, got...)); diff != "" {
			t.Errorf("read after %d limit %d (-want +got):\n%s", c.after, c.limit, diff)
		}
		lines, err := d.log.Lines(ctx, d.conv.ID, c.after, c.limit)
		d.ok(err)
		if len(lines) != len(got) || (len(lines) > 0 && lines[0].Seq != got[0].Seq) {
			t.Errorf("lines after %d: got %d, want %d", c.after, len(lines), len(got))
		}
	}
	ended, stop := context.WithCancel(ctx)
	stop()
	_, err = d.log.Read(ended, d.conv.ID, 0, 0)
	d.fails(err, fault.Canceled, "")
	_, err = d.log.Write(ended, eventlog.Write{RunID: "r1", Entries: []chat.Entry{delta("x")}})
	d.fails(err, fault.Canceled, "")
}
