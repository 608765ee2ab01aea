package superset_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"agentd/internal/fault"
	"agentd/internal/superset"

	"github.com/google/go-cmp/cmp"
)

func zipOf(text string, opened *int) superset.Zip {
	return superset.Zip{Size: int64(len(text)), Open: func() io.Reader { *opened++; return strings.NewReader(text) }}
}

// A bundle is read while it is sent, under its whole length, and once more from its start after a CSRF refusal.
func TestImportOnTheWire(t *testing.T) {
	text := strings.Repeat("zip", 100_000)
	var bodies []string
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength <= int64(len(text)) || r.Header.Get("Accept") != "application/json" {
			t.Errorf("length %d, accept %q", r.ContentLength, r.Header.Get("Accept"))
		}
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			t.Fatal(err)
		}
		f, _, err := r.FormFile("bundle")
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(f)
		bodies = append(bodies, string(raw))
		if r.FormValue("sparse") != "true" || r.FormValue("overwrite") != "" {
			t.Errorf("form %v", r.Form)
		}
		w.Header().Set("Content-Type", "application/json")
		if len(bodies) == 1 {
			w.Header().Set("Location", "/login/?next=x")
			w.WriteHeader(http.StatusFound)
			return
		}
		io.WriteString(w, `{"message":"OK"}`)
	})
	opened := 0
	if err := withKey(t, superset.Options{BaseURL: base}).Import(t.Context(), superset.ImportAssets, zipOf(text, &opened)); err != nil {
		t.Fatal(err)
	}
	if len(bodies) != 2 || opened != 2 || bodies[0] != text || bodies[1] != text {
		t.Errorf("%d bodies, opened %d times", len(bodies), opened)
	}
}

func TestTryImport(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		want   []superset.Refusal
		kind   fault.Kind
	}{
		{"nothing wrong", 422, `{"errors":[{"message":"m","extra":{"metadata.yaml":{"type":["Must be equal to Slice."]},"issue_codes":[]}}]}`, []superset.Refusal{}, ""},
		{"it exists", 422, "{\"errors\":[{\"message\":\"m\",\"extra\":{\"metadata.yaml\":{\"type\":[\"x\"]},\"charts/a.yaml\":\"Chart already exists and `overwrite=true` was not passed\"}}]}",
			[]superset.Refusal{{Entry: "charts/a.yaml", Exists: true, Text: "Chart already exists and `overwrite=true` was not passed"}}, ""},
		{"a field of a newer version", 422, `{"errors":[{"message":"m","extra":{"metadata.yaml":{"type":["x"]},"charts/a.yaml":{"newer":["Unknown field."]}}}]}`,
			[]superset.Refusal{{Entry: "charts/a.yaml", Text: "newer: Unknown field."}}, ""},
		{"refused for another reason", 422, `{"errors":[{"message":"m","extra":{"charts/a.yaml":"x"}}]}`, nil, fault.Invalid},
		{"not allowed", 403, `{"message":"Forbidden"}`, nil, fault.Denied},
		{"failed", 500, `{"errors":[{"message":"no reason"}]}`, nil, fault.Internal},
		{"taken, which no Superset does", 200, `{"message":"OK"}`, nil, fault.Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base := serve(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tt.status)
				io.Copy(w, bytes.NewReader([]byte(tt.body)))
			})
			opened := 0
			got, err := withKey(t, superset.Options{BaseURL: base}).TryImport(t.Context(), superset.ImportCharts, zipOf("zip", &opened))
			if fault.KindOf(err) != tt.kind {
				t.Fatalf("got %v, want %q", err, tt.kind)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTaken(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		taken  bool
		kind   fault.Kind
	}{
		{"free", 422, `{"message":{"owners":["Owners are invalid"]}}`, false, ""},
		{"taken", 422, `{"message":{"owners":["Owners are invalid"],"slug":["Must be unique"]}}`, true, ""},
		{"another fault of it", 422, `{"message":{"owners":["Owners are invalid"],"slug":["Too long"]}}`, false, ""},
		{"not allowed", 403, `{"message":"Forbidden"}`, false, fault.Denied},
		{"made, which no Superset does", 201, `{"id":1}`, false, fault.Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			})
			taken, err := withKey(t, superset.Options{BaseURL: base}).SlugTaken(t.Context(), "x")
			if taken != tt.taken || fault.KindOf(err) != tt.kind {
				t.Errorf("got %v %v, want %v %q", taken, err, tt.taken, tt.kind)
			}
		})
	}
}
