package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentd/internal/llm/scriptserver"
)

// script is a model over HTTP that says what it is told.
type script struct {
	t      *testing.T
	server *scriptserver.Server
	url    string
}

func scripted(t *testing.T, text string) *script {
	t.Helper()
	s, err := scriptserver.Load(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	m := scriptserver.New(s)
	h := httptest.NewServer(m)
	t.Cleanup(h.Close)
	return &script{t: t, server: m, url: h.URL + "/v1"}
}

// flags point agentd at the script.
func (s *script) flags() []string {
	return []string{"--llm.provider", "openai", "--llm.model", "scripted", "--llm.base-url", s.url}
}

// complete fails the test when rounds are left or a request was refused.
func (s *script) complete() {
	s.t.Helper()
	s.server.AssertComplete(s.t)
}

// mockSuperset is a mock in a process of its own, which outlives the agentd in front of it.
func mockSuperset(t *testing.T) *process {
	t.Helper()
	return startIn(t, t.TempDir(), nil, "mock-superset", "--listen", "127.0.0.1:0")
}

// serve runs agentd with a configuration file.
func serve(t *testing.T, dir, file string) *process {
	t.Helper()
	return startIn(t, dir, []string{"SUPERSET_PASSWORD=admin"}, "serve", "--config", file)
}

// writeConfig puts agentd in front of one mock.
func writeConfig(t *testing.T, dir string, mock *process, more string) string {
	t.Helper()
	file := filepath.Join(dir, "agentd.yaml")
	text := "listen: 127.0.0.1:0\ndata_dir: " + filepath.Join(dir, "data") + "\nenvironments:\n" +
		"  - {id: ss-dev, title: Dev, class: dev, base_url: '" + mock.mocks["dev"] + "', auth: {mode: service, username: admin, password_env: SUPERSET_PASSWORD}}\n" + more
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
