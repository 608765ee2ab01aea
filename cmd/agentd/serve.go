package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"agentd/internal/config"
	"agentd/internal/fault"

	"golang.org/x/sync/errgroup"
)

type serveCmd struct {
	File string `name:"config" required:"" type:"existingfile" help:"Configuration file (YAML)."`
}

// Run serves until it is told to stop.
func (s serveCmd) Run(c *console) error {
	cfg, err := c.load(s.File, false)
	if err != nil {
		return err
	}
	return c.serve(cfg, nil)
}

type demoCmd struct {
	File string `name:"config" type:"existingfile" help:"Configuration file (YAML); every key overrides the demo's."`
}

// Run serves the mock Supersets and agentd in front of them until it is told to stop.
func (d demoCmd) Run(c *console) error {
	cfg, err := c.load(d.File, true)
	if err != nil {
		return err
	}
	mocks, err := startMocks(&cfg, c.out)
	if err != nil {
		return err
	}
	defer mocks.close()
	return c.serve(cfg, mocks.envs)
}

// How long a stopping server waits: softly for runs that are about to end, then for their last words.
const (
	softWait = 3 * time.Second
	hardWait = 10 * time.Second
)

// serve is the whole server: everything that begins here ends here, in the order of the design.
func (c *console) serve(cfg config.Config, mocked map[string]bool) error {
	log := logger(cfg, c.err)
	for _, w := range cfg.Warnings {
		log.Warn("configuration", "warning", w)
	}
	a, err := newApp(c.ctx, cfg, mocked, log)
	if err != nil {
		return err
	}
	defer a.close()
	l, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return fault.Wrap(fault.Invalid, "Cannot listen on "+cfg.Listen+": "+err.Error()+".", err)
	}
	if err := a.start(c.ctx); err != nil {
		return errors.Join(err, l.Close())
	}
	fmt.Fprintf(c.out, "agentd ready at http://%s%sagent\n", l.Addr(), cfg.BasePath)
	srv := &http.Server{Handler: a.api.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	g, ctx := errgroup.WithContext(c.ctx)
	g.Go(func() error {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve %s: %w", l.Addr(), err)
		}
		return nil
	})
	g.Go(func() error { return a.work.ExpireLoop(ctx, time.Minute) })
	g.Go(func() error { return a.sweep(ctx, 10*time.Minute) })
	g.Go(func() error {
		<-ctx.Done()
		a.stop(log)
		down, cancel := context.WithTimeout(context.WithoutCancel(ctx), hardWait)
		defer cancel()
		if err := srv.Shutdown(down); err != nil {
			return errors.Join(err, srv.Close())
		}
		return nil
	})
	return g.Wait()
}

func logger(cfg config.Config, w io.Writer) *slog.Logger {
	var level slog.Level
	if level.UnmarshalText([]byte(cfg.Telemetry.LogLevel)) != nil {
		level = slog.LevelInfo
	}
	o := &slog.HandlerOptions{Level: level}
	if cfg.Telemetry.LogFormat == "text" {
		return slog.New(slog.NewTextHandler(w, o))
	}
	return slog.New(slog.NewJSONHandler(w, o))
}
