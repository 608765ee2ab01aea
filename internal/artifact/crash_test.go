package artifact_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/fault"
)

// The test binary is also the process that is killed: where crashDir is set it stores something and stands still
// at a point.
const (
	crashDir   = "AGENTD_TEST_CRASH_DIR"
	crashPoint = "AGENTD_TEST_CRASH_POINT"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		fmt.Println("it went past the point:", die(dir, os.Getenv(crashPoint)))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// crashes are the points, in the order of an artifact's life, and what is there afterwards.
var crashes = []struct {
	point string
	kept  bool // it had been committed
	swept artifact.Swept
}{
	{point: "nothing is reserved"},
	{point: "reserved", swept: artifact.Swept{Staged: 1}},
	{point: "created", swept: artifact.Swept{Staged: 1, Orphans: 1}},
	{point: "half is written", swept: artifact.Swept{Staged: 1, Orphans: 1}},
	{point: "all is written", swept: artifact.Swept{Staged: 1, Orphans: 1}},
	{point: "the payload is there", swept: artifact.Swept{Staged: 1}}, // the payload goes with its artifact
	{point: "committed", kept: true},
	{point: "abort: the payload is gone", swept: artifact.Swept{Staged: 1}},
	{point: "abort: the quota is given back"},
	{point: "delete: nobody can read it", swept: artifact.Swept{Orphans: 1}},
	{point: "expiry: nobody can read it", swept: artifact.Swept{Orphans: 1}},
}

const crashSize = 1 << 20

// TestKilled kills a process at each point, and starts another one in its place.
func TestKilled(t *testing.T) {
	for _, c := range crashes {
		for _, alone := range []bool{true, false} { // with one process, or with replicas
			t.Run(fmt.Sprintf("%s, alone %t", c.point, alone), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				id := kill(t, dir, c.point)
				log, bucket := openBoth(t, dir)
				now := time.Now()
				s := artifact.New(log, bucket, artifact.Options{Now: func() time.Time { return now }, Quota: chat.ArtifactQuota{User: crashSize}})
				readable(t, s, id, c.kept)
				sweep := s.Recover
				if !alone {
					young, err := s.Sweep(t.Context())
					if err != nil || young != (artifact.Swept{}) {
						t.Errorf("what may be another's work was swept: %+v, %v", young, err)
					}
					now = now.Add(2*time.Minute + time.Second)
					sweep = s.Sweep
				}
				got, err := sweep(t.Context())
				if err != nil || got != c.swept {
					t.Errorf("swept %+v, %v, want %+v", got, err, c.swept)
				}
				readable(t, s, id, c.kept)
				files, err := os.ReadDir(filepath.Join(dir, "artifacts"))
				if err != nil {
					t.Fatal(err)
				}
				w, err := s.Create(t.Context(), artifact.Spec{Owner: owner, Format: chat.FormatText, Size: crashSize})
				if c.kept {
					if len(files) != 1 || fault.CodeOf(err) != "quota" {
						t.Errorf("%d files, and another one's place: %v", len(files), err)
					}
					return
				}
				if err != nil {
					t.Fatalf("the quota was not given back: %v", err)
				}
				w.Abort()
				if len(files) != 0 {
					t.Errorf("left: %v", files)
				}
			})
		}
	}
}

// readable holds the artifact to what a reader may see of it.
func readable(t *testing.T, s *artifact.Store, id string, kept bool) {
	t.Helper()
	_, r, err := s.Open(t.Context(), owner, id)
	if !kept {
		if k := fault.KindOf(err); k != fault.Missing && k != fault.Gone {
			t.Errorf("it can be read: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, err := io.Copy(io.Discard, r); err != nil || n != crashSize {
		t.Errorf("%d bytes were kept, %v", n, err)
	}
}

func openBoth(t *testing.T, dir string) (*eventlog.Log, *artifact.Bucket) {
	t.Helper()
	log, err := eventlog.Open(t.Context(), eventlog.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	bucket, err := artifact.OpenDir(filepath.Join(dir, "artifacts"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bucket.Close() })
	return log, bucket
}

// kill runs this test's binary until it stands at the point, kills it, and returns the id of its artifact.
func kill(t *testing.T, dir, point string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), crashDir+"="+dir, crashPoint+"="+point)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if kerr := cmd.Process.Kill(); kerr != nil {
		t.Error(kerr)
	}
	_ = cmd.Wait() // the signal
	id, ok := strings.CutPrefix(strings.TrimSpace(line), "at ")
	if err != nil || !ok {
		t.Fatalf("it said %q, %v", line, err)
	}
	return id
}

// die stores an artifact, and takes it back where the point is behind its commit. It returns only where the
// point was never reached.
func die(dir, point string) error {
	ctx := context.Background()
	log, err := eventlog.Open(ctx, eventlog.Options{Dir: dir})
	if err != nil {
		return err
	}
	bucket, err := artifact.OpenDir(filepath.Join(dir, "artifacts"))
	if err != nil {
		return err
	}
	now := time.Now()
	st := &still{Log: log, Backend: bucket, point: point}
	s := artifact.New(stillIndex{st}, stillBackend{st}, artifact.Options{Now: func() time.Time { return now }})
	w, err := s.Create(ctx, artifact.Spec{Owner: owner, Format: chat.FormatText, Size: crashSize})
	if err != nil {
		return err
	}
	half := strings.Repeat("x", crashSize/2)
	for range 2 {
		if _, err := io.WriteString(w, half); err != nil {
			return err
		}
		st.at("half is written")
	}
	if strings.HasPrefix(point, "abort") {
		w.Abort()
		return nil
	}
	m, err := w.Commit()
	if err != nil {
		return err
	}
	st.at("committed")
	if strings.HasPrefix(point, "expiry") {
		now = m.Expires
		_, err = s.Sweep(ctx)
		return err
	}
	return s.Delete(ctx, owner, m.ID)
}

// still is an index and a backend that stand still at a point for ever.
type still struct {
	*eventlog.Log
	artifact.Backend
	point, id string
}

func (s *still) at(points ...string) {
	for _, p := range points {
		if p == s.point {
			fmt.Println("at", s.id)
			select {}
		}
	}
}

type stillIndex struct{ *still }

func (s stillIndex) CreateArtifact(ctx context.Context, m chat.ArtifactMeta, reserve int64, q chat.ArtifactQuota) error {
	s.id = m.ID
	s.at("nothing is reserved")
	err := s.Log.CreateArtifact(ctx, m, reserve, q)
	s.at("reserved")
	return err
}

func (s stillIndex) CommitArtifact(ctx context.Context, m chat.ArtifactMeta) error {
	s.at("the payload is there")
	return s.Log.CommitArtifact(ctx, m)
}

func (s stillIndex) SetArtifactState(ctx context.Context, id string, state chat.ArtifactState) error {
	s.at("abort: the payload is gone")
	err := s.Log.SetArtifactState(ctx, id, state)
	s.at("abort: the quota is given back", "delete: nobody can read it", "expiry: nobody can read it")
	return err
}

type stillBackend struct{ *still }

func (s stillBackend) Create(ctx context.Context, key string) (artifact.Draft, error) {
	d, err := s.Backend.Create(ctx, key)
	s.at("created")
	return stillDraft{d, s.still}, err
}

func (s stillBackend) Delete(ctx context.Context, key string) error {
	return s.Backend.Delete(ctx, key)
}

func (s stillBackend) Open(ctx context.Context, key string, offset int64) (io.ReadCloser, error) {
	return s.Backend.Open(ctx, key, offset)
}

func (s stillBackend) List(ctx context.Context, each func(string, time.Time) error) error {
	return s.Backend.List(ctx, each)
}

type stillDraft struct {
	artifact.Draft
	s *still
}

func (d stillDraft) Commit() error {
	d.s.at("all is written")
	return d.Draft.Commit()
}
