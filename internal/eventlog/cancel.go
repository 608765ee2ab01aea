package eventlog

import (
	"context"
	"database/sql"
	"errors"

	"agentd/internal/chat"
)

// Cancel stops what goes on in a conversation. A run that goes on is marked and its id returned; OnCancel is
// called on each replica after the commit, perhaps more than once. When no run goes on, pending confirmations
// are rejected in the name of the user who was asked, with the entries that reject gives under the run that
// asked. Asking twice, or with nothing to stop, changes nothing. The audit rows are written when something
// changed. reject must only compute.
func (l *Log) Cancel(ctx context.Context, conversation string, reject func(chat.Confirmation) []chat.Entry, audit ...chat.AuditRow) (runID string, err error) {
	err = l.apply(ctx, func(t *tx) error {
		runID = ""
		if err := t.lock("conversation " + conversation); err != nil {
			return err
		}
		run, err := t.active(conversation)
		if err != nil {
			return err
		}
		if run != nil {
			runID = run.ID
			t.made.cancels = append(t.made.cancels, run.ID)
			if run.Cancelled {
				return nil
			}
			t.made.audit = append(t.made.audit, audit...)
			_, err := t.exec(`UPDATE run SET cancelled = 1 WHERE id = ?`, run.ID)
			return err
		}
		open, err := t.pending(conversation)
		if err != nil || len(open) == 0 {
			return err
		}
		for _, c := range open {
			if err := t.resolve(c, chat.ConfirmRejected, "reject", c.User, reject(c)); err != nil {
				return err
			}
		}
		t.made.audit = append(t.made.audit, audit...)
		return nil
	})
	if err != nil {
		return "", err
	}
	return runID, nil
}

// Cancelled reports whether somebody asked the run to stop. Missing when there is no such run.
func (l *Log) Cancelled(ctx context.Context, runID string) (bool, error) {
	var n int64
	err := l.get(ctx, `SELECT cancelled FROM run WHERE id = ?`, []any{runID}, &n)
	if errors.Is(err, sql.ErrNoRows) {
		return false, missingRun()
	}
	return n != 0, err
}
