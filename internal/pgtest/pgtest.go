// Package pgtest starts a PostgreSQL of a test's own. Only tests import it.
package pgtest

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Server is a running PostgreSQL that listens on a socket in a folder of its own and on no port.
type Server struct {
	bin, dir string
	as       *syscall.SysProcAttr
	n        int
}

// Start starts a server that ends with the test. settings are more of its settings, such as fsync=on; without
// it nothing is flushed, which is faster and as good for most tests. The test is skipped when no PostgreSQL is
// installed, or when it runs as root and there is no user postgres: PostgreSQL refuses to run as root.
func Start(tb testing.TB, settings ...string) *Server {
	tb.Helper()
	s := &Server{bin: programs()}
	if s.bin == "" {
		tb.Skip("No PostgreSQL is installed: looked for /usr/lib/postgresql/*/bin/postgres and for postgres in PATH.")
	}
	if os.Getuid() == 0 {
		who, err := user.Lookup("postgres")
		if err != nil {
			tb.Skip("PostgreSQL does not run as root, and there is no user postgres to run it as.")
		}
		uid, _ := strconv.Atoi(who.Uid)
		gid, _ := strconv.Atoi(who.Gid)
		s.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	// Not tb.TempDir: its parents are closed to the user postgres.
	dir, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		tb.Fatal(err)
	}
	s.dir = dir
	tb.Cleanup(func() { os.RemoveAll(dir) })
	if s.as != nil {
		if err := os.Chown(dir, int(s.as.Credential.Uid), int(s.as.Credential.Gid)); err != nil {
			tb.Fatal(err)
		}
	}
	data := filepath.Join(dir, "data")
	if out, err := s.command("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync").CombinedOutput(); err != nil {
		tb.Fatalf("initdb: %v\n%s", err, out)
	}
	s.run(tb, data, settings)
	return s
}

func (s *Server) run(tb testing.TB, data string, settings []string) {
	tb.Helper()
	args := []string{"-D", data, "-k", s.dir}
	for _, set := range append([]string{"listen_addresses=", "fsync=off", "max_connections=200"}, settings...) {
		args = append(args, "-c", set)
	}
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		tb.Fatal(err)
	}
	cmd := s.command("postgres", args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	log.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tb.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil && !errors.Is(err, os.ErrProcessDone) {
			tb.Errorf("stop PostgreSQL: %v", err)
		}
		<-ended
	})
	for s.command("pg_isready", "-h", s.dir).Run() != nil {
		select {
		case err := <-ended:
			ended <- err
			text, _ := os.ReadFile(log.Name())
			tb.Fatalf("PostgreSQL ended: %v\n%s", err, text)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Database makes an empty database and returns its URL.
func (s *Server) Database(tb testing.TB) string {
	tb.Helper()
	s.n++
	name := fmt.Sprintf("test%d", s.n)
	if out, err := s.command("createdb", "-h", s.dir, "-U", "postgres", name).CombinedOutput(); err != nil {
		tb.Fatalf("createdb: %v\n%s", err, out)
	}
	return "postgres://postgres@/" + name + "?" + url.Values{"host": {s.dir}}.Encode()
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.SysProcAttr = s.as
	cmd.Dir = s.dir
	return cmd
}

// programs is the folder of PostgreSQL's programs, of the newest version that is installed.
func programs() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) > 0 {
		return filepath.Dir(slices.Max(found))
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path)
	}
	return ""
}
