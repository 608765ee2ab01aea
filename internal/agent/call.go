package agent

import (
	"context"
	"errors"

	"agentd/internal/chat"
)

// What ends a call early without being an error of it.
var (
	errLater    = errors.New("a person must answer for it, after the calls that need nobody")
	errAnswered = errors.New("it was answered")
)

// call is the way of every call, in order, to its one answer. A step that fails ends the call with what its error
// becomes. The error of call is the log's and ends the run.
func (r *run) call(ctx context.Context, f *flight) error {
	for _, step := range [...]func(context.Context, *flight) error{
		r.find,      // which tool, by the predicate that also makes the list
		r.resolve,   // references to stored results become their rows
		r.bind,      // do the arguments fit
		r.guard,     // may it, and how risky is it
		r.confirm,   // has a person said yes, where one must
		r.unchanged, // is the object still what the card showed
		r.execute,   // under a time limit; a read once more
		r.shorten,   // what the model and the page get of the result
		r.record,    // the answer, durable before it is announced
	} {
		err := step(ctx, f)
		switch {
		case err == nil:
			continue
		case errors.Is(err, errLater), errors.Is(err, errAnswered):
			return nil
		case errors.As(err, new(*storeError)):
			return err
		}
		return r.refuse(ctx, f, err)
	}
	return nil
}

// calls answers the calls of one step: first those that need nobody, then a card for each of the others.
func (r *run) calls(ctx context.Context, calls []chat.ToolCall) error {
	r.gated, r.held = nil, nil
	r.holding = r.tight(calls)
	for _, c := range calls {
		if ctx.Err() != nil { // what ended well before the stop is still recorded
			return errors.Join(r.release(ctx), context.Cause(ctx))
		}
		f := r.flight(c)
		if done, err := r.interrupted(ctx, f); done || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if err := r.call(ctx, f); err != nil {
			return err
		}
		if r.signedOut { // the others would end the same way
			break
		}
	}
	if err := r.release(ctx); err != nil {
		return err
	}
	for _, f := range r.gated {
		if err := r.ask(ctx, f); err != nil {
			return err
		}
	}
	return nil
}
