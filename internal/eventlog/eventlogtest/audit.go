package eventlogtest

import (
	"strings"
	"testing"
	"time"

	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/fault"
)

func audit(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	d.ok(d.log.VerifyAudit(ctx))
	for i := range 5 {
		d.now = d.now.Add(time.Minute)
		d.ok(d.log.Audit(ctx, chat.AuditRow{Kind: "guard", User: []string{"ann", "bob"}[i%2], Tool: "t", EnvID: "prod", Verdict: "allow"},
			chat.AuditRow{Kind: "started", User: "ann", Tool: "u", ArgsShown: []byte(`{"a":"<1>"}`)}))
	}
	d.ok(d.log.Audit(ctx))
	d.ok(d.log.VerifyAudit(ctx))
	for want, f := range map[int]eventlog.AuditFilter{
		10: {}, 8: {User: "ann"}, 2: {User: "bob", Env: "prod", Tool: "t", Verdict: "allow"}, 4: {Since: d.now.Add(-time.Minute)}, 3: {After: 7}, 1: {After: 7, Limit: 1}, 0: {Tool: "none"},
	} {
		rows, err := d.log.AuditRows(ctx, f)
		d.ok(err)
		if len(rows) != want {
			t.Errorf("rows of %+v: got %d, want %d", f, len(rows), want)
		}
	}
	for _, c := range []struct{ statement, undo, want string }{
		{`UPDATE audit SET verdict = 'deny' WHERE seq = 3`, `UPDATE audit SET verdict = 'allow' WHERE seq = 3`, "Row 3 "},
		{`UPDATE audit SET body = replace(body, '"bob"', '"eve"'), user_name = 'eve' WHERE seq = 3`,
			`UPDATE audit SET body = replace(body, '"eve"', '"bob"'), user_name = 'bob' WHERE seq = 3`, "Row 3 "},
		{`UPDATE audit SET seq = 50 WHERE seq = 7`, `UPDATE audit SET seq = 7 WHERE seq = 50`, "Row 7 of the audit is missing"},
		{`UPDATE audit SET seq = -1 WHERE seq = 1`, `UPDATE audit SET seq = 1 WHERE seq = -1`, "Row 1 of the audit is missing"},
		{`DELETE FROM audit WHERE seq > 8`, ``, "ends with row 8"},
	} {
		p.Exec(t, c.statement)
		err := d.log.VerifyAudit(ctx)
		d.fails(err, fault.Conflict, "audit_broken")
		if !strings.Contains(fault.Message(err), c.want) {
			t.Errorf("after %s: got %q, want %q in it", c.statement, fault.Message(err), c.want)
		}
		if c.undo != "" {
			p.Exec(t, c.undo)
			d.ok(d.log.VerifyAudit(ctx))
		}
	}
}
