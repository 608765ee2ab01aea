package eventlog

import (
	"context"
	"database/sql"
	"errors"

	"agentd/internal/chat"
)

// queued stands for the time of the end of a run that waits to begin.
const queued = -1

// Next lets the conversation's oldest waiting run begin and returns it; "" when none waits, another goes on, or a
// person is still asked.
func (l *Log) Next(ctx context.Context, conversation string) (runID string, err error) {
	err = l.apply(ctx, func(t *tx) error {
		runID = ""
		if err := t.lock("conversation " + conversation); err != nil {
			return err
		}
		err := t.change(`UPDATE run SET ended = 0 WHERE id = (SELECT id FROM run WHERE conversation = ? AND ended = -1 ORDER BY started, id LIMIT 1)
			AND NOT EXISTS (SELECT 1 FROM run WHERE conversation = ? AND ended = 0)
			AND NOT EXISTS (SELECT 1 FROM confirmation WHERE conversation = ? AND state = ?) RETURNING id`,
			[]any{conversation, conversation, conversation, string(chat.ConfirmPending)}, &runID)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return runID, err
}

// Waiting lists the conversations in which a run waits.
func (l *Log) Waiting(ctx context.Context) ([]string, error) {
	rows, err := l.query(ctx, `SELECT DISTINCT conversation FROM run WHERE ended = -1 ORDER BY conversation`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var c string
		if err := rows.Scan(&c); err != nil {
			return nil, failed(ctx, err)
		}
		out = append(out, c)
	}
	if err := rows.Err(); err != nil {
		return nil, failed(ctx, err)
	}
	return out, nil
}
