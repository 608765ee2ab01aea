package agent

import (
	"context"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/retry"
	"agentd/internal/tool"
)

// graceOfWrite is how long a write that is on its way may still end after its run was stopped. Cutting it at once
// would only make its outcome unknown.
const graceOfWrite = 3 * time.Second

// execute runs a call under its time limit. That it began is in the log before anything is sent, so that after a
// crash a write is known to have started and is never run again.
func (r *run) execute(ctx context.Context, f *flight) error {
	if err := context.Cause(ctx); err != nil {
		return fault.Wrap(fault.Canceled, "It was stopped before it began.", err)
	}
	f.started = r.o.Now()
	err := r.write(ctx, chat.Write{
		Entries: []chat.Entry{{Event: &chat.ToolStart{
			CallID: f.ID, Tool: f.Name, Args: f.Args, EnvID: f.Env, Risk: f.shownRisk(chat.RiskPermGranted), RetryOf: f.retryOf,
		}}},
		Move:  f.move(chat.ConfirmExecuting, chat.ConfirmClaimed),
		Audit: []chat.AuditRow{r.row("started", f, chat.AuditRow{ArgsExecuted: f.Args})},
	})
	if err != nil {
		return err
	}
	f.result, err = r.attempt(ctx, f)
	if cause, ok := unsure(err); ok && f.risk().Writes() {
		return r.unknown(ctx, f, cause)
	}
	return err
}

// attempt is the one place that runs tools: a read once more when that may help, everything else once.
func (r *run) attempt(ctx context.Context, f *flight) (tool.Result, error) {
	if f.tool.NeedsEnv {
		if err := r.breaker.Allow(f.Env); err != nil {
			return tool.Result{}, err
		}
	}
	ctx, cancel := r.grace(ctx, f.risk())
	defer cancel()
	p := retry.Policy{Timeout: f.timeout, Retry: f.risk() == tool.Read, Delay: r.o.Limits.RetryDelay, Strays: &r.strays}
	var failure error
	again := func(why retry.Reason) {
		failure = r.write(ctx, chat.Write{Entries: []chat.Entry{{Event: &chat.ToolRetry{
			CallID: f.ID, Tool: f.Name, Attempt: 2, MaxAttempts: 2, DelayMS: p.Delay.Milliseconds(),
			Reason: chat.RetryReason{Class: string(why.Class), Status: why.Status},
		}}}})
	}
	late := func(res tool.Result, err error) {
		res.Close()
		r.tooLate(ctx, f, err)
	}
	res, err := retry.DoLate(ctx, p, again, f.bound.Run, late)
	if f.tool.NeedsEnv {
		r.breaker.Record(f.Env, err)
	}
	if failure != nil {
		return res, failure
	}
	return res, err
}

// grace keeps a write that is on its way from being cut by a stop of its run.
func (r *run) grace(ctx context.Context, risk tool.Risk) (context.Context, context.CancelFunc) {
	if !risk.Writes() {
		return context.WithCancel(ctx)
	}
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(graceOfWrite, cancel) })
	return out, func() { stop(); cancel() }
}
