package superset_test

import (
	"sync"
	"testing"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/mocksuperset"
	"agentd/internal/superset"
)

const (
	loginPath = "/api/v1/security/login"
	csrfPath  = "/api/v1/security/csrf_token/"
	onePath   = "/api/v1/dashboard/1"
)

func retitle(t *testing.T, s *superset.Session) error {
	t.Helper()
	title := "Sales Overview 2"
	return s.UpdateDashboard(t.Context(), 1, superset.DashboardPatch{Title: &title})
}

func counts(t *testing.T, m *mocksuperset.Server, want map[string]int) {
	t.Helper()
	for path, n := range want {
		if got := m.Received("", path); got != n {
			t.Errorf("%s was asked %d times, want %d", path, got, n)
		}
	}
}

func TestOneLoginForMany(t *testing.T) {
	m, base := mock(t)
	s := session(t, base, "admin")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := read(t.Context(), s); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for range 2 {
		if err := retitle(t, s); err != nil {
			t.Fatal(err)
		}
	}
	counts(t, m, map[string]int{loginPath: 1, csrfPath: 1})
	if n := m.Committed("PUT", onePath); n != 2 {
		t.Errorf("%d writes", n)
	}
}

func TestExpiredTokenIsRenewedOnce(t *testing.T) {
	m, base := mock(t)
	s := session(t, base, "admin")
	if err := read(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	m.Advance(16 * time.Minute)
	if err := retitle(t, s); err != nil {
		t.Fatal(err)
	}
	counts(t, m, map[string]int{loginPath: 2})
	if n := m.Committed("PUT", onePath); n != 1 {
		t.Errorf("%d writes", n)
	}
}

// A token that is refused again right after a new login is a fault, not a loop.
func TestRefusedTwice(t *testing.T) {
	refusals := map[string]mocksuperset.Fault{
		"401":            {Status: 401, Body: map[string]string{"msg": "Token has expired"}},
		"422 with msg":   {Status: 422, Body: map[string]string{"msg": "Signature verification failed"}},
		"to the login":   {RedirectToLogin: true},
		"CSRF of a JSON": {Status: 400, Body: map[string]any{"errors": []any{map[string]any{"message": "400 Bad Request: The CSRF tokens do not match."}}}},
	}
	for name, f := range refusals {
		t.Run(name, func(t *testing.T) {
			m, base := mock(t)
			s := session(t, base, "admin")
			f.Method, f.Path = "PUT", onePath
			m.Fail(f)
			if err := retitle(t, s); err != nil {
				t.Errorf("refused once: %v", err)
			}
			if n := m.Received("PUT", onePath); n != 2 {
				t.Errorf("sent %d times, want 2", n)
			}
			f.Times = -1
			m.Fail(f)
			if err := retitle(t, s); fault.KindOf(err) != fault.Auth {
				t.Errorf("refused for good: %v", err)
			}
			if n := m.Received("PUT", onePath); n != 4 {
				t.Errorf("sent %d times, want 2 more", n-2)
			}
			if n := m.Committed("PUT", onePath); n != 1 {
				t.Errorf("%d writes", n)
			}
		})
	}
}

// Everything but a refusal is sent once, whatever came back.
func TestWritesAreSentOnce(t *testing.T) {
	tests := []struct {
		name      string
		f         mocksuperset.Fault
		kind      fault.Kind
		committed int
	}{
		{"503", mocksuperset.Fault{Status: 503}, fault.Transient, 0},
		{"502 page", mocksuperset.Fault{HTML: true}, fault.Unknown, 0},
		{"504", mocksuperset.Fault{Status: 504}, fault.Unknown, 0},
		{"500", mocksuperset.Fault{Status: 500, Body: map[string]string{"message": "Fatal error"}}, fault.Internal, 0},
		{"429", mocksuperset.Fault{Status: 429}, fault.RateLimited, 0},
		{"reset", mocksuperset.Fault{Reset: true}, fault.Unknown, 0},
		{"done, then reset", mocksuperset.Fault{CommitThenReset: true}, fault.Unknown, 1},
		{"done, then cut", mocksuperset.Fault{CutAfter: 3}, fault.Unknown, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, base := mock(t)
			s := session(t, base, "admin")
			tt.f.Method, tt.f.Path, tt.f.Times = "PUT", onePath, 2
			m.Fail(tt.f)
			if err := retitle(t, s); fault.KindOf(err) != tt.kind {
				t.Errorf("got %v, want %s", err, tt.kind)
			}
			if n := m.Received("PUT", onePath); n != 1 {
				t.Errorf("sent %d times", n)
			}
			if n := m.Committed("PUT", onePath); n != tt.committed {
				t.Errorf("%d writes, want %d", n, tt.committed)
			}
		})
	}
}

func TestLoginFails(t *testing.T) {
	_, base := mock(t)
	tests := []struct {
		name string
		auth superset.Auth
		code string
	}{
		{"password", superset.Auth{Username: "admin", Password: "wrong"}, "service_account"},
		{"provider", superset.Auth{Username: "admin", Password: "admin", Provider: "ldap"}, "service_account"},
		{"inactive", superset.Auth{Username: "inactive", Password: "inactive"}, "service_account"},
		{"key", superset.Auth{APIKey: "sst_wrong"}, "sign_in_again"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := superset.New(superset.Options{BaseURL: base, Auth: tt.auth})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			s, err := c.As(chat.Identity{User: "u"})
			if err != nil {
				t.Fatal(err)
			}
			if err := read(t.Context(), s); fault.KindOf(err) != fault.Auth || fault.CodeOf(err) != tt.code {
				t.Errorf("got %s: %v", fault.CodeOf(err), err)
			}
		})
	}
}

func TestMe(t *testing.T) {
	_, base := mock(t)
	me, err := session(t, base, "gamma").Me(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if me.User != "gamma" || me.Admin() || !me.May("can_read on Dashboard") || me.May("can_write on Dataset") {
		t.Errorf("%+v", me)
	}
	if me.MayChange([]superset.Person{{ID: me.ID + 1}}) || !me.MayChange([]superset.Person{{ID: me.ID}}) {
		t.Error("owners are mixed up")
	}
	if admin, err := session(t, base, "admin").Me(t.Context()); err != nil || !admin.MayChange(nil) {
		t.Errorf("an Admin owns everything: %v", err)
	}
}
