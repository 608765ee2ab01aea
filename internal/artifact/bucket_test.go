package artifact_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentd/internal/artifact"
	"agentd/internal/artifact/artifacttest"
	"agentd/internal/chat"

	"gocloud.dev/blob/memblob"
)

func openDir(t *testing.T) artifact.Backend {
	t.Helper()
	b, err := artifact.OpenDir(filepath.Join(t.TempDir(), "artifacts"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func TestFiles(t *testing.T) { artifacttest.Run(t, openDir) }

func TestMemory(t *testing.T) {
	artifacttest.Run(t, func(t *testing.T) artifact.Backend { return artifact.NewBucket(memblob.OpenBucket(nil)) })
}

func TestFilesAreForTheOwnerOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "artifacts")
	if err := os.Mkdir(dir, 0o755); err != nil { // as an older version or a hand left it
		t.Fatal(err)
	}
	b, err := artifact.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	put(t, b, "art_01ARZ3NDEKTSV4RRFFQ69G5FAV", "secret")
	for path, want := range map[string]os.FileMode{"": 0o700, "art_01ARZ3NDEKTSV4RRFFQ69G5FAV": 0o600} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %o, want %o", path, got, want)
		}
	}
}

func TestNoLinkIsFollowed(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("not ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	const key = "art_01ARZ3NDEKTSV4RRFFQ69G5FAV"
	if err := os.Symlink(outside, filepath.Join(dir, key)); err != nil {
		t.Fatal(err)
	}
	b, err := artifact.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.Open(t.Context(), key, 0); err == nil {
		t.Error("a link was read")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if _, err := artifact.OpenDir(link); err == nil {
		t.Error("a link was taken for the directory")
	}
}

func TestTemporaryFilesOfADeadProcess(t *testing.T) {
	dir := t.TempDir()
	b, err := artifact.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, name := range []string{"art_01ARZ3NDEKTSV4RRFFQ69G5FAV.18a.tmp", "somebody.else"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := artifact.New(artifacttest.NewIndex(), b, artifact.Options{})
	if n, err := s.Sweep(t.Context()); err != nil || n.Orphans != 0 {
		t.Errorf("a young file was swept: %+v, %v", n, err)
	}
	if n, err := s.Recover(t.Context()); err != nil || n.Orphans != 1 {
		t.Errorf("recovered %+v, %v", n, err)
	}
	keys, err := artifacttest.Keys(t.Context(), b)
	if err != nil || strings.Join(keys, " ") != "somebody.else" {
		t.Errorf("left: %v, %v", keys, err)
	}
}

func put(t *testing.T, b artifact.Backend, key, body string) {
	t.Helper()
	d, err := b.Create(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if err := d.Commit(); err != nil {
		t.Fatal(err)
	}
}

var _ artifact.Index = (*artifacttest.Index)(nil)

var owner = artifact.Owner{User: "ann", Conversation: "c1"}

// rows stores n rows and returns what is known of them.
func rows(t testing.TB, s *artifact.Store, n int, row string) chat.ArtifactMeta {
	t.Helper()
	w, err := s.Create(t.Context(), artifact.Spec{Owner: owner, Format: chat.FormatRows, Columns: []chat.Column{{Name: "a"}, {Name: "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		if err := w.WriteRow([]byte(row)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	return m
}
