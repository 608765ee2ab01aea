package eventlog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"agentd/internal/chat"
)

// Audit appends rows that belong to no other write, all or nothing. Seq, At and Hash are set by the log.
func (l *Log) Audit(ctx context.Context, rows ...chat.AuditRow) error {
	if len(rows) == 0 {
		return nil
	}
	return l.apply(ctx, func(t *tx) error {
		t.made.audit = append(t.made.audit, rows...)
		return nil
	})
}

// writeAudit appends the rows of a batch's operations. The head's row is taken first: it gives the numbers and
// keeps other replicas out of the chain until the commit.
func writeAudit(t *tx, batch []*operation) error {
	var rows []chat.AuditRow
	for _, op := range batch {
		if op.err == nil {
			rows = append(rows, op.made.audit...)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	var seq int64
	var hash string
	if err := t.change(`UPDATE audit_head SET seq = seq + ? WHERE id = 1 RETURNING seq, hash`, []any{int64(len(rows))}, &seq, &hash); err != nil {
		return err
	}
	seq -= int64(len(rows))
	lines := make([]auditLine, len(rows))
	for i, r := range rows {
		seq++
		r.Seq, r.At, r.Hash = seq, t.now, ""
		body, err := encode(r)
		if err != nil {
			return err
		}
		hash = chain(hash, body)
		lines[i] = auditLine{seq, micros(r.At), clean(r.User), clean(r.Tool), clean(r.EnvID), clean(r.Verdict), body, hash}
	}
	if err := t.insertAudit(lines); err != nil {
		return err
	}
	_, err := t.exec(`UPDATE audit_head SET hash = ? WHERE id = 1`, hash)
	return err
}

const auditColumns = `INSERT INTO audit (seq, at, user_name, tool, env, verdict, body, hash) `

// insertAudit writes the lines, in one statement where each must travel.
func (t *tx) insertAudit(lines []auditLine) error {
	if !t.s.db.shared || len(lines) == 1 {
		for _, r := range lines {
			if _, err := t.exec(auditColumns+`VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, r.seq, r.at, r.user, r.tool, r.env, r.verdict, r.body, r.hash); err != nil {
				return err
			}
		}
		return nil
	}
	n := make([][]int64, 2)
	c := make([][]string, 6)
	for _, r := range lines {
		for i, v := range []int64{r.seq, r.at} {
			n[i] = append(n[i], v)
		}
		for i, v := range []string{r.user, r.tool, r.env, r.verdict, r.body, r.hash} {
			c[i] = append(c[i], v)
		}
	}
	_, err := t.exec(auditColumns+`SELECT * FROM unnest(?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[])`,
		n[0], n[1], c[0], c[1], c[2], c[3], c[4], c[5])
	return err
}

// chain is the hash of a row after the row with the hash before.
func chain(before, body string) string {
	h := sha256.New()
	h.Write([]byte(before))
	h.Write([]byte{'\n'})
	h.Write([]byte(body))
	return hex.EncodeToString(h.Sum(nil))
}

// AuditFilter narrows AuditRows. The zero filter is the first 1000 of all.
type AuditFilter struct {
	Since   time.Time
	User    string
	Tool    string
	Env     string
	Verdict string
	After   int64 // seq of the last row that was seen
	Limit   int   // 0 is 1000
}

// AuditRows lists the audit in order.
func (l *Log) AuditRows(ctx context.Context, f AuditFilter) ([]chat.AuditRow, error) {
	if f.Limit <= 0 {
		f.Limit = maxRead
	}
	where, args := `WHERE seq > ? AND at >= ?`, []any{f.After, micros(f.Since)}
	for _, c := range []struct{ column, value string }{
		{"user_name", f.User}, {"tool", f.Tool}, {"env", f.Env}, {"verdict", f.Verdict},
	} {
		if c.value != "" {
			where, args = where+` AND `+c.column+` = ?`, append(args, clean(c.value))
		}
	}
	rows, err := l.query(ctx, `SELECT body, hash FROM audit `+where+` ORDER BY seq LIMIT ?`, append(args, f.Limit)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []chat.AuditRow
	for rows.Next() {
		var body, hash string
		if err := rows.Scan(&body, &hash); err != nil {
			return nil, failed(ctx, err)
		}
		var r chat.AuditRow
		if err := decode(body, &r); err != nil {
			return nil, err
		}
		r.Hash = hash
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		return nil, failed(ctx, err)
	}
	return out, nil
}
