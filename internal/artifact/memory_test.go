package artifact_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"agentd/internal/artifact"
	"agentd/internal/artifact/artifacttest"
	"agentd/internal/chat"
)

// heap is how far the heap grows.
type heap struct{ start, highest uint64 }

func newHeap() *heap {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return &heap{m.HeapAlloc, m.HeapAlloc}
}

func (h *heap) look() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h.highest = max(h.highest, m.HeapAlloc)
}

func (h *heap) megabytes() float64 { return float64(h.highest-h.start) / (1 << 20) }

// TestQueriesHoldNoRows: 100,000 rows of 300 bytes are asked in every way. A filter and an aggregate hold
// one row at a time, a sort its keys and places; what is measured has garbage in it.
func TestQueriesHoldNoRows(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 35 MB")
	}
	s := artifact.New(artifacttest.NewIndex(), openDir(t), artifact.Options{})
	large := func(n int) string {
		w, err := s.Create(t.Context(), artifact.Spec{Owner: owner, Format: chat.FormatRows, Columns: []chat.Column{{Name: "n"}, {Name: "g"}, {Name: "s"}}})
		if err != nil {
			t.Fatal(err)
		}
		pad := strings.Repeat("text ", 55)
		for i := range n {
			if err := w.WriteRow(fmt.Appendf(nil, `[%d,"group %d","%08d %s"]`, i*7919%n, i%50, i*104_729%n, pad)); err != nil {
				t.Fatal(err)
			}
		}
		m, err := w.Commit()
		if err != nil {
			t.Fatal(err)
		}
		return m.ID
	}
	few, many := large(10_000), large(100_000)
	for name, c := range map[string]struct {
		q     artifact.Query
		most  float64 // MB for 100,000 rows
		check string  // how the first row begins
	}{
		"filter":    {artifact.Query{Filter: []artifact.Condition{{Column: "s", Op: "contains", Value: "no such thing"}}}, 16, ""},
		"aggregate": {artifact.Query{Aggregate: &artifact.Aggregate{GroupBy: []string{"g"}, Values: []artifact.Value{{Fn: "sum", Column: "n"}, {Fn: "max", Column: "s"}}}}, 16, `["group 0",`},
		"sort":      {artifact.Query{Request: artifact.Request{Limit: 100}, Sort: []artifact.Order{{Column: "n", Desc: true}}}, 34, `[99999,`},
	} {
		grown := map[string]float64{}
		for _, id := range []string{few, many} {
			h := newHeap()
			done := make(chan struct{})
			go func() {
				defer close(done)
				p, err := s.Query(t.Context(), owner, id, c.q)
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if id == many && (c.check == "") != (len(p.Rows) == 0) || len(p.Rows) > 0 && id == many && !strings.HasPrefix(string(p.Rows[0]), c.check) {
					t.Errorf("%s: %d rows", name, len(p.Rows))
				}
			}()
			look := time.NewTicker(2 * time.Millisecond)
			for working := true; working; {
				select {
				case <-done:
					working = false
				case <-look.C:
					h.look()
				}
			}
			look.Stop()
			grown[id] = h.megabytes()
		}
		t.Logf("%s: %.1f MB of 10,000 rows, %.1f MB of 100,000", name, grown[few], grown[many])
		if grown[many] > c.most {
			t.Errorf("%s: %.1f MB, want at most %.0f", name, grown[many], c.most)
		}
	}
}
