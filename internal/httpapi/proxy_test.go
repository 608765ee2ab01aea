package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/httpapi"
)

func TestBasePath(t *testing.T) {
	for _, base := range []string{"/bi/agentd/", "bi/agentd", "/bi/agentd"} {
		s := serve(t, func(o *httpapi.Options) { o.BasePath = base })
		for _, path := range []string{"/healthz", "/bi/agentd/healthz", "/agent", "/bi/agentd/agent", "/bi/agentd/api/v1/openapi.json", "/bi/agentd/assets/a-1.js"} {
			if a := s.do("", "GET", path, ""); a.StatusCode != 200 {
				t.Errorf("%s below %s: %d", path, base, a.StatusCode)
			}
		}
		for _, path := range []string{"/bi/healthz", "/bi/agentdhealthz", "/bi/agentd/bi/agentd/healthz"} {
			if a := s.do("", "GET", path, ""); a.StatusCode != 404 {
				t.Errorf("%s below %s: %d, want 404", path, base, a.StatusCode)
			}
		}
		for _, path := range []string{"/", "/bi/agentd", "/bi/agentd/"} {
			if a := s.do("", "GET", path, ""); a.Header.Get("Location") != "/bi/agentd/agent" {
				t.Errorf("%s leads to %q", path, a.Header.Get("Location"))
			}
		}
		if a := s.do("anna", "POST", "/api/v1/conversations", ""); a.Header.Get("Location") != "/bi/agentd/api/v1/conversations/conv_1" {
			t.Errorf("Location is %q", a.Header.Get("Location"))
		}
		if a := s.do("anna", "GET", "/bi/agentd/api/v1/conversations/a%2Fb", ""); a.StatusCode != 404 {
			t.Errorf("an escaped slash below the base: %d", a.StatusCode)
		}
	}
}

// seen keeps the last request that had to be identified.
type seen struct{ forwardedFor, proto string }

func (s *seen) Identify(_ context.Context, r *http.Request) (chat.Identity, error) {
	s.forwardedFor, s.proto = r.Header.Get("X-Forwarded-For"), r.Header.Get("X-Forwarded-Proto")
	return chat.Identity{User: "anna"}, nil
}

func TestTrustedProxies(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	who := &seen{}
	s := serve(t, func(o *httpapi.Options) { o.Identity, o.TrustedProxies = who, proxies })
	for peer, trusted := range map[string]bool{
		"10.1.2.3:5": true, "[::ffff:10.1.2.3]:5": true, "[::1]:5": true, "11.0.0.1:5": false, "[::2]:5": false, "@": false,
	} {
		r := httptest.NewRequest("GET", "/api/v1/me", nil)
		r.RemoteAddr = peer
		r.Header.Set("X-Forwarded-For", "192.0.2.7")
		r.Header.Set("X-Forwarded-Proto", "https")
		s.api.Handler().ServeHTTP(httptest.NewRecorder(), r)
		if got := who.forwardedFor == "192.0.2.7" && who.proto == "https"; got != trusted {
			t.Errorf("peer %s: counted %v, want %v", peer, got, trusted)
		}
	}
}
