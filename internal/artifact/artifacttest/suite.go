package artifacttest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/fault"

	"github.com/google/go-cmp/cmp"
)

// Run holds a backend to what the store promises. open returns a new, empty one for each test.
func Run(t *testing.T, open func(t *testing.T) artifact.Backend) {
	for name, test := range map[string]func(*bench){
		"rows come back page by page":               rowsByPage,
		"items that are objects get columns":        objectItems,
		"items of any kind are one column":          anyItems,
		"projection":                                projected,
		"text comes back whole in pieces":           textByPage,
		"binary is for download":                    binary,
		"a stranger and an unknown id are the same": strangers,
		"an id never becomes a path":                wildIDs,
		"a cursor is bound":                         boundCursor,
		"nothing is readable before commit":         notBefore,
		"abort and cancel leave nothing":            leaveNothing,
		"caps commit a prefix":                      caps,
		"delete":                                    deleted,
		"expiry counts from the last use":           expiry,
		"a live conversation keeps its artifacts":   liveOnes,
		"a crash leaves what recover removes":       crashes,
		"a failure leaves nothing":                  failures,
		"fallback":                                  fallback,
		"fifty writers and room for ten":            fiftyWriters,
		"a little quota takes a prefix":             littleQuota,
		"an empty result":                           empty,
	} {
		t.Run(name, func(t *testing.T) { test(newBench(t, open)) })
	}
}

// bench is a store over a backend with a clock of its own.
type bench struct {
	*testing.T
	open    func(*testing.T) artifact.Backend
	backend *Faulty
	index   *Index
	now     time.Time
	live    bool
	store   *artifact.Store
}

var ann = artifact.Owner{User: "ann", Conversation: "c1"}

func newBench(t *testing.T, open func(*testing.T) artifact.Backend) *bench {
	b := &bench{T: t, open: open, backend: &Faulty{Backend: open(t)}, index: NewIndex()}
	// The backends have clocks of their own, so this one starts with theirs.
	b.now = time.Now().UTC().Truncate(time.Second).Add(time.Hour)
	b.index.Now = func() time.Time { return b.now }
	b.store = b.with(artifact.Options{})
	return b
}

func (b *bench) with(o artifact.Options) *artifact.Store {
	o.Now = func() time.Time { return b.now }
	o.Live = func(context.Context, string) (bool, error) { return b.live, nil }
	o.Secret = []byte("the same for every store of this test")
	return artifact.New(b.index, b.backend, o)
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) fails(err error, kind fault.Kind, code string) {
	b.Helper()
	if fault.KindOf(err) != kind || code != "" && fault.CodeOf(err) != code {
		b.Errorf("got %v (%s, %s), want kind %s, code %s", err, fault.KindOf(err), fault.CodeOf(err), kind, code)
	}
}

func (b *bench) keys(want int) {
	b.Helper()
	keys, err := Keys(context.Background(), b.backend.Backend)
	b.must(err)
	if len(keys) != want {
		b.Errorf("%d payloads are left, want %d: %v", len(keys), want, keys)
	}
}

func (b *bench) usage(want int64) {
	b.Helper()
	if u := b.index.Usage(ann.Conversation, ann.User); u.Total != want {
		b.Errorf("%d bytes count, want %d", u.Total, want)
	}
}

func (b *bench) writer(spec artifact.Spec) *artifact.Writer {
	b.Helper()
	if spec.Owner == (artifact.Owner{}) {
		spec.Owner = ann
	}
	w, err := b.store.Create(b.Context(), spec)
	b.must(err)
	return w
}

var twoColumns = []chat.Column{{Name: "n", Type: "BIGINT"}, {Name: "s"}}

// table stores rows [i, "row i"] by position.
func (b *bench) table(n int) chat.ArtifactMeta {
	b.Helper()
	w := b.writer(artifact.Spec{Format: chat.FormatRows, Columns: twoColumns})
	for i := range n {
		b.must(w.WriteRow(fmt.Appendf(nil, `[ %d, "row %d" ]`, i, i)))
	}
	m, err := w.Commit()
	b.must(err)
	return m
}

func (b *bench) text(format, body string) chat.ArtifactMeta {
	b.Helper()
	w := b.writer(artifact.Spec{Format: format, Size: int64(len(body))})
	_, err := io.WriteString(w, body)
	b.must(err)
	m, err := w.Commit()
	b.must(err)
	return m
}

func (b *bench) read(id string, q artifact.Request) artifact.Page {
	b.Helper()
	p, err := b.store.Read(b.Context(), ann, id, q)
	b.must(err)
	return p
}

func rowsByPage(b *bench) {
	m := b.table(2503)
	if *m.Rows != 2503 || m.Coverage != chat.CoverageComplete || m.State != chat.ArtifactCommitted {
		b.Errorf("meta = %+v", m)
	}
	for _, limit := range []int{7, 250, 1000, 0, 5000} {
		if limit == 7 && testing.Short() {
			continue
		}
		next, seen := "", 0
		for {
			p := b.read(m.ID, artifact.Request{Cursor: next, Limit: limit})
			if p.Start != int64(seen) {
				b.Fatalf("limit %d: a page starts at %d, want %d", limit, p.Start, seen)
			}
			for _, r := range p.Rows {
				if want := fmt.Sprintf(`[%d,"row %d"]`, seen, seen); string(r) != want {
					b.Fatalf("row %d is %s", seen, r)
				}
				seen++
			}
			if p.EOF {
				if p.Next != "" {
					b.Error("there is a cursor behind the end")
				}
				break
			}
			next = p.Next
		}
		if seen != 2503 {
			b.Errorf("limit %d: %d rows", limit, seen)
		}
	}
	if p := b.read(m.ID, artifact.Request{Chars: 40}); len(p.Rows) != 3 || p.EOF {
		b.Errorf("40 characters: %d rows", len(p.Rows))
	}
	if p := b.read(m.ID, artifact.Request{Chars: 1}); len(p.Rows) != 1 {
		b.Errorf("a page without a row does not get on: %d rows", len(p.Rows))
	}
	_, r, err := b.store.Open(b.Context(), ann, m.ID)
	b.must(err)
	defer r.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, r)
	b.must(err)
	if n != m.Size || hex.EncodeToString(sum.Sum(nil)) != m.SHA256 {
		b.Errorf("the payload has %d bytes and not the digest of %d", n, m.Size)
	}
}

func objectItems(b *bench) {
	w := b.writer(artifact.Spec{Format: chat.FormatRows})
	b.must(w.WriteRow([]byte(`{"id": 1, "big": 9007199254740993}`)))
	b.must(w.WriteRow([]byte(`{"name":"x","id":2,"deep":{"a":[1]}}`)))
	m, err := w.Commit()
	b.must(err)
	p := b.read(m.ID, artifact.Request{})
	want := []string{`[1,9007199254740993,null,null]`, `[2,null,"x",{"a":[1]}]`}
	if diff := cmp.Diff(want, texts(p.Rows)); diff != "" {
		b.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("id big name deep", names(p.Columns)); diff != "" {
		b.Errorf("columns (-want +got):\n%s", diff)
	}
}

func anyItems(b *bench) {
	w := b.writer(artifact.Spec{Format: chat.FormatRows})
	for _, v := range []string{`{"a":1}`, `[1,2]`, `"line\nbreak"`, `null`, `1e400`} {
		b.must(w.WriteRow([]byte(v)))
	}
	m, err := w.Commit()
	b.must(err)
	p := b.read(m.ID, artifact.Request{Columns: []string{"value"}})
	want := []string{`[{"a":1}]`, `[[1,2]]`, `["line\nbreak"]`, `[null]`, `[1e400]`}
	if diff := cmp.Diff(want, texts(p.Rows)); diff != "" {
		b.Errorf("rows (-want +got):\n%s", diff)
	}
}

func projected(b *bench) {
	m := b.table(3)
	p := b.read(m.ID, artifact.Request{Columns: []string{"s", "n", "s"}})
	if diff := cmp.Diff([]string{`["row 0",0,"row 0"]`, `["row 1",1,"row 1"]`, `["row 2",2,"row 2"]`}, texts(p.Rows)); diff != "" {
		b.Errorf("rows (-want +got):\n%s", diff)
	}
	if names(p.Columns) != "s n s" || p.Columns[1].Type != "BIGINT" {
		b.Errorf("columns = %+v", p.Columns)
	}
	_, err := b.store.Read(b.Context(), ann, m.ID, artifact.Request{Columns: []string{"nope"}})
	b.fails(err, fault.Invalid, "columns")
	if err == nil || !strings.Contains(err.Error(), "n, s") {
		b.Errorf("the error does not name the columns: %v", err)
	}
}

func textByPage(b *bench) {
	long := strings.Repeat("Zeile mit ü und 👍.\n", 3000) + strings.Repeat("👍", 5000)
	for chars, body := range map[int]string{0: long, 997: long, 7: long[len(long)-1000:], 1: "é\n👍"} {
		for _, format := range []string{chat.FormatText, chat.FormatJSON} {
			m := b.text(format, body)
			next, got := "", strings.Builder{}
			for {
				p := b.read(m.ID, artifact.Request{Cursor: next, Chars: chars})
				if chars > 0 && len([]rune(p.Text)) > chars || p.Text == "" {
					b.Fatalf("a piece of %d characters, limit %d", len([]rune(p.Text)), chars)
				}
				got.WriteString(p.Text)
				if next = p.Next; p.EOF {
					break
				}
			}
			if got.String() != body {
				b.Errorf("%s in pieces of %d is not what was written", format, chars)
			}
		}
	}
}

func binary(b *bench) {
	m := b.text(chat.FormatBinary, "PK\x03\x04\xff\x00")
	_, err := b.store.Read(b.Context(), ann, m.ID, artifact.Request{})
	b.fails(err, fault.Invalid, "binary")
	_, r, err := b.store.Open(b.Context(), ann, m.ID)
	b.must(err)
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || string(got) != "PK\x03\x04\xff\x00" {
		b.Errorf("got %q, %v", got, err)
	}
}

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
}

func wildIDs(b *bench) {
	m := b.table(1)
	for _, id := range []string{"", "../../x", "art_../../../etc/passwd", m.ID + "/..", m.ID + "\x00", strings.ToLower(m.ID), m.ID + "0", "art_", "%2e%2e"} {
		_, err := b.store.Stat(b.Context(), ann, id)
		b.fails(err, fault.Missing, "")
	}
}

func boundCursor(b *bench) {
	m, other := b.table(10), b.table(10)
	next := b.read(m.ID, artifact.Request{Limit: 3}).Next
	for _, c := range []string{"x", "AAAA", next[1:], next + "A", strings.ToUpper(next), "=" + next} {
		_, err := b.store.Read(b.Context(), ann, m.ID, artifact.Request{Cursor: c})
		b.fails(err, fault.Invalid, "cursor")
	}
	_, err := b.store.Read(b.Context(), ann, other.ID, artifact.Request{Cursor: next})
	b.fails(err, fault.Invalid, "cursor")
	// Every single bit counts.
	for i := range len(next) {
		if next[i] == 'A' {
			continue
		}
		if _, err := b.store.Read(b.Context(), ann, m.ID, artifact.Request{Cursor: next[:i] + "A" + next[i+1:]}); err == nil {
			b.Errorf("a cursor with another sign at %d was accepted", i)
		}
	}
	if p, err := b.with(artifact.Options{}).Read(b.Context(), ann, m.ID, artifact.Request{Cursor: next}); err != nil || p.Start != 3 {
		b.Errorf("another store with the same secret: %v", err)
	}
	b.now = b.now.Add(2 * time.Hour)
	_, err = b.store.Read(b.Context(), ann, m.ID, artifact.Request{Cursor: next})
	b.fails(err, fault.Gone, "cursor_expired")
}

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
		n, err := b.store.Sweep(b.Context())
		b.must(err)
		_ = n
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

func fiftyWriters(b *bench) {
	b.store = b.with(artifact.Options{Quota: chat.ArtifactQuota{Conversation: 10_000, User: 1 << 40, Total: 1 << 40}})
	var wg sync.WaitGroup
	var mu sync.Mutex
	stored, refused := 0, 0
	for range 50 {
		wg.Go(func() {
			w, err := b.store.Create(b.Context(), artifact.Spec{Owner: ann, Format: chat.FormatText, Size: 1000})
			if err == nil {
				if _, err = io.WriteString(w, strings.Repeat("x", 1000)); err == nil {
					_, err = w.Commit()
				}
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				stored++
			case fault.CodeOf(err) == "quota":
				refused++
			default:
				b.Errorf("store: %v", err)
			}
		})
	}
	wg.Wait()
	if stored != 10 || refused != 40 {
		b.Errorf("%d stored and %d refused", stored, refused)
	}
	b.keys(10)
	b.usage(10_000)
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

func empty(b *bench) {
	m := b.table(0)
	p := b.read(m.ID, artifact.Request{})
	if !p.EOF || len(p.Rows) != 0 || p.Next != "" || names(p.Columns) != "n s" || *m.Rows != 0 {
		b.Errorf("page = %+v", p)
	}
	w := b.writer(artifact.Spec{Format: chat.FormatText})
	m, err := w.Commit()
	b.must(err)
	_, r, err := b.store.Open(b.Context(), ann, m.ID)
	b.must(err)
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || len(got) != 0 {
		b.Errorf("got %q, %v", got, err)
	}
}

func texts(rows []json.RawMessage) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = string(r)
	}
	return out
}

func names(cols []chat.Column) string {
	var out []string
	for _, c := range cols {
		out = append(out, c.Name)
	}
	return strings.Join(out, " ")
}
