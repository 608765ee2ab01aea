package scriptserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"agentd/internal/llm/scriptserver"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const hello = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello"}]}`

func serve(t *testing.T, script string) (*scriptserver.Server, *httptest.Server) {
	t.Helper()
	sc, err := scriptserver.Load(strings.NewReader(script))
	if err != nil {
		t.Fatal(err)
	}
	s := scriptserver.New(sc)
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return s, h
}

// post sends a request and returns the status and the data lines, and whether the answer broke off.
func post(t *testing.T, h *httptest.Server, body string) (status int, lines []string, broken bool) {
	t.Helper()
	res, err := h.Client().Post(h.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	for l := range strings.Lines(string(b)) {
		if d, ok := strings.CutPrefix(strings.TrimSpace(l), "data: "); ok {
			lines = append(lines, d)
		} else if res.StatusCode != 200 {
			lines = append(lines, strings.TrimSpace(l))
		}
	}
	return res.StatusCode, lines, err != nil
}

// deltas are the texts and the parts of calls in data lines, in short.
func deltas(t *testing.T, lines []string) []string {
	t.Helper()
	var out []string
	for _, l := range lines {
		if l == "[DONE]" {
			out = append(out, "done")
			continue
		}
		var c struct {
			Usage   *struct{ Total_tokens int }
			Choices []struct {
				Delta struct {
					Content    *string
					Tool_calls []struct {
						Index    int
						ID       string
						Function struct{ Name, Arguments string }
					}
				}
				Finish_reason string
			}
		}
		if err := json.Unmarshal([]byte(l), &c); err != nil {
			out = append(out, "damaged")
			continue
		}
		if c.Usage != nil {
			out = append(out, fmt.Sprintf("usage %d", c.Usage.Total_tokens))
		}
		for _, ch := range c.Choices {
			if s := ch.Delta.Content; s != nil && *s != "" {
				out = append(out, *s)
			}
			for _, k := range ch.Delta.Tool_calls {
				out = append(out, fmt.Sprintf("%d%s%s:%s", k.Index, k.ID, k.Function.Name, k.Function.Arguments))
			}
			if ch.Finish_reason != "" {
				out = append(out, ch.Finish_reason)
			}
		}
	}
	return out
}

func TestRounds(t *testing.T) {
	for _, row := range []struct {
		name, round string
		want        []string
		broken      bool
	}{
		{"text", `{"text":["Hel","lo"]}`, []string{"Hel", "lo", "stop", "usage 18", "done"}, false},
		{"a call", `{"calls":[{"id":"a","name":"f","args":{"x":1}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`, []string{"0af:", `0:{"x`, `0:":1}`, "tool_calls", "usage 3", "done"}, false},
		{"calls in turns", `{"mix":true,"calls":[{"id":"a","name":"f","args":{}},{"id":"b","name":"g","args":{}}]}`, []string{"0af:", "1bg:", "0:{", "1:{", "0:}", "1:}", "tool_calls", "usage 18", "done"}, false},
		{"calls with one index", `{"same_index":true,"calls":[{"id":"a","name":"f","parts":1},{"id":"b","name":"g","parts":1}]}`, []string{"0af:", "0:{}", "0bg:", "0:{}", "tool_calls", "usage 18", "done"}, false},
		{"arguments that are no JSON", `{"calls":[{"id":"a","name":"f","args_text":"{\"x","parts":1}],"finish":"length"}`, []string{"0af:", `0:{"x`, "length", "usage 18", "done"}, false},
		{"what was said before", `{"text":["you said ${find:h(ell)o}, ${find:nowhere}"]}`, []string{"you said ell, ${find:nowhere}", "stop", "usage 18", "done"}, false},
		{"ends early", `{"text":["a","b"],"cut":"clean"}`, []string{"a", "b"}, false},
		{"breaks", `{"text":["a","b"],"cut":"abort"}`, []string{"a", "b"}, true},
		{"breaks in the middle", `{"text":["a","b"],"cut":"abort","cut_at":2}`, []string{"a"}, true},
		{"damaged", `{"text":["a","b"],"malformed":2}`, []string{"a", "damaged", "b", "stop", "usage 18", "done"}, false},
		{"raw", `{"raw":["hello","[DONE]"]}`, []string{"damaged", "done"}, false},
		{"slow", `{"text":["a"],"delay_ms":1}`, []string{"a", "stop", "usage 18", "done"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, h := serve(t, `{"rounds":[`+row.round+`]}`)
			status, lines, broken := post(t, h, hello)
			if diff := cmp.Diff(row.want, deltas(t, lines)); diff != "" || status != 200 || broken != row.broken {
				t.Errorf("status %d, broken %t (-want +got):\n%s", status, broken, diff)
			}
			s.AssertComplete(t)
		})
	}
}

func TestErrors(t *testing.T) {
	s, h := serve(t, `{"rounds":[{"status":429,"retry_after":"3","error":{"message":"slow down","code":"rate_limit_exceeded"}},{"text":["a"],"error":{"message":"crashed","code":500}}]}`)
	res, err := h.Client().Post(h.URL+"/v1/chat/completions", "application/json", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if res.StatusCode != 429 || res.Header.Get("Retry-After") != "3" || !strings.Contains(string(b), `"code":"rate_limit_exceeded"`) {
		t.Errorf("status %d, %v, %s", res.StatusCode, res.Header, b)
	}
	_, lines, _ := post(t, h, hello)
	if last := lines[len(lines)-1]; !strings.Contains(last, `"code":500`) {
		t.Errorf("the stream ends with %s", last)
	}
	s.AssertComplete(t)
}

func TestRoundsAreChosen(t *testing.T) {
	s, h := serve(t, `{"rounds":[
		{"when":{"user":"bye"},"text":["bye"]},
		{"when":{"user":"hello","without":["f"]},"text":["first"]},
		{"when":{"tools":["f"]},"text":["with f"]},
		{"when":{"last":"tool","result":"r"},"text":["after a result"]},
		{"when":{"user":"hello"},"repeat":true,"text":["again"]}]}`)
	const withF = `{"stream":true,"messages":[{"role":"user","content":"hello"}],"tools":[{"type":"function","function":{"name":"f","parameters":{}}}]}`
	const afterF = `{"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"hello"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"r"}]}`
	for _, row := range [][2]string{{hello, "first"}, {hello, "again"}, {withF, "with f"}, {hello, "again"}, {afterF, "after a result"}, {strings.Replace(hello, "hello", "bye", 1), "bye"}} {
		if _, lines, _ := post(t, h, row[0]); deltas(t, lines)[0] != row[1] {
			t.Errorf("%s: got %v, want %s", row[0], deltas(t, lines), row[1])
		}
	}
	s.AssertComplete(t)
}

func TestBadRequestsAreProblems(t *testing.T) {
	for _, row := range []struct{ name, body, want string }{
		{"not JSON", `{`, "could not parse the JSON body"},
		{"not UTF-8", "{\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}", "could not parse the JSON body"},
		{"not a stream", `{"messages":[{"role":"user","content":"hello"}]}`, "must be true"},
		{"an orphan", `{"stream":true,"messages":[{"role":"tool","tool_call_id":"a","content":""}]}`, "preceeding message"},
		{"no round fits", strings.Replace(hello, "hello", "bye", 1), "no round for this request"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, h := serve(t, `{"rounds":[{"when":{"user":"hello"},"text":["a"]}]}`)
			status, lines, _ := post(t, h, row.body)
			if status != 400 || !strings.Contains(strings.Join(lines, ""), row.want) {
				t.Errorf("status %d: %v", status, lines)
			}
			if err := s.Done(); err == nil || !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), "1 rounds") {
				t.Errorf("done: %v", err)
			}
		})
	}
}

func TestSilenceLastsUntilTheClientLeaves(t *testing.T) {
	s, h := serve(t, `{"rounds":[{"text":["a"],"silence":2}]}`)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL+"/chat/completions", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	res, err := h.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got strings.Builder
	buf := make([]byte, 1)
	for !strings.Contains(got.String(), `"content":"a"`) {
		if _, err := res.Body.Read(buf); err != nil {
			t.Fatal(err)
		}
		got.Write(buf)
	}
	cancel()
	if _, err := io.ReadAll(res.Body); err == nil {
		t.Error("the answer came to an end")
	}
	s.AssertComplete(t)
}

func TestControl(t *testing.T) {
	_, h := serve(t, `{"rounds":[{"text":["a"]}]}`)
	state := func() (out struct {
		Done     bool
		Left     int
		Problems []string
		Requests []json.RawMessage
	}) {
		res, err := h.Client().Get(h.URL + "/state")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if s := state(); s.Done || s.Left != 1 {
		t.Errorf("at the start: %+v", s)
	}
	post(t, h, hello)
	if s := state(); !s.Done || len(s.Requests) != 1 {
		t.Errorf("at the end: %+v", s)
	}
	for script, want := range map[string]int{`{"rounds":[{"text":["b"]}]}`: 204, `{"round":[]}`: 400} {
		res, err := h.Client().Post(h.URL+"/script", "application/json", strings.NewReader(script))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: status %d, want %d", script, res.StatusCode, want)
		}
	}
	if s := state(); s.Left != 1 || len(s.Requests) != 0 {
		t.Errorf("after a new script: %+v", s)
	}
	for path, want := range map[string]int{"/v1/models": 200, "/health": 200, "/v1/embeddings": 404} {
		res, err := h.Client().Get(h.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, res.StatusCode, want)
		}
	}
}

func TestLoad(t *testing.T) {
	for _, row := range []struct {
		script string
		ok     bool
	}{
		{`{"rounds":[]}`, true},
		{`{"rounds":[{"cut":"abort"}]}`, true},
		{`{"rounds":[{"cut":"soon"}]}`, false},
		{`{"rounds":[{"txt":["a"]}]}`, false},
		{`{`, false},
	} {
		if _, err := scriptserver.Load(strings.NewReader(row.script)); (err == nil) != row.ok {
			t.Errorf("%s: %v", row.script, err)
		}
	}
}

func TestRespondMakesTheRound(t *testing.T) {
	s := scriptserver.New(scriptserver.Script{Rounds: []scriptserver.Round{{Respond: func(r scriptserver.Request) scriptserver.Round {
		return scriptserver.Round{Text: []string{r.Model}}
	}}}})
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	if _, lines, _ := post(t, h, hello); deltas(t, lines)[0] != "m" {
		t.Errorf("got %v", lines)
	}
	s.AssertComplete(t)
}
