// Package retry runs a call within a time limit, a read once more when that may help, and leaves an environment
// alone that keeps failing. Nothing else in agentd retries.
package retry

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"agentd/internal/fault"
)

// Delay is the pause before the second try.
const Delay = time.Second

// A Policy bounds one call. The zero Policy tries once, without a limit.
type Policy struct {
	Timeout time.Duration // of one attempt; 0 is none
	Retry   bool          // only for what reads
	Delay   time.Duration // before the second try; 0 is Delay

	// Strays owns the calls that did not end with their context. Without it Do waits for run however long it takes.
	Strays *Strays
}

// A Reason is why a call runs once more.
type Reason struct {
	Class  fault.Kind
	Status int // HTTP status, 0 where there was no answer
}

// Do runs a call, and once more after Delay when it may be and the error is Transient. onRetry, which may be nil, is
// told before the pause. Do blocks, but with Strays never longer than ctx or the time limit.
//
// The time limit is Timeout; a call that was cancelled is Canceled with the cause; the end of ctx's own time is
// Timeout with the cause; a panic in run is Internal. Both tries Transient: Exhausted tells.
func Do[T any](ctx context.Context, p Policy, onRetry func(Reason), run func(context.Context) (T, error)) (T, error) {
	return DoLate(ctx, p, onRetry, run, nil)
}

// DoLate is Do for calls whose answer matters even when it comes too late: late, which may be nil, is called once
// with the answer of a run that Do did not wait for, on the run's goroutine, before Strays.Wait returns.
func DoLate[T any](ctx context.Context, p Policy, onRetry func(Reason), run func(context.Context) (T, error), late func(T, error)) (T, error) {
	v, err := attempt(ctx, p, run, late)
	if !p.Retry || fault.KindOf(err) != fault.Transient || ctx.Err() != nil {
		return v, err
	}
	delay := p.Delay
	if delay <= 0 {
		delay = Delay
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= delay {
		return v, err // the second try would begin after the end
	}
	if onRetry != nil {
		onRetry(Reason{Class: fault.KindOf(err), Status: statusOf(err)})
	}
	pause := time.NewTimer(delay)
	defer pause.Stop()
	select {
	case <-ctx.Done():
		var none T
		return none, ended(ctx)
	case <-pause.C:
	}
	v, err = attempt(ctx, p, run, late)
	if fault.KindOf(err) == fault.Transient {
		return v, &exhausted{err}
	}
	return v, err
}

func attempt[T any](parent context.Context, p Policy, run func(context.Context) (T, error), late func(T, error)) (T, error) {
	var none T
	if parent.Err() != nil {
		return none, ended(parent)
	}
	ctx, cancel := parent, context.CancelFunc(func() {})
	if p.Timeout > 0 {
		ctx, cancel = context.WithTimeout(parent, p.Timeout)
	}
	if p.Strays == nil {
		defer cancel()
		v, err := safely(ctx, run)
		return v, judge(parent, ctx, p.Timeout, err)
	}
	type answer struct {
		v   T
		err error
	}
	answered := make(chan answer)
	left := make(chan struct{})
	p.Strays.calls.Go(func() {
		defer cancel()
		v, err := safely(ctx, run)
		select {
		case answered <- answer{v, judge(parent, ctx, p.Timeout, err)}:
		case <-left:
			if late != nil {
				late(v, err)
			}
		}
	})
	select {
	case a := <-answered:
		return a.v, a.err
	case <-ctx.Done():
	}
	// The run may be about to end because of the same context. It is given a moment, so that its own word counts:
	// only it knows whether the request was sent.
	grace := time.NewTimer(graceTime)
	defer grace.Stop()
	select {
	case a := <-answered:
		return a.v, a.err
	case <-grace.C:
	}
	close(left)
	if parent.Err() != nil {
		return none, ended(parent)
	}
	return none, overdue(p.Timeout, context.Cause(ctx))
}

// graceTime is how long a run may take to notice that its context ended.
const graceTime = 20 * time.Millisecond

// judge names the error of a run whose context may have ended meanwhile. That a request was sent and not answered
// only the run knows, so it stays when the caller gave up.
func judge(parent, ctx context.Context, limit time.Duration, err error) error {
	if err == nil || ctx.Err() == nil || !byContext(err) {
		return err
	}
	switch {
	case parent.Err() == nil:
		return overdue(limit, err)
	case fault.KindOf(err) == fault.Unknown:
		return err
	}
	return ended(parent)
}

func byContext(err error) bool {
	k := fault.KindOf(err)
	return k == fault.Canceled || k == fault.Timeout || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

func overdue(limit time.Duration, cause error) error {
	return fault.Wrap(fault.Timeout, fmt.Sprintf("There was no answer within %s.", limit), cause)
}

func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.Wrap(fault.Timeout, "The time limit of the run passed.", context.Cause(ctx))
	}
	return fault.Wrap(fault.Canceled, "It was cancelled.", context.Cause(ctx))
}

func safely[T any](ctx context.Context, run func(context.Context) (T, error)) (v T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fault.Wrap(fault.Internal, "Internal error.", fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	return run(ctx)
}

func statusOf(err error) int {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Status
	}
	return 0
}

// exhausted marks an error after which nothing more is tried. Its text and kind are those of the last error.
type exhausted struct{ last error }

func (e *exhausted) Error() string { return e.last.Error() }
func (e *exhausted) Unwrap() error { return e.last }

// Exhausted reports whether err is that of a call that was tried twice and was Transient twice.
func Exhausted(err error) bool {
	_, ok := errors.AsType[*exhausted](err)
	return ok
}
