package eventlog

import (
	"context"
	"errors"

	"agentd/internal/fault"
)

// errUndo says that an operation failed after it had written, so that the batch must be run again with a
// savepoint around each operation.
var errUndo = errors.New("an operation must be undone")

// errCommit says that a commit failed: whether it was done is not known, so it is not tried again.
var errCommit = errors.New("the batch may or may not be committed")

// attempt runs the batch in one transaction. Savepoints cost a statement or two each, and hardly any operation
// fails after it has written: so the first attempt goes without them, and only a batch that needs them is run
// again with care.
func (w *writer) attempt(ctx context.Context, s *session, batch []*operation, careful bool) (err error) {
	if err := s.exec(ctx, s.db.begin); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			rollback, cancel := s.db.limited()
			defer cancel()
			if e := s.exec(rollback, "ROLLBACK"); e != nil {
				err = errors.Join(err, e)
			}
		}
	}()
	now := w.l.stamp()
	for _, op := range batch {
		op.settled, op.err, op.made = false, nil, effects{}
	}
	if s.db.shared && !careful {
		if err := together(&tx{ctx: ctx, s: s, now: now}, batch); err != nil {
			return errors.Join(errUndo, err)
		}
	}
	for _, op := range batch {
		if op.settled {
			continue
		}
		t := &tx{ctx: ctx, s: s, now: now}
		if careful {
			err = guarded(t, op)
		} else {
			op.err = op.do(t)
			if op.err != nil && (t.dirty || !decided(op.err)) {
				return errors.Join(errUndo, op.err)
			}
		}
		if err != nil {
			return err
		}
		op.made = t.made
	}
	if err := w.finish(&tx{ctx: ctx, s: s, now: now}, batch); err != nil {
		return err
	}
	if err := s.exec(ctx, "COMMIT"); err != nil {
		return errors.Join(errCommit, err)
	}
	return nil
}

// guarded runs op inside a savepoint, so that its failure is its own.
func guarded(t *tx, op *operation) error {
	if err := t.s.exec(t.ctx, "SAVEPOINT op"); err != nil {
		return err
	}
	op.err = op.do(t)
	if op.err != nil {
		if t.s.db.retryable(op.err) || t.s.db.missingConn(op.err) {
			return op.err
		}
		if err := t.s.exec(t.ctx, "ROLLBACK TO SAVEPOINT op"); err != nil {
			return errors.Join(op.err, err)
		}
		if !decided(op.err) {
			op.err = fault.Wrap(fault.Internal, "The event log could not be written.", op.err)
		}
		t.made = effects{}
	}
	return t.s.exec(t.ctx, "RELEASE SAVEPOINT op")
}

// decided reports whether err is the operation's own answer and not the database's.
func decided(err error) bool {
	_, ok := errors.AsType[*fault.Error](err)
	return ok
}

// finish writes what belongs to the whole batch: the audit's rows, whose chain is one for all conversations and
// so is locked last, and the hint to other replicas.
func (w *writer) finish(t *tx, batch []*operation) error {
	if err := writeAudit(t, batch); err != nil {
		return err
	}
	if t.s.db.notify == "" {
		return nil
	}
	for _, hint := range w.hints(batch) {
		if err := t.s.exec(t.ctx, t.s.db.notify, hint); err != nil {
			return err
		}
	}
	return nil
}
