package durable

import (
	"context"
	"sync"
)

// A life is the context of all work between two times that this process was cut off. The zero life has not begun.
type life struct {
	mu     sync.Mutex // guards the rest
	ctx    context.Context
	cancel context.CancelCauseFunc
	begun  chan struct{} // closed while the life goes on; nil when nobody waits
}

// begin begins a life under parent unless one goes on.
func (l *life) begin(parent context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx != nil {
		return
	}
	l.ctx, l.cancel = context.WithCancelCause(parent)
	if l.begun != nil {
		close(l.begun)
		l.begun = nil
	}
}

// end cancels the work of this life.
func (l *life) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx == nil {
		return
	}
	l.cancel(ErrCutOff)
	l.ctx, l.cancel = nil, nil
}

// wait returns the context of the life that goes on, or waits for the next until ctx ends.
func (l *life) wait(ctx context.Context) (context.Context, error) {
	for {
		l.mu.Lock()
		if l.ctx != nil {
			defer l.mu.Unlock()
			return l.ctx, nil
		}
		if l.begun == nil {
			l.begun = make(chan struct{})
		}
		begun := l.begun
		l.mu.Unlock()
		select {
		case <-begun:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
