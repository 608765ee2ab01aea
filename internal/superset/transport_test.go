package superset_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
)

// The faults here are those of the way to Superset; what Superset itself answers is tested on the mock.

// withKey is a session that needs no login, so that the only request is the one under test.
func withKey(t *testing.T, o superset.Options) *superset.Session {
	t.Helper()
	o.Auth = superset.Auth{APIKey: "sst_x"}
	c, err := superset.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s, err := c.As(chat.Identity{User: "u"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// serve answers the CSRF request and hands all others to h.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/csrf_token/") {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Set-Cookie", "session=s1; HttpOnly; Path=/")
			io.WriteString(w, `{"result":"t1"}`)
			return
		}
		h(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func read(ctx context.Context, s *superset.Session) error {
	_, err := s.Dashboard(ctx, superset.Ref{ID: 1})
	return err
}

func write(ctx context.Context, s *superset.Session) error {
	return s.DeleteDashboard(ctx, 1)
}

func hijack(w http.ResponseWriter, text string) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	io.WriteString(c, text)
	c.Close()
}

func TestTransportFaults(t *testing.T) {
	tests := []struct {
		name        string
		h           http.HandlerFunc
		read, write fault.Kind
	}{
		{"reset before an answer", func(w http.ResponseWriter, r *http.Request) { hijack(w, "") }, fault.Transient, fault.Unknown},
		{"cut header", func(w http.ResponseWriter, r *http.Request) { hijack(w, "HTTP/1.1 200 OK\r\nContent-") }, fault.Transient, fault.Unknown},
		{"cut body", func(w http.ResponseWriter, r *http.Request) {
			hijack(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"result\":")
		}, fault.Transient, fault.Unknown},
		{"cut body without a length", func(w http.ResponseWriter, r *http.Request) {
			hijack(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{\"result\":")
		}, fault.Transient, ""},
		{"a page", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			io.WriteString(w, "<!DOCTYPE html>")
		}, fault.Mismatch, fault.Unknown},
		{"502 page", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(502)
			io.WriteString(w, "<html>")
		}, fault.Transient, fault.Unknown},
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, fault.Mismatch, fault.Mismatch},
		{"another object", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"result":{"id":2}}`)
		}, fault.Mismatch, ""},
		{"no JSON", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `OK, {"result":{"id":1}}`)
		}, fault.Mismatch, ""},
		{"too large", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"result":{"id":1,"css":"`+strings.Repeat("x", 2000)+`"}}`)
		}, fault.TooLarge, fault.Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var n atomic.Int32
			base := serve(t, func(w http.ResponseWriter, r *http.Request) {
				n.Add(1)
				tt.h(w, r)
			})
			s := withKey(t, superset.Options{BaseURL: base, MaxBody: 1000})
			// The first read leaves a connection that the second one takes: net/http must not repeat it either.
			for i := range 2 {
				if err := read(t.Context(), s); fault.KindOf(err) != tt.read {
					t.Errorf("read: %v, want %s", err, tt.read)
				}
				if got := int(n.Load()); got != i+1 {
					t.Fatalf("%d requests after %d reads", got, i+1)
				}
			}
			if err := write(t.Context(), s); fault.KindOf(err) != tt.write {
				t.Errorf("write: %v, want %s", err, tt.write)
			}
			if got := n.Load(); got != 3 {
				t.Errorf("the write was sent %d times", got-2)
			}
		})
	}
}

// A connection that dies after it was used once is where net/http repeats a GET by itself.
func TestReusedConnectionIsNotRepeated(t *testing.T) {
	var n atomic.Int32
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) > 1 {
			hijack(w, "")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"result":{"id":1}}`)
	})
	s := withKey(t, superset.Options{BaseURL: base})
	if err := read(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := read(t.Context(), s); fault.KindOf(err) != fault.Transient {
		t.Errorf("got %v", err)
	}
	if got := n.Load(); got != 2 {
		t.Errorf("%d requests for 2 reads", got)
	}
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	s := withKey(t, superset.Options{BaseURL: "http://" + l.Addr().String()})
	for _, f := range []func(context.Context, *superset.Session) error{read, write} {
		if err := f(t.Context(), s); fault.KindOf(err) != fault.Transient {
			t.Errorf("got %v", err)
		}
	}
}

func TestEndOfContext(t *testing.T) {
	reached := make(chan struct{}, 4)
	hang := make(chan struct{})
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		reached <- struct{}{}
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	defer close(hang)
	tests := []struct {
		name        string
		end         func(context.Context) (context.Context, context.CancelFunc)
		read, write fault.Kind
	}{
		{"deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 200*time.Millisecond)
		}, fault.Timeout, fault.Timeout},
		{"given up", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			go func() { <-reached; cancel() }()
			return ctx, cancel
		}, fault.Canceled, fault.Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := withKey(t, superset.Options{BaseURL: base})
			for _, f := range []struct {
				do   func(context.Context, *superset.Session) error
				want fault.Kind
			}{{read, tt.read}, {write, tt.write}} {
				for len(reached) > 0 {
					<-reached
				}
				ctx, cancel := tt.end(t.Context())
				if err := f.do(ctx, s); fault.KindOf(err) != f.want {
					t.Errorf("got %v, want %s", err, f.want)
				}
				cancel()
			}
		})
	}
}

func TestRequestOnTheWire(t *testing.T) {
	var got *http.Request
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Clone(context.Background())
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"message":"OK"}`)
	})
	tests := []struct {
		name string
		auth superset.Auth
		cred *chat.Credential
		want map[string]string
	}{
		{"key", superset.Auth{APIKey: "sst_x"}, nil, map[string]string{"Authorization": "Bearer sst_x", "Cookie": "session=s1", "X-CSRFToken": "t1"}},
		{"token", superset.Auth{Mode: superset.ForwardToken}, &chat.Credential{Bearer: "jwt", UserAgent: "Browser/1", ForwardedFor: "10.0.0.7"},
			map[string]string{"Authorization": "Bearer jwt", "User-Agent": "Browser/1", "X-Forwarded-For": "10.0.0.7", "Cookie": "session=s1", "X-CSRFToken": "t1"}},
		{"cookie", superset.Auth{Mode: superset.ForwardCookie}, &chat.Credential{Cookie: "a=b; session=mine; c=d", UserAgent: "Browser/1", ForwardedFor: "10.0.0.7"},
			map[string]string{"Authorization": "", "User-Agent": "Browser/1", "X-Forwarded-For": "10.0.0.7", "Cookie": "session=s1", "X-CSRFToken": "t1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := superset.New(superset.Options{BaseURL: base + "/bi/", Auth: tt.auth})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			s, err := c.As(chat.Identity{User: "u", Credential: tt.cred})
			if err != nil {
				t.Fatal(err)
			}
			if err := write(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			tt.want["Accept"], tt.want["Content-Type"], tt.want["Referer"] = "application/json", "application/json", base+"/bi/"
			for k, v := range tt.want {
				if got.Header.Get(k) != v {
					t.Errorf("%s: %q, want %q", k, got.Header.Get(k), v)
				}
			}
			if got.URL.Path != "/bi/api/v1/dashboard/1" || got.ContentLength != 0 || len(got.TransferEncoding) != 0 {
				t.Errorf("path %s, length %d, %v", got.URL.Path, got.ContentLength, got.TransferEncoding)
			}
			if err := read(t.Context(), s); fault.KindOf(err) != fault.Mismatch {
				t.Fatal(err)
			}
			if got.ContentLength != 0 || len(got.TransferEncoding) != 0 || got.Header.Get("X-CSRFToken") != "" {
				t.Errorf("a read has a body: %d %v", got.ContentLength, got.TransferEncoding)
			}
		})
	}
}

func TestNoCredential(t *testing.T) {
	for _, m := range []superset.Mode{superset.ForwardCookie, superset.ForwardToken} {
		c, err := superset.New(superset.Options{BaseURL: "http://127.0.0.1:1", Auth: superset.Auth{Mode: m}})
		if err != nil {
			t.Fatal(err)
		}
		for _, cred := range []*chat.Credential{nil, {}, {Cookie: "other=1"}} {
			if _, err := c.As(chat.Identity{User: "u", Credential: cred}); fault.KindOf(err) != fault.Auth || fault.CodeOf(err) != "sign_in_again" {
				t.Errorf("%s: %v", m, err)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	for _, base := range []string{"", "superset", "ftp://x", "http://", "http://u:p@x", "http://x?q=1", "http://x#f"} {
		if _, err := superset.New(superset.Options{BaseURL: base}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", base, err)
		}
	}
	if _, err := superset.New(superset.Options{BaseURL: "http://x", Auth: superset.Auth{Mode: "nobody"}}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("mode: %v", err)
	}
}
