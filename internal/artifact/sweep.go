package artifact

import (
	"context"
	"errors"
	"regexp"
	"time"

	"agentd/internal/chat"
)

// Swept is what a sweep removed.
type Swept struct {
	Staged  int // writers that died
	Expired int
	Orphans int // payloads and temporary files that no artifact owns
}

// deadAfter is how long after its cap a writer is taken for dead.
const deadAfter = time.Minute

// everything is more than there can be.
const everything = 1 << 30

// temporary is what a bucket of files leaves when its process dies.
var temporary = regexp.MustCompile(`^art_[0-9A-HJKMNP-TV-Z]{26}\.[0-9a-f]+\.tmp$`)

// Recover removes what a crash left, however young it is. It is called once at start, and only where no other
// process writes to the same index; others rely on Sweep.
func (s *Store) Recover(ctx context.Context) (Swept, error) { return s.sweep(ctx, 0) }

// Sweep removes staged artifacts of dead writers, expired ones whose conversation is not live, and payloads
// that no artifact owns. It goes on after a failure and returns all of them. Several replicas may sweep at once.
func (s *Store) Sweep(ctx context.Context) (Swept, error) {
	return s.sweep(ctx, s.o.MaxDuration+deadAfter)
}

func (s *Store) sweep(ctx context.Context, grace time.Duration) (Swept, error) {
	var n Swept
	var errs []error
	now := s.o.Now()
	staged, err := s.index.Artifacts(ctx, chat.ArtifactFilter{States: []chat.ArtifactState{chat.ArtifactStaged}, Limit: everything})
	if err != nil {
		return n, err
	}
	for _, m := range staged {
		if now.Sub(m.Created) < grace {
			continue
		}
		if err := s.drop(ctx, m.ID, chat.ArtifactDeleted); err != nil {
			errs = append(errs, err)
			continue
		}
		n.Staged++
	}
	due, err := s.index.Artifacts(ctx, chat.ArtifactFilter{States: []chat.ArtifactState{chat.ArtifactCommitted}, ExpiredBefore: now, Limit: everything})
	if err != nil {
		return n, errors.Join(append(errs, err)...)
	}
	for _, m := range due {
		live, err := s.live(ctx, m.Conversation)
		if err == nil && !live {
			if err = s.drop(ctx, m.ID, chat.ArtifactExpired); err == nil {
				n.Expired++
			}
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	orphans, err := s.orphans(ctx, now.Add(-grace))
	n.Orphans = orphans
	return n, errors.Join(append(errs, err)...)
}

// orphans removes payloads without an artifact that were last written before a time. The backends are listed
// first: what is made meanwhile is then not seen, or has its artifact already.
func (s *Store) orphans(ctx context.Context, before time.Time) (int, error) {
	var keys []string
	for _, b := range []Backend{s.backend, s.o.Fallback} {
		if b == nil {
			continue
		}
		err := b.List(ctx, func(key string, modified time.Time) error {
			if !modified.After(before) {
				keys = append(keys, key)
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	if len(keys) == 0 {
		return 0, nil
	}
	owned := map[string]bool{} // id → has an artifact that is or may become readable
	list, err := s.index.Artifacts(ctx, chat.ArtifactFilter{
		States: []chat.ArtifactState{chat.ArtifactStaged, chat.ArtifactCommitted}, Limit: everything,
	})
	if err != nil {
		return 0, err
	}
	for _, m := range list {
		owned[m.ID] = true
	}
	n := 0
	var errs []error
	for _, key := range keys {
		// What has another name is not the store's and stays.
		if owned[key] || !idPattern.MatchString(key) && !temporary.MatchString(key) && !unfinished.MatchString(key) {
			continue
		}
		if err := s.erase(ctx, key); err != nil {
			errs = append(errs, err)
			continue
		}
		n++
	}
	return n, errors.Join(errs...)
}
