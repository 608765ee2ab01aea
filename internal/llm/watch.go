package llm

import (
	"context"
	"errors"
	"time"
)

var errIdle = errors.New("idle")

// watch ends a stream that is silent too long. It runs only while somebody waits for the network, so a slow
// reader of the stream is never taken for a silent provider.
type watch struct {
	limit  time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

// newWatch returns a context that is cancelled with errIdle. end must be called.
func newWatch(ctx context.Context, limit time.Duration) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{limit: limit, cancel: cancel}
	w.timer = time.AfterFunc(limit, func() { cancel(errIdle) })
	w.timer.Stop()
	return ctx, w
}

func (w *watch) wait() { w.timer.Reset(w.limit) }
func (w *watch) rest() { w.timer.Stop() }

func (w *watch) end() {
	w.timer.Stop()
	w.cancel(nil)
}
