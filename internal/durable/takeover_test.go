package durable

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"agentd/internal/pgtest"
)

// victim is a process that begins a run and is killed in the middle of it.
func victim(url string) {
	e, err := Open(context.Background(), Options{URL: url}, func(context.Context, string) error {
		fmt.Println("begun")
		select {}
	})
	if err == nil {
		err = e.Launch()
	}
	if err == nil {
		err = e.Start(context.Background(), "r1")
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	select {}
}

func quick(url string) Options {
	return Options{URL: url, Heartbeat: 50 * time.Millisecond, DeadAfter: 500 * time.Millisecond}
}

func TestPostgres(t *testing.T) {
	server := pgtest.Start(t)

	t.Run("a killed process's run goes on in another", func(t *testing.T) {
		url := server.Database(t)
		begun := make(chan string, 10)
		work := func(_ context.Context, id string) error { begun <- id; return nil }
		e1, _ := launch(t, quick(url), work) // two that could take over: one does
		launch(t, quick(url), work)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "DURABLE_TEST_VICTIM="+url)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(out).ReadString('\n')
		if line != "begun\n" {
			t.Fatalf("the victim said %q", line)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed
		if id := <-begun; id != "r1" {
			t.Errorf("taken over: %q", id)
		}
		start(t, e1, "r1") // changes nothing
		start(t, e1, "r2")
		if id := <-begun; id != "r2" {
			t.Errorf("r1 was begun twice, or %q", id)
		}
	})

	t.Run("what a closed process left goes on at once", func(t *testing.T) {
		url := server.Database(t)
		begun := make(chan string, 1)
		o := quick(url)
		o.DeadAfter = time.Hour
		e, _ := launch(t, o, func(ctx context.Context, id string) error { begun <- id; <-ctx.Done(); return ctx.Err() })
		start(t, e, "r1")
		<-begun
		stop(t, e)
		launch(t, o, func(_ context.Context, id string) error { begun <- id; return nil })
		if id := <-begun; id != "r1" {
			t.Errorf("taken over: %q", id)
		}
	})

	t.Run("a process that was cut off goes on with what is its own", func(t *testing.T) {
		url := server.Database(t)
		calls := make(chan context.Context, 1)
		o := quick(url)
		o.DeadAfter = time.Hour
		e, _ := launch(t, o, func(ctx context.Context, _ string) error { calls <- ctx; <-ctx.Done(); return ctx.Err() })
		start(t, e, "r1")
		ctx := <-calls
		e.life.end()
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), ErrCutOff) {
			t.Errorf("cause: %v", context.Cause(ctx))
		}
		<-calls // after the next sign of life

		// And leaves what is another's.
		if _, err := e.store.pool.Exec(t.Context(), `UPDATE dbos.workflow_status SET executor_id = 'other', owner_xid = 'x'`); err != nil {
			t.Fatal(err)
		}
		e.life.end()
		for e.Running() > 0 {
			time.Sleep(time.Millisecond)
		}
		if len(calls) != 0 {
			t.Error("a run of another process was worked on")
		}
	})
}
