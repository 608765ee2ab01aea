package eventlog

import (
	"context"
	"database/sql"
	"fmt"

	"agentd/internal/chat"
	"agentd/internal/fault"

	"github.com/pressly/goose/v3"
)

// VerifyAudit recomputes the audit's chain. nil says that every row from the first to the last is there as it
// was written; otherwise the error is a Conflict with code audit_broken that names the first row which is not.
// Who can write the database can also write a new chain: compare the last hash with one that was kept elsewhere.
func (l *Log) VerifyAudit(ctx context.Context) error {
	opts := &sql.TxOptions{ReadOnly: true}
	if l.db.dialect == goose.DialectPostgres {
		opts.Isolation = sql.LevelRepeatableRead // one snapshot, which SQLite gives anyway
	}
	snapshot, err := l.db.read.BeginTx(ctx, opts)
	if err != nil {
		return failed(ctx, err)
	}
	defer func() { _ = snapshot.Rollback() }() // it only read
	var last int64
	var head string
	if err := snapshot.QueryRowContext(ctx, `SELECT seq, hash FROM audit_head WHERE id = 1`).Scan(&last, &head); err != nil {
		return failed(ctx, err)
	}
	rows, err := snapshot.QueryContext(ctx, `SELECT seq, at, user_name, tool, env, verdict, body, hash FROM audit ORDER BY seq`)
	if err != nil {
		return failed(ctx, err)
	}
	defer rows.Close()
	var seq int64
	var hash string
	for rows.Next() {
		var r auditLine
		if err := rows.Scan(&r.seq, &r.at, &r.user, &r.tool, &r.env, &r.verdict, &r.body, &r.hash); err != nil {
			return failed(ctx, err)
		}
		if r.seq != seq+1 {
			return broken(fmt.Sprintf("Row %d of the audit is missing: row %d follows row %d.", seq+1, r.seq, seq))
		}
		if r.hash != chain(hash, r.body) || !r.honest() {
			return broken(fmt.Sprintf("Row %d of the audit is not as it was written.", r.seq))
		}
		seq, hash = r.seq, r.hash
	}
	if err := rows.Err(); err != nil {
		return failed(ctx, err)
	}
	switch {
	case seq < last:
		return broken(fmt.Sprintf("The audit ends with row %d, but %d rows were written.", seq, last))
	case seq > last || hash != head:
		return broken(fmt.Sprintf("Row %d of the audit is not the last that was written.", seq))
	}
	return nil
}

type auditLine struct {
	seq, at                              int64
	user, tool, env, verdict, body, hash string
}

// honest reports whether the columns that rows are found by say what the hashed text says.
func (r *auditLine) honest() bool {
	var a chat.AuditRow
	if decode(r.body, &a) != nil {
		return false
	}
	return a.Seq == r.seq && micros(a.At) == r.at && a.User == r.user && a.Tool == r.tool && a.EnvID == r.env && a.Verdict == r.verdict
}

func broken(msg string) error {
	return &fault.Error{Kind: fault.Conflict, Code: "audit_broken", Msg: msg}
}
