package eventlog

import (
	"context"
	"database/sql"
	"errors"
)

// Claim makes the caller the one who works on the run and returns its epoch for Write. Who claimed it before is
// refused from then on: a process that was taken for dead cannot write between the lines of its successor. What
// it had written is there to be read when Claim returns. Errors: Missing without such a run, Conflict with code
// run_ended when it has ended.
func (l *Log) Claim(ctx context.Context, runID string) (epoch int64, err error) {
	err = l.apply(ctx, func(t *tx) error {
		// The conversation's row first, as in Write: what is being written is committed before.
		n, err := t.exec(`UPDATE conversation SET updated = updated WHERE id = (SELECT conversation FROM run WHERE id = ?)`, runID)
		if err != nil {
			return err
		}
		if n == 0 {
			return missingRun()
		}
		err = t.change(`UPDATE run SET epoch = epoch + 1 WHERE id = ? AND ended = 0 RETURNING epoch`, []any{runID}, &epoch)
		if errors.Is(err, sql.ErrNoRows) {
			return runEnded()
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return epoch, nil
}
