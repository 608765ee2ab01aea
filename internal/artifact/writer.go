package artifact

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrFull says that a cap is reached. What was written stands; Commit then gives coverage PREFIX.
var ErrFull = errors.New("artifact: a cap is reached")

// Spec describes an artifact to be made.
type Spec struct {
	Owner   Owner // AnyConversation does not count here
	CallID  string
	Tool    string
	Title   string
	Format  string
	Columns []chat.Column // of rows by position; nil: WriteRow gets items of any kind

	// Size is what the payload has at most, where that is known; 0 reserves the cap, or a part of it where the
	// quota has no more.
	Size int64

	// Partial says that the source itself had more, Unsure that nobody knows whether it had.
	Partial bool
	Unsure  bool

	// Fallback goes to the fallback backend at once, since the first one has just failed.
	Fallback bool
}

const writeBuffer = 256 << 10

// Writer takes one payload, for one goroutine. Exactly one of Commit and Abort ends it; both may be called again.
type Writer struct {
	s     *Store
	ctx   context.Context // of Create; its end aborts
	meta  chat.ArtifactMeta
	draft Draft
	buf   *bufio.Writer
	sum   hash.Hash
	start time.Time
	rows  int64
	size  int64
	max   int64        // bytes that were reserved
	items *itemColumns // nil where the columns were given
	bound string       // chat.BoundBySize or BoundByTime once a cap is reached
	part  bool
	vague bool // whether the source had more is not known
	done  bool
	line  []byte
}

// Create reserves the quota and starts a payload; nothing of it can be read before Commit. Conflict with code
// quota where there is no room, Internal where the backend fails. The writer is bound to ctx: when that ends,
// writing fails, and Abort is still needed.
func (s *Store) Create(ctx context.Context, spec Spec) (*Writer, error) {
	backend := s.backend
	if spec.Fallback {
		backend = s.o.Fallback
	}
	if backend == nil {
		return nil, fault.New(fault.Internal, "There is no fallback store.")
	}
	if spec.Owner.User == "" || spec.Owner.Conversation == "" {
		return nil, fault.New(fault.Internal, "A stored result needs an owner.")
	}
	switch spec.Format {
	case chat.FormatRows, chat.FormatJSON, chat.FormatText, chat.FormatBinary:
	default:
		return nil, fault.New(fault.Internal, "There is no format "+spec.Format+".")
	}
	now := s.o.Now()
	meta := chat.ArtifactMeta{
		ID: s.newID(), User: spec.Owner.User, Conversation: spec.Owner.Conversation, CallID: spec.CallID, Tool: spec.Tool,
		Title: spec.Title, Format: spec.Format, Columns: spec.Columns, State: chat.ArtifactStaged,
		Created: now, LastUsed: now, Expires: now.Add(s.o.TTL),
	}
	reserve, err := s.reserve(ctx, meta, spec.Size)
	if err != nil {
		return nil, err
	}
	d, err := backend.Create(ctx, meta.ID)
	if err != nil {
		s.giveUp(ctx, meta.ID)
		return nil, fault.Wrap(fault.Internal, "", err)
	}
	w := &Writer{s: s, ctx: ctx, meta: meta, draft: d, max: reserve, sum: sha256.New(), start: now, part: spec.Partial, vague: spec.Unsure}
	w.buf = bufio.NewWriterSize(d, writeBuffer)
	if spec.Format == chat.FormatRows && spec.Columns == nil {
		w.items = &itemColumns{}
	}
	return w, nil
}

// reserve counts bytes for an artifact before the first one is written. Of an unknown size it asks for the cap,
// then for less: a prefix is better than nothing.
func (s *Store) reserve(ctx context.Context, meta chat.ArtifactMeta, size int64) (int64, error) {
	if size > 0 {
		size = min(size, s.o.MaxBytes)
		return size, s.index.CreateArtifact(ctx, meta, size, s.o.Quota)
	}
	const least = 64 << 10
	for size = s.o.MaxBytes; ; size /= 4 {
		err := s.index.CreateArtifact(ctx, meta, size, s.o.Quota)
		if err == nil || fault.CodeOf(err) != "quota" || size/4 < least {
			return size, err
		}
	}
}

// ID is the artifact's name. It can be read once Commit has returned.
func (w *Writer) ID() string { return w.meta.ID }

// Write appends to a payload that has no rows. At the cap it writes what fits and returns ErrFull.
func (w *Writer) Write(p []byte) (int, error) {
	if err := w.open(); err != nil {
		return 0, err
	}
	full := false
	if room := w.max - w.size; int64(len(p)) > room {
		p, full = p[:room], true
		w.bound = chat.BoundBySize
	}
	if err := w.put(p); err != nil {
		return 0, err
	}
	if full {
		return len(p), ErrFull
	}
	return len(p), nil
}

// WriteRow appends one JSON value as a row: an array by position where the columns were given, else any item.
// A row that would pass a cap is not written at all; the error is ErrFull.
func (w *Writer) WriteRow(v []byte) error {
	if err := w.open(); err != nil {
		return err
	}
	row := jsontext.Value(append(w.line[:0], v...))
	if err := row.Compact(jsontext.AllowDuplicateNames(true)); err != nil {
		return fault.Wrap(fault.Internal, "", err)
	}
	w.line = row
	w.line = append(w.line, '\n')
	if w.rows >= w.s.o.MaxRows || int64(len(w.line)) > w.max-w.size {
		w.bound = chat.BoundBySize
		return ErrFull
	}
	if w.items != nil {
		w.items.see(row)
	}
	if err := w.put(w.line); err != nil {
		return err
	}
	w.rows++
	return nil
}

// open refuses what comes after the end, after the time cap and after the context.
func (w *Writer) open() error {
	switch {
	case w.done:
		return fault.New(fault.Internal, "The stored result is closed.")
	case w.bound != "":
		return ErrFull
	case w.ctx.Err() != nil:
		return context.Cause(w.ctx)
	case w.s.o.Now().Sub(w.start) > w.s.o.MaxDuration:
		w.bound = chat.BoundByTime
		return ErrFull
	}
	return nil
}

func (w *Writer) put(p []byte) error {
	if _, err := w.buf.Write(p); err != nil {
		return fault.Wrap(fault.Internal, "", err)
	}
	w.sum.Write(p)
	w.size += int64(len(p))
	return nil
}

// Bound is the cap that was reached, or "".
func (w *Writer) Bound() string { return w.bound }

// Commit makes the artifact readable and durable, and the reservation its real size. Where it fails, nothing
// readable is left. A context that has ended fails it.
func (w *Writer) Commit() (chat.ArtifactMeta, error) {
	if w.done {
		return chat.ArtifactMeta{}, fault.New(fault.Internal, "The stored result is closed.")
	}
	if err := w.commit(); err != nil {
		w.Abort()
		return chat.ArtifactMeta{}, err
	}
	w.done = true
	w.meta.State = chat.ArtifactCommitted
	return w.meta, nil
}

func (w *Writer) commit() error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	if err := w.buf.Flush(); err != nil {
		return fault.Wrap(fault.Internal, "", err)
	}
	if err := w.draft.Commit(); err != nil {
		return fault.Wrap(fault.Internal, "", err)
	}
	now := w.s.o.Now()
	w.meta.Size, w.meta.SHA256 = w.size, hex.EncodeToString(w.sum.Sum(nil))
	switch {
	case w.bound != "" || w.part:
		w.meta.Coverage = chat.CoveragePrefix
	case w.vague:
		w.meta.Coverage = chat.CoverageUnknown
	default:
		w.meta.Coverage = chat.CoverageComplete
	}
	if w.meta.Format == chat.FormatRows {
		rows := w.rows
		w.meta.Rows = &rows
		if w.items != nil {
			w.meta.Columns = w.items.columns()
		}
	}
	w.meta.LastUsed, w.meta.Expires = now, now.Add(w.s.o.TTL)
	if err := w.s.index.CommitArtifact(w.ctx, w.meta); err != nil {
		return err
	}
	return nil
}

// Abort leaves nothing readable and gives the quota back. It works after the context has ended, within a limit.
func (w *Writer) Abort() {
	if w.done {
		return
	}
	w.done = true
	w.draft.Abort()
	w.s.giveUp(w.ctx, w.meta.ID)
}

const giveUpLimit = 5 * time.Second

// giveUp ends an artifact that was never committed. What it cannot do now Sweep does later.
func (s *Store) giveUp(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveUpLimit)
	defer cancel()
	if err := s.drop(ctx, id, chat.ArtifactDeleted); err != nil {
		s.o.Log.WarnContext(ctx, "an artifact that was given up is left to the sweeper", "artifact", id, "err", err)
	}
}
