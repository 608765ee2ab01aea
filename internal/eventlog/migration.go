package eventlog

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

// afterExpiry is how long an expired migration is still told from one that never was.
const afterExpiry = 24 * time.Hour

// PutMigration keeps a plan, and forgets those that expired long ago. Conflict when the id is taken.
func (l *Log) PutMigration(ctx context.Context, m chat.Migration) error {
	return l.apply(ctx, func(t *tx) error {
		if _, err := t.exec(`DELETE FROM migration WHERE expires < ?`, micros(t.now.Add(-afterExpiry))); err != nil {
			return err
		}
		n, err := t.exec(`INSERT INTO migration (id, user_name, target, state, busy_until, expires, body) VALUES (?, ?, ?, ?, 0, ?, ?)
			ON CONFLICT (id) DO NOTHING`, m.ID, m.User, m.Target, string(m.State), micros(m.Expires), clean(string(m.Body)))
		if err == nil && n == 0 {
			return fault.New(fault.Conflict, "There is a migration with this id.")
		}
		return err
	})
}

// Migration returns a user's migration. Missing for an unknown id and for another user's alike; Gone once it has
// expired.
func (l *Log) Migration(ctx context.Context, id, user string) (chat.Migration, error) {
	m := chat.Migration{ID: id, User: user}
	var state, body string
	var expires int64
	err := l.get(ctx, `SELECT target, state, expires, body FROM migration WHERE id = ? AND user_name = ?`, []any{id, user}, &m.Target, &state, &expires, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return chat.Migration{}, fault.New(fault.Missing, "There is no such plan or migration.")
	}
	if err != nil {
		return chat.Migration{}, err
	}
	m.State, m.Expires, m.Body = chat.MigrationState(state), fromMicros(expires), []byte(body)
	if !l.stamp().Before(m.Expires) {
		return chat.Migration{}, &fault.Error{Kind: fault.Gone, Code: "migration_expired", Msg: "The plan or migration has expired. Plan it again."}
	}
	return m, nil
}

// BeginMigration makes m, which may exist, the one that writes to its target until a time, however it ends: a process
// that dies frees the target then. Conflict with code migration_busy when another one writes there.
func (l *Log) BeginMigration(ctx context.Context, m chat.Migration, until time.Time) error {
	return l.apply(ctx, func(t *tx) error {
		if err := t.lock("migration " + m.Target); err != nil {
			return err
		}
		var busy int
		if err := t.get(`SELECT count(*) FROM migration WHERE target = ? AND busy_until > ?`, []any{m.Target, micros(t.now)}, &busy); err != nil {
			return err
		}
		if busy > 0 {
			return &fault.Error{Kind: fault.Conflict, Code: "migration_busy", Msg: "Another migration writes to this environment at the moment. Nothing was changed; try again when it has ended."}
		}
		_, err := t.exec(`INSERT INTO migration (id, user_name, target, state, busy_until, expires, body) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET state = excluded.state, busy_until = excluded.busy_until, expires = excluded.expires, body = excluded.body`,
			m.ID, m.User, m.Target, string(chat.MigrationBusy), micros(until), micros(m.Expires), clean(string(m.Body)))
		return err
	})
}

// NoteMigration replaces the body of one that is busy, so that it is known how far it came. Conflict when it is not
// busy any more.
func (l *Log) NoteMigration(ctx context.Context, m chat.Migration) error {
	return l.settle(ctx, `UPDATE migration SET body = ? WHERE id = ? AND user_name = ? AND busy_until > 0`, clean(string(m.Body)), m.ID, m.User)
}

// EndMigration frees the target and keeps state, expiry and body. Conflict when it is not busy any more.
func (l *Log) EndMigration(ctx context.Context, m chat.Migration) error {
	return l.settle(ctx, `UPDATE migration SET state = ?, expires = ?, body = ?, busy_until = 0 WHERE id = ? AND user_name = ? AND busy_until > 0`,
		string(m.State), micros(m.Expires), clean(string(m.Body)), m.ID, m.User)
}

func (l *Log) settle(ctx context.Context, q string, args ...any) error {
	return l.apply(ctx, func(t *tx) error {
		n, err := t.exec(q, args...)
		if err == nil && n == 0 {
			return &fault.Error{Kind: fault.Conflict, Code: "migration_state", Msg: "The migration is not under way any more."}
		}
		return err
	})
}
