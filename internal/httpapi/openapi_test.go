package httpapi

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"agentd/internal/agent"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

type silent struct{}

func (silent) Feedback(context.Context, string, string, string, string, string) error { return nil }

// everything is an API with every optional side. What is behind it is never called here.
func everything() *API {
	return &API{o: Options{
		Simulator: struct{ Simulator }{}, Audit: struct{ Audit }{}, Feedback: silent{}, Memories: struct{ Memories }{},
		Artifacts: struct{ Artifacts }{}, Handover: struct{ Handover }{}, Memory: func() any { return nil }, Servers: func() any { return nil }, Metrics: prometheus.NewRegistry(),
		Environments: []agent.Environment{},
	}}
}

// The document and the table of routes name the same operations.
func TestDocumentNamesEveryRoute(t *testing.T) {
	var source struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Summary     string
		}
	}
	if err := json.Unmarshal(openapiSource, &source); err != nil {
		t.Fatal(err)
	}
	var want, got, operations []string
	for _, r := range everything().table() {
		want = append(want, r.method+" "+r.path)
	}
	for path, ops := range source.Paths {
		for method, op := range ops {
			got = append(got, strings.ToUpper(method)+" "+path)
			operations = append(operations, op.OperationID)
			if op.OperationID == "" || op.Summary == "" {
				t.Errorf("%s %s has no name or summary", method, path)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-table +document):\n%s", diff)
	}
	slices.Sort(operations)
	if n := len(operations); len(slices.Compact(operations)) != n {
		t.Error("an operation's name is used twice")
	}
}

// A document that is served names only what is there.
func TestDocumentOfAPart(t *testing.T) {
	b, err := describe((&API{}).table())
	if err != nil {
		t.Fatal(err)
	}
	for _, absent := range []string{"/audit", "/artifacts/{id}", "/metrics", "/policy/simulate", "/remembered"} {
		if strings.Contains(string(b), `"`+absent) || strings.Contains(string(b), `"`+prefix+absent) {
			t.Errorf("names %s", absent)
		}
	}
	if _, err := describe([]route{{method: "GET", path: "/nowhere"}}); err == nil {
		t.Error("a route that is not described was accepted")
	}
}

// Every schema file is one of an event.
func TestNoOtherSchemas(t *testing.T) {
	files, err := os.ReadDir("schemas")
	if err != nil {
		t.Fatal(err)
	}
	all, err := eventSchemas()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, ok := all[strings.TrimSuffix(f.Name(), ".json")]; !ok {
			t.Errorf("%s is of no event", f.Name())
		}
	}
}
