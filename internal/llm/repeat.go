package llm

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"
	"unicode/utf8"

	"agentd/internal/chat"
	"agentd/internal/fault"

	"github.com/tmc/langchaingo/llms"
)

const (
	repeats   = 2                      // beyond the first attempt
	firstWait = 500 * time.Millisecond // doubled with each repeat, where the provider names no delay
	maxWait   = 60 * time.Second       // the longest delay of a provider that is honoured
)

// repeater is the one place that repeats a model step. A step changes nothing outside, so it may be repeated
// as long as its answer has not ended.
type repeater struct {
	model StreamModel
	log   *slog.Logger
	wait  func(context.Context, time.Duration) error // sleep, but for tests
}

func (r *repeater) generate(ctx context.Context, p chat.Prompt, sink func(chat.Delta) error) (chat.Completion, error) {
	msgs, tools := toMessages(p), toTools(p.Tools)
	for try := 0; ; try++ {
		a := attempt{sink: sink}
		out, err := a.run(ctx, r.model, msgs, tools)
		if err == nil {
			return out, nil
		}
		wait, again := delay(err, try)
		if !again || ctx.Err() != nil {
			return chat.Completion{}, err
		}
		r.log.WarnContext(ctx, "model step is repeated", "attempt", try+2, "of", repeats+1, "wait", wait, "code", fault.CodeOf(err), "err", err)
		if err := r.wait(ctx, wait); err != nil {
			return chat.Completion{}, err
		}
		if a.offset > 0 { // the next attempt may have no text at all: what was shown is taken back
			if err := sink(chat.Delta{}); err != nil {
				return chat.Completion{}, err
			}
		}
	}
}

// attempt is one try of a step.
type attempt struct {
	sink    func(chat.Delta) error
	sinkErr error
	offset  int // code points shown
	usage   chat.Usage
}

func (a *attempt) run(ctx context.Context, m StreamModel, msgs []llms.MessageContent, tools []llms.Tool) (chat.Completion, error) {
	var opts []llms.CallOption
	if len(tools) > 0 {
		opts = append(opts, llms.WithTools(tools))
	}
	r, err := m.Stream(ctx, msgs, a.take, opts...)
	switch {
	case a.sinkErr != nil: // before the context: a sink that fails because of it says more
		return chat.Completion{}, a.sinkErr
	case ctx.Err() != nil: // also after a success: libraries return half an answer as one when they are cancelled
		return chat.Completion{}, canceled(ctx)
	case err != nil:
		return chat.Completion{}, err
	}
	return fromResponse(r, a.usage)
}

func (a *attempt) take(d Delta) error {
	switch d := d.(type) {
	case TextDelta:
		if a.sinkErr = a.sink(chat.Delta{Offset: a.offset, Text: d.Text}); a.sinkErr != nil {
			return a.sinkErr
		}
		a.offset += utf8.RuneCountInString(d.Text)
	case UsageDelta:
		a.usage.InputTokens, a.usage.OutputTokens = d.Input, d.Output
	}
	return nil
}

// delay says whether a step that failed with err is repeated after try earlier repeats, and when.
func delay(err error, try int) (time.Duration, bool) {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || try >= repeats || e.Code == CodeQuota || (e.Kind != fault.RateLimited && e.Kind != fault.Transient) {
		return 0, false
	}
	if e.RetryAfter > 0 {
		return min(e.RetryAfter, maxWait), true
	}
	d := firstWait << try
	return d - d/10 + rand.N(d/5), true // ±10 %, so that replicas do not come back together
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return canceled(ctx)
	case <-t.C:
		return nil
	}
}
