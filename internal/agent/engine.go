package agent

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/guardrails"
	"agentd/internal/retry"
	"agentd/internal/tool"
	"agentd/internal/toolfilter"
)

// Why a run's context ends.
var (
	errCancelled = errors.New("a person stopped the run")
	errTime      = errors.New("the run's time is over")
)

// Options are what a Service is made of. Store, Model, Policy, Gate and Engine are required.
type Options struct {
	Store        Store
	Model        Model
	ModelName    string // shown; "offline" is the planner without a model
	Policy       Policy
	Gate         Gate
	References   References  // nil: none are resolved
	Permissions  Permissions // nil: the policy is the only gate
	Tools        tool.Set
	More         func() []tool.Tool    // tools from outside, as they are now, the same slice while nothing changes; asked at each step. nil: there are none
	Servers      func() []ServerStatus // where they come from; nil: there are none
	Environments []Environment
	Reachable    func(ctx context.Context, env string) bool
	Risk         guardrails.Table // zero: the built-in one
	Limits       Limits
	Logger       *slog.Logger
	Now          func() time.Time
}

// Service takes messages, decisions, retries and cancels, and works on runs. It is safe for several goroutines.
type Service struct {
	o       Options
	engine  Engine
	strays  retry.Strays  // calls that outlive their run; Close waits for them
	breaker retry.Breaker // one circuit an environment
	lists   toolfilter.Lists
	merged  merged

	mu      sync.Mutex
	working map[string]context.CancelCauseFunc // run id → stops it
	creds   map[string]*chat.Credential        // run id → forwarded credential, in memory only
}

// New makes a Service. Attach must be called before anything is started.
func New(o Options) *Service {
	o.Limits = o.Limits.withDefaults()
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Service{o: o, working: map[string]context.CancelCauseFunc{}, creds: map[string]*chat.Credential{}}
}

// Attach gives the service the engine that calls its Work.
func (s *Service) Attach(e Engine) { s.engine = e }

// Resume starts every run that had not ended when the process died. It is called once, after the engine launched;
// what the engine resumes by itself is not run twice.
func (s *Service) Resume(ctx context.Context) error {
	runs, err := s.o.Store.ActiveRuns(ctx)
	if err != nil {
		return err
	}
	for _, r := range runs {
		if err := s.engine.Start(ctx, r.ID); err != nil {
			return err
		}
	}
	return s.nextEverywhere(ctx)
}

// Work works on a run until it ends, wherever it stands. An error means that the run has not ended and may be
// tried again.
func (s *Service) Work(ctx context.Context, runID string) error {
	r, err := s.o.Store.Run(ctx, runID)
	if err != nil || r.Ended {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ctx, done := context.WithTimeoutCause(ctx, s.o.Limits.RunTimeout, errTime)
	defer done()
	cred, mine := s.claim(runID, stop)
	if !mine {
		return nil
	}
	defer s.release(runID)
	if r.Cancelled {
		stop(errCancelled)
	}
	r.Who.Credential = cred
	w := newRun(s, r)
	if w.epoch, err = s.o.Store.Claim(ctx, runID); err == nil {
		if err = w.work(ctx); err == nil {
			defer s.next(ctx, r.Conversation)
		}
	}
	switch fault.CodeOf(err) {
	case codeTaken, codeEnded: // another process works on it, or has ended it
		return nil
	}
	return err
}

// The log's words for a run that is no longer ours.
const (
	codeTaken = "run_taken"
	codeEnded = "run_ended"
)

// Close waits for the calls that outlived their runs, so that a late answer is recorded before the log closes.
// No run may be working.
func (s *Service) Close() { s.strays.Wait() }

// Stop cancels a run that this process works on. The log calls it after a cancel was stored, on whichever replica.
func (s *Service) Stop(runID string) {
	s.mu.Lock()
	stop := s.working[runID]
	s.mu.Unlock()
	if stop != nil {
		stop(errCancelled)
	}
}

func (s *Service) claim(runID string, stop context.CancelCauseFunc) (*chat.Credential, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, twice := s.working[runID]; twice {
		return nil, false
	}
	s.working[runID] = stop
	return s.creds[runID], true
}

func (s *Service) release(runID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.working, runID)
	delete(s.creds, runID)
}

// start hands a stored run to the engine. The credential is kept first, so that the run finds it.
func (s *Service) start(ctx context.Context, runID string, cred *chat.Credential) error {
	s.keep(runID, cred)
	if err := s.engine.Start(context.WithoutCancel(ctx), runID); err != nil {
		return fault.Wrap(fault.Internal, "The run could not be started.", err)
	}
	return nil
}

func (s *Service) environment(id string) (Environment, bool) {
	for _, e := range s.o.Environments {
		if e.ID == id {
			return e, true
		}
	}
	return Environment{}, false
}
