package artifact_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"agentd/internal/artifact"
	"agentd/internal/artifact/artifacttest"
	"agentd/internal/chat"
)

const wideRow = `[123456789,"a text of about three hundred characters, ` +
	`which is what a row of a real answer tends to have: a name, a date, an amount, a comment, another comment, and then some more, ` +
	`since rows in the wild are never as short as one would like them to be, and so this one is not short either"]`

// BenchmarkWrite reports MB/s of 100,000 rows and the highest heap above the start.
func BenchmarkWrite(b *testing.B) {
	s := artifact.New(artifacttest.NewIndex(), benchDir(b), artifact.Options{Quota: chat.ArtifactQuota{Conversation: 1 << 40, User: 1 << 40, Total: 1 << 40}})
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	start, highest := m.HeapAlloc, uint64(0)
	for b.Loop() {
		meta := rows(b, s, 100_000, wideRow)
		b.SetBytes(meta.Size)
		runtime.ReadMemStats(&m)
		highest = max(highest, m.HeapAlloc)
		if err := s.Delete(b.Context(), owner, meta.ID); err != nil {
			b.Fatal(err)
		}
	}
	if highest > start {
		b.ReportMetric(float64(highest-start)/(1<<20), "MB-heap")
	}
}

// BenchmarkPageFarBehind reports how many times longer the page at row 99,900 takes than the page at row 0.
func BenchmarkPageFarBehind(b *testing.B) {
	s := artifact.New(artifacttest.NewIndex(), benchDir(b), artifact.Options{})
	m := rows(b, s, 100_000, wideRow)
	far := ""
	for range 999 {
		p, err := s.Read(b.Context(), owner, m.ID, artifact.Request{Cursor: far, Limit: 100})
		if err != nil {
			b.Fatal(err)
		}
		far = p.Next
	}
	read := func(cursor string, start int64) time.Duration {
		t0 := time.Now()
		p, err := s.Read(b.Context(), owner, m.ID, artifact.Request{Cursor: cursor, Limit: 100})
		if err != nil || p.Start != start || len(p.Rows) != 100 {
			b.Fatalf("page at %d with %d rows, %v", p.Start, len(p.Rows), err)
		}
		return time.Since(t0)
	}
	var near, behind time.Duration
	for b.Loop() {
		near += read("", 0)
		behind += read(far, 99_900)
	}
	b.ReportMetric(float64(behind)/float64(near), "times-first-page")
}

func benchDir(b *testing.B) artifact.Backend {
	d, err := artifact.OpenDir(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close() })
	return d
}

// TestNothingIsHeldWhole writes 90 MB and looks at the heap.
func TestNothingIsHeldWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 90 MB")
	}
	s := artifact.New(artifacttest.NewIndex(), openDir(t), artifact.Options{})
	piece := []byte(strings.Repeat("x", 1<<20))
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	start := m.HeapAlloc
	w, err := s.Create(t.Context(), artifact.Spec{Owner: owner, Format: chat.FormatText})
	if err != nil {
		t.Fatal(err)
	}
	for range 90 {
		if _, err := w.Write(piece); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&m)
		if m.HeapAlloc > start+32<<20 {
			t.Fatalf("%d MB above the start", (m.HeapAlloc-start)>>20)
		}
	}
	if _, err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}
