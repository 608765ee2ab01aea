package durable

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"agentd/internal/fault"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if url := os.Getenv("DURABLE_TEST_VICTIM"); url != "" {
		victim(url)
	}
	goleak.VerifyTestMain(m)
}

// journal collects what an engine logs.
type journal struct {
	mu sync.Mutex
	b  strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

func launch(t testing.TB, o Options, work func(context.Context, string) error) (*Engine, *journal) {
	t.Helper()
	j := &journal{}
	o.Logger = slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
	e, err := Open(t.Context(), o, work)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { stop(t, e) })
	if err := e.Launch(); err != nil {
		t.Fatalf("launch: %v", err)
	}
	return e, j
}

func stop(t testing.TB, e *Engine) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := e.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
}

func start(t testing.TB, e *Engine, id string) {
	t.Helper()
	if err := e.Start(t.Context(), id); err != nil {
		t.Fatalf("start %s: %v", id, err)
	}
}

func TestStartOnceHoweverOften(t *testing.T) {
	dir := t.TempDir()
	calls := make(chan string, 100)
	e, j := launch(t, Options{Dir: dir}, func(_ context.Context, id string) error { calls <- id; return nil })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { start(t, e, "r1") })
	}
	wg.Wait()
	start(t, e, "r2")
	got := map[string]int{<-calls: 1}
	got[<-calls]++
	stop(t, e)
	close(calls)
	for id := range calls {
		got[id]++
	}
	if got["r1"] != 1 || got["r2"] != 1 {
		t.Errorf("calls: got %v, want each run once", got)
	}
	if s := j.String(); s != "" {
		t.Errorf("an engine without trouble logged:\n%s", s)
	}
	if err := e.Start(t.Context(), "r3"); fault.KindOf(err) != fault.Transient {
		t.Errorf("start after close: got %v, want transient", err)
	}
}

func TestUnfinishedWorkIsBegunAgain(t *testing.T) {
	dir := t.TempDir()
	begun := make(chan string, 10)
	e, _ := launch(t, Options{Dir: dir}, func(ctx context.Context, id string) error {
		begun <- id
		if id == "finished" {
			return nil
		}
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), ErrStopping) {
			t.Errorf("cause: got %v, want ErrStopping", context.Cause(ctx))
		}
		if id == "closed" { // wrote its terminal event while stopping
			return nil
		}
		return ctx.Err()
	})
	for _, id := range []string{"finished", "closed", "open"} {
		start(t, e, id)
		<-begun
	}
	stop(t, e)
	stop(t, e)

	again := make(chan string, 10)
	e, _ = launch(t, Options{Dir: dir}, func(_ context.Context, id string) error { again <- id; return nil })
	if id := <-again; id != "open" {
		t.Errorf("begun again: got %q, want open", id)
	}
	for _, id := range []string{"finished", "closed", "open"} {
		start(t, e, id) // changes nothing
	}
	stop(t, e)
	if len(again) != 0 {
		t.Errorf("begun again: also %q", <-again)
	}
}

func TestFailedWorkIsCalledAgain(t *testing.T) {
	n := 0
	done := make(chan struct{})
	e, j := launch(t, Options{Dir: t.TempDir()}, func(context.Context, string) error {
		switch n++; n {
		case 1:
			panic("first")
		default:
			defer close(done)
			return fault.New(fault.Missing, "gone") // nothing left to do
		}
	})
	start(t, e, "r1")
	<-done
	stop(t, e)
	if n != 2 || !strings.Contains(j.String(), "a run panicked") {
		t.Errorf("calls: %d, log:\n%s", n, j)
	}
}

func TestCloseDoesNotWaitForEver(t *testing.T) {
	release := make(chan struct{})
	begun := make(chan struct{})
	e, _ := launch(t, Options{Dir: t.TempDir()}, func(context.Context, string) error { close(begun); <-release; return nil })
	start(t, e, "r1")
	<-begun
	if n := e.Running(); n != 1 {
		t.Errorf("running: %d", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Close(ctx); fault.KindOf(errors.Unwrap(err)) != fault.Timeout && !strings.Contains(err.Error(), "did not stop in time") {
		t.Errorf("close: got %v, want timeout", err)
	}
	close(release)
	e.closeErr = nil // the cleanup closes again
}

func TestForget(t *testing.T) {
	e, _ := launch(t, Options{Dir: t.TempDir()}, func(context.Context, string) error { return nil })
	for i := range 5 {
		start(t, e, fmt.Sprint("r", i))
	}
	for e.Running() > 0 || count(t, e, "SUCCESS") < 5 {
		time.Sleep(time.Millisecond)
	}
	if err := e.forget(time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n := count(t, e, "SUCCESS"); n != 5 {
		t.Errorf("recent runs: got %d, want 5", n)
	}
	if err := e.forget(time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n := count(t, e, "SUCCESS"); n != 0 {
		t.Errorf("after forgetting: got %d, want 0", n)
	}
}

func count(t testing.TB, e *Engine, status string) (n int) {
	t.Helper()
	if err := e.store.lite.QueryRow(`SELECT count(*) FROM workflow_status WHERE status = ?`, status).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestOpenRefuses(t *testing.T) {
	work := func(context.Context, string) error { return nil }
	if _, err := Open(t.Context(), Options{}, work); fault.KindOf(err) != fault.Invalid {
		t.Errorf("no place: got %v, want invalid", err)
	}
	t.Setenv("DBOS__APPVERSION", "x")
	if _, err := Open(t.Context(), Options{Dir: t.TempDir()}, work); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an environment that overrides: got %v, want invalid", err)
	}
}

// BenchmarkRun measures a whole run with nothing in it.
func BenchmarkRun(b *testing.B) {
	var done sync.WaitGroup
	e, _ := launch(b, Options{Dir: b.TempDir()}, func(context.Context, string) error { done.Done(); return nil })
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		done.Add(1)
		start(b, e, fmt.Sprint("r", i))
	}
	done.Wait()
}
