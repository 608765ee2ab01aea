package eventlog

import "agentd/internal/chat"

// plain is a write that only appends to a run that goes on, and perhaps ends it, as most writes do.
type plain struct {
	run   string
	end   bool
	epoch int64
	lines []entry
	audit []chat.AuditRow
	last  *int64 // where the last seq goes
}

// appendTogether appends the lines of many writes in one statement. A run that has ended, was claimed by another or is
// not there gives no rows. Its row is locked, so that no other replica ends or claims it before the commit.
const appendTogether = `
WITH w AS (SELECT * FROM unnest(?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[]) AS w (n, epoch, run, type, body, note)),
r AS (SELECT id, conversation, epoch FROM run WHERE id = ANY(?::text[]) AND ended = 0 ORDER BY id FOR SHARE),
k AS (SELECT r.conversation, count(*) AS added FROM w JOIN r ON r.id = w.run AND w.epoch IN (0, r.epoch) GROUP BY r.conversation),
c AS (UPDATE conversation SET last_seq = last_seq + k.added, updated = ? FROM k WHERE conversation.id = k.conversation
	RETURNING conversation.id, last_seq - k.added AS base),
s AS (SELECT w.n, c.id AS conversation, c.base + row_number() OVER (PARTITION BY c.id ORDER BY w.n) AS seq, w.run, w.type, w.body, w.note
	FROM w JOIN r ON r.id = w.run AND w.epoch IN (0, r.epoch) JOIN c ON c.id = r.conversation),
i AS (INSERT INTO event (conversation, seq, run, at, type, body, note) SELECT conversation, seq, run, ?, type, body, note FROM s)
SELECT n, conversation, seq FROM s ORDER BY n`

// together executes the plain writes of a batch in one statement, for a database that each statement must travel
// to. What it has not settled is executed as usual, and finds its own error.
func together(t *tx, batch []*operation) error {
	var (
		number, epoch        []int64
		run, typ, body, note []string
		owner                []*operation // by number
	)
	writes := map[string]int{} // run → its plain writes in this batch
	for _, op := range batch {
		if op.plain != nil {
			writes[op.plain.run]++
		}
	}
	var ended []string
	for _, op := range batch {
		if op.plain == nil || writes[op.plain.run] > 1 { // of several, one may end the run
			continue
		}
		for _, l := range op.plain.lines {
			number, epoch = append(number, int64(len(owner))), append(epoch, op.plain.epoch)
			owner = append(owner, op)
			run, typ, body, note = append(run, op.plain.run), append(typ, l.typ), append(body, l.body), append(note, l.note)
		}
	}
	if len(number) == 0 {
		return nil
	}
	rows, err := t.query(appendTogether, number, epoch, run, typ, body, note, run, micros(t.now), micros(t.now))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n, seq int64
		var conversation string
		if err := rows.Scan(&n, &conversation, &seq); err != nil {
			return err
		}
		op := owner[n]
		if !op.settled {
			op.settled = true
			op.made.audit = op.plain.audit
			if op.plain.end {
				ended = append(ended, op.plain.run)
			}
		}
		*op.plain.last = seq
		op.made.touch(conversation, seq)
	}
	if err := rows.Err(); err != nil || len(ended) == 0 {
		return err
	}
	rows.Close()
	_, err = t.exec(`UPDATE run SET ended = ? WHERE id = ANY(?::text[])`, micros(t.now), ended)
	return err
}
