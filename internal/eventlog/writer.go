package eventlog

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"agentd/internal/fault"
)

const (
	maxBatch   = 256
	maxQueued  = 1024
	batchTries = 6 // of a batch that lost against another replica or its connection
	batchPause = 20 * time.Millisecond
)

// An operation is one write: a function over the batch's transaction. It may run more than once before it is
// committed, so it sets all that it gives back at its start.
type operation struct {
	do    func(*tx) error
	plain *plain       // do is no more than this; nil where it is
	state atomic.Int32 // 0 waiting, 1 taken by the writer, 2 given up by the caller
	err   error        // set before done is closed
	done  chan struct{}
	made  effects

	settled bool // by together, in this attempt
}

// A writer commits operations in batches: while one batch is flushed to disk, the next gathers. It owns its
// connection and its goroutine.
type writer struct {
	l       *Log
	queue   chan *operation
	stopped chan struct{}

	mu     sync.RWMutex // guards closed against sends on queue
	closed bool
}

func newWriter(l *Log) *writer {
	w := &writer{l: l, queue: make(chan *operation, maxQueued), stopped: make(chan struct{})}
	go w.run()
	return w
}

// stop lets accepted operations finish.
func (w *writer) stop() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.queue)
	}
	w.mu.Unlock()
	<-w.stopped
}

// apply has the writer execute do and waits until it is committed.
func (l *Log) apply(ctx context.Context, do func(*tx) error) error {
	return l.submit(ctx, &operation{do: do})
}

// submit waits until op is committed. When ctx ends while op still waits for its turn it is not executed; later
// it is always waited for, so that the answer is the truth.
func (l *Log) submit(ctx context.Context, op *operation) error {
	if err := ctx.Err(); err != nil {
		return failed(ctx, err)
	}
	w := l.writer
	op.done = make(chan struct{})
	w.mu.RLock()
	if w.closed {
		w.mu.RUnlock()
		return fault.New(fault.Transient, "The server is stopping.")
	}
	select {
	case w.queue <- op:
	case <-ctx.Done():
		w.mu.RUnlock()
		return failed(ctx, ctx.Err())
	}
	w.mu.RUnlock()
	select {
	case <-op.done:
	case <-ctx.Done():
		if op.state.CompareAndSwap(0, 2) {
			return failed(ctx, ctx.Err())
		}
		<-op.done
	}
	return op.err
}

func (w *writer) run() {
	defer close(w.stopped)
	var s *session
	defer func() {
		if s != nil {
			s.close()
		}
	}()
	batch := make([]*operation, 0, maxBatch)
	for first := range w.queue {
		batch = w.gather(batch[:0], first)
		if len(batch) == 0 {
			continue
		}
		s = w.commit(s, batch)
		w.announce(batch)
		clear(batch)
	}
}

// gather takes what is waiting, without waiting for more.
func (w *writer) gather(batch []*operation, op *operation) []*operation {
	for {
		if op.state.CompareAndSwap(0, 1) {
			batch = append(batch, op)
		}
		if len(batch) == maxBatch {
			return batch
		}
		select {
		case next, ok := <-w.queue:
			if !ok {
				return batch
			}
			op = next
		default:
			return batch
		}
	}
}

// announce wakes readers, then callers.
func (w *writer) announce(batch []*operation) {
	for _, op := range batch {
		if op.err == nil {
			for c := range op.made.touched {
				w.l.news.tell(c)
			}
			for _, id := range op.made.cancels {
				w.l.cancelled(id)
			}
		}
		close(op.done)
	}
}

// commit applies the batch and sets each operation's error. It returns the session to go on with, nil when the
// connection was lost.
func (w *writer) commit(s *session, batch []*operation) *session {
	careful := false
	for try := 1; ; try++ {
		ctx, cancel := w.l.db.limited()
		var err error
		if s == nil {
			s, err = openSession(ctx, w.l.db)
		}
		if err == nil {
			err = w.attempt(ctx, s, batch, careful)
		}
		cancel()
		if err == nil {
			return s
		}
		if s != nil && w.l.db.missingConn(err) {
			s.close()
			s = nil
		}
		switch {
		case errors.Is(err, errUndo) && !careful:
			careful = true
		case w.l.db.retryable(err) && !errors.Is(err, errCommit) && try < batchTries:
			time.Sleep(time.Duration(try) * batchPause)
		default:
			for _, op := range batch {
				op.err = fault.Wrap(fault.Internal, "The event log could not be written.", err)
			}
			return s
		}
	}
}
