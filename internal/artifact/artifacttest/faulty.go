package artifacttest

import (
	"context"
	"errors"
	"io"
	"time"

	"agentd/internal/artifact"
)

// Where a Faulty backend fails.
type Where string

// The places. Killed at a place means that the process died there: nothing that would clean up happens.
const (
	Nowhere  Where = ""
	AtCreate Where = "create"
	AtWrite  Where = "write"
	AtCommit Where = "commit" // before anything is visible
	AtOpen   Where = "open"
	AtDelete Where = "delete"
)

// ErrFaulty is what a Faulty backend fails with.
var ErrFaulty = errors.New("the backend failed")

// Faulty is a backend that fails at one place, or dies there. At may be changed between calls, not during one.
type Faulty struct {
	artifact.Backend
	At     Where
	Killed bool
}

// Create implements artifact.Backend.
func (f *Faulty) Create(ctx context.Context, key string) (artifact.Draft, error) {
	if f.At == AtCreate {
		return nil, ErrFaulty
	}
	d, err := f.Backend.Create(ctx, key)
	if err != nil {
		return nil, err
	}
	return &faultyDraft{Draft: d, f: f}, nil
}

type faultyDraft struct {
	artifact.Draft
	f *Faulty
}

func (d *faultyDraft) Write(p []byte) (int, error) {
	if d.f.At == AtWrite {
		n, _ := d.Draft.Write(p[:len(p)/2])
		return n, ErrFaulty
	}
	return d.Draft.Write(p)
}

func (d *faultyDraft) Commit() error {
	if d.f.At == AtCommit {
		return ErrFaulty
	}
	return d.Draft.Commit()
}

func (d *faultyDraft) Abort() {
	if !d.f.Killed {
		d.Draft.Abort()
	}
}

// Open implements artifact.Backend.
func (f *Faulty) Open(ctx context.Context, key string, offset int64) (io.ReadCloser, error) {
	if f.At == AtOpen {
		return nil, ErrFaulty
	}
	return f.Backend.Open(ctx, key, offset)
}

// Delete implements artifact.Backend.
func (f *Faulty) Delete(ctx context.Context, key string) error {
	if f.At == AtDelete || f.Killed {
		return ErrFaulty
	}
	return f.Backend.Delete(ctx, key)
}

// Keys lists what takes up room in a backend.
func Keys(ctx context.Context, b artifact.Backend) ([]string, error) {
	var keys []string
	err := b.List(ctx, func(key string, _ time.Time) error {
		keys = append(keys, key)
		return nil
	})
	return keys, err
}

// Capabilities implements artifact.Capable with those of the backend below.
func (f *Faulty) Capabilities() artifact.Capabilities {
	if c, ok := f.Backend.(artifact.Capable); ok {
		return c.Capabilities()
	}
	return artifact.Capabilities{}
}
