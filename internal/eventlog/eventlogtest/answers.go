package eventlogtest

import (
	"testing"

	"agentd/internal/eventlog"
	"agentd/internal/fault"

	"github.com/google/go-cmp/cmp"
)

func answers(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	d.start("r1")
	d.ok(d.log.Feedback(ctx, d.conv.ID, "m-r1", user, "up", "good\x00"))
	d.ok(d.log.Feedback(ctx, d.conv.ID, "m-r1", user, "down", ""))
	d.ok(d.log.Feedback(ctx, d.conv.ID, "m-r1", user, "", ""))
	d.fails(d.log.Feedback(ctx, d.conv.ID, "nope", user, "up", ""), fault.Missing, "")
	d.fails(d.log.Feedback(ctx, d.conv.ID, "m-r1", user, "great", ""), fault.Invalid, "")

	r := eventlog.Remembered{User: user, Conversation: d.conv.ID, Env: "dev", Tool: "update_chart", ArgsClass: "title"}
	d.ok(d.log.Remember(ctx, r))
	d.ok(d.log.Remember(ctx, r))
	elsewhere := r
	elsewhere.Conversation = d.create(user).ID
	d.ok(d.log.Remember(ctx, elsewhere))
	elsewhere.Conversation = "nope"
	d.fails(d.log.Remember(ctx, elsewhere), fault.Missing, "")
	all, err := d.log.Remembered(ctx, user, "")
	d.ok(err)
	here, err := d.log.Remembered(ctx, user, d.conv.ID)
	d.ok(err)
	if len(all) != 2 || len(here) != 1 {
		t.Fatalf("remembered: got %d and %d, want 2 and 1", len(all), len(here))
	}
	r.ID, r.Created = here[0].ID, d.now
	if diff := cmp.Diff(r, here[0]); diff != "" {
		t.Errorf("remembered (-want +got):\n%s", diff)
	}
	d.fails(d.log.Forget(ctx, r.ID, "bob"), fault.Missing, "")
	d.ok(d.log.Forget(ctx, r.ID, user))
	d.fails(d.log.Forget(ctx, r.ID, user), fault.Missing, "")
}
