package superset_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
)

func TestForwardReal(t *testing.T) { forward(t, real(t)) }

func TestForward(t *testing.T) {
	_, base := mock(t)
	forward(t, base)
}

const browser = "Mozilla/5.0 (test)"

// formLogin signs in as a person does in a browser, and returns the Cookie header that the browser sends from then on.
func formLogin(t *testing.T, base, user string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	do := func(method, path string, form url.Values) []byte {
		req, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("User-Agent", browser)
		req.Header.Set("Accept", "text/html")
		if form != nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	page := do("GET", "/login/", nil)
	token := regexp.MustCompile(`csrf_token[^>]*value="([^"]+)"|csrf_token&#34;: &#34;([^&]+)&#34;|"csrf_token": ?"([^"]+)"`).FindSubmatch(page)
	if token == nil {
		t.Fatal("the login page has no CSRF token")
	}
	do("POST", "/login/", url.Values{"username": {user}, "password": {user}, "csrf_token": {string(bytes.Join(token[1:], nil))}})
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	header := "theme=dark"
	for _, k := range jar.Cookies(u) {
		header += "; " + k.Name + "=" + k.Value
	}
	return header
}

func apiToken(t *testing.T, base, user string) string {
	t.Helper()
	resp, err := http.Post(base+"/api/v1/security/login", "application/json",
		strings.NewReader(`{"username":"`+user+`","password":"`+user+`","provider":"db"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got struct {
		Access string `json:"access_token"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || got.Access == "" {
		t.Fatalf("no token: %v", err)
	}
	return got.Access
}

// forward is the suite that a real Superset and the mock both pass.
func forward(t *testing.T, base string) {
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	as := func(t *testing.T, mode superset.Mode, cred *chat.Credential) *superset.Session {
		c, err := superset.New(superset.Options{BaseURL: base, Auth: superset.Auth{Mode: mode}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		s, err := c.As(chat.Identity{User: "owner", Credential: cred})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	tests := []struct {
		name string
		mode superset.Mode
		cred func(*testing.T) *chat.Credential
	}{
		{"cookie", superset.ForwardCookie, func(t *testing.T) *chat.Credential {
			return &chat.Credential{Cookie: formLogin(t, base, "owner"), UserAgent: browser}
		}},
		{"token", superset.ForwardToken, func(t *testing.T) *chat.Credential {
			return &chat.Credential{Bearer: apiToken(t, base, "owner"), UserAgent: browser}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := as(t, tt.mode, tt.cred(t))
			me, err := s.Me(t.Context())
			if err != nil || me.User != "owner" {
				t.Fatalf("%+v %v", me, err)
			}
			// A write as the user: what only she may change, changed to what it is.
			d, err := s.Dashboard(t.Context(), superset.Ref{Slug: "olga-draft"})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.UpdateDashboard(t.Context(), d.ID, superset.DashboardPatch{Title: &d.Title}); err != nil {
				t.Errorf("her own: %v", err)
			}
			title := "x"
			if err := s.UpdateDashboard(t.Context(), 1, superset.DashboardPatch{Title: &title}); fault.KindOf(err) != fault.Denied {
				t.Errorf("somebody else's: %v", err)
			}
		})
	}
	for name, cred := range map[superset.Mode]*chat.Credential{
		superset.ForwardCookie: {Cookie: "session=forged"}, superset.ForwardToken: {Bearer: "forged"},
	} {
		s := as(t, name, cred)
		if _, err := s.Me(t.Context()); fault.KindOf(err) != fault.Auth || fault.CodeOf(err) != "sign_in_again" {
			t.Errorf("%s forged: %v", name, err)
		}
		if err := s.DeleteDashboard(t.Context(), 1); fault.KindOf(err) != fault.Auth {
			t.Errorf("%s forged: %v", name, err)
		}
	}
}
