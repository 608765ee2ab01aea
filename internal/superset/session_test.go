package superset_test

import (
	"net/http/httptest"
	"os"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/mocksuperset"
	"agentd/internal/superset"
)

// real returns the address of a real Superset, or skips.
func real(t *testing.T) string {
	t.Helper()
	base := os.Getenv("AGENTD_TEST_SUPERSET_DEV")
	if base == "" {
		t.Skip("AGENTD_TEST_SUPERSET_DEV is not set: it names a seeded Superset whose content may be changed, http://127.0.0.1:8101 for example")
	}
	return base
}

// mock starts a mock Superset with the content of dev.
func mock(t *testing.T) (*mocksuperset.Server, string) {
	t.Helper()
	m := mocksuperset.New(mocksuperset.Options{Name: "dev"})
	srv := httptest.NewServer(m)
	t.Cleanup(func() { m.Close(); srv.Close() })
	return m, srv.URL
}

func session(t *testing.T, base, user string) *superset.Session {
	t.Helper()
	c, err := superset.New(superset.Options{BaseURL: base, Auth: superset.Auth{Username: user, Password: user}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s, err := c.As(chat.Identity{User: user})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
