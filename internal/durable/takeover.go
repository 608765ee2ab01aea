package durable

import (
	"context"
	"errors"
	"time"

	"agentd/internal/fault"

	"github.com/dbos-inc/dbos-transact-golang/dbos/internals"
	"github.com/jackc/pgx/v5"
)

// ErrCutOff is the cause with which work is cancelled when this process could not show that it lives, because by
// then another may have taken its runs. Work that is still this executor's is called again.
var ErrCutOff = errors.New("this process lost its database and may have been replaced")

// DBOS begins again only what an executor of the same name left. With PostgreSQL every executor therefore gives
// signs of life, and whoever sees one without takes over its runs. The clock is the database's.
const (
	defaultHeartbeat = 2 * time.Second
	defaultDeadAfter = 15 * time.Second

	makeExecutors = `CREATE TABLE IF NOT EXISTS agentd_executor (name TEXT PRIMARY KEY, beat TIMESTAMPTZ NOT NULL)`
	beat          = `INSERT INTO agentd_executor (name, beat) VALUES ($1, now()) ON CONFLICT (name) DO UPDATE SET beat = now()`
	farewell      = `UPDATE agentd_executor SET beat = 'epoch' WHERE name = $1` // what is unfinished may go on at once
	findDead      = `SELECT name FROM agentd_executor WHERE name <> $1 AND beat < now() - $2::interval ORDER BY name FOR UPDATE SKIP LOCKED`
	bury          = `DELETE FROM agentd_executor WHERE name = ANY($1)`
	ownerOf       = `SELECT executor_id FROM dbos.workflow_status WHERE workflow_uuid = $1`
)

// beginBeating gives the first sign of life and starts the goroutine that gives the others. With SQLite there is
// one process, and nothing to do.
func (e *Engine) beginBeating() error {
	if e.store.pool == nil {
		return nil
	}
	if e.o.Heartbeat <= 0 {
		e.o.Heartbeat = defaultHeartbeat
	}
	if e.o.DeadAfter <= 0 {
		e.o.DeadAfter = defaultDeadAfter
	}
	err := pgx.BeginFunc(e.ctx, e.store.pool, func(tx pgx.Tx) error {
		// CREATE TABLE IF NOT EXISTS fails when two do it at once.
		if _, err := tx.Exec(e.ctx, `SELECT pg_advisory_xact_lock(hashtextextended('agentd_executor', 7))`); err != nil {
			return err
		}
		if _, err := tx.Exec(e.ctx, makeExecutors); err != nil {
			return err
		}
		_, err := tx.Exec(e.ctx, beat, e.o.Executor)
		return err
	})
	if err == nil {
		e.keepers.Go(e.watch)
	}
	return err
}

// watch gives signs of life and takes over the runs of executors that give none.
func (e *Engine) watch() {
	t := time.NewTicker(e.o.Heartbeat)
	defer t.Stop()
	last := time.Now()
	for {
		select {
		case <-t.C:
		case <-e.ctx.Done():
			return
		}
		at := time.Now()
		ctx, cancel := context.WithTimeout(e.ctx, e.o.DeadAfter/4)
		_, err := e.store.pool.Exec(ctx, beat, e.o.Executor)
		if err == nil {
			last = at
			e.life.begin(e.ctx)
			err = e.takeOver(ctx)
		}
		cancel()
		if e.ctx.Err() != nil {
			return
		}
		if err != nil {
			e.logger.Warn("durable runs: no sign of life could be given, or none be looked for", "error", err)
		}
		if time.Since(last) > e.o.DeadAfter/2 {
			e.life.end()
		}
	}
}

// takeOver makes the runs of dead executors anybody's. Their rows are locked meanwhile, so that one of several
// watchers does it, and go only after it is done.
func (e *Engine) takeOver(ctx context.Context) error {
	runtime, err := internals.RuntimeOf(e.dbos)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, e.store.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, findDead, e.o.Executor, e.o.DeadAfter)
		if err != nil {
			return err
		}
		dead, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || len(dead) == 0 {
			return err
		}
		runs, err := runtime.RecoverPendingWorkflows(dead)
		if err != nil {
			return err
		}
		e.logger.Warn("took over the runs of processes that are gone", "executors", dead, "runs", len(runs))
		_, err = tx.Exec(ctx, bury, dead)
		return err
	})
}

// goodbye lets others take over at once what was left unfinished.
func (e *Engine) goodbye(ctx context.Context) error {
	if e.store.pool == nil || !e.launched {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_, err := e.store.pool.Exec(ctx, farewell, e.o.Executor)
	return err
}

// mine reports whether the run is still this executor's.
func (e *Engine) mine(ctx context.Context, runID string) (bool, error) {
	if e.store.pool == nil {
		return true, nil
	}
	var owner string
	err := e.store.pool.QueryRow(ctx, ownerOf, runID).Scan(&owner)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fault.Wrap(fault.Transient, "Whose run this is could not be found out.", err)
	}
	return owner == e.o.Executor, nil
}
