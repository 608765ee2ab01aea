package main

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// TestHandover: a page with an origin of its own signs in by Superset's word, once, and starts nothing as anybody else.
func TestHandover(t *testing.T) {
	const secret = "a secret of the tests that is long enough"
	const audience = "http://agentd.localhost:8080"
	dir := t.TempDir()
	p := startIn(t, dir, []string{"HANDOVER=" + secret}, "demo", "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(dir, "data"),
		"--auth.handover.secret_env", "HANDOVER", "--auth.handover.audience", audience, "--auth.handover.ttl", "5m")
	now := time.Now().Unix()
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": "gamma", "uid": 3, "roles": []string{"Gamma"}, "aud": audience,
		"iss": "superset", "iat": now, "exp": now + 60, "jti": "0123456789abcdef0123456789abcdef"}).SignedString([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	t.Cleanup(browser.CloseIdleConnections)
	me := func() (user string, roles []string) {
		resp, err := browser.Get(p.url + "/api/v1/me")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var got struct {
			User  string
			Roles []string
		}
		if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
			t.Fatal(err)
		}
		return got.User, got.Roles
	}
	for i, want := range []int{http.StatusNoContent, http.StatusUnauthorized} {
		resp, err := browser.Post(p.url+"/api/v1/handover", "application/json", strings.NewReader(`{"token": "`+token+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("time %d: %d, want %d", i+1, resp.StatusCode, want)
		}
		if user, roles := me(); user != "gamma" || len(roles) != 1 || roles[0] != "Gamma" {
			t.Errorf("time %d: signed in as %s %v", i+1, user, roles)
		}
	}
	p.stop()
	if text := p.log.String(); strings.Contains(text, token) || strings.Contains(text, secret) {
		t.Error("the log tells a secret")
	}
}

// TestHandoverRefused: what cannot work is refused at start.
func TestHandoverRefused(t *testing.T) {
	secret := file(t, "secret", "short\n")
	for audience, want := range map[string]string{"http://agentd.localhost:8080": "32", "agentd": "auth.handover.audience"} {
		code, out, errs := command(t, "", "demo", "--listen", "127.0.0.1:0", "--data-dir", t.TempDir(), "--auth.handover.secret_file", secret, "--auth.handover.audience", audience)
		if code == 0 || !strings.Contains(errs, want) || strings.Contains(errs+out, "short") {
			t.Errorf("%s: %d %s", audience, code, errs)
		}
	}
}
