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
)

// memory is what is kept, in numbers: never content.
type memory struct {
	Results    offload.Tally      `json:"results"` // in histories; over_budget must be 0
	Artifacts  []artifact.Count   `json:"artifacts"`
	Quota      chat.ArtifactQuota `json:"quota_bytes"`
	Streams    int                `json:"streams"`
	Runs       int                `json:"runs"`
	Goroutines int                `json:"goroutines"`
	HeapBytes  uint64             `json:"heap_bytes"`
}

// remember counts what the log and the store hold.
func remember(ctx context.Context, log *eventlog.Log, store *artifact.Store, gate *offload.Gate) (memory, error) {
	var m memory
	if err := log.EachResult(ctx, func(r chat.ToolResult) { m.Results.Add(gate, r) }); err != nil {
		return m, err
	}
	var err error
	m.Artifacts, err = store.Counts(ctx)
	m.Quota = store.Quota()
	var heap runtime.MemStats
	runtime.ReadMemStats(&heap)
	m.Goroutines, m.HeapBytes = runtime.NumGoroutine(), heap.HeapAlloc
	return m, err
}

// memory answers the diagnostics of the running server.
func (a *app) memory() any {
	m, err := remember(context.Background(), a.log, a.store, a.gate)
	if err != nil {
		return map[string]string{"error": "The log or the store could not be read."}
	}
	m.Streams, m.Runs = a.streams.Streams(), a.engine.Running()
	return m
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
	m, err := remember(c.ctx, log, store, offload.New(store, offload.Options{MaxChars: cfg.Limits.MaxChars}))
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
