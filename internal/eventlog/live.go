package eventlog

import (
	"context"
	"time"
)

// Watched notes that somebody watches the conversation until then, at least. An earlier time than was noted
// before, and a conversation that is not there, change nothing.
func (l *Log) Watched(ctx context.Context, conversation string, until time.Time) error {
	return l.apply(ctx, func(t *tx) error {
		_, err := t.exec(`UPDATE conversation SET watched = ? WHERE id = ? AND watched < ?`, micros(until), conversation, micros(until))
		return err
	})
}

// Live reports whether the conversation is in use, on any replica: a run is going, a question is open, or
// somebody watches it.
func (l *Log) Live(ctx context.Context, conversation string) (bool, error) {
	var n int64
	err := l.get(ctx, `SELECT (SELECT count(*) FROM conversation WHERE id = ? AND watched > ?)
		+ (SELECT count(*) FROM run WHERE conversation = ? AND ended = 0)
		+ (SELECT count(*) FROM confirmation WHERE conversation = ? AND state = 'pending')`,
		[]any{conversation, micros(l.stamp()), conversation, conversation}, &n)
	return n > 0, err
}
