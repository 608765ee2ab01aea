// Package eventlog keeps conversations as logs in SQL, with everything that must change together with them:
// runs, confirmations, audit, remembered answers, feedback and the index of artifacts.
//
// Promise: what a call returned without an error is on disk. It is announced to readers only then, so nobody
// sees an event that a crash takes back. All writes pass one writer, which commits many at once; a write is
// applied whole or not at all.
package eventlog

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"time"

	"agentd/internal/fault"
)

// Options say where the log lives. Exactly one of Dir and URL is set.
type Options struct {
	Dir string // folder of the SQLite file; made with mode 0700 when absent
	URL string // postgres://…, for several replicas

	OnCancel func(runID string) // called after the commit of a cancel, on each replica; must not block
	Now      func() time.Time   // default time.Now
	Logger   *slog.Logger       // default discards
}

// Log is an open log. It is safe for several goroutines. Errors are of package fault; a kind that a method
// does not name is Internal, or Canceled or Timeout when the caller's context ended before the write began.
type Log struct {
	db       *database
	now      func() time.Time
	logger   *slog.Logger
	onCancel func(string)
	replica  string // names this process to others
	news     news
	writer   *writer

	closing   chan struct{}
	closeOnce sync.Once
	closeErr  error
	listening sync.WaitGroup // the goroutine that hears other replicas; none with SQLite
}

// Open opens the log, makes or migrates its schema, and starts its writer. The caller closes it.
func Open(ctx context.Context, o Options) (*Log, error) {
	if (o.Dir == "") == (o.URL == "") {
		return nil, fault.New(fault.Invalid, "The event log needs either a folder or a database URL.")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	open := openSQLite
	where := o.Dir
	if o.URL != "" {
		open, where = openPostgres, o.URL
	}
	db, err := open(ctx, where)
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, db); err != nil {
		return nil, errors.Join(fault.Wrap(fault.Internal, "The event log could not be prepared.", err), db.close())
	}
	l := &Log{db: db, now: o.Now, logger: o.Logger, onCancel: o.OnCancel, closing: make(chan struct{}), replica: rand.Text()}
	l.writer = newWriter(l)
	if db.listen != nil {
		l.listening.Go(func() { db.listen(l) })
	}
	return l, nil
}

// Close waits for writes that were accepted and closes the database. Later writes fail with Transient; it may
// be called twice.
func (l *Log) Close() error {
	l.closeOnce.Do(func() {
		close(l.closing)
		l.writer.stop()
		l.listening.Wait()
		l.closeErr = l.db.close()
	})
	return l.closeErr
}

// cancelled passes on that a run is to stop.
func (l *Log) cancelled(runID string) {
	if l.onCancel != nil {
		l.onCancel(runID)
	}
}

// stamp is the time that is stored: microseconds, so that what was written equals what is read.
func (l *Log) stamp() time.Time { return l.now().UTC().Truncate(time.Microsecond) }

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}
