package eventlog

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

// CreateArtifact adds meta to the index as staged, with reserve bytes counted until it is committed, deleted or
// expired. Conflict with code quota when they do not fit.
func (l *Log) CreateArtifact(ctx context.Context, meta chat.ArtifactMeta, reserve int64, q Quota) error {
	if reserve < 0 {
		return fault.New(fault.Internal, "A reservation cannot be negative.")
	}
	return l.apply(ctx, func(t *tx) error {
		if err := t.lock("artifacts"); err != nil {
			return err
		}
		u, err := usage(func(q string, args []any, dest ...any) error { return t.get(q, args, dest...) }, meta.Conversation, meta.User)
		if err != nil {
			return err
		}
		if over(u.Conversation, reserve, q.Conversation) || over(u.User, reserve, q.User) || over(u.Total, reserve, q.Total) {
			return &fault.Error{Kind: fault.Conflict, Code: "quota", Msg: "There is no room for another stored result: delete some, or wait until they expire."}
		}
		meta := meta
		meta.State = chat.ArtifactStaged
		if meta.Created.IsZero() {
			meta.Created = t.now
		}
		if meta.LastUsed.IsZero() {
			meta.LastUsed = meta.Created
		}
		body, err := encode(meta)
		if err != nil {
			return err
		}
		_, err = t.exec(`INSERT INTO artifact (id, user_name, conversation, state, bytes, last_used, expires, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			meta.ID, meta.User, meta.Conversation, string(meta.State), reserve, micros(meta.LastUsed), micros(meta.Expires), body)
		return err
	})
}

func over(used, more, limit int64) bool { return limit > 0 && more > limit-used }

// CommitArtifact replaces the staged row of meta.ID by meta and the reservation by meta.Size; from then on it
// can be read. Missing when there is none, Conflict with code artifact_state when it is not staged any more.
func (l *Log) CommitArtifact(ctx context.Context, meta chat.ArtifactMeta) error {
	meta.State = chat.ArtifactCommitted
	body, err := encode(meta)
	if err != nil {
		return err
	}
	return l.apply(ctx, func(t *tx) error {
		n, err := t.exec(`UPDATE artifact SET state = ?, bytes = ?, last_used = ?, expires = ?, body = ?
			WHERE id = ? AND user_name = ? AND conversation = ? AND state = ?`,
			string(meta.State), meta.Size, micros(meta.LastUsed), micros(meta.Expires), body,
			meta.ID, meta.User, meta.Conversation, string(chat.ArtifactStaged))
		if err != nil || n > 0 {
			return err
		}
		var state string
		err = t.get(`SELECT state FROM artifact WHERE id = ? AND user_name = ? AND conversation = ?`, []any{meta.ID, meta.User, meta.Conversation}, &state)
		if errors.Is(err, sql.ErrNoRows) {
			return missingArtifact()
		}
		if err != nil {
			return err
		}
		return &fault.Error{Kind: fault.Conflict, Code: "artifact_state", Msg: "The stored result is not being written any more."}
	})
}

const artifactColumns = `SELECT body, state, last_used, expires FROM artifact `

func scanArtifact(scan func(...any) error) (chat.ArtifactMeta, error) {
	var m chat.ArtifactMeta
	var body, state string
	var used, expires int64
	if err := scan(&body, &state, &used, &expires); err != nil {
		return m, err
	}
	if err := decode(body, &m); err != nil {
		return m, err
	}
	m.State, m.LastUsed, m.Expires = chat.ArtifactState(state), fromMicros(used), fromMicros(expires)
	return m, nil
}

// Artifact returns what is known of an artifact, in whatever state. Missing when there is none; whose it is the
// caller checks.
func (l *Log) Artifact(ctx context.Context, id string) (chat.ArtifactMeta, error) {
	m, err := scanArtifact(func(dest ...any) error { return l.get(ctx, artifactColumns+`WHERE id = ?`, []any{id}, dest...) })
	if errors.Is(err, sql.ErrNoRows) {
		return chat.ArtifactMeta{}, missingArtifact()
	}
	return m, err
}

// TouchArtifact records a use and moves the expiry; an earlier one than before is ignored. Missing when there is
// no committed artifact.
func (l *Log) TouchArtifact(ctx context.Context, id string, expires time.Time) error {
	return l.apply(ctx, func(t *tx) error {
		n, err := t.exec(`UPDATE artifact SET last_used = ?, expires = CASE WHEN expires < ? THEN ? ELSE expires END WHERE id = ? AND state = ?`,
			micros(t.now), micros(expires), micros(expires), id, string(chat.ArtifactCommitted))
		if err == nil && n == 0 {
			return missingArtifact()
		}
		return err
	})
}

// SetArtifactState moves an artifact to expired or deleted, which frees its bytes. Setting the state that it has
// changes nothing. Missing when there is none, Invalid for another state.
func (l *Log) SetArtifactState(ctx context.Context, id string, s chat.ArtifactState) error {
	if s != chat.ArtifactExpired && s != chat.ArtifactDeleted {
		return fault.New(fault.Invalid, "A stored result can be set to expired or deleted only.")
	}
	return l.apply(ctx, func(t *tx) error {
		n, err := t.exec(`UPDATE artifact SET state = ?, bytes = 0 WHERE id = ?`, string(s), id)
		if err == nil && n == 0 {
			return missingArtifact()
		}
		return err
	})
}

// Artifacts lists artifacts, the one that expires first first.
func (l *Log) Artifacts(ctx context.Context, f ArtifactFilter) ([]chat.ArtifactMeta, error) {
	if f.Limit <= 0 {
		f.Limit = maxRead
	}
	where, args := `WHERE 1 = 1`, []any{}
	if len(f.States) > 0 {
		where += ` AND state IN (` + marks(len(f.States)) + `)`
		for _, s := range f.States {
			args = append(args, string(s))
		}
	}
	if f.Conversation != "" {
		where, args = where+` AND conversation = ?`, append(args, f.Conversation)
	}
	if !f.ExpiredBefore.IsZero() {
		where, args = where+` AND expires <= ?`, append(args, micros(f.ExpiredBefore))
	}
	rows, err := l.query(ctx, artifactColumns+where+` ORDER BY expires, id LIMIT ?`, append(args, f.Limit)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []chat.ArtifactMeta
	for rows.Next() {
		m, err := scanArtifact(rows.Scan)
		if err != nil {
			return nil, failed(ctx, err)
		}
		out = append(out, m)
	}
	if err := rows.Err(); err != nil {
		return nil, failed(ctx, err)
	}
	return out, nil
}

// ArtifactUsage reports the bytes that count against the quotas of a conversation, a user, and all together.
func (l *Log) ArtifactUsage(ctx context.Context, conversation, user string) (Usage, error) {
	return usage(func(q string, args []any, dest ...any) error { return l.get(ctx, q, args, dest...) }, conversation, user)
}

func usage(get func(string, []any, ...any) error, conversation, user string) (u Usage, err error) {
	err = get(`SELECT CAST(coalesce(sum(CASE WHEN conversation = ? THEN bytes ELSE 0 END), 0) AS BIGINT),
		CAST(coalesce(sum(CASE WHEN user_name = ? THEN bytes ELSE 0 END), 0) AS BIGINT),
		CAST(coalesce(sum(bytes), 0) AS BIGINT)
		FROM artifact WHERE state IN ('staged', 'committed')`, []any{conversation, user}, &u.Conversation, &u.User, &u.Total)
	return u, err
}

func missingArtifact() error { return fault.New(fault.Missing, "There is no such stored result.") }
