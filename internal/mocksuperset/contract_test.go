package mocksuperset_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentd/internal/mocksuperset"
	"agentd/internal/mocksuperset/contract"
)

// TestContract plays recorded answers of a real Superset against the mock. With
// SUPERSET_DEV_URL and so on set it plays them against real ones instead.
func TestContract(t *testing.T) {
	files, err := filepath.Glob("testdata/contract/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			if os.Getenv("SUPERSET_DEV_URL") == "" { // real instances are shared by all scenarios
				t.Parallel()
			}
			playFile(t, file, beyond[name])
		})
	}
}

// beyond are steps of the tier "reference" that the mock does not answer: the
// interface's own menu and log, the description of the API, and one default list.
var beyond = map[string][]string{
	"05-errors":        {"openapi", "openapi-anonymous"},
	"06-users-context": {"event", "activity", "event-chart", "activity-chart", "activity-actions", "activity-schema", "activity-noroles", "log-alpha", "log", "menu", "domains"},
	"15-sqllab-more":   {"queries"},
}

func playFile(t *testing.T, file string, beyond []string) {
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	s, err := contract.Read(in)
	if err != nil {
		t.Fatal(err)
	}
	player := contract.Player{Bases: bases(t)}
	results, err := player.Play(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	real := os.Getenv("SUPERSET_DEV_URL") != ""
	for _, r := range results {
		known := s.Tier == "reference" && slices.Contains(beyond, r.Step) && !real
		switch {
		case len(r.Differences) > 0 && !known:
			t.Errorf("%s:\n\t%s", r.Step, strings.Join(r.Differences, "\n\t"))
		case len(r.Differences) == 0 && known:
			t.Errorf("%s agrees now: take it off the list", r.Step)
		}
	}
}

func bases(t *testing.T) map[string]string {
	out := map[string]string{}
	for _, env := range []string{"dev", "staging", "prod"} {
		if real := os.Getenv("SUPERSET_" + strings.ToUpper(env) + "_URL"); real != "" {
			out[env] = real
			continue
		}
		m := mocksuperset.New(mocksuperset.Options{Name: env})
		srv := httptest.NewServer(m)
		t.Cleanup(srv.Close)
		t.Cleanup(func() { _ = m.Close() })
		out[env] = srv.URL
	}
	return out
}
