package llm_test

import (
	"fmt"
	"strings"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/llm"
	"agentd/internal/llm/scriptserver"

	"github.com/google/go-cmp/cmp"
)

func ck(delta, finish string) string {
	f := "null"
	if finish != "" {
		f = `"` + finish + `"`
	}
	return `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + f + `}]}`
}

func tc(parts ...string) string { return ck(`{"tool_calls":[`+strings.Join(parts, ",")+`]}`, "") }

func part(index int, id, typ, name, args string) string {
	s := fmt.Sprintf(`{"index":%d`, index)
	if id != "" {
		s += fmt.Sprintf(`,"id":%q`, id)
	}
	if typ != "" {
		s += fmt.Sprintf(`,"type":%q`, typ)
	}
	s += `,"function":{`
	if name != "" {
		s += fmt.Sprintf(`"name":%q,`, name)
	}
	return s + fmt.Sprintf(`"arguments":%q}}`, args)
}

const (
	usage  = `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}`
	done   = "[DONE]"
	fnType = "function"
)

func textDelta(s string) string { return ck(fmt.Sprintf(`{"content":%q}`, s), "") }

// TestOpenAIStreams holds the client to every stream that langchaingo's own client gets wrong, and to those that
// compatible servers send in their own ways.
func TestOpenAIStreams(t *testing.T) {
	calls := ck(`{}`, "tool_calls")
	stop := ck(`{}`, "stop")
	f1 := call("call_a", "f", `{"x":1}`)
	g2 := call("call_b", "g", `{"y":2}`)
	used := chat.Usage{InputTokens: 11, OutputTokens: 7}
	for _, row := range []struct {
		name  string
		lines []string
		want  chat.Completion
	}{
		{"text", []string{ck(`{"role":"assistant","content":""}`, ""), textDelta("Hel"), textDelta("lo"), stop, usage, done},
			chat.Completion{Text: "Hello", Finish: chat.FinishStop, Usage: used}},
		{"one call", []string{tc(part(0, "call_a", fnType, "f", "")), tc(part(0, "", "", "", `{"x":`)), tc(part(0, "", "", "", `1}`)), calls, usage, done},
			chat.Completion{Calls: []chat.ToolCall{f1}, Finish: chat.FinishCalls, Usage: used}},
		{"text and a call (O8)", []string{textDelta("Let me look. "), tc(part(0, "call_a", fnType, "f", `{"x":1}`)), calls, usage, done},
			chat.Completion{Text: "Let me look. ", Calls: []chat.ToolCall{f1}, Finish: chat.FinishCalls, Usage: used}},
		{"parallel, one after the other", []string{tc(part(0, "call_a", fnType, "f", "")), tc(part(0, "", "", "", `{"x":1}`)), tc(part(1, "call_b", fnType, "g", "")), tc(part(1, "", "", "", `{"y":2}`)), calls, usage, done},
			chat.Completion{Calls: []chat.ToolCall{f1, g2}, Finish: chat.FinishCalls, Usage: used}},
		{"parallel, interleaved (O4)", []string{tc(part(0, "call_a", fnType, "f", ""), part(1, "call_b", fnType, "g", "")), tc(part(0, "", "", "", `{"x":`)), tc(part(1, "", "", "", `{"y":`)), tc(part(0, "", "", "", `1}`)), tc(part(1, "", "", "", `2}`)), calls, usage, done},
			chat.Completion{Calls: []chat.ToolCall{f1, g2}, Finish: chat.FinishCalls, Usage: used}},
		{"parallel, all with index 0", []string{tc(part(0, "call_a", fnType, "f", `{"x":1}`)), tc(part(0, "call_b", fnType, "g", `{"y":2}`)), calls, usage, done},
			chat.Completion{Calls: []chat.ToolCall{f1, g2}, Finish: chat.FinishCalls, Usage: used}},
		{"parallel, index 0 and no ids", []string{tc(part(0, "", fnType, "f", `{"x":1}`)), tc(part(0, "", fnType, "g", `{"y":2}`)), calls, done},
			chat.Completion{Calls: []chat.ToolCall{call("", "f", `{"x":1}`), call("", "g", `{"y":2}`)}, Finish: chat.FinishCalls}},
		{"no index at all", []string{ck(`{"tool_calls":[{"id":"call_a","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"call_b","function":{"name":"g","arguments":"{\"y\":2}"}}]}`, ""), calls, done},
			chat.Completion{Calls: []chat.ToolCall{f1, g2}, Finish: chat.FinishCalls}},
		{"same id for two calls", []string{tc(part(0, "x", fnType, "f", `{"x":1}`)), tc(part(1, "x", fnType, "g", `{"y":2}`)), calls, done},
			chat.Completion{Calls: []chat.ToolCall{call("x", "f", `{"x":1}`), call("x", "g", `{"y":2}`)}, Finish: chat.FinishCalls}},
		{"type and id on every delta (O5)", []string{tc(part(0, "call_a", fnType, "f", `{"x":`)), tc(part(0, "call_a", fnType, "", `1}`)), calls, usage, done},
			chat.Completion{Calls: []chat.ToolCall{f1}, Finish: chat.FinishCalls, Usage: used}},
		{"empty arguments delta (O6)", []string{tc(part(0, "call_a", fnType, "f", "")), tc(part(0, "", "", "", "")), tc(part(0, "", "", "", `{"x":1}`)), calls, usage, done},
			chat.Completion{Calls: []chat.ToolCall{f1}, Finish: chat.FinishCalls, Usage: used}},
		{"no arguments", []string{tc(part(0, "call_a", fnType, "f", "")), calls, done},
			chat.Completion{Calls: []chat.ToolCall{call("call_a", "f", `{}`)}, Finish: chat.FinishCalls}},
		{"no type (O7)", []string{tc(part(0, "call_a", "", "f", `{"x":1}`)), calls, usage, done},
			chat.Completion{Calls: []chat.ToolCall{f1}, Finish: chat.FinishCalls, Usage: used}},
		{"arguments as an object", []string{ck(`{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"f","arguments":{"x": 9007199254740993}}}]}`, ""), calls, done},
			chat.Completion{Calls: []chat.ToolCall{call("call_a", "f", `{"x": 9007199254740993}`)}, Finish: chat.FinishCalls}},
		{"a number beyond 2^53", []string{tc(part(0, "call_a", fnType, "f", `{"x":9007199254740993}`)), calls, done},
			chat.Completion{Calls: []chat.ToolCall{call("call_a", "f", `{"x":9007199254740993}`)}, Finish: chat.FinishCalls}},
		{"arguments that are not JSON", []string{tc(part(0, "call_a", fnType, "f", `{"x": \u`)), calls, done},
			chat.Completion{Calls: []chat.ToolCall{call("call_a", "f", `{"x": \u`)}, Finish: chat.FinishCalls}},
		{"arguments cut by the token limit", []string{tc(part(0, "call_a", fnType, "f", `{"x":[1,2`)), ck(`{}`, "length"), done},
			chat.Completion{Calls: []chat.ToolCall{call("call_a", "f", `{"x":[1,2`)}, Finish: chat.FinishLength}},
		{"calls that end with stop", []string{tc(part(0, "call_a", fnType, "f", `{"x":1}`)), stop, done},
			chat.Completion{Calls: []chat.ToolCall{f1}, Finish: chat.FinishStop}},
		{"finish, then a chunk without it (O11)", []string{textDelta("a"), ck(`{}`, "length"), ck(`{"content":""}`, ""), usage, done},
			chat.Completion{Text: "a", Finish: chat.FinishLength, Usage: used}},
		{"two choices", []string{`{"id":"c1","choices":[{"index":0,"delta":{"content":"A"}},{"index":1,"delta":{"content":"B"}}]}`, stop, done},
			chat.Completion{Text: "A", Finish: chat.FinishStop}},
		{"content filter", []string{textDelta("no"), ck(`{}`, "content_filter"), done},
			chat.Completion{Text: "no", Finish: chat.FinishFilter}},
		{"refusal (O16)", []string{ck(`{"role":"assistant","content":null,"refusal":"I can't help"}`, ""), stop, done},
			chat.Completion{Text: "I can't help", Finish: chat.FinishStop}},
		{"content in parts", []string{ck(`{"content":[{"type":"text","text":"He"},{"type":"text","text":"y"}]}`, ""), stop, done},
			chat.Completion{Text: "Hey", Finish: chat.FinishStop}},
		{"a line of 70 kB (O9)", []string{textDelta(strings.Repeat("ü", 35000)), stop, done},
			chat.Completion{Text: strings.Repeat("ü", 35000), Finish: chat.FinishStop}},
		{"arguments of 70 kB", []string{tc(part(0, "call_a", fnType, "f", `{"x":"`+strings.Repeat("<", 70000)+`"}`)), calls, done},
			chat.Completion{Calls: []chat.ToolCall{call("call_a", "f", `{"x":"`+strings.Repeat("<", 70000)+`"}`)}, Finish: chat.FinishCalls}},
		{"emoji over deltas", []string{textDelta("a😀"), textDelta("😀b"), stop, done},
			chat.Completion{Text: "a😀😀b", Finish: chat.FinishStop}},
		{"no [DONE]", []string{textDelta("a"), stop},
			chat.Completion{Text: "a", Finish: chat.FinishStop}},
		{"an empty answer", []string{stop, done},
			chat.Completion{Finish: chat.FinishStop}},
		{"null everywhere", []string{`{"error":null,"usage":null,"choices":[{"index":0,"delta":{"content":null,"tool_calls":null,"refusal":null},"finish_reason":null}]}`, stop, done},
			chat.Completion{Finish: chat.FinishStop}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, s, waits := scripted(t, scriptserver.Round{Raw: row.lines})
			got, _, err := generate(t, c, prompt())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(*waits) > 0 {
				t.Errorf("the step was repeated: %v", *waits)
			}
			s.AssertComplete(t)
		})
	}
}

// TestOpenAIBrokenStreams: none of these may look like an answer.
func TestOpenAIBrokenStreams(t *testing.T) {
	at := func(n int) *int { return &n }
	for _, row := range []struct {
		name  string
		round scriptserver.Round
		kind  fault.Kind
		code  string
		times int
	}{
		{"ends without a reason (O2)", scriptserver.Round{Raw: []string{textDelta("par"), textDelta("tial")}}, fault.Transient, llm.CodeCut, 3},
		{"ends inside a call (O2)", scriptserver.Round{Raw: []string{tc(part(0, "call_a", fnType, "delete_all", `{"ids":[1,2`))}}, fault.Transient, llm.CodeCut, 3},
		{"[DONE] without a reason", scriptserver.Round{Raw: []string{textDelta("par"), done}}, fault.Transient, llm.CodeCut, 3},
		{"connection breaks", scriptserver.Round{Text: []string{"par"}, Cut: "abort"}, fault.Transient, llm.CodeCut, 3},
		{"connection breaks inside a call", scriptserver.Round{Calls: []scriptserver.Call{{ID: "a", Name: "f", Args: []byte(`{"x":1}`)}}, Cut: "abort", CutAt: at(2)}, fault.Transient, llm.CodeCut, 3},
		{"error inside (O3)", scriptserver.Round{Raw: []string{textDelta("par"), `{"error":{"message":"The server is overloaded","type":"server_error","code":"overloaded"}}`}}, fault.Transient, llm.CodeUnavailable, 3},
		{"error as a text inside", scriptserver.Round{Raw: []string{`{"error":"model crashed"}`}}, fault.Transient, llm.CodeUnavailable, 3},
		{"rate limit inside", scriptserver.Round{Raw: []string{`{"error":{"message":"slow down","type":"rate_limit_error"}}`}}, fault.RateLimited, llm.CodeRateLimited, 3},
		{"refusal inside", scriptserver.Round{Raw: []string{`{"error":{"message":"bad","code":400}}`}}, fault.Invalid, llm.CodeRefused, 1},
		{"damaged chunk (O10)", scriptserver.Round{Raw: []string{textDelta("one "), `{"id":"c1","choices":[{"index":0,"delta":{"content":"tw`, textDelta("three"), ck(`{}`, "stop"), done}}, fault.Transient, llm.CodeCut, 3},
		{"no JSON", scriptserver.Round{Raw: []string{"hello"}}, fault.Transient, llm.CodeCut, 3},
		{"nothing", scriptserver.Round{Raw: []string{}}, fault.Transient, llm.CodeCut, 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, s, waits := scripted(t, row.round, row.round, row.round)
			out, _, err := generate(t, c, prompt())
			if fault.KindOf(err) != row.kind || fault.CodeOf(err) != row.code {
				t.Errorf("got %v (%s, %s), want %s, %s", err, fault.KindOf(err), fault.CodeOf(err), row.kind, row.code)
			}
			if diff := cmp.Diff(chat.Completion{}, out); diff != "" {
				t.Errorf("an error came with an answer:\n%s", diff)
			}
			if got := len(s.Requests()); got != row.times || len(*waits) != row.times-1 {
				t.Errorf("%d requests, %d waits, want %d requests", got, len(*waits), row.times)
			}
		})
	}
}

// TestOpenAIRequest: the history arrives as it is, each result in a message of its own (O15), arguments to the
// byte, and nothing that was not asked for (O16).
func TestOpenAIRequest(t *testing.T) {
	c, s, _ := scripted(t, scriptserver.Round{Text: []string{"ok"}})
	p := prompt()
	p.Messages = append(p.Messages,
		chat.AssistantMessage{ID: "a1", Text: "I will call", Calls: []chat.ToolCall{call("a", "f", `{"x": 9007199254740993}`), call("b", "g", ``)}},
		chat.ToolResult{CallID: "a", Tool: "f", Content: "ra"},
		chat.ToolResult{CallID: "b", Tool: "g", Content: ""},
		chat.AssistantMessage{ID: "a2"}, // said nothing: left out
		chat.UserMessage{ID: "m2", Text: "and \xff now?"},
	)
	if _, _, err := generate(t, c, p); err != nil {
		t.Fatal(err)
	}
	s.AssertComplete(t)
	got := s.Requests()[0]
	want := []scriptserver.Message{
		{Role: "system", Content: "sys"},
		{Role: "user", Content: "hi"},
		{Role: "assistant", Content: "I will call", ToolCalls: []scriptserver.ToolCall{
			{ID: "a", Type: "function", Function: scriptserver.Function{Name: "f", Arguments: `{"x": 9007199254740993}`}},
			{ID: "b", Type: "function", Function: scriptserver.Function{Name: "g", Arguments: `{}`}},
		}},
		{Role: "tool", Content: "ra", ToolCallID: "a"},
		{Role: "tool", Content: "", ToolCallID: "b"},
		{Role: "user", Content: "and \uFFFD now?"},
	}
	if diff := cmp.Diff(want, got.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if len(got.Tools) != 2 || string(got.Tools[0].Function.Parameters) != string(tools[0].Schema) {
		t.Errorf("tools: %+v", got.Tools)
	}
	for _, key := range []string{"temperature", "max_tokens", "tool_choice"} {
		if _, there := got.Fields[key]; there {
			t.Errorf("%s was sent unasked", key)
		}
	}
	if got.Header.Get("Authorization") != "" {
		t.Error("a key was sent that there is none of")
	}
}
