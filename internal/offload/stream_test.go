package offload_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"agentd/internal/artifact"
	"agentd/internal/artifact/artifacttest"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/offload"
	"agentd/internal/tool"

	"github.com/google/go-cmp/cmp"
)

// A source is rows that are made when they are read.
type source struct {
	count, kept int
	bound       string
	fails       int         // reading fails behind so many rows; 0: never
	each        func(i int) // before each row; may be nil
	reads       int
	closed      int
}

func sourceRow(i int) json.RawMessage { return fmt.Appendf(nil, `[%d,"%060d"]`, i, i) }

func (s *source) result() tool.Result {
	t := &tool.Table{Columns: []chat.Column{{Name: "n", Type: "INT"}, {Name: "t"}}, Stream: &tool.Stream{
		Count: int64(s.count), Size: int64(s.kept * (len(sourceRow(s.kept)) + 1)), Bound: s.bound, Close: func() { s.closed++ },
		Each: func(yield func(json.RawMessage) error) error {
			s.reads++
			for i := range s.kept {
				if s.fails > 0 && i == s.fails {
					return fault.New(fault.Internal, "")
				}
				if s.each != nil {
					s.each(i)
				}
				if err := yield(sourceRow(i)); err != nil {
					return err
				}
			}
			return nil
		},
	}}
	for i := range min(s.kept, 20) {
		t.Rows = append(t.Rows, sourceRow(i))
	}
	return tool.Result{Summary: "Rows.", Rows: t, Total: new(int64(s.count)), Keep: true}
}

// Each end that a stream can come to, and what the model, the page and the store have of it.
func TestStreams(t *testing.T) {
	const n = 1000
	all := func() *source { return &source{count: n, kept: n} }
	preview, size, clock, limit := chat.BoundByPreview, chat.BoundBySize, chat.BoundByTime, chat.BoundBySource
	for _, tt := range []struct {
		name     string
		src      *source
		bounded  bool // by Superset itself
		gate     offload.Options
		store    artifact.Options
		at       artifacttest.Where
		fallback bool
		cancel   int // before this row
		late     int // the store's clock jumps before this row

		decision, coverage string
		rows               int64
		boundBy            []string
		says               string
	}{
		{name: "all rows", src: all(), decision: chat.ArtifactCreated, coverage: chat.CoverageComplete, rows: n, boundBy: []string{preview}, says: "Stored: 1000 rows until"},
		{name: "explicitly", src: all(), gate: offload.Options{Mode: offload.Explicit}, decision: chat.ArtifactCreated, coverage: chat.CoverageComplete, rows: n, boundBy: []string{preview}},
		{name: "larger than what is kept of results in memory", src: all(), gate: offload.Options{MaxHeld: 100}, decision: chat.ArtifactCreated, coverage: chat.CoverageComplete, rows: n, boundBy: []string{preview}},
		{name: "a limit that the rows at hand would fit", src: all(), gate: offload.Options{MaxChars: 100_000}, decision: chat.ArtifactCreated, coverage: chat.CoverageComplete, rows: n, boundBy: []string{preview}},
		{name: "the tool's cap of rows or bytes", src: &source{count: n, kept: 300, bound: size}, decision: chat.ArtifactCreated, coverage: chat.CoveragePrefix, rows: 300, boundBy: []string{preview, size}, says: "Stored: 300 rows (not all that there is)"},
		{name: "the tool's cap of time", src: &source{count: n, kept: 300, bound: clock}, decision: chat.ArtifactCreated, coverage: chat.CoveragePrefix, rows: 300, boundBy: []string{preview, clock}},
		{name: "Superset's own limit", src: all(), bounded: true, decision: chat.ArtifactCreated, coverage: chat.CoveragePrefix, rows: n, boundBy: []string{limit, preview}, says: "the source gave 1000 and has more"},
		{name: "the store's cap of rows, one less", src: all(), store: artifact.Options{MaxRows: n - 1}, decision: chat.ArtifactCreated, coverage: chat.CoveragePrefix, rows: n - 1, boundBy: []string{preview, size}},
		{name: "the store's cap of rows, as many", src: all(), store: artifact.Options{MaxRows: n}, decision: chat.ArtifactCreated, coverage: chat.CoverageComplete, rows: n, boundBy: []string{preview}},
		{name: "the store's cap of bytes", src: all(), store: artifact.Options{MaxBytes: 10_000}, decision: chat.ArtifactCreated, coverage: chat.CoveragePrefix, rows: 146, boundBy: []string{preview, size}},
		{name: "the store's cap of time", src: all(), late: 400, decision: chat.ArtifactCreated, coverage: chat.CoveragePrefix, rows: 400, boundBy: []string{preview, clock}},
		{name: "cancelled half way", src: all(), cancel: 500, decision: chat.ArtifactCancelled, boundBy: []string{preview}, says: "was cancelled"},
		{name: "the store fails at once", src: all(), at: artifacttest.AtCreate, decision: chat.ArtifactFailed, boundBy: []string{preview}, says: "the store did not work"},
		{name: "the store fails half way", src: &source{count: 20_000, kept: 20_000}, at: artifacttest.AtWrite, decision: chat.ArtifactFailed, boundBy: []string{preview}},
		{name: "the store fails at its end", src: all(), at: artifacttest.AtCommit, decision: chat.ArtifactFailed, boundBy: []string{preview}},
		{name: "the fallback takes it at once", src: all(), at: artifacttest.AtCreate, fallback: true, decision: chat.ArtifactCreated, coverage: chat.CoverageComplete, rows: n, boundBy: []string{preview}},
		{name: "the fallback takes it from the start", src: &source{count: 20_000, kept: 20_000}, at: artifacttest.AtWrite, fallback: true, decision: chat.ArtifactCreated, coverage: chat.CoverageComplete, rows: 20_000, boundBy: []string{preview}},
		{name: "the rows cannot be read", src: &source{count: n, kept: n, fails: 700}, decision: chat.ArtifactFailed, boundBy: []string{preview}},
		{name: "no quota", src: all(), store: artifact.Options{Quota: chat.ArtifactQuota{Conversation: 60_000}}, decision: chat.ArtifactDenied, boundBy: []string{preview}, says: "the quota is used up"},
		{name: "just enough quota", src: all(), store: artifact.Options{Quota: chat.ArtifactQuota{Conversation: 70_000}}, decision: chat.ArtifactCreated, coverage: chat.CoverageComplete, rows: n, boundBy: []string{preview}},
		{name: "switched off", src: all(), gate: offload.Options{Mode: offload.Off}, decision: chat.ArtifactSkipped, boundBy: []string{preview}, says: "switched off"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := time.Now()
			tt.store.Now = func() time.Time { return now }
			if tt.fallback {
				dir, err := artifact.OpenDir(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				defer dir.Close()
				tt.store.Fallback = dir
			}
			b := newBench(t, tt.gate, tt.store)
			b.backend.At = tt.at
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			tt.src.each = func(i int) {
				switch {
				case tt.cancel > 0 && i == tt.cancel:
					cancel()
				case tt.late > 0 && i == tt.late:
					now = now.Add(time.Hour)
				}
			}
			r := tt.src.result()
			r.Bounded = tt.bounded
			if tt.bounded {
				r.Total = nil
			}
			got := b.boundOf(ctx, "run_sql", r)

			p, a := got.Preview, got.Artifact
			if a.Decision != tt.decision || a.Coverage != tt.coverage || tt.rows > 0 && (a.Format != chat.FormatRows || *a.Rows != tt.rows) {
				t.Errorf("artifact %+v", a)
			}
			if p.Completeness != chat.Incomplete || *p.Returned != 5 || len(p.Rows) != 5 || !tt.bounded && *p.Total != int64(tt.src.count) || tt.bounded && p.Total != nil {
				t.Errorf("preview %s, %d rows, total %v", p.Completeness, *p.Returned, p.Total)
			}
			if diff := cmp.Diff(tt.boundBy, p.BoundedBy); diff != "" {
				t.Errorf("bounded by (-want +got):\n%s", diff)
			}
			if !strings.Contains(got.Text, tt.says) || !strings.Contains(got.Text, string(sourceRow(4))) {
				t.Errorf("the text lacks %q:\n%s", tt.says, got.Text)
			}
			if tt.src.closed != 1 {
				t.Errorf("closed %d times", tt.src.closed)
			}
			if tt.decision != chat.ArtifactCreated {
				keys, err := artifacttest.Keys(t.Context(), b.backend)
				if err != nil || len(keys) != 0 || b.index.Usage("c1", "ann").Total != 0 {
					t.Errorf("left: %v, %d bytes of quota, %v", keys, b.index.Usage("c1", "ann").Total, err)
				}
				return
			}
			b.backend.At = artifacttest.Nowhere
			lines := strings.Split(strings.TrimSuffix(b.payload(a.ID), "\n"), "\n")
			if int64(len(lines)) != tt.rows || lines[tt.rows-1] != string(sourceRow(int(tt.rows)-1)) {
				t.Errorf("%d rows are stored, the last is %s", len(lines), lines[len(lines)-1])
			}
		})
	}
}

// A stream that is not asked for whole is a result like others: kept where that is the rule.
func TestAStreamThatWasNotAskedFor(t *testing.T) {
	for mode, want := range map[offload.Mode]string{offload.Auto: chat.ArtifactCreated, offload.Explicit: chat.ArtifactSkipped} {
		b := newBench(t, offload.Options{Mode: mode}, artifact.Options{})
		src := &source{count: 1000, kept: 1000}
		r := src.result()
		r.Keep = false
		if got := b.bound(r); decisionOf(got) != want || src.closed != 1 {
			t.Errorf("%s: %+v, closed %d times", mode, got.Artifact, src.closed)
		}
	}
}

// What lives in memory while a stream is stored does not grow with it.
func TestMemoryOfStreams(t *testing.T) {
	peak := func(n int) uint64 {
		var most uint64
		src := &source{count: n, kept: n, each: func(i int) {
			if i%(n/20) == 0 {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}}
		b := newBench(t, offload.Options{}, artifact.Options{MaxRows: int64(n)})
		if got := b.bound(src.result()); decisionOf(got) != chat.ArtifactCreated || *got.Artifact.Rows != int64(n) {
			t.Errorf("%d rows: %+v", n, got.Artifact)
		}
		return most
	}
	peak(10_000)
	small, large := peak(10_000), peak(100_000)
	t.Logf("live heap %d kB of 10,000 rows, %d kB of 100,000", small>>10, large>>10)
	if large > small+small/5 {
		t.Errorf("ten times the rows take %d kB instead of %d kB", large>>10, small>>10)
	}
}
