package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"agentd/internal/fault"
	"agentd/internal/httpapi"
)

// door takes one token.
type door struct{ taken []string }

func (d *door) Exchange(_ context.Context, token string) (*http.Cookie, string, error) {
	d.taken = append(d.taken, token)
	if token != "good" {
		return nil, "", fault.New(fault.Auth, "The hand-over is not valid.")
	}
	return &http.Cookie{Name: "agentd", Value: "s3ss10n", Path: "/", HttpOnly: true}, "anna", nil
}

func (*door) Ended() *http.Cookie { return &http.Cookie{Name: "agentd", Path: "/", MaxAge: -1} }

func TestHandover(t *testing.T) {
	d := &door{}
	s := serve(t, func(o *httpapi.Options) { o.Handover = d })
	got := s.do("", "POST", "/api/v1/handover", `{"token": "good"}`)
	if got.StatusCode != http.StatusNoContent || got.Header.Get("Set-Cookie") != "agentd=s3ss10n; Path=/; HttpOnly" || got.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", got.StatusCode, got.Header)
	}
	for name, c := range map[string]struct {
		body    string
		headers []string
		status  int
	}{
		"refused":         {`{"token": "b4d"}`, nil, 401},
		"no token":        {`{}`, nil, 422},
		"an empty token":  {`{"token": ""}`, nil, 401},
		"a long token":    {`{"token": "` + strings.Repeat("a", 8001) + `"}`, nil, 422},
		"longest token":   {`{"token": "` + strings.Repeat("a", 8000) + `"}`, nil, 401},
		"a number":        {`{"token": 1}`, nil, 422},
		"another field":   {`{"token": "good", "user": "admin"}`, nil, 422},
		"not JSON":        {`token=good`, nil, 400},
		"a form":          {`token=good`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		"another origin":  {`{"token": "good"}`, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"another host":    {`{"token": "good"}`, []string{"Origin", "https://evil.example"}, 403},
		"a sibling's":     {`{"token": "good"}`, []string{"Sec-Fetch-Site", "same-site", "Origin", "https://bi.example.com"}, 403},
		"nobody's cookie": {`{"token": "good"}`, []string{"Cookie", "agentd=old"}, 204},
	} {
		got := s.do("", "POST", "/api/v1/handover", c.body, c.headers...)
		if got.StatusCode != c.status || (got.Header.Get("Set-Cookie") != "") != (c.status == 204) {
			t.Errorf("%s: %d %v %s", name, got.StatusCode, got.Header, got.body)
		}
	}
	said := s.said.String()
	if !strings.Contains(said, `"path":"/api/v1/handover"`) || !strings.Contains(said, `"user":"anna"`) {
		t.Errorf("the log does not say who came: %s", said)
	}
	for _, secret := range []string{"good", "b4d", "s3ss10n"} {
		if strings.Contains(said, secret) {
			t.Errorf("the log tells %q: %s", secret, said)
		}
	}
}

// Nobody is logged in at Superset any more, says its page.
func TestEndHandover(t *testing.T) {
	s := serve(t, func(o *httpapi.Options) { o.Handover = &door{} })
	for name, c := range map[string]struct {
		body    string
		headers []string
		status  int
	}{
		"signed in":      {`{}`, []string{"Cookie", "agentd=s3ss10n"}, 204},
		"not signed in":  {`{}`, nil, 204},
		"another field":  {`{"user": "anna"}`, nil, 422},
		"a form":         {`a=b`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		"another origin": {`{}`, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"a sibling's":    {`{}`, []string{"Sec-Fetch-Site", "same-site", "Origin", "https://bi.example.com"}, 403},
	} {
		want := ""
		if c.status == 204 {
			want = "agentd=; Path=/; Max-Age=0"
		}
		got := s.do("", "DELETE", "/api/v1/handover", c.body, c.headers...)
		if got.StatusCode != c.status || got.Header.Get("Set-Cookie") != want {
			t.Errorf("%s: %d %v %s", name, got.StatusCode, got.Header, got.body)
		}
	}
	if got := serve(t).do("", "DELETE", "/api/v1/handover", `{}`).StatusCode; got != 404 {
		t.Errorf("without a hand-over: %d", got)
	}
	if got := serve(t).do("", "POST", "/api/v1/handover", `{"token": "t"}`).StatusCode; got != 404 {
		t.Errorf("without a hand-over: %d", got) // the page then sends the token itself
	}
}

// A frame that is loaded begins signed out; the whole page keeps its session.
func TestNewFrame(t *testing.T) {
	s := serve(t, func(o *httpapi.Options) { o.Handover = &door{} })
	for path, want := range map[string]string{"/agent?embed=1": "agentd=; Path=/; Max-Age=0", "/agent": "", "/embed.js": ""} {
		if got := s.do("", "GET", path, "").Header.Get("Set-Cookie"); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	tag := s.do("", "GET", "/agent?embed=1", "").Header.Get("ETag")
	if got := s.do("", "GET", "/agent?embed=1", "", "If-None-Match", tag); got.StatusCode != 304 || got.Header.Get("Set-Cookie") == "" {
		t.Errorf("not changed: %d %v", got.StatusCode, got.Header)
	}
	if got := serve(t).do("", "GET", "/agent?embed=1", ""); got.Header.Get("Set-Cookie") != "" {
		t.Errorf("without a hand-over: %v", got.Header)
	}
	if got := serve(t).do("", "POST", "/api/v1/handover", `{"token": "good"}`); got.StatusCode != 404 {
		t.Errorf("without a hand-over: %d", got.StatusCode)
	}
}
