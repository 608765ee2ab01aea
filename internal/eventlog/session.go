package eventlog

import (
	"context"
	"database/sql"
	"time"

	"agentd/internal/chat"
)

// batchTime bounds one batch, so that a database that does not answer cannot hold writers for ever.
const batchTime = 15 * time.Second

// limited is the context of one batch. SQLite's has no end: it is on this machine, and a context that can end
// costs its driver a goroutine for each statement.
func (d *database) limited() (context.Context, context.CancelFunc) {
	if d.batchTime == 0 {
		return context.Background(), func() {}
	}
	return context.WithTimeout(context.Background(), d.batchTime)
}

// A session is a writer's own connection with its prepared statements.
type session struct {
	conn  *sql.Conn
	db    *database
	stmts map[string]*sql.Stmt
}

func openSession(ctx context.Context, db *database) (*session, error) {
	c, err := db.write.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &session{conn: c, db: db, stmts: map[string]*sql.Stmt{}}, nil
}

func (s *session) close() {
	for _, st := range s.stmts {
		st.Close()
	}
	s.conn.Close()
}

func (s *session) stmt(ctx context.Context, q string) (*sql.Stmt, error) {
	if st, ok := s.stmts[q]; ok {
		return st, nil
	}
	st, err := s.conn.PrepareContext(ctx, s.db.bind(q))
	if err != nil {
		return nil, err
	}
	s.stmts[q] = st
	return st, nil
}

func (s *session) exec(ctx context.Context, q string, args ...any) error {
	st, err := s.stmt(ctx, q)
	if err != nil {
		return err
	}
	_, err = st.ExecContext(ctx, args...)
	return err
}

// A tx is the batch's transaction as one operation sees it.
type tx struct {
	ctx context.Context
	s   *session
	now time.Time

	dirty bool // the operation has written: its failure must be undone
	made  effects
}

// effects are what follows the commit of an operation.
type effects struct {
	touched map[string]int64 // conversation → its last seq, or 0 where it is gone
	cancels []string         // run ids
	audit   []chat.AuditRow
}

func (e *effects) touch(conversation string, seq int64) {
	if e.touched == nil {
		e.touched = map[string]int64{}
	}
	e.touched[conversation] = seq
}

func (t *tx) touch(conversation string, seq int64) { t.made.touch(conversation, seq) }

// exec runs a statement that writes and reports how many rows it met.
func (t *tx) exec(q string, args ...any) (int64, error) {
	st, err := t.s.stmt(t.ctx, q)
	if err != nil {
		return 0, err
	}
	t.dirty = true
	r, err := st.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// get reads one row; sql.ErrNoRows passes through.
func (t *tx) get(q string, args []any, dest ...any) error {
	st, err := t.s.stmt(t.ctx, q)
	if err != nil {
		return err
	}
	return st.QueryRowContext(t.ctx, args...).Scan(dest...)
}

// change runs an UPDATE … RETURNING of one row; sql.ErrNoRows says that nothing was met.
func (t *tx) change(q string, args []any, dest ...any) error {
	err := t.get(q, args, dest...)
	if err == nil {
		t.dirty = true
	}
	return err
}

// query reads rows. The caller reads them to the end and closes them before the next statement.
func (t *tx) query(q string, args ...any) (*sql.Rows, error) {
	st, err := t.s.stmt(t.ctx, q)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(t.ctx, args...)
}

// lock makes writers of other replicas that lock the same key wait until this batch has ended.
func (t *tx) lock(key string) error {
	if t.s.db.lock == "" {
		return nil
	}
	return t.s.exec(t.ctx, t.s.db.lock, key) // released by the commit; nothing to undo
}
