package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"agentd/internal/httpapi"
)

func TestPage(t *testing.T) {
	s := serve(t, func(o *httpapi.Options) {
		o.FrameAncestors = []string{"https://bi.example.com", "http://localhost:8088"}
		o.LoginURL = `https://bi.example.com/login/?a=1&b="2"`
	})
	full := s.do("", "GET", "/agent?objectType=dashboard", "")
	if full.StatusCode != 200 || !strings.HasPrefix(full.Header.Get("Content-Type"), "text/html") {
		t.Fatalf("%d %s", full.StatusCode, full.body)
	}
	want := "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; object-src 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html; " +
		"frame-ancestors 'self' https://bi.example.com http://localhost:8088"
	if got := full.Header.Get("Content-Security-Policy"); got != want {
		t.Errorf("policy is\n%s, want\n%s", got, want)
	}
	if full.Header.Get("Cross-Origin-Opener-Policy") != "same-origin" || full.Header.Get("Cache-Control") != "no-cache" || full.Header.Get("X-Frame-Options") != "" {
		t.Errorf("headers are %v", full.Header)
	}
	if !strings.Contains(string(full.body), `<meta name="agentd-parents" content="https://bi.example.com http://localhost:8088" /><meta name="agentd-login" content="https://bi.example.com/login/?a=1&amp;b=&#34;2&#34;" /></head>`) {
		t.Errorf("the page is not told who may embed it, or where to sign in: %s", full.body)
	}
	if embed := s.do("", "GET", "/agent?embed=1", ""); embed.Header.Get("Cross-Origin-Opener-Policy") != "" {
		t.Error("the embedded page has an opener policy")
	}
	for path, to := range map[string]string{"/": "/agent", "/agent/": "/agent", "/agent/?q=1": "/agent?q=1"} {
		if a := s.do("", "GET", path, ""); a.StatusCode != http.StatusTemporaryRedirect || a.Header.Get("Location") != to {
			t.Errorf("%s: %d to %q, want %q", path, a.StatusCode, a.Header.Get("Location"), to)
		}
	}
	for _, path := range []string{"/.gitkeep", "/assets/", "/assets", "/assets/../index.html", "/index.html", "/nothing.js"} {
		if a := s.do("", "GET", path, ""); a.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", path, a.StatusCode)
		}
	}
}

func TestPageCaching(t *testing.T) {
	s := serve(t)
	asset := s.do("", "GET", "/assets/a-1.js", "", "Accept-Encoding", "identity")
	if got := asset.Header.Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
		t.Errorf("asset: Cache-Control %q", got)
	}
	if got := s.do("", "GET", "/embed.js", "").Header.Get("Cache-Control"); got != "no-cache" {
		t.Errorf("embed.js: Cache-Control %q", got)
	}
	tag := asset.Header.Get("ETag")
	if a := s.do("", "GET", "/assets/a-1.js", "", "If-None-Match", tag, "Accept-Encoding", "identity"); a.StatusCode != http.StatusNotModified || len(a.body) != 0 {
		t.Errorf("with its tag: %d, %d bytes", a.StatusCode, len(a.body))
	}
	if a := s.do("", "HEAD", "/assets/a-1.js", "", "Accept-Encoding", "identity"); a.StatusCode != 200 || len(a.body) != 0 || a.Header.Get("Content-Length") != "2000" {
		t.Errorf("HEAD: %d %v", a.StatusCode, a.Header)
	}
	for accept, zipped := range map[string]bool{"gzip, br": true, "br;q=1, GZIP;q=0.5": true, "gzip;q=0": false, "gzip; q=0.0": false, "br": false, "identity": false} {
		a := s.do("", "GET", "/assets/a-1.js", "", "Accept-Encoding", accept)
		if got := a.Header.Get("Content-Encoding") == "gzip"; got != zipped || a.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: gzip %v, want %v; Vary %q", accept, got, zipped, a.Header.Get("Vary"))
		}
		if zipped {
			if a.Header.Get("ETag") == tag {
				t.Error("two forms of one asset have one tag")
			}
			r, err := gzip.NewReader(bytes.NewReader(a.body))
			if err != nil {
				t.Fatal(err)
			}
			if b, err := io.ReadAll(r); err != nil || !bytes.Equal(b, asset.body) {
				t.Errorf("unzipped: %v, %d bytes", err, len(b))
			}
		}
	}
	if a := s.do("", "GET", "/embed.js", "", "Accept-Encoding", "gzip"); a.Header.Get("Content-Encoding") != "" {
		t.Error("a file of one byte was zipped")
	}
}

func TestPageThatWasNotBuilt(t *testing.T) {
	s := serve(t, func(o *httpapi.Options) { o.Web = fstest.MapFS{".gitkeep": {}} })
	if a := s.do("", "GET", "/agent", ""); a.StatusCode != 503 || a.problem(t).Code != "page_not_built" {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	s = serve(t, func(o *httpapi.Options) { o.Web = nil })
	if a := s.do("", "GET", "/agent", ""); a.StatusCode != 404 {
		t.Errorf("switched off: %d", a.StatusCode)
	}
}
