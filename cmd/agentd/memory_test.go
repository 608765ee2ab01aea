package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/offload"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

// TestDoctorMemory: results are counted, one over its budget raises the alarm, and nothing of their content is told.
func TestDoctorMemory(t *testing.T) {
	dir := t.TempDir()
	cfg := file(t, "c.yaml", "data_dir: "+dir+"\nenvironments: []\n")
	log, err := eventlog.Open(t.Context(), eventlog.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	conv, err := log.CreateConversation(t.Context(), "secretive_ann")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := log.StartRun(t.Context(), chat.Start{Run: chat.Run{ID: "r1", Conversation: conv.ID, Who: chat.Identity{User: "secretive_ann"}}}); err != nil {
		t.Fatal(err)
	}
	said := func(chars int) {
		t.Helper()
		content := "secret" + strings.Repeat("ü", chars-6)
		entry := chat.Entry{
			Event: &chat.ToolResultEvent{CallID: "call_secret", Tool: "secret_tool", Summary: "secret"},
			Note:  &chat.Note{Result: &chat.ToolResult{CallID: "call_secret", Tool: "secret_tool", Content: content}},
		}
		if _, err := log.Write(t.Context(), chat.Write{RunID: "r1", Entries: []chat.Entry{entry}}); err != nil {
			t.Fatal(err)
		}
	}
	keep(t, log, dir)
	doctor := func() (m memory) {
		t.Helper()
		code, out, errs := command(t, "", "doctor", "memory", "--config", cfg)
		if code != 0 || json.Unmarshal([]byte(out), &m) != nil {
			t.Fatalf("doctor memory: %d %s %s", code, out, errs)
		}
		if strings.Contains(out, "secret") {
			t.Errorf("content is told: %s", out)
		}
		return m
	}

	said(3999)
	said(4000)
	m := doctor()
	if diff := cmp.Diff(offload.Tally{Count: 2, Characters: 7999, Largest: 4000}, m.Results); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if m.Used == 0 || m.Goroutines == 0 || m.HeapBytes == 0 || m.Quota.Total == 0 {
		t.Errorf("memory = %+v", m)
	}
	states := map[chat.ArtifactState]int{}
	for _, a := range m.Artifacts {
		states[a.State] = a.Count
		if a.State == chat.ArtifactCommitted && a.Bytes != m.Used {
			t.Errorf("%d bytes are stored, %d used", a.Bytes, m.Used)
		}
	}
	if diff := cmp.Diff(map[chat.ArtifactState]int{chat.ArtifactStaged: 0, chat.ArtifactCommitted: 1, chat.ArtifactExpired: 0, chat.ArtifactDeleted: 0}, states); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
	}
	said(4001)
	if m = doctor(); m.Results.OverBudget != 1 || m.Results.Largest != 4001 {
		t.Errorf("results = %+v, one is over its budget", m.Results)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// keep stores one result.
func keep(t *testing.T, log *eventlog.Log, dir string) {
	t.Helper()
	bucket, err := artifact.OpenDir(dir + "/artifacts")
	if err != nil {
		t.Fatal(err)
	}
	defer bucket.Close()
	store := artifact.New(log, bucket, artifact.Options{})
	w, err := store.Create(t.Context(), artifact.Spec{Owner: artifact.Owner{User: "secretive_ann", Conversation: "c"}, Title: "secret", Format: chat.FormatText})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if _, err := w.Write([]byte("a secret of some length")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

// TestGauges: /metrics has what the diagnostics have, counts once for many scrapes, and says nothing it does not know.
func TestGauges(t *testing.T) {
	counted, failing := 0, errors.New("no log")
	g := &gauges{count: func(context.Context) (memory, error) {
		counted++
		return memory{
			Results: offload.Tally{Count: 3, Characters: 70, Largest: 50, OverBudget: 1}, Used: 9, Quota: quotas{Total: 100},
			Artifacts: []artifact.Count{{State: chat.ArtifactCommitted, Count: 2, Bytes: 9}, {State: chat.ArtifactExpired, Count: 1}},
		}, failing
	}}
	r := prometheus.NewRegistry()
	r.MustRegister(g)
	read := func() map[string]float64 {
		t.Helper()
		families, err := r.Gather()
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				name := f.GetName()
				for _, l := range m.GetLabel() {
					name += " " + l.GetValue()
				}
				out[name] = m.GetGauge().GetValue()
			}
		}
		return out
	}
	if got := read(); len(got) != 0 {
		t.Errorf("what could not be counted is told: %v", got)
	}
	failing = nil
	want := map[string]float64{
		"agentd_results": 3, "agentd_result_characters": 70, "agentd_result_characters_largest": 50, "agentd_results_over_budget": 1,
		"agentd_artifacts committed": 2, "agentd_artifacts expired": 1, "agentd_artifact_bytes committed": 9, "agentd_artifact_bytes expired": 0,
		"agentd_artifact_quota_used_bytes": 9, "agentd_artifact_quota_bytes": 100,
	}
	for range 3 {
		if diff := cmp.Diff(want, read()); diff != "" {
			t.Errorf("gauges (-want +got):\n%s", diff)
		}
	}
	if counted != 2 {
		t.Errorf("counted %d times", counted)
	}
	g.until = time.Time{}
	if read(); counted != 3 {
		t.Errorf("old numbers are not counted again")
	}
}
