package artifact_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/fault"
	"agentd/internal/pgtest"
)

// A replica is a store with a log of its own over the one database and the one bucket.
type replica struct {
	*artifact.Store
	log *eventlog.Log
}

func replicas(t *testing.T, n int, now func() time.Time, quota chat.ArtifactQuota) []replica {
	t.Helper()
	url, dir := pgtest.Start(t).Database(t), t.TempDir()
	out := make([]replica, n)
	for i := range out {
		log, err := eventlog.Open(t.Context(), eventlog.Options{URL: url, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { log.Close() })
		bucket, err := artifact.OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { bucket.Close() })
		secret, err := log.Secret(t.Context(), "artifact cursors")
		if err != nil {
			t.Fatal(err)
		}
		out[i] = replica{artifact.New(log, bucket, artifact.Options{Now: now, Quota: quota, Secret: secret, Live: log.Live}), log}
	}
	return out
}

// Replicas share the quotas, the cursors, and who watches what.
func TestReplicas(t *testing.T) {
	const size, room = 1000, 10
	now := time.Now().UTC().Truncate(time.Microsecond)
	rs := replicas(t, 2, func() time.Time { return now }, chat.ArtifactQuota{Total: room*size + size - 1})
	conv, err := rs[0].log.CreateConversation(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	who := artifact.Owner{User: "ann", Conversation: conv.ID}
	store := func(r replica) (chat.ArtifactMeta, error) {
		w, err := r.Create(t.Context(), artifact.Spec{Owner: who, Format: chat.FormatText, Size: size})
		if err != nil {
			return chat.ArtifactMeta{}, err
		}
		defer w.Abort()
		if _, err := io.WriteString(w, strings.Repeat("line\n", size/5)); err != nil {
			return chat.ArtifactMeta{}, err
		}
		return w.Commit()
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var kept []string
	for i := range 50 {
		wg.Go(func() {
			m, err := store(rs[i%2])
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				kept = append(kept, m.ID)
			} else if fault.CodeOf(err) != "quota" {
				t.Errorf("store: %v", err)
			}
		})
	}
	wg.Wait()
	if u, err := rs[1].log.ArtifactUsage(t.Context(), conv.ID, "ann"); err != nil || len(kept) != room || u.Total != room*size {
		t.Fatalf("%d were stored, %+v count, %v", len(kept), u, err)
	}

	p, err := rs[0].Read(t.Context(), who, kept[0], artifact.Request{Chars: 100})
	if err != nil {
		t.Fatal(err)
	}
	if q, err := rs[1].Read(t.Context(), who, kept[0], artifact.Request{Cursor: p.Next}); err != nil || len(p.Text)+len(q.Text) != size {
		t.Errorf("a cursor of one replica at another: %d and %d characters, %v", len(p.Text), len(q.Text), err)
	}

	now = now.Add(25 * time.Hour)
	if err := rs[1].log.Watched(t.Context(), conv.ID, now.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n, err := rs[0].Sweep(t.Context()); err != nil || n != (artifact.Swept{}) {
		t.Errorf("somebody watches it at another replica: swept %+v, %v", n, err)
	}
	now = now.Add(time.Minute)
	swept := make([]artifact.Swept, 2)
	for i, r := range rs {
		wg.Go(func() {
			var err error
			if swept[i], err = r.Sweep(t.Context()); err != nil {
				t.Errorf("sweep: %v", err)
			}
		})
	}
	wg.Wait()
	for _, id := range kept {
		if _, err := rs[1].Stat(t.Context(), who, id); fault.CodeOf(err) != "artifact_expired" {
			t.Errorf("after the last watcher: %v", err)
		}
	}
	if u, err := rs[0].log.ArtifactUsage(t.Context(), conv.ID, "ann"); err != nil || u.Total != 0 {
		t.Errorf("%+v count after the sweep of %s, %v", u, fmt.Sprint(swept), err)
	}
}
