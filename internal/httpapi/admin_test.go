package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"agentd/internal/agent"
	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/fault"
	"agentd/internal/httpapi"

	"github.com/google/go-cmp/cmp"
)

func TestSimulate(t *testing.T) {
	s := serve(t)
	for body, want := range map[string]agent.Question{
		`{"roles":["Gamma","Alpha"],"tool":"run_sql","args":{"sql":"SELECT 1"},"env_id":"ss-prod"}`: {Roles: []string{"Gamma", "Alpha"}, Tool: "run_sql", Args: json.RawMessage(`{"sql":"SELECT 1"}`), Env: "ss-prod"},
		`{"user":"admin","tool":"run_sql"}`: {Roles: []string{"Admin"}, Tool: "run_sql"},
		`{"roles":[],"tool":"run_sql"}`:     {Tool: "run_sql"},
	} {
		s.sim.asked = nil
		if a := s.do("admin", "POST", "/api/v1/policy/simulate", body); a.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s", body, a.StatusCode, a.body)
		}
		if diff := cmp.Diff([]agent.Question{want}, s.sim.asked); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}

// rows is an audit. It fails when it is read beyond its end, if it is told to.
type rows struct {
	n       int
	breaks  bool
	filters []eventlog.AuditFilter
}

func (r *rows) AuditRows(_ context.Context, f eventlog.AuditFilter) (out []chat.AuditRow, err error) {
	r.filters = append(r.filters, f)
	if r.breaks && f.After > 0 {
		return nil, errors.New("the disk is gone")
	}
	for seq := f.After + 1; seq <= int64(r.n) && len(out) < f.Limit; seq++ {
		out = append(out, chat.AuditRow{Seq: seq, At: noon, Kind: "guard", User: "anna", Hash: "h"})
	}
	return out, nil
}

func TestAudit(t *testing.T) {
	for _, n := range []int{0, 1, 499, 500, 501} {
		r := &rows{n: n}
		s := serve(t, func(o *httpapi.Options) { o.Audit = r })
		a := s.do("admin", "GET", "/api/v1/audit?since=2026-11-29T00:00:00Z&user=anna&tool=run_sql&env=ss-prod&verdict=deny", "")
		if got := strings.Count(string(a.body), "\n"); a.StatusCode != 200 || got != n || a.Header.Get("Content-Type") != "application/x-ndjson" {
			t.Errorf("%d rows: %d, %d lines", n, a.StatusCode, got)
		}
		want := eventlog.AuditFilter{Since: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC), User: "anna", Tool: "run_sql", Env: "ss-prod", Verdict: "deny", Limit: 500}
		if diff := cmp.Diff(want, r.filters[0]); diff != "" {
			t.Errorf("filter (-want +got):\n%s", diff)
		}
		if a := s.do("anna", "GET", "/api/v1/audit", ""); a.StatusCode != http.StatusForbidden {
			t.Errorf("for a user: %d", a.StatusCode)
		}
		if a := s.do("admin", "GET", "/api/v1/audit?since=yesterday", ""); a.StatusCode != 422 || a.problem(t).Errors[0].Pointer != "/since" {
			t.Errorf("since yesterday: %d %s", a.StatusCode, a.body)
		}
		if a := s.do("admin", "GET", "/api/v1/me", ""); !strings.Contains(string(a.body), `"audit":true`) {
			t.Errorf("me of an administrator: %s", a.body)
		}
	}
}

// A part of the audit must not look like the whole.
func TestAuditThatBreaksIsCut(t *testing.T) {
	s := serve(t, func(o *httpapi.Options) { o.Audit = &rows{n: 900, breaks: true} })
	req, err := http.NewRequest("GET", s.URL+"/api/v1/audit", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer admin")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("a broken answer ended as if it were whole")
	}
	if !strings.Contains(s.said.String(), "the disk is gone") {
		t.Error("the cause was not logged")
	}
}

// opinions keeps feedback and what was allowed once for all.
type opinions struct{ said []string }

func (o *opinions) Feedback(_ context.Context, conv, message, user, rating, comment string) error {
	if message != "msg_1" {
		return fault.New(fault.Missing, "There is no such message.")
	}
	o.said = append(o.said, strings.Join([]string{conv, message, user, rating, comment}, " "))
	return nil
}

func (o *opinions) Remembered(_ context.Context, user, _ string) ([]eventlog.Remembered, error) {
	if user != "anna" {
		return nil, nil
	}
	return []eventlog.Remembered{{ID: "rem_1", User: user, Conversation: "conv_1", Env: "ss-dev", Tool: "update_chart", ArgsClass: "name", Created: noon}}, nil
}

func (o *opinions) Forget(_ context.Context, id, user string) error {
	if id != "rem_1" || user != "anna" {
		return fault.New(fault.Missing, "There is no such thing.")
	}
	o.said = append(o.said, "forget "+id)
	return nil
}

func TestFeedbackAndRemembered(t *testing.T) {
	op := &opinions{}
	s := serve(t, func(o *httpapi.Options) { o.Feedback, o.Memories = op, op })
	id, foreign := s.conversation("anna"), s.conversation("boris")
	at := func(conv, msg string) string {
		return "/api/v1/conversations/" + conv + "/messages/" + msg + "/feedback"
	}
	for _, tt := range []struct {
		method, path, body string
		status             int
		pointers           string
	}{
		{"POST", at(id, "msg_1"), `{"rating":"up"}`, 204, ""},
		{"POST", at(id, "msg_1"), `{"rating":"down","comment":"wrong"}`, 204, ""},
		{"POST", at(id, "msg_2"), `{"rating":"up"}`, 404, ""},
		{"POST", at(foreign, "msg_1"), `{"rating":"up"}`, 404, ""},
		{"POST", at(id, "msg_1"), `{"rating":"meh","comment":5,"x":1}`, 422, "/rating /comment /x"},
		{"POST", at(id, "msg_1"), `{}`, 422, "/rating"},
		{"POST", at(id, "msg_1"), `{"rating":"up","comment":"` + strings.Repeat("c", 2001) + `"}`, 422, "/comment"},
		{"GET", "/api/v1/remembered", "", 200, ""},
		{"DELETE", "/api/v1/remembered?id=rem_1", "", 204, ""},
		{"DELETE", "/api/v1/remembered?id=rem_2", "", 404, ""},
		{"DELETE", "/api/v1/remembered?id=%27", "", 404, ""},
		{"DELETE", "/api/v1/remembered", "", 422, "/id"},
	} {
		a := s.do("anna", tt.method, tt.path, tt.body)
		if a.StatusCode != tt.status {
			t.Errorf("%s %s %s: %d, want %d: %s", tt.method, tt.path, tt.body, a.StatusCode, tt.status, a.body)
			continue
		}
		var pointers []string
		if tt.status == 422 {
			for _, e := range a.problem(t).Errors {
				pointers = append(pointers, e.Pointer)
			}
		}
		if got := strings.Join(pointers, " "); got != tt.pointers {
			t.Errorf("%s %s: %q, want %q", tt.path, tt.body, got, tt.pointers)
		}
	}
	want := []string{id + " msg_1 anna up ", id + " msg_1 anna down wrong", "forget rem_1"}
	if diff := cmp.Diff(want, op.said); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	if a := s.do("boris", "GET", "/api/v1/remembered", ""); !strings.Contains(string(a.body), `"remembered":[]`) {
		t.Errorf("of another: %s", a.body)
	}
}
