package eventlogtest

import (
	"encoding/json"
	"testing"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"

	"github.com/google/go-cmp/cmp"
)

func migrations(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	plan := chat.Migration{ID: "plan_1", User: user, Target: "prod", State: chat.MigrationPlanned, Expires: d.now.Add(30 * time.Minute), Body: json.RawMessage(`{"a":"<é>"}`)}
	d.ok(d.log.PutMigration(ctx, plan))
	d.fails(d.log.PutMigration(ctx, plan), fault.Conflict, "")
	got, err := d.log.Migration(ctx, "plan_1", user)
	d.ok(err)
	if diff := cmp.Diff(plan, got); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	_, err = d.log.Migration(ctx, "plan_1", "bob")
	d.fails(err, fault.Missing, "")
	_, err = d.log.Migration(ctx, "plan_2", user)
	d.fails(err, fault.Missing, "")

	// One at a time per target, and a lapsed one frees it.
	one := chat.Migration{ID: "mig_1", User: user, Target: "prod", Expires: d.now.Add(time.Hour), Body: json.RawMessage(`1`)}
	two := chat.Migration{ID: "mig_2", User: "bob", Target: "prod", Expires: d.now.Add(time.Hour), Body: json.RawMessage(`2`)}
	other := chat.Migration{ID: "mig_3", User: user, Target: "dev", Expires: d.now.Add(time.Hour), Body: json.RawMessage(`3`)}
	d.ok(d.log.BeginMigration(ctx, one, d.now.Add(10*time.Minute)))
	d.fails(d.log.BeginMigration(ctx, two, d.now.Add(10*time.Minute)), fault.Conflict, "migration_busy")
	d.ok(d.log.BeginMigration(ctx, other, d.now.Add(10*time.Minute)))
	one.Body = json.RawMessage(`11`)
	d.ok(d.log.NoteMigration(ctx, one))
	d.now = d.now.Add(10*time.Minute - time.Microsecond)
	d.fails(d.log.BeginMigration(ctx, two, d.now.Add(10*time.Minute)), fault.Conflict, "migration_busy")
	d.now = d.now.Add(time.Microsecond)
	d.ok(d.log.BeginMigration(ctx, two, d.now.Add(10*time.Minute)))
	got, err = d.log.Migration(ctx, "mig_1", user)
	d.ok(err)
	if got.State != chat.MigrationBusy || string(got.Body) != `11` {
		t.Errorf("a lapsed one is %s %s", got.State, got.Body)
	}
	two.State, two.Body = chat.MigrationDone, json.RawMessage(`22`)
	d.ok(d.log.EndMigration(ctx, two))
	d.fails(d.log.EndMigration(ctx, two), fault.Conflict, "migration_state")
	d.fails(d.log.NoteMigration(ctx, two), fault.Conflict, "migration_state")
	d.ok(d.log.BeginMigration(ctx, two, d.now.Add(time.Minute))) // its rollback
	two.State = chat.MigrationUndone
	d.ok(d.log.EndMigration(ctx, two))

	d.now = plan.Expires.Add(-time.Microsecond)
	_, err = d.log.Migration(ctx, "plan_1", user)
	d.ok(err)
	d.now = plan.Expires
	_, err = d.log.Migration(ctx, "plan_1", user)
	d.fails(err, fault.Gone, "migration_expired")
	d.now = plan.Expires.Add(25 * time.Hour)
	d.ok(d.log.PutMigration(ctx, chat.Migration{ID: "plan_3", User: user, Target: "prod", State: chat.MigrationPlanned, Expires: d.now.Add(time.Hour), Body: json.RawMessage(`{}`)}))
	_, err = d.log.Migration(ctx, "plan_1", user)
	d.fails(err, fault.Missing, "")
}
