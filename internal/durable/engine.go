// Package durable keeps runs alive: what was started is worked on until it is done, whatever happens to the
// process in between. It is the only home of DBOS, which remembers what was started and begins it again.
//
// The event log is the checkpoint. Work reads there how far it came and goes on, so DBOS stores no outputs of
// steps here: it is asked twice a run, at the start and at the end.
package durable

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"agentd/internal/fault"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

// ApplicationVersion is constant: DBOS leaves alone what another version started, and a new build must go on
// with the runs of the old one. What work may find is the log's to say.
const ApplicationVersion = "1"

// ErrStopping is the cause with which running work is cancelled by Close.
var ErrStopping = errors.New("the server is stopping")

const (
	firstPause = time.Second // before work that failed is called again
	longest    = time.Minute // of such pauses
	workflow   = "run"       // its name in DBOS; a change strands what runs
)

// Options say where runs are remembered. Exactly one of Dir and URL is set.
type Options struct {
	Dir      string // folder of the SQLite file
	URL      string // postgres://…, for several replicas
	Executor string // names this process: runs of an executor are begun again by the next one of that name. Default with SQLite: "agentd"; with PostgreSQL: random
	Logger   *slog.Logger

	// Of the takeover with PostgreSQL; zero values are defaults.
	Heartbeat time.Duration // between signs of life; default 2 s
	DeadAfter time.Duration // without one, an executor's runs go to another; default 15 s
}

// Engine runs work durably. It is safe for several goroutines.
type Engine struct {
	o      Options
	work   func(context.Context, string) error
	logger *slog.Logger
	store  *store
	dbos   dbos.Context

	ctx    context.Context // of everything here; ends with Close
	cancel context.CancelCauseFunc
	life   life // the context of work, below ctx

	mu       sync.Mutex // guards stopping and launched, and that working grows no more once stopping
	stopping bool
	launched bool
	working  sync.WaitGroup
	running  atomic.Int64
	closing  atomic.Bool // DBOS is being shut down

	keepers   sync.WaitGroup // the goroutines that sweep and watch
	closeOnce sync.Once
	closeErr  error
}

// Open prepares an engine; Launch starts it. work is called for each run until it returns nil or an error of kind
// Missing; any other error means that it could not do its part, and it is called again after a pause. Its
// context ends with the cause ErrStopping when the engine closes: what work has not finished by then is begun
// again by the next process. With PostgreSQL it also ends with ErrCutOff. One goroutine at a time works on one
// run, unless a process that was taken for dead goes on: the log refuses its writes. The caller closes the engine.
func Open(ctx context.Context, o Options, work func(ctx context.Context, runID string) error) (*Engine, error) {
	if (o.Dir == "") == (o.URL == "") {
		return nil, fault.New(fault.Invalid, "Durable runs need either a folder or a database URL.")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	for _, name := range []string{"DBOS__CLOUD", "DBOS__APPVERSION", "DBOS__VMID"} { // these override what follows
		if os.Getenv(name) != "" {
			return nil, fault.New(fault.Invalid, "The environment variable "+name+" would change how runs are kept: unset it.")
		}
	}
	s, err := openStore(ctx, &o)
	if err != nil {
		return nil, err
	}
	e := &Engine{o: o, work: work, logger: o.Logger, store: s}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	e.life.begin(e.ctx)
	// DBOS's context is not work's: cancelling it would make DBOS forget outcomes.
	e.dbos, err = dbos.NewContext(context.WithoutCancel(ctx), dbos.Config{
		AppName: "agentd", ApplicationVersion: ApplicationVersion, ExecutorID: o.Executor,
		SQLiteSystemDB: s.lite, SystemDBPool: s.pool, Logger: slog.New(quiet{o.Logger.Handler(), &e.closing}),
	})
	if err != nil {
		return nil, errors.Join(fault.Wrap(fault.Internal, "Durable runs could not be prepared.", err), s.close())
	}
	dbos.RegisterWorkflow(e.dbos, e.perform, dbos.WithWorkflowName(workflow), dbos.WithMaxRecoveryAttempts(1<<30))
	return e, nil
}

// Launch starts the engine and begins again what this executor's last process left unfinished.
func (e *Engine) Launch() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.launched || e.stopping {
		return nil
	}
	if err := e.beginBeating(); err != nil {
		return fault.Wrap(fault.Internal, "Durable runs could not be started.", err)
	}
	if err := dbos.Launch(e.dbos); err != nil {
		return fault.Wrap(fault.Internal, "Durable runs could not be started.", err)
	}
	e.launched = true
	e.keepers.Go(e.sweep)
	return nil
}

// Start makes sure that the run is worked on: once it returns nil, a crash does not lose it. Starting a run again
// changes nothing. Transient when the engine is not running.
func (e *Engine) Start(ctx context.Context, runID string) error {
	e.mu.Lock()
	ready := e.launched && !e.stopping
	e.mu.Unlock()
	if !ready {
		return fault.New(fault.Transient, "The server is not ready to start work.")
	}
	if err := ctx.Err(); err != nil {
		return fault.Wrap(fault.KindOf(err), "The run was not started.", err)
	}
	if _, err := dbos.RunWorkflow(e.dbos, e.perform, runID, dbos.WithWorkflowID(runID)); err != nil {
		return fault.Wrap(fault.Transient, "The run could not be started.", err)
	}
	return nil
}

// Running reports how many runs are being worked on here.
func (e *Engine) Running() int { return int(e.running.Load()) }

// perform is the workflow.
func (e *Engine) perform(ctx dbos.Context, runID string) (bool, error) {
	if e.enter() {
		done, err := e.untilDone(runID)
		e.running.Add(-1)
		e.working.Done()
		if done || err != nil {
			return done, err
		}
	}
	// DBOS leaves a workflow that ends because of its shutdown for the next process.
	<-ctx.Done()
	return false, ctx.Err()
}

func (e *Engine) enter() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopping {
		return false
	}
	e.working.Add(1)
	e.running.Add(1)
	return true
}

// errTaken ends a workflow here that goes on elsewhere; DBOS does not record it, as it is not ours.
var errTaken = errors.New("the run was taken over by another process")

// untilDone calls work until it has done its part, and reports false when the engine closes first.
func (e *Engine) untilDone(runID string) (bool, error) {
	for pause := firstPause; ; pause = min(2*pause, longest) {
		ctx, err := e.life.wait(e.ctx)
		if err != nil {
			return false, nil
		}
		err = e.guarded(ctx, runID)
		if err == nil || fault.KindOf(err) == fault.Missing {
			return true, nil
		}
		if e.ctx.Err() != nil {
			return false, nil
		}
		e.logger.Error("a run could not be worked on, trying again", "run", runID, "pause", pause, "error", err)
		select {
		case <-time.After(pause):
		case <-e.ctx.Done():
			return false, nil
		}
		if mine, err := e.mine(e.ctx, runID); err == nil && !mine {
			e.logger.Warn("a run goes on in another process", "run", runID)
			return false, errTaken
		}
	}
}

// guarded turns a panic into an error.
func (e *Engine) guarded(ctx context.Context, runID string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e.logger.Error("a run panicked", "run", runID, "panic", r, "stack", string(debug.Stack()))
			err = fault.New(fault.Internal, "The run panicked.")
		}
	}()
	return e.work(ctx, runID)
}

// Close cancels running work with ErrStopping, waits for it until ctx ends, and closes the database. Timeout when
// some work had not returned by then; it is begun again by the next process. It may be called twice and before
// Launch.
func (e *Engine) Close(ctx context.Context) error {
	e.closeOnce.Do(func() { e.closeErr = e.shut(ctx) })
	return e.closeErr
}

func (e *Engine) shut(ctx context.Context) error {
	e.mu.Lock()
	e.stopping = true
	e.mu.Unlock()
	e.cancel(ErrStopping)
	idle := make(chan struct{})
	go func() { // ends when work does, which is the caller's if it outlasts ctx
		e.working.Wait()
		close(idle)
	}()
	var late error
	select {
	case <-idle:
	case <-ctx.Done():
		late = fault.Wrap(fault.Timeout, "Some runs did not stop in time.", ctx.Err())
	}
	e.keepers.Wait()
	if late == nil { // before DBOS's shutdown, which closes the pool
		if err := e.goodbye(ctx); err != nil {
			e.logger.Warn("others will take over unfinished runs later", "error", err)
		}
	}
	patience := 5 * time.Second
	if late != nil {
		patience = time.Second
	}
	e.closing.Store(true)
	if err := dbos.Shutdown(e.dbos, patience); err != nil && late == nil {
		late = fault.Wrap(fault.Timeout, "Durable runs did not stop in time.", err)
	}
	return errors.Join(late, e.store.close())
}
