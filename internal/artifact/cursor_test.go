package artifact_test

import (
	"testing"

	"agentd/internal/artifact"
	"agentd/internal/artifact/artifacttest"
	"agentd/internal/fault"
)

// FuzzCursor: nothing but what the store gave is a cursor.
func FuzzCursor(f *testing.F) {
	d, err := artifact.OpenDir(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { d.Close() })
	s := artifact.New(artifacttest.NewIndex(), d, artifact.Options{})
	m := rows(f, s, 10, `[1,2]`)
	p, err := s.Read(f.Context(), owner, m.ID, artifact.Request{Limit: 3})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"", "A", p.Next, p.Next[1:], p.Next + "=", "////", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		_, err := s.Read(t.Context(), owner, m.ID, artifact.Request{Cursor: cursor})
		if cursor == "" || cursor == p.Next {
			if err != nil {
				t.Errorf("%q: %v", cursor, err)
			}
			return
		}
		if fault.CodeOf(err) != "cursor" {
			t.Errorf("%q: %v", cursor, err)
		}
	})
}
