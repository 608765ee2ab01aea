package eventlog

import (
	"context"
	"database/sql"
	"errors"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

// maxRead bounds one Read when the caller names no limit.
const maxRead = 1000

// An entry is a chat.Entry as it is stored.
type entry struct{ typ, body, note string }

// encodeEntries makes lines of entries. It is done before the writer is asked, which is one for all.
func encodeEntries(entries []chat.Entry) ([]entry, error) {
	out := make([]entry, len(entries))
	for i, e := range entries {
		if e.Event == nil {
			return nil, fault.New(fault.Internal, "An entry of the event log has no event.")
		}
		body, err := encode(e.Event)
		if err != nil {
			return nil, err
		}
		note, err := encodeNote(e.Note)
		if err != nil {
			return nil, err
		}
		out[i] = entry{e.Event.Type(), body, note}
	}
	return out, nil
}

// append adds lines to the conversation's end under run. Missing when there is no such conversation.
func (t *tx) append(conversation, run string, lines []entry) error {
	var last int64
	err := t.change(`UPDATE conversation SET last_seq = last_seq + ?, updated = ? WHERE id = ? RETURNING last_seq`,
		[]any{int64(len(lines)), micros(t.now), conversation}, &last)
	if errors.Is(err, sql.ErrNoRows) {
		return missingConversation()
	}
	if err != nil {
		return err
	}
	return t.insert(conversation, run, last-int64(len(lines)), lines)
}

// insert writes lines after the seq that was reserved for them.
func (t *tx) insert(conversation, run string, after int64, lines []entry) error {
	for i, e := range lines {
		if _, err := t.exec(`INSERT INTO event (conversation, seq, run, at, type, body, note) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			conversation, after+int64(i)+1, run, micros(t.now), e.typ, e.body, e.note); err != nil {
			return err
		}
	}
	t.touch(conversation, after+int64(len(lines)))
	return nil
}

// Read returns the records after a position, in order and without gaps; none when there are no more. A limit
// of 0 or less is 1000. Missing when the conversation does not exist (any more).
func (l *Log) Read(ctx context.Context, conversation string, after int64, limit int) ([]chat.Record, error) {
	var out []chat.Record
	err := l.each(ctx, conversation, after, limit, func(r *row) error {
		e, err := decodeEntry(r.typ, r.body, r.note)
		if err != nil {
			return err
		}
		out = append(out, chat.Record{Conversation: conversation, Seq: r.seq, RunID: r.run, At: fromMicros(r.at), Entry: e})
		return nil
	})
	return out, err
}

// A Line is a record as it is stored, for those who pass it on without looking into it.
type Line struct {
	Seq   int64
	RunID string
	At    int64  // microseconds since 1970 in UTC
	Type  string // of the event
	Body  string // the event's payload, a JSON object
}

// Lines is Read without decoding.
func (l *Log) Lines(ctx context.Context, conversation string, after int64, limit int) ([]Line, error) {
	var out []Line
	err := l.each(ctx, conversation, after, limit, func(r *row) error {
		out = append(out, Line{Seq: r.seq, RunID: r.run, At: r.at, Type: r.typ, Body: r.body})
		return nil
	})
	return out, err
}

type row struct {
	seq, at              int64
	run, typ, body, note string
}

func (l *Log) each(ctx context.Context, conversation string, after int64, limit int, f func(*row) error) error {
	if limit <= 0 {
		limit = maxRead
	}
	rows, err := l.query(ctx, `SELECT seq, run, at, type, body, note FROM event WHERE conversation = ? AND seq > ? ORDER BY seq LIMIT ?`,
		conversation, after, limit)
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var r row
		if err := rows.Scan(&r.seq, &r.run, &r.at, &r.typ, &r.body, &r.note); err != nil {
			return failed(ctx, err)
		}
		if err := f(&r); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return failed(ctx, err)
	}
	if n > 0 {
		return nil
	}
	_, err = l.Last(ctx, conversation)
	return err
}

// Last returns the seq of the conversation's last record, 0 when it has none. Missing when there is no such
// conversation.
func (l *Log) Last(ctx context.Context, conversation string) (int64, error) {
	var n int64
	err := l.get(ctx, `SELECT last_seq FROM conversation WHERE id = ?`, []any{conversation}, &n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, missingConversation()
	}
	return n, err
}

func missingConversation() error {
	return fault.New(fault.Missing, "There is no such conversation.")
}
