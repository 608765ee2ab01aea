package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"agentd/internal/agent"
	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/config"
	"agentd/internal/durable"
	"agentd/internal/eventlog"
	"agentd/internal/guardrails"
	"agentd/internal/httpapi"
	"agentd/internal/llm"
	"agentd/internal/offload"
	"agentd/internal/policy"
	"agentd/internal/sse"
	"agentd/internal/supersettools"
	"agentd/internal/tool"
	"agentd/web"

	"github.com/prometheus/client_golang/prometheus"
)

// app is everything that a server is made of, wired. newApp makes it, start begins its work, stop ends the work in
// the order of the design, close lets go of what is open.
type app struct {
	log     *eventlog.Log
	engine  *durable.Engine
	work    *agent.Service
	worker  atomic.Pointer[agent.Service] // work, for those who may ask before it is made
	store   *artifact.Store
	outside *outside
	gate    *offload.Gate
	streams *sse.Server
	api     *httpapi.API
	closers []io.Closer // in the order in which they were opened
}

// cancelled stops a run that this process works on. The log may call it as soon as it is open, before there is
// anything to stop.
func (a *app) cancelled(run string) {
	if w := a.worker.Load(); w != nil {
		w.Stop(run)
	}
}

type closer func() error

func (c closer) Close() error { return c() }

func newApp(ctx context.Context, cfg config.Config, mocked map[string]bool, log *slog.Logger) (_ *app, err error) {
	a := &app{}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return nil, err
	}
	envs, err := environments(cfg, mocked)
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, closer(func() error { envs.Close(); return nil }))
	a.log, err = eventlog.Open(ctx, eventlog.Options{Dir: cfg.DataDir, URL: cfg.DatabaseURL, Logger: log, OnCancel: a.cancelled})
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, a.log)
	if err := a.openArtifacts(ctx, cfg, log); err != nil {
		return nil, err
	}
	bounded := offload.Options{MaxChars: cfg.Limits.MaxChars, BatchChars: cfg.Limits.BatchChars, Mode: offload.Mode(cfg.Artifacts.Mode), Log: log}
	keeper := offload.New(a.store, bounded) // of backups and of what is read back; it needs no advice about tools
	caps := &capabilities{envs: envs}
	tools, err := tool.NewSet(append(supersettools.New(supersettools.Deps{Environments: envs, Capabilities: caps, Backups: keeper, Migrations: a.log, Rows: rowCaps(cfg), Kept: a.kept}), keeper.Tool())...)
	if err != nil {
		return nil, err
	}
	bounded.Narrowing, bounded.ToolChars = offload.NarrowingOf(tools.All()), offload.LimitsOf(tools.All())
	a.gate = offload.New(a.store, bounded)
	refs := &outside{store: a.store, o: offload.ReferenceOptions{Disabled: !cfg.References.Enabled, InlineMax: cfg.References.InlineMax, Log: log}}
	if refs.References, err = offload.NewReferences(a.store, tools.All(), refs.o); err != nil {
		return nil, err
	}
	if refs.client, err = openOutside(ctx, cfg, log); err != nil {
		return nil, err
	}
	a.outside = refs
	a.closers = append(a.closers, refs.client)
	rules, err := policy.Open(ctx, policy.Options{File: cfg.Policy.File, Reload: cfg.Policy.Reload, Tools: append(toolNames(tools), outsideNames(cfg)...), Logger: log})
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, closer(func() error { rules.Close(); return nil }))
	table, err := guardrails.NewTable(cfg.Guardrails)
	if err != nil {
		return nil, err
	}
	model, err := newModel(cfg, log)
	if err != nil {
		return nil, err
	}
	a.work = agent.New(agent.Options{
		Store: a.log, Model: model, ModelName: modelName(cfg), Policy: rules, Gate: bounds{a.gate}, References: refs, Permissions: permissions{envs},
		Tools: tools, More: refs.client.Tools, Servers: refs.servers, Environments: configured(cfg), Reachable: reachable(envs), Risk: table, Limits: limits(cfg), Logger: log,
	})
	caps.work = a.work
	a.worker.Store(a.work)
	a.engine, err = durable.Open(ctx, durable.Options{Dir: runsDir(cfg), URL: cfg.DatabaseURL, Logger: log}, a.work.Work)
	if err != nil {
		return nil, err
	}
	a.work.Attach(a.engine)
	a.streams = sse.New(sse.Options{})
	return a, a.openAPI(cfg, log)
}

// runsDir is where the runs are remembered when there is no database for them.
func runsDir(cfg config.Config) string {
	if cfg.DatabaseURL != "" {
		return ""
	}
	return cfg.DataDir
}

func (a *app) openArtifacts(ctx context.Context, cfg config.Config, log *slog.Logger) error {
	bucket, err := openBucket(ctx, cfg)
	if err != nil {
		return err
	}
	a.closers = append(a.closers, bucket)
	var second artifact.Backend
	if cfg.Artifacts.FallbackURL != "" {
		b, err := artifact.OpenURL(ctx, cfg.Artifacts.FallbackURL)
		if err != nil {
			return err
		}
		a.closers = append(a.closers, b)
		second = b
	}
	secret, err := a.log.Secret(ctx, "artifact cursors")
	if err != nil {
		return err
	}
	a.store = artifact.New(a.log, bucket, artifact.Options{
		MaxRows: int64(cfg.Artifacts.MaxRows), MaxBytes: int64(cfg.Artifacts.MaxBytes), MaxDuration: cfg.Artifacts.MaxDuration,
		TTL: cfg.Artifacts.TTL, Quota: quota(cfg), Secret: secret, Log: log, Live: a.log.Live, Fallback: second,
	})
	if cfg.DatabaseURL != "" { // what is staged may be another replica's work in progress
		_, err = a.store.Sweep(ctx)
	} else {
		_, err = a.store.Recover(ctx)
	}
	return err
}

// kept opens a stored file for the operations, as its owner's.
func (a *app) kept(ctx context.Context, who chat.Identity, conversation, id string) (io.ReadCloser, error) {
	_, r, err := a.store.Open(ctx, artifact.Owner{User: who.User, Conversation: conversation}, id)
	return r, err
}

func newModel(cfg config.Config, log *slog.Logger) (*llm.Client, error) {
	o := llm.Options{Provider: cfg.LLM.Provider, BaseURL: cfg.LLM.BaseURL, Model: cfg.LLM.Model, IdleTimeout: cfg.LLM.IdleTimeout, Logger: log}
	if s := cfg.Secret(cfg.LLM.APIKeyEnv, cfg.LLM.APIKeyFile); s.Set() {
		key, err := s.Value()
		if err != nil && cfg.LLM.Provider != config.Offline && cfg.LLM.BaseURL == "" {
			return nil, err
		}
		o.APIKey = key // a server of one's own may need none
	}
	return llm.New(o)
}

func (a *app) openAPI(cfg config.Config, log *slog.Logger) error {
	mode, err := identity(cfg)
	if err != nil {
		return err
	}
	who, sessions, err := handover(cfg, mode, a.log)
	if err != nil {
		return err
	}
	o := httpapi.Options{
		Identity: who, Log: a.log, Work: a.work, Surroundings: a.work, Streams: a.streams, Simulator: a.work,
		Audit: a.log, Feedback: a.log, Memories: a.log, Artifacts: a.store, Memory: a.memory, Servers: a.outside.diagnostics,
		Environments: configured(cfg), MessageChars: cfg.Limits.MessageChars, BasePath: cfg.BasePath, FrameAncestors: cfg.Web.FrameAncestors, LoginURL: loginURL(cfg),
		Model:      httpapi.ModelInfo{Provider: cfg.LLM.Provider, Name: cfg.LLM.Model, Offline: cfg.LLM.Provider == config.Offline},
		ActiveRuns: a.engine.Running, Logger: log,
	}
	if sessions != nil {
		o.Handover = sessions
	}
	for _, p := range cfg.TrustedProxies {
		if n, err := netip.ParsePrefix(p); err == nil {
			o.TrustedProxies = append(o.TrustedProxies, n)
		} else if ip, err := netip.ParseAddr(p); err == nil {
			o.TrustedProxies = append(o.TrustedProxies, netip.PrefixFrom(ip, ip.BitLen()))
		}
	}
	if cfg.Web.Enabled {
		o.Web = web.FS()
	}
	if cfg.Telemetry.Metrics {
		o.Metrics = prometheus.NewRegistry()
		a.outside.measure(o.Metrics)
		a.measure(o.Metrics)
	}
	a.api, err = httpapi.New(o)
	return err
}

// start begins the work: first what the last process left, then what comes.
func (a *app) start(ctx context.Context) error {
	a.outside.settle(ctx)
	if err := a.engine.Launch(); err != nil {
		return err
	}
	return a.work.Resume(ctx)
}

// stop ends the work: no new runs, a soft wait, each run's terminal event, the streams.
func (a *app) stop(log *slog.Logger) {
	a.api.Drain()
	for end := time.Now().Add(softWait); a.engine.Running() > 0 && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(context.Background(), hardWait)
	defer cancel()
	if err := a.engine.Close(ctx); err != nil {
		log.Error("stop the runs", "err", err)
	}
	a.work.Close()
	a.streams.Close()
}

// sweep removes expired results, every interval, until ctx ends.
func (a *app) sweep(ctx context.Context, every time.Duration) error {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			if _, err := a.store.Sweep(ctx); err != nil && ctx.Err() == nil {
				slog.Error("sweep stored results", "err", err)
			}
		}
	}
}

// close lets go of what is open, the last first.
func (a *app) close() error {
	var errs []error
	for i := len(a.closers) - 1; i >= 0; i-- {
		errs = append(errs, a.closers[i].Close())
	}
	a.closers = nil
	return errors.Join(errs...)
}
