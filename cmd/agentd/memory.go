package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"runtime"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/config"
	"agentd/internal/eventlog"
	"agentd/internal/offload"
	"agentd/internal/supersettools"
)

// memory is what is kept, in numbers: never content.
type memory struct {
	Results    offload.Tally    `json:"results"` // in histories; over_budget must be 0
	Artifacts  []artifact.Count `json:"artifacts"`
	Quota      quotas           `json:"quota_bytes"` // 0 is no limit
	Used       int64            `json:"quota_used_bytes"`
	Streams    int              `json:"streams"` // each buffers one event at most
	Runs       int              `json:"runs"`
	Goroutines int              `json:"goroutines"`
	HeapBytes  uint64           `json:"heap_bytes"`
}

type quotas struct {
	Conversation int64 `json:"conversation"`
	User         int64 `json:"user"`
	Total        int64 `json:"total"`
}

// remember counts what the log and the store hold.
func remember(ctx context.Context, log *eventlog.Log, store *artifact.Store, gate *offload.Gate) (memory, error) {
	var m memory
	if err := log.EachResult(ctx, func(r chat.ToolResult) { m.Results.Add(gate, r) }); err != nil {
		return m, err
	}
	var err error
	if m.Artifacts, err = store.Counts(ctx); err != nil {
		return m, err
	}
	used, err := log.ArtifactUsage(ctx, "", "")
	m.Quota, m.Used = quotas(store.Quota()), used.Total
	var heap runtime.MemStats
	runtime.ReadMemStats(&heap)
	m.Goroutines, m.HeapBytes = runtime.NumGoroutine(), heap.HeapAlloc
	return m, err
}

// memory answers the diagnostics of the running server.
func (a *app) memory() any {
	m, err := a.remember(context.Background())
	if err != nil {
		return map[string]string{"error": "The log or the store could not be read."}
	}
	return m
}

// remember counts what the log, the store and this process hold.
func (a *app) remember(ctx context.Context) (memory, error) {
	m, err := remember(ctx, a.log, a.store, a.gate)
	m.Streams, m.Runs = a.streams.Streams(), a.engine.Running()
	return m, err
}

type doctorCmd struct {
	Memory doctorMemoryCmd `cmd:"" help:"Count what is kept: results in histories, artifacts, quotas."`
}

type doctorMemoryCmd struct {
	File string `name:"config" type:"existingfile" help:"Configuration file."`
}

// Run prints the numbers as JSON.
func (d doctorMemoryCmd) Run(c *console) error {
	cfg, log, err := c.openLog(d.File)
	if err != nil {
		return err
	}
	defer log.Close()
	bucket, err := openBucket(c.ctx, cfg)
	if err != nil {
		return err
	}
	defer bucket.Close()
	store := artifact.New(log, bucket, artifact.Options{Quota: quota(cfg)})
	own := offload.LimitsOf(supersettools.New(supersettools.Deps{}))
	m, err := remember(c.ctx, log, store, offload.New(store, offload.Options{MaxChars: cfg.Limits.MaxChars, ToolChars: own}))
	if err != nil {
		return err
	}
	out := json.NewEncoder(c.out)
	out.SetIndent("", "  ")
	return out.Encode(m)
}

// openBucket opens where payloads are kept.
func openBucket(ctx context.Context, cfg config.Config) (*artifact.Bucket, error) {
	if cfg.ArtifactsURL != "" {
		return artifact.OpenURL(ctx, cfg.ArtifactsURL)
	}
	return artifact.OpenDir(filepath.Join(cfg.DataDir, "artifacts"))
}
