// Package artifact keeps whole results beside the conversation that made them. A Store is concrete and has all
// the rules: owners, states, caps, quotas, expiry, cursors. A Backend below it only moves bytes, and an Index
// knows what there is. Callers never see a path, a bucket or a query language.
package artifact

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"regexp"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"

	"github.com/oklog/ulid/v2"
)

// Backend keeps payloads under keys that the store makes. All methods are safe for several goroutines.
type Backend interface {
	// Create starts a payload. Nothing of it can be seen before Commit.
	Create(ctx context.Context, key string) (Draft, error)

	// Open reads from an offset to the end. Missing where there is no such payload.
	Open(ctx context.Context, key string, offset int64) (io.ReadCloser, error)

	// Delete removes a payload; one that is not there is no error.
	Delete(ctx context.Context, key string) error

	// List calls each with everything that takes up room, payloads and what a crash left of them.
	List(ctx context.Context, each func(key string, modified time.Time) error) error
}

// Draft is a payload that is being written. It is used by one goroutine. After an error only Abort is called.
type Draft interface {
	io.Writer

	// Commit makes the payload visible. When it returns without an error, the payload survives a crash.
	Commit() error

	// Abort leaves nothing behind. It may be called after anything, also twice.
	Abort()
}

// Index knows every artifact, in whatever state. Its methods return once their effect is durable; all of them
// belong to one table and have one implementation for each database, hence more than three.
type Index interface {
	// CreateArtifact adds meta as staged and counts reserve bytes for it. Conflict with code quota where they do not fit.
	CreateArtifact(ctx context.Context, meta chat.ArtifactMeta, reserve int64, quota chat.ArtifactQuota) error
	// CommitArtifact replaces what is staged by meta and the reservation by meta.Size. Conflict where it is not staged any more.
	CommitArtifact(ctx context.Context, meta chat.ArtifactMeta) error
	// Artifact is Missing where there is none.
	Artifact(ctx context.Context, id string) (chat.ArtifactMeta, error)
	// TouchArtifact records a use and moves the expiry, never to an earlier time.
	TouchArtifact(ctx context.Context, id string, expires time.Time) error
	// SetArtifactState moves it to expired or deleted, which gives its bytes back.
	SetArtifactState(ctx context.Context, id string, state chat.ArtifactState) error
	// Artifacts lists those that match, the one that expires first first.
	Artifacts(ctx context.Context, filter chat.ArtifactFilter) ([]chat.ArtifactMeta, error)
}

// Owner is who may read: user and conversation together. The zero Owner owns nothing.
type Owner struct {
	User         string
	Conversation string

	// AnyConversation is for the person's own request, in which no conversation stands. Never for a model.
	AnyConversation bool
}

func (o Owner) owns(m chat.ArtifactMeta) bool {
	return o.User != "" && o.User == m.User && (o.AnyConversation || o.Conversation != "" && o.Conversation == m.Conversation)
}

// Options of a Store. Zero values are the defaults of the configuration's documentation.
type Options struct {
	MaxRows     int64
	MaxBytes    int64
	MaxDuration time.Duration
	TTL         time.Duration // from the last use
	CursorTTL   time.Duration // 0 is one hour
	Quota       chat.ArtifactQuota

	// Fallback takes a payload that the first backend would not. It may be nil.
	Fallback Backend

	// Secret signs cursors. Replicas that share an index share it. nil is one of this process alone, and then a
	// restart ends every cursor.
	Secret []byte

	// Live reports whether a conversation is in use, so that nothing of it expires. nil: none is.
	Live func(ctx context.Context, conversation string) (bool, error)

	Now func() time.Time // nil is time.Now
	Log *slog.Logger     // nil is slog.Default
}

const mega = 1 << 20

func (o Options) withDefaults() Options {
	def := func(n *int64, v int64) {
		if *n <= 0 {
			*n = v
		}
	}
	def(&o.MaxRows, 100_000)
	def(&o.MaxBytes, 100*mega)
	def((*int64)(&o.MaxDuration), int64(time.Minute))
	def((*int64)(&o.TTL), int64(24*time.Hour))
	def((*int64)(&o.CursorTTL), int64(time.Hour))
	def(&o.Quota.Conversation, 500*mega)
	def(&o.Quota.User, 2<<30)
	def(&o.Quota.Total, 20<<30)
	if len(o.Secret) == 0 {
		o.Secret = make([]byte, 32)
		rand.Read(o.Secret) // never fails
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// Store keeps artifacts. It is safe for several goroutines.
type Store struct {
	index   Index
	backend Backend
	o       Options
}

// New returns a store over an index and a backend. It starts nothing; somebody calls Recover once and Sweep
// from time to time.
func New(index Index, backend Backend, o Options) *Store {
	return &Store{index: index, backend: backend, o: o.withDefaults()}
}

// idPattern is what the store's own ids look like; nothing else is ever looked up, and no id becomes part of a
// path unless it matches.
var idPattern = regexp.MustCompile(`^art_[0-9A-HJKMNP-TV-Z]{26}$`)

// newID has 80 random bits behind the time.
func (s *Store) newID() string {
	return "art_" + ulid.MustNew(ulid.Timestamp(s.o.Now()), rand.Reader).String()
}

// Stat returns what is known of a committed artifact. Missing for an unknown id and for another's alike; Gone
// with code artifact_expired for the owner's own that has expired.
func (s *Store) Stat(ctx context.Context, who Owner, id string) (chat.ArtifactMeta, error) {
	if !idPattern.MatchString(id) {
		return chat.ArtifactMeta{}, missing()
	}
	m, err := s.index.Artifact(ctx, id)
	if fault.KindOf(err) == fault.Missing {
		return chat.ArtifactMeta{}, missing()
	}
	if err != nil {
		return chat.ArtifactMeta{}, err
	}
	if !who.owns(m) {
		return chat.ArtifactMeta{}, missing()
	}
	switch m.State {
	case chat.ArtifactCommitted:
	case chat.ArtifactExpired:
		return chat.ArtifactMeta{}, expired()
	default:
		return chat.ArtifactMeta{}, missing()
	}
	if !s.o.Now().Before(m.Expires) {
		live, err := s.live(ctx, m.Conversation)
		if err != nil {
			return chat.ArtifactMeta{}, err
		}
		if !live {
			return chat.ArtifactMeta{}, expired()
		}
	}
	return m, nil
}

// Open reads a payload whole. The caller closes it. Errors are those of Stat.
func (s *Store) Open(ctx context.Context, who Owner, id string) (chat.ArtifactMeta, io.ReadCloser, error) {
	m, err := s.Stat(ctx, who, id)
	if err != nil {
		return m, nil, err
	}
	r, err := s.open(ctx, &m, 0)
	if err != nil {
		return m, nil, err
	}
	return m, r, nil
}

// open reads a payload that Stat allowed and counts as a use, of which m then knows.
func (s *Store) open(ctx context.Context, m *chat.ArtifactMeta, offset int64) (io.ReadCloser, error) {
	r, err := s.backend.Open(ctx, m.ID, offset)
	if err != nil && s.o.Fallback != nil {
		if f, ferr := s.o.Fallback.Open(ctx, m.ID, offset); ferr == nil {
			r, err = f, nil
		}
	}
	if err != nil {
		return nil, fault.Wrap(fault.Internal, "", err)
	}
	s.touch(ctx, m)
	return r, nil
}

// touch moves the expiry. Within a hundredth of the TTL one record of a use is enough.
func (s *Store) touch(ctx context.Context, m *chat.ArtifactMeta) {
	now := s.o.Now()
	if now.Sub(m.LastUsed) < s.o.TTL/100 {
		return
	}
	expires := now.Add(s.o.TTL)
	if err := s.index.TouchArtifact(ctx, m.ID, expires); err != nil {
		if ctx.Err() == nil {
			s.o.Log.WarnContext(ctx, "the use of an artifact was not recorded", "artifact", m.ID, "err", err)
		}
		return
	}
	m.LastUsed, m.Expires = now, expires
}

// Delete removes an artifact. Errors are those of Stat.
func (s *Store) Delete(ctx context.Context, who Owner, id string) error {
	m, err := s.Stat(ctx, who, id)
	if err != nil {
		return err
	}
	return s.drop(ctx, m.ID, chat.ArtifactDeleted)
}

// drop ends an artifact. The state comes first: what is left of a payload after a crash is found by Sweep, but
// a readable artifact without a payload would be a lie.
func (s *Store) drop(ctx context.Context, id string, state chat.ArtifactState) error {
	if err := s.index.SetArtifactState(ctx, id, state); err != nil {
		return err
	}
	return s.erase(ctx, id)
}

func (s *Store) erase(ctx context.Context, key string) error {
	err := s.backend.Delete(ctx, key)
	if s.o.Fallback != nil {
		if ferr := s.o.Fallback.Delete(ctx, key); err == nil {
			err = ferr
		}
	}
	if err != nil {
		return fault.Wrap(fault.Internal, "", err)
	}
	return nil
}

func (s *Store) live(ctx context.Context, conversation string) (bool, error) {
	if s.o.Live == nil {
		return false, nil
	}
	return s.o.Live(ctx, conversation)
}

func missing() error { return fault.New(fault.Missing, "There is no such stored result.") }

func expired() error {
	return &fault.Error{Kind: fault.Gone, Code: "artifact_expired", Msg: "The stored result has expired. Run the tool again to get it."}
}
