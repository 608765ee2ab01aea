package policy

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is how long a file must be left alone before it is read: an editor writes in several steps.
const settle = 200 * time.Millisecond

// watch reloads the file when something in its folder changes. The folder is watched and not the file, since
// editors and Kubernetes replace the file by another.
func (p *Policy) watch(ctx context.Context) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	if err := w.Add(filepath.Dir(p.opts.File)); err != nil {
		_ = w.Close()
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	p.stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	go func() {
		defer close(done)
		defer func() { _ = w.Close() }()
		p.follow(ctx, w.Events, w.Errors)
	}()
	return nil
}

func (p *Policy) follow(ctx context.Context, events <-chan fsnotify.Event, errs <-chan error) {
	quiet := time.NewTimer(settle) // runs from the start: the file may have changed since Open read it
	defer quiet.Stop()
	last := "" // the text that was read last, so that a touched file is not reported again
	for {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-events:
			if !ok {
				return
			}
			quiet.Reset(settle)
		case err, ok := <-errs:
			if !ok {
				return
			}
			p.opts.Logger.Warn("watching the policy file", "error", err)
			quiet.Reset(settle)
		case <-quiet.C:
			last = p.reread(last)
		}
	}
}

func (p *Policy) reread(last string) string {
	b, err := os.ReadFile(p.opts.File)
	if err != nil {
		p.opts.Logger.Error("the policy file cannot be read, the old policy stays", "error", err, "version", p.Version())
		return ""
	}
	text := string(b)
	if text == last {
		return last
	}
	before := p.Version()
	if err := p.Replace(text); err != nil {
		p.opts.Logger.Error("the policy file is refused, the old policy stays", "error", err, "version", before)
		return text
	}
	if now := p.Version(); now != before {
		p.opts.Logger.Info("policy reloaded", "version", now, "before", before)
	}
	return text
}
