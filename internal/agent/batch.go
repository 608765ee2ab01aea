package agent

import (
	"context"

	"agentd/internal/chat"
	"agentd/internal/tool"
)

// tight reports whether the results of a step could exceed their budget together. Only then are they held back
// until all are there; otherwise each is recorded and announced as it comes.
func (r *run) tight(calls []chat.ToolCall) bool {
	most := 0
	for _, c := range calls {
		most += r.o.Gate.Limit(c.Name)
	}
	return most > r.o.Limits.BatchChars
}

// release shares the budget among the results that were held back, and records them in the order of their calls.
func (r *run) release(ctx context.Context) error {
	r.holding = false
	calls, raw, results := make([]tool.Call, len(r.held)), make([]tool.Result, len(r.held)), make([]Bounded, len(r.held))
	for i, f := range r.held {
		calls[i], raw[i], results[i] = f.Call, f.result, f.bounded
	}
	if len(calls) == 0 {
		return nil
	}
	for i, b := range r.o.Gate.Batch(ctx, calls, raw, results) {
		f := r.held[i]
		f.bounded = b
		if err := r.record(ctx, f); err != nil {
			return err
		}
	}
	r.held = nil
	return nil
}
