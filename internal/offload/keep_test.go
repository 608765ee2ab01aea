package offload_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agentd/internal/artifact"
	"agentd/internal/artifact/artifacttest"
	"agentd/internal/chat"
	"agentd/internal/offload"
	"agentd/internal/tool"

	"github.com/google/go-cmp/cmp"
)

func TestTheWholeThatWasAskedFor(t *testing.T) {
	for _, mode := range []offload.Mode{offload.Auto, offload.Explicit} {
		b := newBench(t, offload.Options{Mode: mode}, artifact.Options{})
		got := b.bound(tool.Result{Rows: dashboards(2), Keep: true})
		if decisionOf(got) != chat.ArtifactCreated || *got.Artifact.Rows != 2 || got.Preview.Completeness != chat.Complete {
			t.Errorf("%s: %+v", mode, got)
		}
		if !strings.Contains(got.Text, "_artifact_uri: ") || strings.Contains(got.Text, "same cut") {
			t.Errorf("%s: %s", mode, got.Text)
		}
	}
	b := newBench(t, offload.Options{Mode: offload.Off}, artifact.Options{})
	if got := b.bound(tool.Result{Rows: dashboards(2), Keep: true}); decisionOf(got) != chat.ArtifactSkipped {
		t.Errorf("switched off: %+v", got)
	}
	// At every size around the limit the text fits with the notice.
	b = newBench(t, offload.Options{}, artifact.Options{})
	for n := 15; n < 45; n++ {
		b.bound(tool.Result{Rows: dashboards(n), Keep: true})
	}
}

func TestABackupGoesToTheFallback(t *testing.T) {
	dir, err := artifact.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	b := newBench(t, offload.Options{}, artifact.Options{Fallback: dir})
	b.backend.At = artifacttest.AtCreate
	a, err := b.gate.Store(t.Context(), chat.Identity{User: "ann"}, "c1", "t", strings.NewReader("PK"))
	if err != nil || b.payload(a.ID) != "PK" {
		t.Errorf("got %+v, %v", a, err)
	}
}

func TestABodyThatBreaksOffIsOfUnknownCoverage(t *testing.T) {
	b := newBench(t, offload.Options{}, artifact.Options{})
	got := b.bound(tool.Result{Data: objects(100)[:7000]})
	if a := got.Artifact; a.Coverage != chat.CoverageUnknown || a.Format != chat.FormatText {
		t.Errorf("artifact = %+v", a)
	}
}

func TestAdviceNamesArgumentsOfTheTool(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer"},"page_size":{"type":"integer"},"query":{"type":"string"}}}`)
	n := offload.NarrowingOf([]tool.Tool{{Name: "search_dashboards", Schema: schema}, {Name: "get", Schema: json.RawMessage(`{"type":"object","properties":{"id":{}}}`)}, {Name: "none"}})
	if diff := cmp.Diff(map[string][]string{"search_dashboards": {"page_size", "query"}}, n); diff != "" {
		t.Errorf("narrowing (-want +got):\n%s", diff)
	}
	b := newBench(t, offload.Options{Mode: offload.Off, Narrowing: n}, artifact.Options{})
	if got := b.bound(tool.Result{Data: objects(100)}); !strings.Contains(got.Text, "Ask for less with page_size, query.") {
		t.Errorf("text = %s", got.Text)
	}
	if got := b.boundOf(t.Context(), "get", tool.Result{Data: objects(100)}); strings.Contains(got.Text, "Ask for less") {
		t.Errorf("text = %s", got.Text)
	}
}
