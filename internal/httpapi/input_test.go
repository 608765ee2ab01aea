package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"agentd/internal/httpapi"

	"github.com/google/go-cmp/cmp"
)

// A bad request must be refused with this status and code, must name these places, and must start and store nothing.
type badRequest struct {
	name     string
	method   string
	path     string // CONV stands for an own conversation, FOREIGN for another's
	body     string
	headers  []string
	status   int
	code     string
	pointers []string
}

const messages = "/api/v1/conversations/CONV/messages"

func TestBadInput(t *testing.T) {
	long := strings.Repeat("я", 20_001)
	decide := "/api/v1/conversations/CONV/confirmations/cnf_1"
	tests := []badRequest{
		{name: "not JSON", method: "POST", path: messages, body: `{"message": }`, status: 400, code: "malformed_json"},
		{name: "cut JSON", method: "POST", path: messages, body: `{"message":"x"`, status: 400, code: "malformed_json"},
		{name: "two values", method: "POST", path: messages, body: `{"message":"x"} {}`, status: 400, code: "malformed_json"},
		{name: "a name twice", method: "POST", path: messages, body: `{"message":"x","message":"y"}`, status: 400, code: "malformed_json"},
		{name: "invalid UTF-8", method: "POST", path: messages, body: "{\"message\":\"\xff\"}", status: 400, code: "malformed_json"},
		{name: "half a surrogate pair", method: "POST", path: messages, body: `{"message":"\ud800"}`, status: 400, code: "malformed_json"},
		{name: "not a number", method: "POST", path: messages, body: `{"message":NaN}`, status: 400, code: "malformed_json"},
		{name: "a list", method: "POST", path: messages, body: `[]`, status: 422, code: "invalid", pointers: []string{""}},
		{name: "null", method: "POST", path: messages, body: `null`, status: 422, code: "invalid", pointers: []string{""}},
		{name: "no body", method: "POST", path: messages, status: 422, code: "invalid", pointers: []string{"/message"}},
		{name: "no message", method: "POST", path: messages, body: `{}`, status: 422, code: "invalid", pointers: []string{"/message"}},
		{name: "null message", method: "POST", path: messages, body: `{"message":null}`, status: 422, code: "invalid", pointers: []string{"/message"}},
		{name: "empty message", method: "POST", path: messages, body: `{"message":" \n\t"}`, status: 422, code: "invalid", pointers: []string{"/message"}},
		{name: "number for message", method: "POST", path: messages, body: `{"message":5}`, status: 422, code: "invalid", pointers: []string{"/message"}},
		{name: "NUL in message", method: "POST", path: messages, body: `{"message":"a\u0000b"}`, status: 422, code: "invalid", pointers: []string{"/message"}},
		{name: "message over the limit", method: "POST", path: messages, body: `{"message":"` + long + `"}`, status: 422, code: "invalid", pointers: []string{"/message"}},
		{name: "unknown field", method: "POST", path: messages, body: `{"message":"x","a/b~c":1}`, status: 422, code: "invalid", pointers: []string{"/a~1b~0c"}},
		{name: "field in another case", method: "POST", path: messages, body: `{"Message":"x"}`, status: 422, code: "invalid", pointers: []string{"/message", "/Message"}},
		{name: "unknown environment", method: "POST", path: messages, body: `{"message":"x","env_id":"nope"}`, status: 422, code: "invalid", pointers: []string{"/env_id"}},
		{name: "empty environment", method: "POST", path: messages, body: `{"message":"x","env_id":""}`, status: 422, code: "invalid", pointers: []string{"/env_id"}},
		{name: "unknown environment of the page", method: "POST", path: messages, body: `{"message":"x","ui_context":{"envId":"nope"}}`, status: 422, code: "invalid", pointers: []string{"/ui_context/envId"}},
		{name: "both environments", method: "POST", path: messages, body: `{"message":"x","env_id":"a","ui_context":{"envId":"b"}}`, status: 422, code: "invalid", pointers: []string{"/env_id", "/ui_context/envId"}},
		{name: "object type in capitals", method: "POST", path: messages, body: `{"message":"x","ui_context":{"objectType":"Dashboard"}}`, status: 422, code: "invalid", pointers: []string{"/ui_context/objectType"}},
		{name: "object type too long", method: "POST", path: messages, body: `{"message":"x","ui_context":{"objectType":"` + strings.Repeat("a", 33) + `"}}`, status: 422, code: "invalid", pointers: []string{"/ui_context/objectType"}},
		{name: "object id with quotes", method: "POST", path: messages, body: `{"message":"x","ui_context":{"objectType":"dashboard","objectId":"1' OR '1'='1"}}`, status: 422, code: "invalid", pointers: []string{"/ui_context/objectId"}},
		{name: "number for object id", method: "POST", path: messages, body: `{"message":"x","ui_context":{"objectType":"dashboard","objectId":42}}`, status: 422, code: "invalid", pointers: []string{"/ui_context/objectId"}},
		{name: "object id without type", method: "POST", path: messages, body: `{"message":"x","ui_context":{"objectId":"42"}}`, status: 422, code: "invalid", pointers: []string{"/ui_context/objectType"}},
		{name: "control character in name", method: "POST", path: messages, body: `{"message":"x","ui_context":{"objectName":"a\nb"}}`, status: 422, code: "invalid", pointers: []string{"/ui_context/objectName"}},
		{name: "unknown field of the page", method: "POST", path: messages, body: `{"message":"x","ui_context":{"object_type":"dashboard"}}`, status: 422, code: "invalid", pointers: []string{"/ui_context/object_type"}},
		{name: "list for the page", method: "POST", path: messages, body: `{"message":"x","ui_context":[]}`, status: 422, code: "invalid", pointers: []string{"/ui_context"}},
		{name: "unknown strategy", method: "POST", path: messages, body: `{"message":"x","strategy":"queue"}`, status: 422, code: "invalid", pointers: []string{"/strategy"}},
		{name: "key with a space", method: "POST", path: messages, body: `{"message":"x","idempotency_key":"a b"}`, status: 422, code: "invalid", pointers: []string{"/idempotency_key"}},
		{name: "key too long", method: "POST", path: messages, body: `{"message":"x","idempotency_key":"` + strings.Repeat("k", 129) + `"}`, status: 422, code: "invalid", pointers: []string{"/idempotency_key"}},
		{name: "replaced id with quotes", method: "POST", path: messages, body: `{"message":"x","replaces":"msg'"}`, status: 422, code: "invalid", pointers: []string{"/replaces"}},
		{name: "everything at once", method: "POST", path: messages, body: `{"message":"","env_id":1,"strategy":2,"x":3,"ui_context":{"objectType":"A","y":1}}`, status: 422, code: "invalid",
			pointers: []string{"/message", "/env_id", "/ui_context/y", "/ui_context/objectType", "/strategy", "/x"}},
		{name: "form", method: "POST", path: messages, body: `message=x`, headers: []string{"Content-Type", "application/x-www-form-urlencoded"}, status: 415, code: "media_type"},
		{name: "text", method: "POST", path: messages, body: `{"message":"x"}`, headers: []string{"Content-Type", "text/plain"}, status: 415, code: "media_type"},
		{name: "JSON by suffix only", method: "POST", path: messages, body: `{"message":"x"}`, headers: []string{"Content-Type", "application/json5"}, status: 415, code: "media_type"},
		{name: "no type", method: "POST", path: messages, body: `{"message":"x"}`, headers: []string{"Content-Type", ""}, status: 415, code: "media_type"},
		{name: "cookie without type", method: "POST", path: "/api/v1/conversations/CONV/cancel", headers: []string{"Cookie", "session=1"}, status: 415, code: "media_type"},
		{name: "body over the limit", method: "POST", path: messages, body: `{"message":"` + strings.Repeat("x", 1<<20) + `"}`, status: 413, code: "body_too_large"},
		{name: "nobody", method: "POST", path: messages, body: `{"message":"x"}`, headers: []string{"Authorization", ""}, status: 401, code: "auth"},
		{name: "nobody, malformed", method: "POST", path: messages, body: `{`, headers: []string{"Authorization", ""}, status: 401, code: "auth"},
		{name: "another's conversation", method: "POST", path: "/api/v1/conversations/FOREIGN/messages", body: `{"message":"x"}`, status: 404, code: "missing"},
		{name: "no such conversation", method: "POST", path: "/api/v1/conversations/conv_none/messages", body: `{"message":"x"}`, status: 404, code: "missing"},
		{name: "conversation id with quotes", method: "POST", path: "/api/v1/conversations/a%27b/messages", body: `{"message":"x"}`, status: 404, code: "missing"},
		{name: "conversation id that climbs", method: "POST", path: "/api/v1/conversations/..%2F..%2Fx/messages", body: `{"message":"x"}`, status: 404, code: "missing"},
		{name: "another origin", method: "POST", path: messages, body: `{"message":"x"}`, headers: []string{"Sec-Fetch-Site", "cross-site"}, status: 403, code: "cross_origin"},
		{name: "another origin of an old browser", method: "POST", path: messages, body: `{"message":"x"}`, headers: []string{"Origin", "https://evil.example.com"}, status: 403, code: "cross_origin"},

		{name: "decision unknown", method: "POST", path: decide, body: `{"decision":"yes","args_digest":"d"}`, status: 422, code: "invalid", pointers: []string{"/decision"}},
		{name: "decision empty", method: "POST", path: decide, body: `{}`, status: 422, code: "invalid", pointers: []string{"/decision", "/args_digest"}},
		{name: "edit without arguments", method: "POST", path: decide, body: `{"decision":"edit","args_digest":"d"}`, status: 422, code: "invalid", pointers: []string{"/edited_args"}},
		{name: "edit with a list", method: "POST", path: decide, body: `{"decision":"edit","args_digest":"d","edited_args":[]}`, status: 422, code: "invalid", pointers: []string{"/edited_args"}},
		{name: "approval with arguments", method: "POST", path: decide, body: `{"decision":"approve","args_digest":"d","edited_args":{}}`, status: 422, code: "invalid", pointers: []string{"/edited_args"}},
		{name: "another tool", method: "POST", path: decide, body: `{"decision":"edit","args_digest":"d","edited_args":{},"tool":"run_sql"}`, status: 422, code: "invalid", pointers: []string{"/tool"}},
		{name: "remember as text", method: "POST", path: decide, body: `{"decision":"approve","args_digest":"d","remember":"yes"}`, status: 422, code: "invalid", pointers: []string{"/remember"}},
		{name: "reason too long", method: "POST", path: decide, body: `{"decision":"reject","args_digest":"d","reason":"` + strings.Repeat("r", 2001) + `"}`, status: 422, code: "invalid", pointers: []string{"/reason"}},
		{name: "confirmation id with quotes", method: "POST", path: "/api/v1/conversations/CONV/confirmations/a%22b", body: `{"decision":"approve","args_digest":"d"}`, status: 404, code: "missing"},

		{name: "create with a field", method: "POST", path: "/api/v1/conversations", body: `{"title":"x"}`, status: 422, code: "invalid", pointers: []string{"/title"}},
		{name: "rename without title", method: "PATCH", path: "/api/v1/conversations/CONV", body: `{}`, status: 422, code: "invalid", pointers: []string{"/title"}},
		{name: "rename to nothing", method: "PATCH", path: "/api/v1/conversations/CONV", body: `{"title":"  "}`, status: 422, code: "invalid", pointers: []string{"/title"}},
		{name: "rename too long", method: "PATCH", path: "/api/v1/conversations/CONV", body: `{"title":"` + strings.Repeat("я", 201) + `"}`, status: 422, code: "invalid", pointers: []string{"/title"}},
		{name: "rename another's", method: "PATCH", path: "/api/v1/conversations/FOREIGN", body: `{"title":"x"}`, status: 404, code: "missing"},
		{name: "delete another's", method: "DELETE", path: "/api/v1/conversations/FOREIGN", status: 404, code: "missing"},
		{name: "show another's", method: "GET", path: "/api/v1/conversations/FOREIGN", status: 404, code: "missing"},
		{name: "stream another's", method: "GET", path: "/api/v1/conversations/FOREIGN/events", status: 404, code: "missing"},
		{name: "cancel another's", method: "POST", path: "/api/v1/conversations/FOREIGN/cancel", status: 404, code: "missing"},
		{name: "cancel with a field", method: "POST", path: "/api/v1/conversations/CONV/cancel", body: `{"run_id":"r"}`, status: 422, code: "invalid", pointers: []string{"/run_id"}},
		{name: "retry another's", method: "POST", path: "/api/v1/conversations/FOREIGN/calls/call_1/retry", status: 404, code: "missing"},
		{name: "retry with a quote", method: "POST", path: "/api/v1/conversations/CONV/calls/%27/retry", status: 404, code: "missing"},
		{name: "cursor that is not ours", method: "GET", path: "/api/v1/conversations?cursor=x", status: 400, code: "bad_cursor"},
		{name: "limit 0", method: "GET", path: "/api/v1/conversations?limit=0", status: 422, code: "invalid", pointers: []string{"/limit"}},
		{name: "limit 101", method: "GET", path: "/api/v1/conversations?limit=101", status: 422, code: "invalid", pointers: []string{"/limit"}},
		{name: "limit in words", method: "GET", path: "/api/v1/conversations?limit=all&q=%00", status: 422, code: "invalid", pointers: []string{"/limit", "/q"}},
		{name: "inbox of an unknown state", method: "GET", path: "/api/v1/confirmations?state=open", status: 422, code: "invalid", pointers: []string{"/state"}},
		{name: "capabilities of another environment", method: "GET", path: "/api/v1/capabilities?envId=nope&objectType=A", status: 422, code: "invalid", pointers: []string{"/objectType", "/envId"}},
		{name: "policy for a user", method: "POST", path: "/api/v1/policy/simulate", body: `{"roles":["Gamma"],"tool":"x"}`, status: 403, code: "denied"},
		{name: "servers for a user", method: "GET", path: "/api/v1/diagnostics/mcp", status: 403, code: "denied"},
		{name: "memory for a user", method: "GET", path: "/api/v1/diagnostics/memory", status: 403, code: "denied"},
		{name: "policy without anything", method: "POST", path: "/api/v1/policy/simulate", body: `{"args":[],"env_id":"x","roles":[null]}`, headers: []string{"Authorization", "Bearer admin"}, status: 422, code: "invalid",
			pointers: []string{"/roles", "/args", "/tool", "/env_id"}},
		{name: "policy of another user", method: "POST", path: "/api/v1/policy/simulate", body: `{"user":"anna","tool":"x"}`, headers: []string{"Authorization", "Bearer admin"}, status: 422, code: "invalid", pointers: []string{"/user"}},

		{name: "unknown address", method: "GET", path: "/api/v1/nothing", status: 404, code: "missing"},
		{name: "unknown method", method: "PUT", path: "/api/v1/conversations", status: 405, code: "method_not_allowed"},
		{name: "event id of words", method: "GET", path: "/api/v1/conversations/CONV/events", headers: []string{"Last-Event-ID", "msg_1"}, status: 400, code: "bad_event_id"},
		{name: "negative event id", method: "GET", path: "/api/v1/conversations/CONV/events?last_event_id=-1", status: 400, code: "bad_event_id"},
		{name: "event id of the future", method: "GET", path: "/api/v1/conversations/CONV/events", headers: []string{"Last-Event-ID", "1"}, status: 400, code: "bad_event_id"},
	}
	s := serve(t)
	own, foreign := s.conversation("anna"), s.conversation("boris")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.t = t
			written, started := s.log.written(), s.work.count()
			path := strings.NewReplacer("CONV", own, "FOREIGN", foreign).Replace(tt.path)
			a := s.do("anna", tt.method, path, tt.body, tt.headers...)
			p := a.problem(t)
			if a.StatusCode != tt.status || p.Status != tt.status || p.Code != tt.code {
				t.Errorf("got %d %q, want %d %q: %s", a.StatusCode, p.Code, tt.status, tt.code, a.body)
			}
			var pointers []string
			for _, e := range p.Errors {
				pointers = append(pointers, e.Pointer)
				if e.Detail == "" {
					t.Errorf("%s: no word on what would be right", e.Pointer)
				}
			}
			if diff := cmp.Diff(tt.pointers, pointers); diff != "" {
				t.Errorf("pointers (-want +got):\n%s\n%s", diff, a.body)
			}
			if got := a.Header.Get("Content-Type"); got != "application/problem+json" {
				t.Errorf("content type is %q", got)
			}
			if p.RequestID == "" || p.RequestID != a.Header.Get("X-Request-ID") {
				t.Errorf("request id %q, header %q", p.RequestID, a.Header.Get("X-Request-ID"))
			}
			if s.log.written() != written || s.work.count() != started || len(s.sim.asked) != 0 {
				t.Error("something was stored or started")
			}
			if strings.Contains(string(a.body), "jsontext") {
				t.Errorf("names what it is built with: %s", a.body)
			}
		})
	}
}

func TestMalformedBodyIsLocated(t *testing.T) {
	s := serve(t)
	id := s.conversation("anna")
	a := s.do("anna", "POST", "/api/v1/conversations/"+id+"/messages", "{\n  \"message\": x\n}")
	if d := a.problem(t).Detail; !strings.Contains(d, "line 2, column 14") {
		t.Errorf("detail is %q, want line 2, column 14", d)
	}
}

func TestLimitsAreExact(t *testing.T) {
	s := serve(t)
	id := s.conversation("anna")
	post := func(body string) int {
		return s.do("anna", "POST", "/api/v1/conversations/"+id+"/messages", body).StatusCode
	}
	text := func(n int) string { return `{"message":"` + strings.Repeat("😀", n) + `"}` }
	pad := func(n int) string {
		const head, tail = `{"message":"x"`, `}`
		return head + strings.Repeat(" ", n-len(head)-len(tail)) + tail
	}
	for _, tt := range []struct {
		name string
		body string
		want int
	}{
		{"19,999 characters", text(19_999), http.StatusAccepted},
		{"20,000 characters", text(20_000), http.StatusAccepted},
		{"20,001 characters", text(20_001), http.StatusUnprocessableEntity},
		{"1 MB less a byte", pad(1<<20 - 1), http.StatusAccepted},
		{"1 MB", pad(1 << 20), http.StatusAccepted},
		{"1 MB and a byte", pad(1<<20 + 1), http.StatusRequestEntityTooLarge},
	} {
		if got := post(tt.body); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	small := serve(t, func(o *httpapi.Options) { o.MessageChars = 3 })
	id = small.conversation("anna")
	for body, want := range map[string]int{`{"message":"abc"}`: 202, `{"message":"abcd"}`: 422} {
		if got := small.do("anna", "POST", "/api/v1/conversations/"+id+"/messages", body).StatusCode; got != want {
			t.Errorf("%s with a limit of 3: %d, want %d", body, got, want)
		}
	}
}
