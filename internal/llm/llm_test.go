package llm_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/llm"
	"agentd/internal/llm/scriptserver"

	"github.com/tmc/langchaingo/llms"
)

func TestNew(t *testing.T) {
	for _, row := range []struct {
		name string
		o    llm.Options
		want string // part of the sentence; "" is no error
	}{
		{"the zero options are offline", llm.Options{}, ""},
		{"offline", llm.Options{Provider: llm.Offline}, ""},
		{"openai with a key", llm.Options{Provider: llm.OpenAI, Model: "m", APIKey: "k"}, ""},
		{"a server of one's own needs no key", llm.Options{Provider: llm.OpenAI, Model: "m", BaseURL: "http://127.0.0.1:1/v1"}, ""},
		{"anthropic with a key", llm.Options{Provider: llm.Anthropic, Model: "m", APIKey: "k"}, ""},
		{"no model", llm.Options{Provider: llm.OpenAI, APIKey: "k"}, "llm.model"},
		{"no key", llm.Options{Provider: llm.Anthropic, Model: "m"}, "llm.api_key_env"},
		{"no such provider", llm.Options{Provider: "mistral", Model: "m", APIKey: "k"}, "llm.provider"},
		{"no address", llm.Options{Provider: llm.OpenAI, Model: "m", BaseURL: "localhost:11434"}, "llm.base_url"},
		{"not an http address", llm.Options{Provider: llm.OpenAI, Model: "m", BaseURL: "file://x/y"}, "llm.base_url"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, err := llm.New(row.o)
			if row.want == "" {
				if err != nil || c == nil {
					t.Errorf("got %v", err)
				}
				return
			}
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(fault.Message(err), row.want) {
				t.Errorf("got %v, want a sentence about %s", err, row.want)
			}
		})
	}
}

func TestOfflineBehindTheClient(t *testing.T) {
	c, err := llm.New(llm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := prompt()
	p.Tools = nil
	out, _, err := generate(t, c, p)
	if err != nil || !contains(out.Text, "offline planner") || out.Finish != chat.FinishStop {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestKeyIsSentAndEnvironmentIsNotAsked(t *testing.T) {
	t.Setenv("OPENAI_MODEL", "other")
	t.Setenv("OPENAI_BASE_URL", "http://elsewhere.test")
	t.Setenv("OPENAI_ORGANIZATION", "org")
	s := scriptserver.New(scriptserver.Script{Rounds: []scriptserver.Round{{Text: []string{"ok"}}}})
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	c, err := llm.New(llm.Options{Provider: llm.OpenAI, BaseURL: h.URL + "/v1/", Model: "mine", APIKey: "key", HTTP: h.Client()})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := generate(t, c, prompt()); err != nil {
		t.Fatal(err)
	}
	r := s.Requests()[0]
	if r.Model != "mine" || r.Header.Get("Authorization") != "Bearer key" || r.Header.Get("Openai-Organization") != "" {
		t.Errorf("model %q, headers %v", r.Model, r.Header)
	}
}

// TestNotStreamed: some gateways answer with JSON although a stream was asked for.
func TestNotStreamed(t *testing.T) {
	for _, row := range []struct {
		name, body string
		want       string
		kind       fault.Kind
	}{
		{"an answer", `{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`, "hi", ""},
		{"an error", `{"error":{"message":"slow down","code":429}}`, "", fault.RateLimited},
		{"half an answer", `{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"`, "", fault.Transient},
		{"another language", `[]`, "", fault.Transient},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json; charset=utf-8")
				_, _ = w.Write([]byte(row.body))
			}))
			t.Cleanup(h.Close)
			c, err := llm.New(llm.Options{Provider: llm.OpenAI, BaseURL: h.URL, Model: "m", HTTP: h.Client()})
			if err != nil {
				t.Fatal(err)
			}
			llm.RecordWaits(c)
			out, _, err := generate(t, c, prompt())
			if out.Text != row.want || fault.KindOf(err) != row.kind {
				t.Errorf("got %+v, %v", out, err)
			}
		})
	}
}

// TestModelInterface: through langchaingo's own interface the StreamingFunc hears text only, never JSON of calls (O8).
func TestModelInterface(t *testing.T) {
	h := httptest.NewServer(scriptserver.New(scriptserver.Script{Rounds: []scriptserver.Round{
		{Text: []string{"a", "b"}, Calls: []scriptserver.Call{{ID: "x", Name: "f"}}},
		{Text: []string{"called"}},
	}}))
	t.Cleanup(h.Close)
	m, err := llm.NewModel(llm.Options{Provider: llm.OpenAI, BaseURL: h.URL, Model: "m", HTTP: h.Client()})
	if err != nil {
		t.Fatal(err)
	}
	var heard []byte
	r, err := m.GenerateContent(t.Context(), []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "hi")},
		llms.WithStreamingFunc(func(_ context.Context, b []byte) error { heard = append(heard, b...); return nil }))
	if err != nil || string(heard) != "ab" || len(r.Choices) != 1 || len(r.Choices[0].ToolCalls) != 1 {
		t.Errorf("heard %q, got %+v, %v", heard, r, err)
	}
	//lint:ignore SA1019 the interface asks for it
	if s, err := m.Call(t.Context(), "hi"); err != nil || s != "called" {
		t.Errorf("Call: %q, %v", s, err)
	}
}
