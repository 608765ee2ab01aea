package mocksuperset_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"agentd/internal/mocksuperset"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// session is one user of a mock, with bearer token and CSRF pair.
type session struct {
	t     *testing.T
	base  string
	http  *http.Client
	token string
	csrf  string
}

func serve(t *testing.T, o mocksuperset.Options) (*mocksuperset.Server, string) {
	t.Helper()
	m, err := mocksuperset.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(m)
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		srv.Close()
	})
	return m, srv.URL + o.BasePath
}

func login(t *testing.T, base, user string) *session {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, base: base, http: &http.Client{Jar: jar, Transport: &http.Transport{}}}
	t.Cleanup(s.http.CloseIdleConnections)
	_, body := s.must("POST", "/api/v1/security/login", map[string]any{"username": user, "password": user, "provider": "db"})
	s.token, _ = body["access_token"].(string)
	_, body = s.must("GET", "/api/v1/security/csrf_token/", nil)
	s.csrf, _ = body["result"].(string)
	return s
}

func (s *session) send(ctx context.Context, method, path string, body any) (int, map[string]any, error) {
	var in io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		in = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, in)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("X-CSRFToken", s.csrf)
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	res, err := s.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return res.StatusCode, nil, err
	}
	var out map[string]any
	if json.Unmarshal(data, &out) != nil {
		out = map[string]any{"text": string(data)}
	}
	return res.StatusCode, out, nil
}

func (s *session) must(method, path string, body any) (int, map[string]any) {
	s.t.Helper()
	status, out, err := s.send(s.t.Context(), method, path, body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return status, out
}

func TestFaultsBeforeTheWrite(t *testing.T) {
	for _, row := range []struct {
		name   string
		fault  mocksuperset.Fault
		status int // 0: no answer
	}{
		{"status", mocksuperset.Fault{Status: 503, Body: map[string]any{"message": "busy"}, Headers: map[string]string{"Retry-After": "1"}}, 503},
		{"page of a proxy", mocksuperset.Fault{HTML: true}, 502},
		{"reset", mocksuperset.Fault{Reset: true}, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			m, base := serve(t, mocksuperset.Options{})
			s := login(t, base, "admin")
			row.fault.Method, row.fault.Path = "PUT", "/api/v1/dashboard/*"
			m.Fail(row.fault)
			status, _, err := s.send(t.Context(), "PUT", "/api/v1/dashboard/1", map[string]any{"css": "x"})
			if status != row.status || (err == nil) != (row.status != 0) {
				t.Errorf("got status %d, error %v, want status %d", status, err, row.status)
			}
			if n := m.Committed("PUT", "*"); n != 0 {
				t.Errorf("committed %d times, want none", n)
			}
			if m.Faults() != 0 {
				t.Error("the fault is still waiting")
			}
			if status, _ := s.must("PUT", "/api/v1/dashboard/1", map[string]any{"css": "x"}); status != 200 {
				t.Errorf("the next try got %d", status)
			}
			if n := m.Committed("PUT", "/api/v1/dashboard/1"); n != 1 {
				t.Errorf("committed %d times, want once", n)
			}
		})
	}
}

func TestFaultsAfterTheWrite(t *testing.T) {
	for _, row := range []struct {
		name  string
		fault mocksuperset.Fault
		hangs bool
	}{
		{"commit then reset", mocksuperset.Fault{CommitThenReset: true}, false},
		{"commit then hang", mocksuperset.Fault{CommitThenHang: true}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			m, base := serve(t, mocksuperset.Options{})
			s := login(t, base, "admin")
			row.fault.Path = "/api/v1/dashboard/1"
			row.fault.Method = "PUT"
			m.Fail(row.fault)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() {
				_, _, err := s.send(ctx, "PUT", "/api/v1/dashboard/1", map[string]any{"css": "lost answer"})
				done <- err
			}()
			if row.hangs {
				for m.Committed("PUT", "*") == 0 {
					time.Sleep(time.Millisecond) // waits for the other side, decides nothing
				}
				cancel()
			}
			if err := <-done; err == nil {
				t.Error("an answer came")
			}
			if n := m.Committed("PUT", "/api/v1/dashboard/1"); n != 1 {
				t.Errorf("committed %d times, want once", n)
			}
			_, got := s.must("GET", "/api/v1/dashboard/1?q=(columns:!(css))", nil)
			if want := map[string]any{"result": map[string]any{"css": "lost answer"}}; !cmp.Equal(got, want) {
				t.Errorf("read back %v", got)
			}
		})
	}
}

func TestCloseLetsHangingRequestsGo(t *testing.T) {
	m := mocksuperset.New(mocksuperset.Options{})
	srv := httptest.NewServer(m)
	m.Fail(mocksuperset.Fault{Path: "/health", Hang: true})
	done := make(chan error, 1)
	client := &http.Client{Transport: &http.Transport{}}
	go func() {
		res, err := client.Get(srv.URL + "/health")
		if err == nil {
			err = errors.Join(errors.New("an answer came"), res.Body.Close())
			done <- err
			return
		}
		done <- nil
	}()
	for m.Received("GET", "/health") == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	client.CloseIdleConnections()
	srv.Close()
}

func TestCutAndTrickle(t *testing.T) {
	m, base := serve(t, mocksuperset.Options{})
	s := login(t, base, "admin")
	m.Fail(mocksuperset.Fault{Path: "/api/v1/dashboard/", CutAfter: 10})
	if _, _, err := s.send(t.Context(), "GET", "/api/v1/dashboard/", nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut: got %v, want an unexpected end", err)
	}
	m.Fail(mocksuperset.Fault{Path: "/version", Trickle: 100_000})
	if status, body := s.must("GET", "/version", nil); status != 200 || body["version_string"] != "6.1.0" {
		t.Errorf("trickle: got %d %v", status, body)
	}
}

func TestFaultCounts(t *testing.T) {
	m, base := serve(t, mocksuperset.Options{})
	s := login(t, base, "admin")
	m.Fail(mocksuperset.Fault{Path: "/version", Status: 500, After: 1, Times: 2})
	var got []int
	for range 5 {
		status, _ := s.must("GET", "/version", nil)
		got = append(got, status)
	}
	if want := []int{200, 500, 500, 200, 200}; !cmp.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestControl(t *testing.T) {
	m, base := serve(t, mocksuperset.Options{})
	s := login(t, base, "admin")
	status, body := s.must("POST", "/_mock/faults", map[string]any{"method": "GET", "path": "/api/v1/chart/*", "times": 1, "fault": map[string]any{"status": 418}})
	if status != 201 || body["id"] != 1.0 {
		t.Fatalf("fault: %d %v", status, body)
	}
	if status, _ := s.must("GET", "/api/v1/chart/1", nil); status != 418 {
		t.Errorf("the fault did not hit: %d", status)
	}
	for _, wrong := range []map[string]any{
		{"path": "*", "fault": map[string]any{}},
		{"path": "*", "fault": map[string]any{"status": 500, "hang": true}},
		{"path": "*", "fault": map[string]any{"nonsense": true}},
		{"fault": map[string]any{"hang": true}},
	} {
		if status, _ := s.must("POST", "/_mock/faults", wrong); status != 400 {
			t.Errorf("%v was taken", wrong)
		}
	}
	before := m.Calls()
	if status, _ := s.must("PUT", "/_mock/objects/dashboard/1", map[string]any{"dashboard_title": "Behind your back"}); status != 200 {
		t.Errorf("objects: %d", status)
	}
	_, body = s.must("GET", "/api/v1/dashboard/1?q=(columns:!(dashboard_title,changed_on))", nil)
	result := body["result"].(map[string]any)
	if result["dashboard_title"] != "Behind your back" || result["changed_on"] == "2026-03-30T12:00:00" {
		t.Errorf("read %v", result)
	}
	_, body = s.must("GET", fmt.Sprintf("/_mock/count?method=GET&path=/api/v1/dashboard/*&since=%d", len(before)), nil)
	if body["count"] != 1.0 {
		t.Errorf("count %v", body)
	}
	if status, _ := s.must("POST", "/_mock/clock", map[string]any{"advance_s": 901}); status != 200 {
		t.Errorf("clock: %d", status)
	}
	if status, body := s.must("GET", "/api/v1/me/", nil); status != 401 || body["msg"] != "Token has expired" {
		t.Errorf("after 15 minutes: %d %v", status, body)
	}
	if status, _ := s.must("POST", "/_mock/reset", nil); status != 200 || len(m.Calls()) != 0 {
		t.Errorf("reset: %d, %d calls left", status, len(m.Calls()))
	}
}

func TestTokenLivesFifteenMinutes(t *testing.T) {
	m, base := serve(t, mocksuperset.Options{})
	s := login(t, base, "admin")
	for _, row := range []struct {
		after  time.Duration
		status int
	}{{14 * time.Minute, 200}, {2 * time.Minute, 401}} {
		m.Advance(row.after)
		if status, _ := s.must("GET", "/api/v1/me/", nil); status != row.status {
			t.Errorf("%s later: %d, want %d", row.after, status, row.status)
		}
	}
}

func TestSameStepsSameIDs(t *testing.T) {
	play := func(seed uint64) (string, any) {
		_, base := serve(t, mocksuperset.Options{Seed: seed})
		s := login(t, base, "alpha")
		_, made := s.must("POST", "/api/v1/dashboard/", map[string]any{"dashboard_title": "new"})
		_, got := s.must("GET", fmt.Sprintf("/api/v1/dashboard/%v?q=(columns:!(uuid,changed_on))", made["id"]), nil)
		result := got["result"].(map[string]any)
		return result["uuid"].(string), made["id"]
	}
	one, id := play(1)
	again, same := play(1)
	other, _ := play(2)
	if one != again || id != same {
		t.Errorf("one seed gave %s and %s", one, again)
	}
	if one == other {
		t.Errorf("two seeds gave the same uuid %s", one)
	}
}

func TestServersDoNotShareState(t *testing.T) {
	_, first := serve(t, mocksuperset.Options{})
	_, second := serve(t, mocksuperset.Options{})
	a, b := login(t, first, "admin"), login(t, second, "admin")
	a.must("DELETE", "/api/v1/dashboard/1", nil)
	a.must("POST", "/api/v1/sqllab/execute/", map[string]any{"database_id": 2, "sql": "DELETE FROM scratch"})
	if status, _ := b.must("GET", "/api/v1/dashboard/1", nil); status != 200 {
		t.Errorf("the other server lost its dashboard: %d", status)
	}
	_, body := b.must("POST", "/api/v1/sqllab/execute/", map[string]any{"database_id": 2, "sql": "SELECT COUNT(*) AS n FROM scratch"})
	if got := fmt.Sprint(body["data"]); got != "[map[n:10]]" {
		t.Errorf("the other server's rows: %s", got)
	}
}

func TestResetBringsRowsAndObjectsBack(t *testing.T) {
	m, base := serve(t, mocksuperset.Options{})
	s := login(t, base, "admin")
	s.must("DELETE", "/api/v1/dashboard/1", nil)
	s.must("POST", "/api/v1/sqllab/execute/", map[string]any{"database_id": 2, "sql": "DELETE FROM scratch"})
	if m.Committed("POST", "/api/v1/sqllab/execute/") != 1 {
		t.Error("a DELETE in SQL Lab does not count as committed")
	}
	m.Reset()
	if status, _ := s.must("GET", "/api/v1/dashboard/1", nil); status != 200 {
		t.Errorf("dashboard: %d", status)
	}
	_, body := s.must("POST", "/api/v1/sqllab/execute/", map[string]any{"database_id": 2, "sql": "SELECT COUNT(*) AS n FROM scratch"})
	if got := fmt.Sprint(body["data"]); got != "[map[n:10]]" {
		t.Errorf("rows: %s", got)
	}
	if m.Committed("", "*") != 0 {
		t.Error("a SELECT counts as committed")
	}
}

func TestBasePathAndNoControl(t *testing.T) {
	m, base := serve(t, mocksuperset.Options{Name: "prod", BasePath: "/bi", NoControl: true})
	s := login(t, base, "admin")
	if status, _ := s.must("GET", "/api/v1/me/", nil); status != 200 {
		t.Errorf("below the base path: %d", status)
	}
	root := &session{t: t, base: strings.TrimSuffix(base, "/bi"), http: s.http}
	if status, _ := root.must("GET", "/api/v1/me/", nil); status != 404 {
		t.Errorf("above the base path: %d", status)
	}
	if status, _ := root.must("GET", "/_mock/calls", nil); status != 404 {
		t.Errorf("the control surface is there: %d", status)
	}
	if got, want := m.ReadyLine("http://127.0.0.1:8101"), "mock-superset prod ready at http://127.0.0.1:8101/bi"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRefererOnHTTPS(t *testing.T) {
	m := mocksuperset.New(mocksuperset.Options{})
	srv := httptest.NewTLSServer(m)
	defer srv.Close()
	defer m.Close()
	client := srv.Client()
	client.Jar, _ = cookiejar.New(nil)
	s := &session{t: t, base: srv.URL, http: client}
	_, body := s.must("POST", "/api/v1/security/login", map[string]any{"username": "admin", "password": "admin", "provider": "db"})
	s.token, _ = body["access_token"].(string)
	_, body = s.must("GET", "/api/v1/security/csrf_token/", nil)
	s.csrf, _ = body["result"].(string)
	status, body := s.must("PUT", "/api/v1/dashboard/1", map[string]any{"css": "x"})
	if text := fmt.Sprint(body); status != 400 || !strings.Contains(text, "referrer header is missing") {
		t.Errorf("without Referer: %d %s", status, text)
	}
}

func TestManyAtOnce(t *testing.T) {
	m, base := serve(t, mocksuperset.Options{})
	const people, each = 8, 5
	sessions := make([]*session, people)
	for i := range sessions {
		sessions[i] = login(t, base, "alpha")
	}
	var wait sync.WaitGroup
	for i, s := range sessions {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for n := range each {
				status, _, err := s.send(t.Context(), "POST", "/api/v1/dashboard/", map[string]any{"dashboard_title": fmt.Sprintf("%d-%d", i, n)})
				if status != 201 || err != nil {
					t.Errorf("create: %d %v", status, err)
				}
				if status, _, err := s.send(t.Context(), "GET", "/api/v1/chart/6/data/?type=results", nil); status != 200 || err != nil {
					t.Errorf("data: %d %v", status, err)
				}
			}
		}()
	}
	wait.Wait()
	if n := m.Committed("POST", "/api/v1/dashboard/"); n != people*each {
		t.Errorf("%d created, want %d", n, people*each)
	}
	_, body := sessions[0].must("GET", "/api/v1/dashboard/?q=(keys:!(none),filters:!((col:dashboard_title,opr:ct,value:'-')),page_size:1)", nil)
	if n := body["count"].(float64); n < people*each {
		t.Errorf("the list counts %v", n)
	}
}

func BenchmarkNew(b *testing.B) {
	mocksuperset.New(mocksuperset.Options{})
	for b.Loop() {
		_ = mocksuperset.New(mocksuperset.Options{}).Close()
	}
}
