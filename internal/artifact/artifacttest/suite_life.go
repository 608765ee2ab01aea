package artifacttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/fault"
)

func notBefore(b *bench) {
	w := b.writer(artifact.Spec{Format: chat.FormatRows, Columns: twoColumns})
	b.must(w.WriteRow([]byte(`[1,"a"]`)))
	_, err := b.store.Read(b.Context(), ann, w.ID(), artifact.Request{})
	b.fails(err, fault.Missing, "")
	b.usage(100 << 20) // the cap is reserved
	m, err := w.Commit()
	b.must(err)
	b.usage(m.Size)
	if _, err := w.Commit(); err == nil {
		b.Error("a second commit went through")
	}
	w.Abort() // nothing
	if p := b.read(m.ID, artifact.Request{}); len(p.Rows) != 1 {
		b.Errorf("%d rows", len(p.Rows))
	}
	if err := w.WriteRow([]byte(`[2,"b"]`)); err == nil {
		b.Error("a row was written after commit")
	}
}

func leaveNothing(b *bench) {
	w := b.writer(artifact.Spec{Format: chat.FormatText})
	_, err := io.WriteString(w, strings.Repeat("x", 1<<20))
	b.must(err)
	w.Abort()
	w.Abort()
	if _, err := w.Commit(); err == nil {
		b.Error("an aborted artifact was committed")
	}
	b.keys(0)
	b.usage(0)

	ctx, cancel := context.WithCancel(b.Context())
	w, err = b.store.Create(ctx, artifact.Spec{Owner: ann, Format: chat.FormatText})
	b.must(err)
	_, err = io.WriteString(w, "half")
	b.must(err)
	cancel()
	if _, err := w.Write([]byte("more")); !errors.Is(err, context.Canceled) {
		b.Errorf("writing after the cancel: %v", err)
	}
	if _, err := w.Commit(); !errors.Is(err, context.Canceled) {
		b.Errorf("commit after the cancel: %v", err)
	}
	b.keys(0)
	b.usage(0)
	_, err = b.store.Stat(b.Context(), ann, w.ID())
	b.fails(err, fault.Missing, "")
}

func caps(b *bench) {
	for _, rows := range []int64{9, 10, 11} {
		b.store = b.with(artifact.Options{MaxRows: 10})
		w := b.writer(artifact.Spec{Format: chat.FormatRows})
		var err error
		for i := int64(0); i < rows && err == nil; i++ {
			err = w.WriteRow(fmt.Append(nil, i))
		}
		b.prefix(w, err, rows > 10, chat.BoundBySize, min(rows, 10))
	}
	for _, size := range []int{9, 10, 11} {
		b.store = b.with(artifact.Options{MaxBytes: 10})
		w := b.writer(artifact.Spec{Format: chat.FormatText})
		n, err := io.WriteString(w, strings.Repeat("x", size))
		if n != min(size, 10) {
			b.Errorf("%d bytes of %d were written", n, size)
		}
		b.prefix(w, err, size > 10, chat.BoundBySize, -1)
	}
	b.store = b.with(artifact.Options{MaxBytes: 10})
	w := b.writer(artifact.Spec{Format: chat.FormatRows})
	b.must(w.WriteRow([]byte(`"1234"`)))
	b.prefix(w, w.WriteRow([]byte(`"1234"`)), true, chat.BoundBySize, 1)

	b.store = b.with(artifact.Options{MaxDuration: time.Second})
	w = b.writer(artifact.Spec{Format: chat.FormatRows})
	b.now = b.now.Add(time.Second)
	b.must(w.WriteRow([]byte(`1`)))
	b.now = b.now.Add(time.Millisecond)
	b.prefix(w, w.WriteRow([]byte(`2`)), true, chat.BoundByTime, 1)

	b.store = b.with(artifact.Options{})
	for want, spec := range map[string]artifact.Spec{
		chat.CoveragePrefix:  {Format: chat.FormatRows, Partial: true},
		chat.CoverageUnknown: {Format: chat.FormatRows, Unsure: true},
	} {
		w = b.writer(spec)
		b.must(w.WriteRow([]byte(`1`)))
		m, err := w.Commit()
		b.must(err)
		if m.Coverage != want {
			b.Errorf("coverage %s, want %s", m.Coverage, want)
		}
	}
}

// prefix commits w and holds it to what the caps say.
func (b *bench) prefix(w *artifact.Writer, err error, full bool, bound string, rows int64) {
	b.Helper()
	if errors.Is(err, artifact.ErrFull) != full {
		b.Errorf("err = %v, want full %t", err, full)
	}
	m, err := w.Commit()
	b.must(err)
	want := chat.CoverageComplete
	if full {
		want = chat.CoveragePrefix
		if w.Bound() != bound {
			b.Errorf("bound by %q, want %q", w.Bound(), bound)
		}
	}
	if m.Coverage != want {
		b.Errorf("coverage %s, want %s", m.Coverage, want)
	}
	if rows >= 0 && *m.Rows != rows {
		b.Errorf("%d rows, want %d", *m.Rows, rows)
	}
}

func deleted(b *bench) {
	m := b.table(3)
	b.must(b.store.Delete(b.Context(), ann, m.ID))
	_, err := b.store.Stat(b.Context(), ann, m.ID)
	b.fails(err, fault.Missing, "")
	b.fails(b.store.Delete(b.Context(), ann, m.ID), fault.Missing, "")
	b.keys(0)
	b.usage(0)
}

func expiry(b *bench) {
	m := b.table(3)
	b.now = b.now.Add(23 * time.Hour)
	if p := b.read(m.ID, artifact.Request{}); !p.Meta.Expires.Equal(b.now.Add(24 * time.Hour)) {
		b.Errorf("a page says that it expires %s after its use", p.Meta.Expires.Sub(b.now))
	}
	b.now = b.now.Add(23 * time.Hour)
	b.read(m.ID, artifact.Request{})
	b.now = b.now.Add(24*time.Hour - time.Nanosecond)
	if _, err := b.store.Stat(b.Context(), ann, m.ID); err != nil {
		b.Errorf("just before the end: %v", err)
	}
	b.now = b.now.Add(time.Nanosecond)
	for range 2 { // before the sweep and after it
		_, err := b.store.Read(b.Context(), ann, m.ID, artifact.Request{})
		b.fails(err, fault.Gone, "artifact_expired")
		_, err = b.store.Read(b.Context(), artifact.Owner{User: "bob", Conversation: "c1"}, m.ID, artifact.Request{})
		b.fails(err, fault.Missing, "")
		_, err = b.store.Sweep(b.Context())
		b.must(err)
		b.now = b.now.Add(time.Nanosecond)
	}
	b.keys(0)
	b.usage(0)
}

func liveOnes(b *bench) {
	m := b.table(3)
	b.live = true
	b.now = b.now.Add(100 * time.Hour)
	if n, err := b.store.Sweep(b.Context()); err != nil || n != (artifact.Swept{}) {
		b.Errorf("swept %+v, %v", n, err)
	}
	b.read(m.ID, artifact.Request{}) // a use, which moves the expiry
	b.live = false
	b.now = b.now.Add(23 * time.Hour)
	b.read(m.ID, artifact.Request{})
}

// fiftyWriters want 1,000 bytes each, of one conversation, of one user, or of anybody, and there is room for ten of them:
// to the byte.
func fiftyWriters(b *bench) {
	const size, room, plenty = 1000, 10, 1 << 40
	for name, c := range map[string]struct {
		quota func(int64) chat.ArtifactQuota
		owner func(i int) artifact.Owner
	}{
		"a conversation": {
			func(n int64) chat.ArtifactQuota {
				return chat.ArtifactQuota{Conversation: n, User: plenty, Total: plenty}
			},
			func(int) artifact.Owner { return ann },
		},
		"a user": {
			func(n int64) chat.ArtifactQuota {
				return chat.ArtifactQuota{Conversation: plenty, User: n, Total: plenty}
			},
			func(i int) artifact.Owner { return artifact.Owner{User: "ann", Conversation: fmt.Sprint("c", i)} },
		},
		"all": {
			func(n int64) chat.ArtifactQuota {
				return chat.ArtifactQuota{Conversation: plenty, User: plenty, Total: n}
			},
			func(i int) artifact.Owner {
				return artifact.Owner{User: fmt.Sprint("u", i), Conversation: fmt.Sprint("c", i)}
			},
		},
	} {
		for over := int64(-1); over <= 1; over++ {
			want := room
			if over < 0 {
				want--
			}
			b.store = b.with(artifact.Options{Quota: c.quota(room*size + over)})
			kept := b.crowd(50, size, c.owner)
			if len(kept) != want {
				b.Errorf("%s with %+d bytes: %d were stored, want %d", name, over, len(kept), want)
			}
			b.keys(len(kept))
			b.usage(int64(len(kept)) * size)
			for _, m := range kept { // what is given back can be had again
				b.must(b.store.Delete(b.Context(), artifact.Owner{User: m.User, Conversation: m.Conversation}, m.ID))
			}
			b.keys(0)
			b.usage(0)
		}
	}
}

// crowd stores n artifacts at once and returns those for which there was room.
func (b *bench) crowd(n, size int, owner func(int) artifact.Owner) []chat.ArtifactMeta {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var kept []chat.ArtifactMeta
	store := func(i int) (chat.ArtifactMeta, error) {
		w, err := b.store.Create(b.Context(), artifact.Spec{Owner: owner(i), Format: chat.FormatText, Size: int64(size)})
		if err != nil {
			return chat.ArtifactMeta{}, err
		}
		defer w.Abort()
		if _, err := io.WriteString(w, strings.Repeat("x", size)); err != nil {
			return chat.ArtifactMeta{}, err
		}
		return w.Commit()
	}
	for i := range n {
		wg.Go(func() {
			m, err := store(i)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				kept = append(kept, m)
			case fault.CodeOf(err) != "quota":
				b.Errorf("store: %v", err)
			}
		})
	}
	wg.Wait()
	return kept
}

func littleQuota(b *bench) {
	b.store = b.with(artifact.Options{MaxBytes: 1 << 20, Quota: chat.ArtifactQuota{User: 300 << 10}})
	w := b.writer(artifact.Spec{Format: chat.FormatText})
	b.usage(256 << 10)
	n, err := io.WriteString(w, strings.Repeat("x", 1<<20))
	if n != 256<<10 {
		b.Errorf("%d bytes were written", n)
	}
	b.prefix(w, err, true, chat.BoundBySize, -1)
	_, err = b.store.Create(b.Context(), artifact.Spec{Owner: ann, Format: chat.FormatText})
	b.fails(err, fault.Conflict, "quota")
}
