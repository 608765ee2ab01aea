package durable

import (
	"context"
	"log/slog"
	"sync/atomic"
)

// quiet passes on DBOS's warnings and errors; its progress is not news for an operator. While DBOS shuts down it
// warns of its own polling being cancelled, which is no news either.
type quiet struct {
	slog.Handler
	closing *atomic.Bool
}

func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && !q.closing.Load() && q.Handler.Enabled(ctx, l)
}

func (q quiet) WithAttrs(a []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(a), q.closing} }
func (q quiet) WithGroup(name string) slog.Handler {
	return quiet{q.Handler.WithGroup(name), q.closing}
}
