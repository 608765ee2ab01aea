package eventlog

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

// Write adds to a run, all or nothing, and returns the conversation's last seq. Errors: Missing when the run or
// its conversation is gone; Conflict with code run_ended when the run has ended and the write is not Late, with
// code run_taken when the run was claimed after Epoch, with code confirmation_state when a Move finds another state; Internal when End and the terminal event do not come
// together, or there are two.
func (l *Log) Write(ctx context.Context, w chat.Write) (last int64, err error) {
	if err := terminal(w); err != nil {
		return 0, err
	}
	lines, err := encodeEntries(w.Entries)
	if err != nil {
		return 0, err
	}
	op := &operation{}
	if !w.Late && len(w.Confirm) == 0 && len(w.Move) == 0 && len(lines) > 0 {
		op.plain = &plain{run: w.RunID, lines: lines, audit: w.Audit, end: w.End, epoch: w.Epoch, last: &last}
	}
	op.do = func(t *tx) error {
		conversation, n, err := t.extend(w)
		if err != nil {
			return err
		}
		last = n
		if len(w.Entries) > 0 {
			if err := t.insert(conversation, w.RunID, n-int64(len(lines)), lines); err != nil {
				return err
			}
		}
		for _, c := range w.Confirm {
			if err := t.insertConfirmation(c); err != nil {
				return err
			}
		}
		for _, m := range w.Move {
			if err := t.move(conversation, m); err != nil {
				return err
			}
		}
		if w.End {
			if _, err := t.exec(`UPDATE run SET ended = ? WHERE id = ?`, micros(t.now), w.RunID); err != nil {
				return err
			}
		}
		t.made.audit = append(t.made.audit, w.Audit...)
		return nil
	}
	if err := l.submit(ctx, op); err != nil {
		return 0, err
	}
	return last, nil
}

// terminal checks that the run's last event and its end come together.
func terminal(w Write) error {
	n := 0
	for _, e := range w.Entries {
		if e.Event != nil && chat.Terminal(e.Event) {
			n++
		}
	}
	switch {
	case w.End && w.Late:
		return fault.New(fault.Internal, "A late write cannot end a run.")
	case w.End && n != 1, !w.End && n != 0:
		return fault.New(fault.Internal, "A run ends with exactly one terminal event.")
	}
	return nil
}

// extend reserves the seqs of the entries if the run may still be written.
func (t *tx) extend(w chat.Write) (conversation string, last int64, err error) {
	q := `UPDATE conversation SET last_seq = last_seq + ?, updated = ?
		WHERE id = (SELECT conversation FROM run WHERE id = ? AND ended = 0 AND CAST(? AS BIGINT) IN (0, epoch)) RETURNING id, last_seq`
	if w.Late {
		q = `UPDATE conversation SET last_seq = last_seq + ?, updated = ?
			WHERE id = (SELECT conversation FROM run WHERE id = ? AND CAST(? AS BIGINT) IN (0, epoch)) RETURNING id, last_seq`
	}
	err = t.change(q, []any{int64(len(w.Entries)), micros(t.now), w.RunID, w.Epoch}, &conversation, &last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", 0, err
	}
	if err == nil && !t.s.db.shared {
		return conversation, last, nil
	}
	// Nothing was met, or another writer may have ended or claimed the run before this one got the conversation's
	// row, which a look after it shows.
	var ended, epoch int64
	if e := t.get(`SELECT ended, epoch FROM run WHERE id = ?`, []any{w.RunID}, &ended, &epoch); errors.Is(e, sql.ErrNoRows) {
		return "", 0, missingRun()
	} else if e != nil {
		return "", 0, e
	}
	switch {
	case ended != 0 && !w.Late:
		return "", 0, runEnded()
	case w.Epoch != 0 && w.Epoch != epoch:
		return "", 0, &fault.Error{Kind: fault.Conflict, Code: "run_taken", Msg: "Another process goes on with this run."}
	case err != nil:
		return "", 0, missingConversation()
	}
	return conversation, last, nil
}

func runEnded() error {
	return &fault.Error{Kind: fault.Conflict, Code: "run_ended", Msg: "This run has ended."}
}

func (t *tx) move(conversation string, m chat.Move) error {
	if len(m.From) == 0 {
		return fault.New(fault.Internal, "A confirmation moves from a state.")
	}
	args := []any{string(m.To), m.ID, conversation}
	for _, s := range m.From {
		args = append(args, string(s))
	}
	n, err := t.exec(`UPDATE confirmation SET state = ? WHERE id = ? AND conversation = ? AND state IN (`+marks(len(m.From))+`)`, args...)
	if err == nil && n == 0 {
		return &fault.Error{Kind: fault.Conflict, Code: "confirmation_state", Msg: "The confirmation is not in the state that was expected."}
	}
	return err
}

// marks is n placeholders.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }
