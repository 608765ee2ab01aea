package llm_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/llm"
)

// fakes are the two wire formats over an in-memory connection: what a server sends before it falls silent.
var fakes = []struct{ provider, head, end string }{
	{llm.OpenAI,
		"data: " + `{"choices":[{"index":0,"delta":{"content":"par"}}]}` + "\n\n",
		"data: " + `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"},
	{llm.Anthropic,
		"event: message_start\ndata: " + messageStart + "\n\n" +
			"event: content_block_start\ndata: " + `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n" +
			"event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"par"}}` + "\n\n",
		"event: message_delta\ndata: " + `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}` + "\n\n" +
			"event: message_stop\ndata: " + `{"type":"message_stop"}` + "\n\n"},
}

// piped returns a client whose server is send, over a pipe. The pipe breaks when the request's context ends, as a
// connection does.
func piped(t *testing.T, provider string, idle time.Duration, send func(w io.Writer)) *llm.Client {
	t.Helper()
	c, err := llm.New(llm.Options{Provider: provider, BaseURL: "http://model.test/v1", Model: "m", APIKey: "k", IdleTimeout: idle, HTTP: &http.Client{
		Transport: transport(func(req *http.Request) (*http.Response, error) {
			r, w := io.Pipe()
			context.AfterFunc(req.Context(), func() { w.CloseWithError(req.Context().Err()) })
			go func() {
				send(w)
				w.Close()
			}()
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: r, Request: req}, nil
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCancelMidStream: a stopped step is never recorded as a finished one (O1, O14). langchaingo's own client gets
// it wrong every second time.
func TestCancelMidStream(t *testing.T) {
	for _, f := range fakes {
		for name, head := range map[string]string{"after some text": f.head, "before anything": ""} {
			t.Run(f.provider+" "+name, func(t *testing.T) {
				for range 100 {
					synctest.Test(t, func(t *testing.T) {
						ctx, cancel := context.WithCancel(t.Context())
						c := piped(t, f.provider, time.Minute, func(w io.Writer) {
							_, _ = io.WriteString(w, head)
							<-ctx.Done()
						})
						go func() {
							time.Sleep(time.Second)
							cancel()
						}()
						out, err := c.Generate(ctx, prompt(), func(chat.Delta) error { return nil })
						if fault.KindOf(err) != fault.Canceled || !errors.Is(err, context.Canceled) || out.Text != "" || out.Finish != "" {
							t.Errorf("got %+v, %v", out, err)
						}
					})
				}
			})
		}
	}
}

// TestCancelRace cancels over real sockets at a moment that is not chosen.
func TestCancelRace(t *testing.T) {
	for range 100 {
		c, _, _ := scripted(t, silentAfter(2, "par"))
		ctx, cancel := context.WithCancel(t.Context())
		_, err := c.Generate(ctx, prompt(), func(chat.Delta) error { go cancel(); return nil })
		if fault.KindOf(err) != fault.Canceled || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		cancel()
	}
}

func TestDeadlineOfTheCaller(t *testing.T) {
	for _, f := range fakes {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			c := piped(t, f.provider, time.Minute, func(w io.Writer) {
				_, _ = io.WriteString(w, f.head)
				<-ctx.Done()
			})
			_, err := c.Generate(ctx, prompt(), func(chat.Delta) error { return nil })
			if fault.KindOf(err) != fault.Timeout || fault.CodeOf(err) != llm.CodeCanceled || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: got %v", f.provider, err)
			}
		})
	}
}

func TestSilence(t *testing.T) {
	const idle = 10 * time.Second
	for _, f := range fakes {
		for _, row := range []struct {
			name  string
			quiet time.Duration // within the answer
			slow  time.Duration // of the reader
			ok    bool
		}{
			{"just below the limit", idle - time.Millisecond, 0, true},
			{"beyond the limit", idle + time.Millisecond, 0, false},
			{"a slow reader is not a silent server", time.Second, 10 * idle, true},
		} {
			t.Run(f.provider+" "+row.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := piped(t, f.provider, idle, func(w io.Writer) {
						_, _ = io.WriteString(w, f.head)
						time.Sleep(row.quiet)
						_, _ = io.WriteString(w, ": still here\n")
						time.Sleep(row.quiet)
						_, _ = io.WriteString(w, f.end)
					})
					start := time.Now()
					out, err := c.Generate(t.Context(), prompt(), func(chat.Delta) error {
						time.Sleep(row.slow)
						return nil
					})
					switch {
					case row.ok && (err != nil || out.Text != "par"):
						t.Errorf("got %+v, %v", out, err)
					case !row.ok && (fault.KindOf(err) != fault.Timeout || fault.CodeOf(err) != llm.CodeIdle):
						t.Errorf("got %v, want silence", err)
					case !row.ok && time.Since(start) != idle:
						t.Errorf("given up after %v, want %v", time.Since(start), idle)
					}
					time.Sleep(time.Hour) // the server's side ends
				})
			})
		}
	}
}

func TestSilenceBeforeTheAnswer(t *testing.T) {
	for _, f := range fakes {
		synctest.Test(t, func(t *testing.T) {
			c, err := llm.New(llm.Options{Provider: f.provider, BaseURL: "http://model.test", Model: "m", APIKey: "k", HTTP: &http.Client{
				Transport: transport(func(r *http.Request) (*http.Response, error) {
					<-r.Context().Done()
					return nil, r.Context().Err()
				}),
			}})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			_, err = c.Generate(t.Context(), prompt(), func(chat.Delta) error { return nil })
			if fault.KindOf(err) != fault.Timeout || fault.CodeOf(err) != llm.CodeIdle || time.Since(start) != llm.DefaultIdle {
				t.Errorf("%s: after %v: %v", f.provider, time.Since(start), err)
			}
		})
	}
}

func TestSinkErrorEndsTheStep(t *testing.T) {
	boom := errors.New("boom")
	for _, f := range fakes {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			c := piped(t, f.provider, time.Minute, func(w io.Writer) { _, _ = io.WriteString(w, f.head+f.end) })
			_, err := c.Generate(t.Context(), prompt(), func(chat.Delta) error { n++; return boom })
			if err != boom || n != 1 {
				t.Errorf("%s: after %d deltas: %v, want the sink's own error", f.provider, n, err)
			}
		})
	}
}
