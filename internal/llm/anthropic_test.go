package llm_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/llm"

	"github.com/google/go-cmp/cmp"
)

const (
	messageStart = `{"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"c","content":[],"stop_reason":null,"usage":{"input_tokens":20,"cache_read_input_tokens":5,"output_tokens":1}}}`
	messageStop  = `{"type":"message_stop"}`
)

func block(i int, start string, deltas ...string) []string {
	out := []string{fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, start)}
	for _, d := range deltas {
		out = append(out, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, d))
	}
	return append(out, fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i))
}

func says(i int, parts ...string) []string {
	var d []string
	for _, p := range parts {
		d = append(d, fmt.Sprintf(`{"type":"text_delta","text":%q}`, p))
	}
	return block(i, `{"type":"text","text":""}`, d...)
}

func uses(i int, id, name string, parts ...string) []string {
	var d []string
	for _, p := range parts {
		d = append(d, fmt.Sprintf(`{"type":"input_json_delta","partial_json":%q}`, p))
	}
	return block(i, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, id, name), d...)
}

func ends(reason string) []string {
	return []string{fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":15}}`, reason), messageStop}
}

func stream(parts ...[]string) []string {
	out := []string{messageStart}
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// messages is a fake of Anthropic's API: each request gets the next answer.
type messages struct {
	mu      sync.Mutex
	answers []func(http.ResponseWriter)
	bodies  []map[string]json.RawMessage
	headers []http.Header
}

func (m *messages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	var body map[string]json.RawMessage
	_ = json.Unmarshal(b, &body)
	m.mu.Lock()
	m.bodies, m.headers = append(m.bodies, body), append(m.headers, r.Header.Clone())
	var answer func(http.ResponseWriter)
	if len(m.answers) > 0 {
		answer, m.answers = m.answers[0], m.answers[1:]
	}
	m.mu.Unlock()
	if answer == nil || r.URL.Path != "/v1/messages" {
		http.Error(w, "the script is over", http.StatusTeapot)
		return
	}
	answer(w)
}

func events(lines []string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, l := range lines {
			var t struct{ Type string }
			_ = json.Unmarshal([]byte(l), &t)
			if l == "" { // the connection breaks
				panic(http.ErrAbortHandler)
			}
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", t.Type, l)
			w.(http.Flusher).Flush()
		}
	}
}

func refuses(status int, typ, msg string, header ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"type":"error","error":{"type":%q,"message":%q}}`, typ, msg)
	}
}

func claude(t testing.TB, answers ...func(http.ResponseWriter)) (*llm.Client, *messages) {
	t.Helper()
	m := &messages{answers: answers}
	h := httptest.NewServer(m)
	t.Cleanup(h.Close)
	c, err := llm.New(llm.Options{Provider: llm.Anthropic, BaseURL: h.URL, Model: "c", APIKey: "key", HTTP: h.Client(), IdleTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	llm.RecordWaits(c)
	return c, m
}

func TestAnthropicStreams(t *testing.T) {
	used := chat.Usage{InputTokens: 25, OutputTokens: 15}
	f1 := call("tu_a", "f", `{"x":1}`)
	for _, row := range []struct {
		name  string
		lines []string
		want  chat.Completion
	}{
		{"text", stream(says(0, "Hel", "lo"), []string{`{"type":"ping"}`}, ends("end_turn")),
			chat.Completion{Text: "Hello", Finish: chat.FinishStop, Usage: used}},
		{"one call", stream(uses(0, "tu_a", "f", "", `{"x":`, `1}`), ends("tool_use")),
			chat.Completion{Calls: []chat.ToolCall{f1}, Finish: chat.FinishCalls, Usage: used}},
		{"text and a call (A14)", stream(says(0, "Let me look."), uses(1, "tu_a", "f", `{"x":1}`), ends("tool_use")),
			chat.Completion{Text: "Let me look.", Calls: []chat.ToolCall{f1}, Finish: chat.FinishCalls, Usage: used}},
		{"parallel", stream(says(0, "ok"), uses(1, "tu_a", "f", `{"x":1}`), uses(2, "tu_b", "g", `{"y":2}`), ends("tool_use")),
			chat.Completion{Text: "ok", Calls: []chat.ToolCall{f1, call("tu_b", "g", `{"y":2}`)}, Finish: chat.FinishCalls, Usage: used}},
		{"a number beyond 2^53 (A4)", stream(uses(0, "tu_a", "f", `{"x":9007199254740993}`), ends("tool_use")),
			chat.Completion{Calls: []chat.ToolCall{call("tu_a", "f", `{"x":9007199254740993}`)}, Finish: chat.FinishCalls, Usage: used}},
		{"no arguments", stream(uses(0, "tu_a", "f"), ends("tool_use")),
			chat.Completion{Calls: []chat.ToolCall{call("tu_a", "f", `{}`)}, Finish: chat.FinishCalls, Usage: used}},
		{"thinking (A5)", stream(block(0, `{"type":"thinking","thinking":"","signature":""}`, `{"type":"thinking_delta","thinking":"hmm"}`, `{"type":"signature_delta","signature":"SIG"}`), uses(1, "tu_a", "f", `{"x":1}`), ends("tool_use")),
			chat.Completion{Calls: []chat.ToolCall{f1}, Finish: chat.FinishCalls, Usage: used}},
		{"redacted thinking (A6)", stream(block(0, `{"type":"redacted_thinking","data":"abc"}`), says(1, "x"), ends("end_turn")),
			chat.Completion{Text: "x", Finish: chat.FinishStop, Usage: used}},
		{"a tool of the server's (A6)", stream(block(0, `{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}`, `{"type":"input_json_delta","partial_json":"{}"}`), says(1, "x"), ends("end_turn")),
			chat.Completion{Text: "x", Finish: chat.FinishStop, Usage: used}},
		{"a block of the future (A6)", stream(block(0, `{"type":"hologram","data":{"a":1}}`), says(1, "x"), ends("end_turn")),
			chat.Completion{Text: "x", Finish: chat.FinishStop, Usage: used}},
		{"nothing said (A8)", stream(ends("end_turn")),
			chat.Completion{Finish: chat.FinishStop, Usage: used}},
		{"limit inside a call (A7)", stream(says(0, "Now"), uses(1, "tu_a", "f", `{"x":[1,2`), ends("max_tokens")),
			chat.Completion{Text: "Now", Calls: []chat.ToolCall{call("tu_a", "f", `{"x":[1,2`)}, Finish: chat.FinishLength, Usage: used}},
		{"a line of 70 kB (A11)", stream(says(0, strings.Repeat("x", 70000)), ends("end_turn")),
			chat.Completion{Text: strings.Repeat("x", 70000), Finish: chat.FinishStop, Usage: used}},
		{"an event of the future", stream([]string{`{"type":"future_event","x":1}`}, says(0, "a"), ends("end_turn")),
			chat.Completion{Text: "a", Finish: chat.FinishStop, Usage: used}},
		{"no usage at the end (A11)", stream(says(0, "a"), []string{`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, messageStop}),
			chat.Completion{Text: "a", Finish: chat.FinishStop, Usage: chat.Usage{InputTokens: 25, OutputTokens: 1}}},
		{"refusal", stream(says(0, "a"), ends("refusal")),
			chat.Completion{Text: "a", Finish: chat.FinishFilter, Usage: used}},
		{"a reason of the future", stream(says(0, "a"), ends("pause_turn")),
			chat.Completion{Text: "a", Finish: "pause_turn", Usage: used}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, m := claude(t, events(row.lines))
			got, _, err := generate(t, c, prompt())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(m.bodies) != 1 {
				t.Errorf("%d requests", len(m.bodies))
			}
		})
	}
}

func TestAnthropicFailures(t *testing.T) {
	half := stream(says(0, "par", "tial")[:2])
	for _, row := range []struct {
		name   string
		answer func(http.ResponseWriter)
		kind   fault.Kind
		code   string
		times  int
	}{
		{"ends without a reason (A8)", events(half), fault.Transient, llm.CodeCut, 3},
		{"connection breaks", events(append(half[:len(half):len(half)], "")), fault.Transient, llm.CodeCut, 3},
		{"stops without a reason", events(stream(says(0, "a"), []string{messageStop})), fault.Transient, llm.CodeCut, 3},
		{"error inside (A9)", events(append(half[:len(half):len(half)], `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, messageStop)), fault.Transient, llm.CodeUnavailable, 3},
		{"damaged event", events(append(half[:len(half):len(half)], `{"type":"content_block_delta","index":0,"del`)), fault.Transient, llm.CodeCut, 3},
		{"429 (A12)", refuses(429, "rate_limit_error", "40,000 input tokens per minute", "Retry-After", "1"), fault.RateLimited, llm.CodeRateLimited, 3},
		{"500", refuses(500, "api_error", "Internal server error"), fault.Transient, llm.CodeUnavailable, 3},
		{"529", refuses(529, "overloaded_error", "Overloaded"), fault.Transient, llm.CodeUnavailable, 3},
		{"too long", refuses(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), fault.Invalid, llm.CodeContextTooLong, 1},
		{"400 with 429 in its text (A12)", refuses(400, "invalid_request_error", "messages.1429: unexpected field"), fault.Invalid, llm.CodeRefused, 1},
		{"401", refuses(401, "authentication_error", "invalid x-api-key"), fault.Auth, llm.CodeAuth, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, m := claude(t, row.answer, row.answer, row.answer)
			out, _, err := generate(t, c, prompt())
			if fault.KindOf(err) != row.kind || fault.CodeOf(err) != row.code {
				t.Errorf("got %v (%s, %s), want %s, %s", err, fault.KindOf(err), fault.CodeOf(err), row.kind, row.code)
			}
			if diff := cmp.Diff(chat.Completion{}, out); diff != "" {
				t.Errorf("an error came with an answer:\n%s", diff)
			}
			if len(m.bodies) != row.times {
				t.Errorf("%d requests, want %d", len(m.bodies), row.times)
			}
		})
	}
}

// TestAnthropicRequest: all parts of a step are sent (A1), all results stand in one message after it (A2),
// arguments are to the byte (A4), empty ones and empty steps do no harm (A13).
func TestAnthropicRequest(t *testing.T) {
	c, m := claude(t, events(stream(says(0, "ok"), ends("end_turn"))))
	p := prompt()
	p.Messages = append(p.Messages,
		chat.AssistantMessage{ID: "a1", Text: "I will call", Calls: []chat.ToolCall{call("a", "f", `{"x":9007199254740993}`), call("b", "g", ``)}},
		chat.ToolResult{CallID: "a", Tool: "f", Content: "ra"},
		chat.ToolResult{CallID: "b", Tool: "g", Content: ""},
		chat.AssistantMessage{ID: "a2"},
		chat.UserMessage{ID: "m2", Text: "and now?"},
	)
	if _, _, err := generate(t, c, p); err != nil {
		t.Fatal(err)
	}
	var compact []any
	if err := json.Unmarshal(m.bodies[0]["messages"], &compact); err != nil {
		t.Fatal(err)
	}
	want := `[{"content":[{"text":"hi","type":"text"}],"role":"user"},` +
		`{"content":[{"text":"I will call","type":"text"},{"id":"a","input":{"x":9007199254740993},"name":"f","type":"tool_use"},{"id":"b","input":{},"name":"g","type":"tool_use"}],"role":"assistant"},` +
		`{"content":[{"tool_use_id":"a","is_error":false,"content":[{"text":"ra","type":"text"}],"type":"tool_result"},{"tool_use_id":"b","type":"tool_result"},{"text":"and now?","type":"text"}],"role":"user"}]`
	if diff := cmp.Diff(canonical(t, want), canonical(t, string(m.bodies[0]["messages"]))); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(canonical(t, `[{"text":"sys","type":"text"}]`), canonical(t, string(m.bodies[0]["system"]))); diff != "" {
		t.Errorf("system (-want +got):\n%s", diff)
	}
	wantTools := `[{"name":"f","description":"does f","input_schema":` + string(tools[0].Schema) + `},{"name":"g","description":"does g","input_schema":` + string(tools[1].Schema) + `}]`
	if diff := cmp.Diff(canonical(t, wantTools), canonical(t, string(m.bodies[0]["tools"]))); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if got := m.headers[0].Get("Authorization"); got != "Bearer key" {
		t.Errorf("authorization %q", got)
	}
}

// canonical orders keys and keeps numbers as they are written.
func canonical(t *testing.T, s string) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
