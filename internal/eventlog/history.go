package eventlog

import (
	"context"

	"agentd/internal/chat"
)

// History reads a conversation whole and in order, but for its text deltas: they are replaced by the final texts,
// and are most of a log. Missing when there is no such conversation.
func (l *Log) History(ctx context.Context, conversation string) ([]chat.Record, error) {
	rows, err := l.query(ctx, `SELECT seq, run, at, type, body, note FROM event WHERE conversation = ? AND type <> 'text_delta' ORDER BY seq`, conversation)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []chat.Record
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.seq, &r.run, &r.at, &r.typ, &r.body, &r.note); err != nil {
			return nil, failed(ctx, err)
		}
		e, err := decodeEntry(r.typ, r.body, r.note)
		if err != nil {
			return nil, err
		}
		out = append(out, chat.Record{Conversation: conversation, Seq: r.seq, RunID: r.run, At: fromMicros(r.at), Entry: e})
	}
	if err := rows.Err(); err != nil {
		return nil, failed(ctx, err)
	}
	if len(out) > 0 {
		return out, nil
	}
	_, err = l.Last(ctx, conversation)
	return nil, err
}
