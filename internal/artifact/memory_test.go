package artifact_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"

	"agentd/internal/artifact"
	"agentd/internal/artifact/artifacttest"
	"agentd/internal/chat"
)

// alive is the heap without garbage.
func alive() uint64 {
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}

// gauge is a backend that looks at the heap whenever some megabytes of payload were read: who reads stands still
// meanwhile, so that what is alive is what the reader holds.
type gauge struct {
	artifact.Backend
	read    int
	highest uint64
}

func (g *gauge) Capabilities() artifact.Capabilities {
	return artifact.Capabilities{Filter: true, Sort: true, Aggregate: true}
}

func (g *gauge) Open(ctx context.Context, key string, offset int64) (io.ReadCloser, error) {
	r, err := g.Backend.Open(ctx, key, offset)
	return &gauged{r, g}, err
}

type gauged struct {
	io.ReadCloser
	g *gauge
}

func (r *gauged) Read(p []byte) (int, error) {
	const often = 4 << 20
	n, err := r.ReadCloser.Read(p)
	if before := r.g.read; before/often != (before+n)/often || err == io.EOF {
		r.g.highest = max(r.g.highest, alive())
	}
	r.g.read += n
	return n, err
}

// TestQueriesHoldNoRows: 100,000 rows of 300 bytes are asked in every way. A filter and an aggregate hold
// one row at a time, a sort its keys and places.
func TestQueriesHoldNoRows(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 35 MB")
	}
	g := &gauge{Backend: openDir(t)}
	s := artifact.New(artifacttest.NewIndex(), g, artifact.Options{})
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
		"filter":    {artifact.Query{Filter: []artifact.Condition{{Column: "s", Op: "contains", Value: "no such thing"}}}, 2, ""},
		"aggregate": {artifact.Query{Aggregate: &artifact.Aggregate{GroupBy: []string{"g"}, Values: []artifact.Value{{Fn: "sum", Column: "n"}, {Fn: "max", Column: "s"}}}}, 2, `["group 0",`},
		"sort":      {artifact.Query{Request: artifact.Request{Limit: 100}, Sort: []artifact.Order{{Column: "n", Desc: true}}}, 20, `[99999,`},
	} {
		grown := map[string]float64{}
		for _, id := range []string{few, many} {
			g.highest = 0
			start := alive()
			p, err := s.Query(t.Context(), owner, id, c.q)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if id == many && ((c.check == "") != (len(p.Rows) == 0) || c.check != "" && !strings.HasPrefix(string(p.Rows[0]), c.check)) {
				t.Errorf("%s: %d rows", name, len(p.Rows))
			}
			grown[id] = (float64(g.highest) - float64(start)) / (1 << 20)
		}
		t.Logf("%s: %.1f MB of 10,000 rows, %.1f MB of 100,000", name, grown[few], grown[many])
		if grown[many] > c.most {
			t.Errorf("%s: %.1f MB, want at most %.0f", name, grown[many], c.most)
		}
	}
}
