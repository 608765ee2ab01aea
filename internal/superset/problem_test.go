package superset

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"agentd/internal/fault"
)

func TestFailed(t *testing.T) {
	const (
		page = "<!DOCTYPE html><title>x</title>"
		csrf = `{"errors":[{"message":"400 Bad Request: The CSRF token is missing.","error_type":"GENERIC_BACKEND_ERROR","level":"error","extra":{}}]}`
	)
	tests := []struct {
		name   string
		write  bool
		status int
		body   string
		header http.Header
		kind   fault.Kind
		code   string
		text   string
	}{
		{name: "text", status: 400, body: `{"message":"Not a valid rison/json argument"}`, kind: fault.Invalid, text: "Superset: Not a valid rison/json argument"},
		{name: "fields", status: 422, body: `{"message":{"slug":["Must be unique"],"owners":["Owners are invalid"]}}`, kind: fault.Invalid, text: "Superset: owners: Owners are invalid; slug: Must be unique"},
		{name: "deep fields", status: 400, body: `{"message":{"json_metadata":[{"nonsense":["Unknown field."]}]}}`, kind: fault.Invalid, text: "Superset: json_metadata/nonsense: Unknown field."},
		{name: "errors", status: 403, body: `{"errors":[{"message":"a","error_type":"X"},{"message":"b"}]}`, kind: fault.Denied, code: "superset", text: "Superset: a; b"},
		{name: "errors of a schema", status: 422, body: `{"errors":[{"message":"Invalid.","error_type":"MARSHMALLOW_ERROR","extra":{"messages":{"metrics":{"0":{"expression":["Missing data."]}}}}}]}`, kind: fault.Invalid, text: "Superset: Invalid.; metrics/0/expression: Missing data."},
		{name: "error", status: 422, body: `{"error":"out of reach"}`, kind: fault.Invalid, text: "Superset: out of reach"},
		{name: "msg", status: 401, body: `{"msg":"Token has expired"}`, kind: fault.Auth, code: "sign_in_again"},
		{name: "msg that looks like a rule", status: 422, body: `{"msg":"Signature verification failed"}`, kind: fault.Auth, code: "sign_in_again"},
		{name: "csrf of a write", write: true, status: 400, body: csrf, kind: fault.Auth, code: "sign_in_again"},
		{name: "to the login", write: true, status: 302, header: http.Header{"Location": {"/login/?next=x"}}, kind: fault.Auth, code: "sign_in_again"},
		{name: "to the login below a path", status: 302, header: http.Header{"Location": {"https://x.example.com/bi/login/"}}, kind: fault.Auth, code: "sign_in_again"},
		{name: "to elsewhere", status: 308, header: http.Header{"Location": {"/api/v1/dashboard/"}}, kind: fault.Mismatch, code: "mismatch"},
		{name: "forbidden", status: 403, body: `{"message":"Forbidden"}`, kind: fault.Denied, code: "superset"},
		{name: "missing", status: 404, body: `{"message":"Not found"}`, kind: fault.Missing, code: "missing"},
		{name: "a page says not found", status: 404, body: page, kind: fault.Mismatch, code: "mismatch"},
		{name: "conflict", status: 409, kind: fault.Conflict, code: "conflict"},
		{name: "expired", status: 410, body: `{"errors":[]}`, kind: fault.Gone, code: "gone"},
		{name: "too long", status: 414, body: page, kind: fault.TooLarge, code: "too_large"},
		{name: "too many", status: 429, header: http.Header{"Retry-After": {"7"}}, kind: fault.RateLimited, code: "rate_limited"},
		{name: "server error", status: 500, body: `{"message":"Fatal error"}`, kind: fault.Internal, code: "internal"},
		{name: "server error page", status: 500, body: page, kind: fault.Internal, code: "internal"},
		{name: "502 of a read", status: 502, body: page, kind: fault.Transient, code: "transient"},
		{name: "502 of a write", write: true, status: 502, body: page, kind: fault.Unknown, code: "unknown"},
		{name: "503 of a write", write: true, status: 503, kind: fault.Transient, code: "transient"},
		{name: "504 of a read", status: 504, kind: fault.Transient, code: "transient"},
		{name: "504 of a write", write: true, status: 504, kind: fault.Unknown, code: "unknown"},
		{name: "teapot", status: 418, kind: fault.Invalid, code: "invalid"},
		{name: "cut body", status: 400, body: `{"message":"Not`, kind: fault.Invalid, code: "invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.header == nil {
				tt.header = http.Header{}
			}
			err := call{method: "GET", path: "/x", write: tt.write}.failed(answer{status: tt.status, header: tt.header, problem: []byte(tt.body)})
			if got := fault.KindOf(err); got != tt.kind {
				t.Fatalf("kind %s, want %s", got, tt.kind)
			}
			if tt.code != "" && fault.CodeOf(err) != tt.code {
				t.Errorf("code %s, want %s", fault.CodeOf(err), tt.code)
			}
			if tt.text != "" && fault.Message(err) != tt.text {
				t.Errorf("text %q, want %q", fault.Message(err), tt.text)
			}
			if status(err) != tt.status {
				t.Errorf("status %d, want %d", status(err), tt.status)
			}
			if e, ok := errors.AsType[*fault.Error](err); tt.kind == fault.RateLimited && (!ok || e.RetryAfter != 7*time.Second) {
				t.Errorf("retry after %v", e)
			}
		})
	}
}

func TestContains(t *testing.T) {
	tests := []struct {
		text, pattern string
		want          bool
	}{
		{"Sales Overview", "sales", true}, {"Sales Overview", "ZZ", false}, {"", "", true}, {"x", "", true}, {"", "x", false},
		{"Quotes 100%", "100%", true}, {"abc", "a%c", true}, {"abc", "a_c", true}, {"abc", "a_b", false}, {"Продажи", "прод", true}, {"abc", "%", true},
	}
	for _, tt := range tests {
		if got := contains(tt.text, tt.pattern); got != tt.want {
			t.Errorf("contains(%q, %q) = %v, want %v", tt.text, tt.pattern, got, tt.want)
		}
	}
}

func TestParseTime(t *testing.T) {
	for _, text := range []string{"2026-03-30T12:00:00", "2026-03-30T12:00:00.000000+0000", "2026-03-30T12:00:00Z", "2026-03-30T14:00:00+02:00"} {
		if got, ok := ParseTime(text); !ok || got.String() != "2026-03-30T12:00:00Z" {
			t.Errorf("%s: %s %v", text, got, ok)
		}
	}
	if _, ok := ParseTime("yesterday"); ok {
		t.Error("yesterday is a date")
	}
}
