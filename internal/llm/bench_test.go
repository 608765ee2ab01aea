package llm_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/llm"
)

// BenchmarkStream is one answer of 500 text deltas and two calls, without a network.
func BenchmarkStream(b *testing.B) {
	var body strings.Builder
	for i := range 500 {
		fmt.Fprintf(&body, "data: %s\n\n", textDelta(fmt.Sprintf("word %d ", i)))
	}
	for _, l := range []string{tc(part(0, "a", fnType, "f", `{"x":1}`)), tc(part(1, "b", fnType, "g", `{"y":2}`)), ck(`{}`, "tool_calls"), usage, done} {
		fmt.Fprintf(&body, "data: %s\n\n", l)
	}
	c, err := llm.New(llm.Options{Provider: llm.OpenAI, BaseURL: "http://model.test", Model: "m", HTTP: &http.Client{
		Transport: transport(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(body.String())), Request: r}, nil
		}),
	}})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(body.Len()))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		out, err := c.Generate(b.Context(), prompt(), func(chat.Delta) error { n++; return nil })
		if err != nil || n != 500 || len(out.Calls) != 2 {
			b.Fatal(n, len(out.Calls), err)
		}
	}
}
