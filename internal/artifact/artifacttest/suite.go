package artifacttest

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/fault"
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
		"a big payload":                             big,
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
