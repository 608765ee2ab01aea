package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"agentd/internal/agent"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/httpapi"
)

// What a service answers becomes this status and code; the cause stays here.
func TestErrorsOfServices(t *testing.T) {
	secret := errors.New("password=hunter2 at /srv/db.sqlite")
	tests := []struct {
		err    error
		status int
		code   string
		detail string
	}{
		{&fault.Error{Kind: fault.Conflict, Code: "run_active", Msg: "A run is going.", Err: secret}, 409, "run_active", "A run is going."},
		{&fault.Error{Kind: fault.Conflict, Code: "confirmation_open", Msg: "A question is open."}, 409, "confirmation_open", "A question is open."},
		{fault.Wrap(fault.Gone, "It has expired.", secret), 410, "gone", "It has expired."},
		{fault.New(fault.Missing, "There is no such thing."), 404, "missing", "There is no such thing."},
		{&fault.Error{Kind: fault.Transient, Code: "stopped", Msg: "Stopping."}, 503, "stopped", "Stopping."},
		{fault.Wrap(fault.Internal, "the table event is broken", secret), 500, "internal", "Internal error."},
		{&fault.Error{Kind: fault.Internal, Code: "disk_full", Err: secret, Fields: []fault.Field{{Pointer: "/x", Detail: "y"}}}, 500, "internal", "Internal error."},
		{secret, 500, "internal", "Internal error."},
		{context.DeadlineExceeded, 500, "timeout", "The time limit passed."},
	}
	s := serve(t)
	s.doc = nil // which does not describe what this service makes up
	id := s.conversation("anna")
	for _, tt := range tests {
		s.work.message = func(chat.Identity, string, agent.MessageInput) (agent.Accepted, error) {
			return agent.Accepted{}, tt.err
		}
		a := s.do("anna", "POST", "/api/v1/conversations/"+id+"/messages", `{"message":"x"}`)
		want := tt.status
		if tt.code == "timeout" {
			want = 504
		}
		p := a.problem(t)
		if a.StatusCode != want || p.Code != tt.code || p.Detail != tt.detail || len(p.Errors) != 0 {
			t.Errorf("%v: got %d %+v", tt.err, a.StatusCode, p)
		}
		if strings.Contains(string(a.body), "hunter2") || strings.Contains(string(a.body), "sqlite") {
			t.Errorf("the cause is shown: %s", a.body)
		}
	}
	if n := strings.Count(s.said.String(), "hunter2"); n != 5 {
		t.Errorf("the cause was logged %d times, want 5: once for each", n)
	}
}

func TestRateLimit(t *testing.T) {
	s := serve(t)
	id := s.conversation("anna")
	for delay, want := range map[time.Duration]string{0: "1", 300 * time.Millisecond: "1", 1500 * time.Millisecond: "2", time.Minute: "60"} {
		s.work.message = func(chat.Identity, string, agent.MessageInput) (agent.Accepted, error) {
			return agent.Accepted{}, &fault.Error{Kind: fault.RateLimited, Code: "too_many_runs", Msg: "Too many.", RetryAfter: delay}
		}
		a := s.do("anna", "POST", "/api/v1/conversations/"+id+"/messages", `{"message":"x"}`)
		if a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") != want {
			t.Errorf("%v: %d Retry-After %q, want %q", delay, a.StatusCode, a.Header.Get("Retry-After"), want)
		}
	}
}

func TestPanicIsAnswered(t *testing.T) {
	s := serve(t)
	id := s.conversation("anna")
	s.work.message = func(chat.Identity, string, agent.MessageInput) (agent.Accepted, error) { panic("broken invariant") }
	a := s.do("anna", "POST", "/api/v1/conversations/"+id+"/messages", `{"message":"x"}`)
	if a.StatusCode != http.StatusInternalServerError || a.problem(t).Code != "internal" || strings.Contains(string(a.body), "invariant") {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	if said := s.said.String(); !strings.Contains(said, "broken invariant") || !strings.Contains(said, "edge_test.go") {
		t.Errorf("the log has no panic with its place:\n%s", said)
	}
	if a := s.do("anna", "GET", "/api/v1/me", ""); a.StatusCode != http.StatusOK {
		t.Errorf("after a panic: %d", a.StatusCode)
	}
}

// One line a request, with its id, and nothing that nobody should keep.
func TestLog(t *testing.T) {
	s := serve(t)
	id := s.conversation("anna")
	before := strings.Count(s.said.String(), "\n")
	a := s.do("anna", "POST", "/api/v1/conversations/"+id+"/messages?token=in-the-query", `{"message":"a private matter"}`, "X-Request-ID", "abcdefgh-1", "Cookie", "session=in-the-cookie")
	if got := a.Header.Get("X-Request-ID"); got != "abcdefgh-1" {
		t.Errorf("request id is %q", got)
	}
	lines := strings.Split(strings.TrimSpace(s.said.String()), "\n")[before:]
	if len(lines) != 1 {
		t.Fatalf("%d lines: %v", len(lines), lines)
	}
	var line struct {
		RequestID string `json:"request_id"`
		User      string
		Status    int
		Path      string
	}
	if err := json.Unmarshal([]byte(lines[0]), &line); err != nil {
		t.Fatal(err)
	}
	if line.RequestID != "abcdefgh-1" || line.User != "anna" || line.Status != 202 || line.Path != "/api/v1/conversations/"+id+"/messages" {
		t.Errorf("line is %s", lines[0])
	}
	for _, secret := range []string{"in-the-query", "in-the-cookie", "private matter", "secret-of-anna", "Bearer"} {
		if strings.Contains(s.said.String(), secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	if got := s.do("anna", "GET", "/api/v1/me", "", "X-Request-ID", "a\tforged line").Header.Get("X-Request-ID"); strings.Contains(got, "forged") || got == "" {
		t.Errorf("a request id that is not one was taken: %q", got)
	}
}

func TestCrossOrigin(t *testing.T) {
	s := serve(t)
	for _, tt := range []struct {
		method, path string
		headers      []string
		status       int
	}{
		{"POST", "/api/v1/conversations", []string{"Sec-Fetch-Site", "same-origin"}, 201},
		{"POST", "/api/v1/conversations", []string{"Sec-Fetch-Site", "none"}, 201},
		{"POST", "/api/v1/conversations", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"POST", "/api/v1/conversations", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"POST", "/api/v1/conversations", []string{"Origin", s.URL}, 201},
		{"POST", "/api/v1/conversations", []string{"Origin", "null"}, 403},
		{"GET", "/api/v1/me", []string{"Sec-Fetch-Site", "cross-site"}, 200},
	} {
		if a := s.do("anna", tt.method, tt.path, "", tt.headers...); a.StatusCode != tt.status {
			t.Errorf("%s %s %v: %d, want %d", tt.method, tt.path, tt.headers, a.StatusCode, tt.status)
		}
	}
}

func TestEveryAnswerHasTheHeaders(t *testing.T) {
	s := serve(t)
	for _, path := range []string{"/api/v1/me", "/api/v1/nothing", "/healthz", "/agent", "/embed.js", "/metrics"} {
		a := s.do("", "GET", path, "")
		if a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("Referrer-Policy") != "same-origin" ||
			a.Header.Get("Permissions-Policy") == "" || a.Header.Get("Content-Security-Policy") == "" || a.Header.Get("X-Request-ID") == "" {
			t.Errorf("%s: %v", path, a.Header)
		}
	}
	if a := s.do("", "GET", "/api/v1/me", ""); a.StatusCode != 401 || a.Header.Get("WWW-Authenticate") != "Bearer" || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("nobody: %d %v", a.StatusCode, a.Header)
	}
	if a := s.do("anna", "PUT", "/api/v1/me", ""); a.StatusCode != 405 || !strings.Contains(a.Header.Get("Allow"), "GET") {
		t.Errorf("PUT: %d Allow %q", a.StatusCode, a.Header.Get("Allow"))
	}
}

func TestHealth(t *testing.T) {
	ready := error(nil)
	s := serve(t, func(o *httpapi.Options) { o.Ready = func(context.Context) error { return ready } })
	status := func(path string) int { return s.do("", "GET", path, "").StatusCode }
	if status("/healthz") != 200 || status("/readyz") != 200 {
		t.Error("not well at first")
	}
	ready = errors.New("dial tcp 10.0.0.1: refused")
	a := s.do("", "GET", "/readyz", "")
	if a.StatusCode != 503 || strings.Contains(string(a.body), "10.0.0.1") || status("/healthz") != 200 {
		t.Errorf("without a database: %d %s", a.StatusCode, a.body)
	}
	ready = nil
	s.api.Drain()
	if status("/healthz") != 200 || status("/readyz") != 503 {
		t.Error("while stopping")
	}
	id := s.conversation("anna")
	for path, body := range map[string]string{
		"/messages": `{"message":"x"}`, "/calls/call_1/retry": "", "/confirmations/cnf_1": `{"decision":"approve","args_digest":"d"}`,
	} {
		a := s.do("anna", "POST", "/api/v1/conversations/"+id+path, body)
		if a.StatusCode != 503 || a.problem(t).Code != "stopping" || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s while stopping: %d %s", path, a.StatusCode, a.body)
		}
	}
	if s.work.count() != 0 {
		t.Error("a run was started while stopping")
	}
	if a := s.do("anna", "POST", "/api/v1/conversations/"+id+"/cancel", ""); a.StatusCode != 204 {
		t.Errorf("cancel while stopping: %d", a.StatusCode)
	}
}

func TestMetrics(t *testing.T) {
	s := serve(t)
	id := s.conversation("anna")
	s.log.append(id, "run_1", &chat.RunFinished{Outcome: "answered"})
	st := s.open("anna", id, "")
	st.take(1)
	s.do("anna", "GET", "/api/v1/conversations/conv_secret", "")
	s.do("anna", "GET", "/wp-admin/secret-1", "")
	s.do("anna", "GET", "/api/v1/conversations/x/secret-2", "")
	s.do("anna", "PUT", "/api/v1/conversations/secret-3", "")
	got := string(s.do("", "GET", "/metrics", "").body)
	for _, want := range []string{
		`agentd_http_requests_total{method="GET",route="/api/v1/conversations/:id",status="404"} 1`,
		`agentd_http_requests_total{method="POST",route="/api/v1/conversations",status="201"} 1`,
		"agentd_streams 1", "agentd_runs 3",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "secret") {
		t.Errorf("what was asked for became a label:\n%s", got)
	}
	if strings.Contains(s.said.String(), `"level":"ERROR"`) {
		t.Errorf("an address that is not there was logged as our error:\n%s", s.said)
	}
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	if _, err := httpapi.New(httpapi.Options{}); err == nil || !strings.Contains(err.Error(), "is required") {
		t.Errorf("got %v", err)
	}
	s := serve(t)
	for _, origin := range []string{"bi.example.com", "https://*.example.com", "https://a.example.com; script-src *", "https://a.example.com/x", "javascript:x", "https://u@a.example.com"} {
		o := httpapi.Options{Identity: s.who, Log: s.log, Work: s.work, Surroundings: around{}, Streams: s.streams, FrameAncestors: []string{origin}}
		if _, err := httpapi.New(o); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "frame_ancestors") {
			t.Errorf("%s: %v", origin, err)
		}
	}
}
