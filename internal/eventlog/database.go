package eventlog

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"agentd/internal/fault"

	"github.com/pressly/goose/v3"
)

// A database is what differs between SQLite and PostgreSQL: handles, dialect, and how other replicas are heard.
type database struct {
	write, read *sql.DB
	dialect     goose.Dialect
	shared      bool // with other replicas
	begin       string
	numbered    bool                 // placeholders are $1, not ?
	listen      func(l *Log)         // hears other replicas until the log closes; nil: there are none
	notify      string               // statement that tells other replicas; "" with SQLite
	lock        string               // statement that serialises writers of one key until commit; "" where there is one writer
	batchTime   time.Duration        // bounds one batch; 0 is no limit
	retryable   func(err error) bool // the batch may be tried again: nothing of it was committed
	missingConn func(err error) bool // the connection is lost
	stmts       sync.Map             // query → *sql.Stmt of the read handle
}

func (d *database) close() error {
	d.stmts.Range(func(_, v any) bool { v.(*sql.Stmt).Close(); return true })
	err := d.write.Close()
	if d.read != d.write {
		err = errors.Join(err, d.read.Close())
	}
	return err
}

// bind turns the ? of a statement into the dialect's placeholders. No statement here holds a ? in a literal.
func (d *database) bind(q string) string {
	if !d.numbered {
		return q
	}
	var b strings.Builder
	n := 0
	for i := range len(q) {
		if q[i] != '?' {
			b.WriteByte(q[i])
			continue
		}
		n++
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}

// prepared returns the read handle's statement for q, prepared once.
func (d *database) prepared(ctx context.Context, q string) (*sql.Stmt, error) {
	if s, ok := d.stmts.Load(q); ok {
		return s.(*sql.Stmt), nil
	}
	s, err := d.read.PrepareContext(ctx, d.bind(q))
	if err != nil {
		return nil, err
	}
	if old, loaded := d.stmts.LoadOrStore(q, s); loaded {
		s.Close()
		return old.(*sql.Stmt), nil
	}
	return s, nil
}

// query reads rows outside of any write.
func (l *Log) query(ctx context.Context, q string, args ...any) (*sql.Rows, error) {
	s, err := l.db.prepared(ctx, q)
	if err != nil {
		return nil, failed(ctx, err)
	}
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return nil, failed(ctx, err)
	}
	return rows, nil
}

// get reads one row; sql.ErrNoRows passes through.
func (l *Log) get(ctx context.Context, q string, args []any, dest ...any) error {
	s, err := l.db.prepared(ctx, q)
	if err != nil {
		return failed(ctx, err)
	}
	err = s.QueryRowContext(ctx, args...).Scan(dest...)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return failed(ctx, err)
	}
	return err
}

// failed gives a database's error its kind: the caller's own end, or Internal.
func failed(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if c := context.Cause(ctx); c != nil && ctx.Err() != nil {
		return fault.Wrap(fault.KindOf(ctx.Err()), "The event log was not asked to the end.", err)
	}
	return fault.Wrap(fault.Internal, "The event log failed.", err)
}
