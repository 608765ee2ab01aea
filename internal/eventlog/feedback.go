package eventlog

import (
	"context"
	"encoding/json"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

// Feedback stores what the owner thinks of a message, instead of what it was before. rating is up or down, or
// "" to take it back. Missing when the conversation has no such message, Invalid for another rating.
func (l *Log) Feedback(ctx context.Context, conversation, messageID, user, rating, comment string) error {
	if rating != "" && rating != "up" && rating != "down" {
		return &fault.Error{Kind: fault.Invalid, Msg: "A rating is up or down.", Fields: []fault.Field{{Pointer: "/rating", Detail: "must be up or down"}}}
	}
	found, err := l.message(ctx, conversation, messageID)
	if err != nil {
		return err
	}
	if !found {
		return fault.New(fault.Missing, "There is no such message.")
	}
	return l.apply(ctx, func(t *tx) error {
		if rating == "" {
			_, err := t.exec(`DELETE FROM feedback WHERE conversation = ? AND message_id = ? AND user_name = ?`, conversation, messageID, user)
			return err
		}
		_, err := t.exec(`INSERT INTO feedback (conversation, message_id, user_name, rating, comment, at) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (conversation, message_id, user_name) DO UPDATE SET rating = excluded.rating, comment = excluded.comment, at = excluded.at`,
			conversation, messageID, user, rating, clean(comment), micros(t.now))
		return err
	})
}

// message reports whether the conversation holds the message.
func (l *Log) message(ctx context.Context, conversation, id string) (bool, error) {
	rows, err := l.query(ctx, `SELECT body FROM event WHERE conversation = ? AND type = 'message'`, conversation)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for rows.Next() {
		var body string
		if err := rows.Scan(&body); err != nil {
			return false, failed(ctx, err)
		}
		var m chat.MessageEvent
		if json.Unmarshal([]byte(body), &m) == nil && m.MessageID == id {
			return true, nil
		}
	}
	if err := rows.Err(); err != nil {
		return false, failed(ctx, err)
	}
	return false, nil
}
