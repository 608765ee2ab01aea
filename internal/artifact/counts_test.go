package artifact_test

import (
	"testing"

	"agentd/internal/artifact"
	"agentd/internal/artifact/artifacttest"
	"agentd/internal/chat"

	"github.com/google/go-cmp/cmp"
)

func TestCounts(t *testing.T) {
	s := artifact.New(artifacttest.NewIndex(), openDir(t), artifact.Options{})
	m := rows(t, s, 3, `[1,2]`)
	gone := rows(t, s, 3, `[1,2]`)
	if err := s.Delete(t.Context(), owner, gone.ID); err != nil {
		t.Fatal(err)
	}
	w, err := s.Create(t.Context(), artifact.Spec{Owner: owner, Format: chat.FormatText})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	got, err := s.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []artifact.Count{{State: "staged", Count: 1}, {State: "committed", Count: 1, Bytes: m.Size}, {State: "expired"}, {State: "deleted", Count: 1, Bytes: gone.Size}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}
