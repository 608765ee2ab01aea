package artifacttest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/fault"
)

func strangers(b *bench) {
	m := b.table(1)
	unknown := "art_01ARZ3NDEKTSV4RRFFQ69G5FAV"
	_, want := b.store.Stat(b.Context(), ann, unknown)
	b.fails(want, fault.Missing, "")
	for _, who := range []artifact.Owner{
		{}, {User: "ann"}, {Conversation: "c1"}, {User: "bob", Conversation: "c1"}, {User: "ann", Conversation: "c2"},
		{User: "ann", Conversation: "c1 "}, {User: "Ann", Conversation: "c1"}, {AnyConversation: true}, {User: "bob", AnyConversation: true},
	} {
		for _, id := range []string{m.ID, unknown} {
			_, err1 := b.store.Stat(b.Context(), who, id)
			_, err2 := b.store.Read(b.Context(), who, id, artifact.Request{})
			_, _, err3 := b.store.Open(b.Context(), who, id)
			for _, err := range []error{err1, err2, err3, b.store.Delete(b.Context(), who, id)} {
				if err == nil || err.Error() != want.Error() || fault.KindOf(err) != fault.Missing {
					b.Errorf("%+v and %s: %v", who, id, err)
				}
			}
		}
	}
	if _, err := b.store.Stat(b.Context(), artifact.Owner{User: "ann", AnyConversation: true}, m.ID); err != nil {
		b.Errorf("the person's own request: %v", err)
	}
	// Scopes are compared whole: what would be the same when joined or cleaned is not.
	scopes := []artifact.Owner{
		{User: "a/b", Conversation: "c"}, {User: "a", Conversation: "b/c"}, {User: "a_b", Conversation: "c"}, {User: "A/B", Conversation: "c"},
		{User: "a/b", Conversation: "c/"}, {User: "a/b\x00", Conversation: "c"}, {User: "a", Conversation: "/b/../b/c"},
	}
	for i, mine := range scopes {
		w := b.writer(artifact.Spec{Owner: mine, Format: chat.FormatText})
		m, err := w.Commit()
		b.must(err)
		for j, who := range scopes {
			if _, err := b.store.Stat(b.Context(), who, m.ID); (err == nil) != (i == j) {
				b.Errorf("%+v asks for what is of %+v: %v", who, mine, err)
			}
		}
	}
}

func wildIDs(b *bench) {
	m := b.table(1)
	for _, id := range []string{"", "../../x", "art_../../../etc/passwd", m.ID + "/..", m.ID + "\x00", strings.ToLower(m.ID), m.ID + "0", "art_", "%2e%2e"} {
		_, err := b.store.Stat(b.Context(), ann, id)
		b.fails(err, fault.Missing, "")
	}
}

func crashes(b *bench) {
	kept := b.table(3)
	for _, at := range []Where{AtCreate, AtWrite, AtCommit, Nowhere} {
		b.backend.At, b.backend.Killed = at, true
		w, err := b.store.Create(b.Context(), artifact.Spec{Owner: ann, Format: chat.FormatRows})
		if err == nil {
			if at != Nowhere {
				b.index.Fail(errors.New("the power went")) // nothing cleans up after a crash
			}
			for i := range 100_000 { // more than is buffered
				if err = w.WriteRow(fmt.Append(nil, i)); err != nil {
					break
				}
			}
			if err == nil {
				if at == Nowhere { // between the payload and the index
					b.index.Fail(errors.New("the power went"))
				}
				_, err = w.Commit()
			}
			if err == nil {
				b.Fatalf("%s: it was stored", at)
			}
		}
		b.index.Fail(nil)
		b.backend.At, b.backend.Killed = Nowhere, false
		if w != nil {
			_, err = b.store.Read(b.Context(), ann, w.ID(), artifact.Request{})
			b.fails(err, fault.Missing, "")
		}
	}
	if _, err := b.store.Recover(b.Context()); err != nil {
		b.Error(err)
	}
	b.keys(1)
	b.usage(kept.Size)
	b.read(kept.ID, artifact.Request{})
}

// big is larger than what a bucket takes in one piece: it is read back, and given up.
func big(b *bench) {
	piece := strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB
	const pieces = 20
	write := func() *artifact.Writer {
		w := b.writer(artifact.Spec{Format: chat.FormatText})
		for range pieces {
			_, err := io.WriteString(w, piece)
			b.must(err)
		}
		return w
	}
	m, err := write().Commit()
	b.must(err)
	_, r, err := b.store.Open(b.Context(), ann, m.ID)
	b.must(err)
	defer r.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, r)
	b.must(err)
	if n != pieces<<20 || hex.EncodeToString(sum.Sum(nil)) != m.SHA256 {
		b.Errorf("%d bytes came back, and not those that were written", n)
	}
	b.keys(1)

	w := write()
	w.Abort()
	b.keys(1)
	b.usage(m.Size)
}

func failures(b *bench) {
	for _, at := range []Where{AtCreate, AtWrite, AtCommit} {
		b.backend.At = at
		w, err := b.store.Create(b.Context(), artifact.Spec{Owner: ann, Format: chat.FormatText})
		if err == nil {
			_, err = io.WriteString(w, strings.Repeat("x", 1<<20))
			if err == nil {
				_, err = w.Commit()
			}
			w.Abort()
		}
		b.fails(err, fault.Internal, "")
		if !errors.Is(err, ErrFaulty) {
			b.Errorf("%s: %v", at, err)
		}
		b.backend.At = Nowhere
		b.keys(0)
		b.usage(0)
	}
	w := b.writer(artifact.Spec{Format: chat.FormatText})
	b.index.Fail(errors.New("no index"))
	if _, err := w.Commit(); err == nil {
		b.Error("committed without an index")
	}
	b.index.Fail(nil)
	_, err := b.store.Recover(b.Context())
	b.must(err)
	b.keys(0)
	b.usage(0)

	m := b.table(2)
	b.backend.At = AtDelete
	if err := b.store.Delete(b.Context(), ann, m.ID); err == nil {
		b.Error("the failure to delete was not told")
	}
	b.backend.At = Nowhere
	_, err = b.store.Stat(b.Context(), ann, m.ID)
	b.fails(err, fault.Missing, "")
	b.keys(1)
	_, err = b.store.Recover(b.Context())
	b.must(err)
	b.keys(0)

	_, err = b.store.Create(b.Context(), artifact.Spec{Format: chat.FormatText})
	b.fails(err, fault.Internal, "")
	_, err = b.store.Create(b.Context(), artifact.Spec{Owner: ann, Format: "xml"})
	b.fails(err, fault.Internal, "")
}

func fallback(b *bench) {
	second := b.open(b.T)
	b.store = b.with(artifact.Options{Fallback: second})
	b.backend.At = AtCreate
	_, err := b.store.Create(b.Context(), artifact.Spec{Owner: ann, Format: chat.FormatText})
	b.fails(err, fault.Internal, "")
	w := b.writer(artifact.Spec{Format: chat.FormatText, Fallback: true})
	_, err = io.WriteString(w, "elsewhere")
	b.must(err)
	m, err := w.Commit()
	b.must(err)
	b.backend.At = AtOpen
	if p := b.read(m.ID, artifact.Request{}); p.Text != "elsewhere" {
		b.Errorf("text = %q", p.Text)
	}
	b.backend.At = Nowhere
	if p := b.read(m.ID, artifact.Request{}); p.Text != "elsewhere" {
		b.Errorf("text = %q", p.Text)
	}
	b.must(b.store.Delete(b.Context(), ann, m.ID))
	if keys, err := Keys(b.Context(), second); err != nil || len(keys) != 0 {
		b.Errorf("left in the fallback: %v, %v", keys, err)
	}
}
