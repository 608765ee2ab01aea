package eventlog

import (
	"context"
	"time"

	"agentd/internal/fault"

	"github.com/oklog/ulid/v2"
)

// Remembered is a standing yes of a user to one class of calls in one conversation.
type Remembered struct {
	ID           string    `json:"id"`
	User         string    `json:"user"`
	Conversation string    `json:"conversation_id"`
	Env          string    `json:"env_id"`
	Tool         string    `json:"tool"`
	ArgsClass    string    `json:"args_class"`
	Created      time.Time `json:"created_at"`
}

// Remember stores r, whose ID and Created the log sets. The same answer twice is one.
func (l *Log) Remember(ctx context.Context, r Remembered) error {
	r.ID = "rem_" + ulid.Make().String()
	return l.apply(ctx, func(t *tx) error {
		if err := t.exists(r.Conversation); err != nil {
			return err
		}
		_, err := t.exec(`INSERT INTO remembered (id, user_name, conversation, env, tool, args_class, created) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (user_name, conversation, env, tool, args_class) DO NOTHING`,
			r.ID, r.User, r.Conversation, r.Env, r.Tool, r.ArgsClass, micros(t.now))
		return err
	})
}

// Remembered lists what the user has answered once for all, oldest first; in one conversation, or with "" in all.
func (l *Log) Remembered(ctx context.Context, user, conversation string) ([]Remembered, error) {
	q, args := `SELECT id, user_name, conversation, env, tool, args_class, created FROM remembered WHERE user_name = ?`, []any{user}
	if conversation != "" {
		q, args = q+` AND conversation = ?`, append(args, conversation)
	}
	rows, err := l.query(ctx, q+` ORDER BY created, id`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Remembered
	for rows.Next() {
		var r Remembered
		var created int64
		if err := rows.Scan(&r.ID, &r.User, &r.Conversation, &r.Env, &r.Tool, &r.ArgsClass, &created); err != nil {
			return nil, failed(ctx, err)
		}
		r.Created = fromMicros(created)
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		return nil, failed(ctx, err)
	}
	return out, nil
}

// Forget revokes one. Missing when there is none or it is another's.
func (l *Log) Forget(ctx context.Context, id, user string) error {
	return l.apply(ctx, func(t *tx) error {
		n, err := t.exec(`DELETE FROM remembered WHERE id = ? AND user_name = ?`, id, user)
		if err == nil && n == 0 {
			return fault.New(fault.Missing, "There is no such remembered answer.")
		}
		return err
	})
}
