package eventlog

import (
	"context"

	"agentd/internal/chat"
)

// EachResult calls each with every answer of a call that the histories hold, in no order. It is for diagnostics
// and reads the whole log.
func (l *Log) EachResult(ctx context.Context, each func(chat.ToolResult)) error {
	rows, err := l.query(ctx, `SELECT note FROM event WHERE note LIKE '%"result":%'`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return failed(ctx, err)
		}
		var n chat.Note
		if err := decode(text, &n); err != nil {
			return err
		}
		if n.Result != nil {
			each(*n.Result)
		}
	}
	if err := rows.Err(); err != nil {
		return failed(ctx, err)
	}
	return nil
}
