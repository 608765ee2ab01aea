package supersettools_test

import (
	"net/http/httptest"
	"testing"

	"agentd/internal/mocksuperset"
)

// mock starts a mock Superset with the content of dev.
func mock(t *testing.T) (*mocksuperset.Server, string) {
	t.Helper()
	m := mocksuperset.New(mocksuperset.Options{Name: "dev"})
	srv := httptest.NewServer(m)
	t.Cleanup(func() { m.Close(); srv.Close() }) // in this order: it lets hanging requests go
	return m, srv.URL
}

func TestDashboards(t *testing.T) {
	_, base := mock(t)
	dashboards(t, base)
}
