package mocksuperset_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
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
		if !ready[name] && os.Getenv("CONTRACT_ALL") == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playFile(t, file)
		})
	}
}

// ready are the scenarios whose routes are all there.
var ready = map[string]bool{
	"01-login": true, "04-lists": true, "03-csrf": true, "04-lists-filters": true, "05-errors-access": true, "06-tags": true, "11-dashboards-owners": true, "11-dashboards-other-writes": true, "12-charts": true, "12-charts-data": true, "12-charts-write": true, "13-datasets-sql-delete": true, "10-dashboards-read": true, "11-dashboards-write": true, "13-datasets": true, "13-datasets-write": true, "14-databases-tables": true, "15-sqllab": true, "15-sqllab-refusals": true, "20-export-access": true,
}

func playFile(t *testing.T, file string) {
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
	failed := 0
	for _, r := range results {
		if len(r.Differences) > 0 {
			failed++
			t.Errorf("%s:\n\t%s", r.Step, strings.Join(r.Differences, "\n\t"))
		}
	}
	t.Logf("%d of %d steps agree (tier %s)", len(results)-failed, len(results), s.Tier)
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
