// Package artifacttest holds what every backend of artifacts must do, an index in memory, and a backend that fails.
package artifacttest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

// Index is an artifact.Index in memory. It is safe for several goroutines.
type Index struct {
	Now func() time.Time // nil is time.Now

	mu       sync.Mutex
	rows     map[string]chat.ArtifactMeta // id → what is known
	reserved map[string]int64             // id → bytes that count
	fail     error
}

// NewIndex returns an empty index.
func NewIndex() *Index {
	return &Index{rows: map[string]chat.ArtifactMeta{}, reserved: map[string]int64{}}
}

// Fail makes every later call return err; nil ends that.
func (x *Index) Fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.fail = err
}

// Usage reports the bytes that count against the quotas.
func (x *Index) Usage(conversation, user string) chat.ArtifactUsage {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.usage(conversation, user)
}

// usage must be called with mu held.
func (x *Index) usage(conversation, user string) (u chat.ArtifactUsage) {
	for id, n := range x.reserved {
		m := x.rows[id]
		u.Total += n
		if m.User == user {
			u.User += n
		}
		if m.Conversation == conversation {
			u.Conversation += n
		}
	}
	return u
}

// CreateArtifact implements artifact.Index.
func (x *Index) CreateArtifact(ctx context.Context, m chat.ArtifactMeta, reserve int64, q chat.ArtifactQuota) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refuse(ctx); err != nil {
		return err
	}
	over := func(used, limit int64) bool { return limit > 0 && used+reserve > limit }
	if u := x.usage(m.Conversation, m.User); over(u.Conversation, q.Conversation) || over(u.User, q.User) || over(u.Total, q.Total) {
		return &fault.Error{Kind: fault.Conflict, Code: "quota", Msg: "There is no room."}
	}
	m.State = chat.ArtifactStaged
	x.rows[m.ID], x.reserved[m.ID] = m, reserve
	return nil
}

// CommitArtifact implements artifact.Index.
func (x *Index) CommitArtifact(ctx context.Context, m chat.ArtifactMeta) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refuse(ctx); err != nil {
		return err
	}
	old, ok := x.rows[m.ID]
	if !ok {
		return unknown()
	}
	if old.State != chat.ArtifactStaged {
		return &fault.Error{Kind: fault.Conflict, Code: "artifact_state", Msg: "It is not being written."}
	}
	m.State = chat.ArtifactCommitted
	x.rows[m.ID], x.reserved[m.ID] = m, m.Size
	return nil
}

// Artifact implements artifact.Index.
func (x *Index) Artifact(ctx context.Context, id string) (chat.ArtifactMeta, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refuse(ctx); err != nil {
		return chat.ArtifactMeta{}, err
	}
	m, ok := x.rows[id]
	if !ok {
		return m, unknown()
	}
	return m, nil
}

// TouchArtifact implements artifact.Index.
func (x *Index) TouchArtifact(ctx context.Context, id string, expires time.Time) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refuse(ctx); err != nil {
		return err
	}
	m, ok := x.rows[id]
	if !ok || m.State != chat.ArtifactCommitted {
		return unknown()
	}
	m.LastUsed = x.now()
	if expires.After(m.Expires) {
		m.Expires = expires
	}
	x.rows[id] = m
	return nil
}

// SetArtifactState implements artifact.Index.
func (x *Index) SetArtifactState(ctx context.Context, id string, s chat.ArtifactState) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refuse(ctx); err != nil {
		return err
	}
	m, ok := x.rows[id]
	if !ok {
		return unknown()
	}
	m.State = s
	x.rows[id] = m
	delete(x.reserved, id)
	return nil
}

// Artifacts implements artifact.Index.
func (x *Index) Artifacts(ctx context.Context, f chat.ArtifactFilter) ([]chat.ArtifactMeta, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refuse(ctx); err != nil {
		return nil, err
	}
	var out []chat.ArtifactMeta
	for _, m := range x.rows {
		if (len(f.States) == 0 || slices.Contains(f.States, m.State)) &&
			(f.Conversation == "" || f.Conversation == m.Conversation) &&
			(f.ExpiredBefore.IsZero() || !m.Expires.After(f.ExpiredBefore)) {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b chat.ArtifactMeta) int {
		return cmp.Or(a.Expires.Compare(b.Expires), cmp.Compare(a.ID, b.ID))
	})
	if f.Limit <= 0 {
		f.Limit = 1000
	}
	return out[:min(len(out), f.Limit)], nil
}

// refuse must be called with mu held.
func (x *Index) refuse(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return x.fail
}

func (x *Index) now() time.Time {
	if x.Now == nil {
		return time.Now()
	}
	return x.Now()
}

func unknown() error { return fault.New(fault.Missing, "There is no such stored result.") }
