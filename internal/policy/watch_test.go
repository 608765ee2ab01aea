package policy

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// said hands the messages of a logger to a test.
type said chan string

func (said) Enabled(context.Context, slog.Level) bool { return true }
func (s said) WithAttrs([]slog.Attr) slog.Handler     { return s }
func (s said) WithGroup(string) slog.Handler          { return s }
func (s said) Handle(_ context.Context, r slog.Record) error {
	s <- r.Message
	return nil
}

func write(t *testing.T, file, text string) {
	t.Helper()
	tmp := file + ".tmp"
	if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, file); err != nil {
		t.Fatal(err)
	}
}

func TestReload(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.csv")
	write(t, file, "p, role:A, *, tool:x, allow\n")
	log := make(said, 10)
	p, err := Open(t.Context(), Options{File: file, Reload: true, Logger: slog.New(log)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()

	write(t, file, "p, role:A, *, tool:y, allow\n")
	if got := <-log; got != "policy reloaded" {
		t.Fatalf("after a good file: %s", got)
	}
	if p.Allows([]string{"A"}, "prod", "x") || !p.Allows([]string{"A"}, "prod", "y") {
		t.Error("the new policy is not in force")
	}
	write(t, file, "p, role:A, *, tool:y, Deny\n")
	if got := <-log; got != "the policy file is refused, the old policy stays" {
		t.Fatalf("after a bad file: %s", got)
	}
	if !p.Allows([]string{"A"}, "prod", "y") {
		t.Error("the old policy is gone")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := <-log; got != "the policy file cannot be read, the old policy stays" {
		t.Fatalf("without a file: %s", got)
	}
	if !p.Allows([]string{"A"}, "prod", "y") {
		t.Error("the old policy is gone with its file")
	}
	p.Close()
	p.Close()
}

// Many events of one save are one reading, after the last of them.
func TestReloadWaitsForQuiet(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.csv")
	write(t, file, "p, role:A, *, tool:y, allow\n")
	synctest.Test(t, func(t *testing.T) {
		p := &Policy{opts: Options{File: file, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}}
		events := make(chan fsnotify.Event)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.follow(ctx, events, nil)
		}()
		for range 5 {
			events <- fsnotify.Event{}
			time.Sleep(settle - time.Millisecond)
			synctest.Wait()
			if p.Version() != "" {
				t.Fatal("read while it was being written")
			}
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if p.Version() == "" {
			t.Error("not read after it was left alone")
		}
		cancel()
		<-done
	})
}

func TestOpenFails(t *testing.T) {
	if _, err := Open(t.Context(), Options{File: filepath.Join(t.TempDir(), "none.csv")}); err == nil {
		t.Error("a missing file is no error")
	}
}
