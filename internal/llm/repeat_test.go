package llm_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/llm"
	"agentd/internal/llm/scriptserver"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"
)

// TestRefusals: what a provider answers becomes a kind by its status and code, never by its text (O12, O13).
func TestRefusals(t *testing.T) {
	problem := func(msg, typ string, code any) *scriptserver.Error {
		return &scriptserver.Error{Message: msg, Type: typ, Code: code}
	}
	for _, row := range []struct {
		name   string
		round  scriptserver.Round
		kind   fault.Kind
		code   string
		after  time.Duration
		times  int
		status int
	}{
		{"429", scriptserver.Round{Status: 429, RetryAfter: "7", Error: problem("Rate limit reached", "requests", "rate_limit_exceeded")}, fault.RateLimited, llm.CodeRateLimited, 7 * time.Second, 3, 429},
		{"429 without a delay", scriptserver.Round{Status: 429}, fault.RateLimited, llm.CodeRateLimited, 0, 3, 429},
		{"429, no quota", scriptserver.Round{Status: 429, Error: problem("You exceeded your current quota", "insufficient_quota", "insufficient_quota")}, fault.RateLimited, llm.CodeQuota, 0, 1, 429},
		{"402", scriptserver.Round{Status: 402}, fault.RateLimited, llm.CodeQuota, 0, 1, 402},
		{"500", scriptserver.Round{Status: 500, Error: problem("upstream shard not found", "", nil)}, fault.Transient, llm.CodeUnavailable, 0, 3, 500},
		{"502", scriptserver.Round{Status: 502}, fault.Transient, llm.CodeUnavailable, 0, 3, 502},
		{"503 with a delay", scriptserver.Round{Status: 503, RetryAfter: "2", Error: problem("Loading model", "unavailable_error", 503)}, fault.Transient, llm.CodeUnavailable, 2 * time.Second, 3, 503},
		{"401", scriptserver.Round{Status: 401, Error: problem("Incorrect API key provided: sk-secret", "invalid_request_error", "invalid_api_key")}, fault.Auth, llm.CodeAuth, 0, 1, 401},
		{"403", scriptserver.Round{Status: 403}, fault.Auth, llm.CodeAuth, 0, 1, 403},
		{"400", scriptserver.Round{Status: 400, Error: problem("messages.1429: unexpected field", "invalid_request_error", nil)}, fault.Invalid, llm.CodeRefused, 0, 1, 400},
		{"404", scriptserver.Round{Status: 404, Error: problem("The model does not exist", "invalid_request_error", "model_not_found")}, fault.Invalid, llm.CodeRefused, 0, 1, 404},
		{"400, too long", scriptserver.Round{Status: 400, Error: problem("This model's maximum context length is 8192 tokens.", "invalid_request_error", "context_length_exceeded")}, fault.Invalid, llm.CodeContextTooLong, 0, 1, 400},
		{"400, too long, llama.cpp", scriptserver.Round{Status: 400, Error: problem("request (9020 tokens) exceeds the available context size (8192 tokens), try increasing it", "exceed_context_size_error", 400)}, fault.Invalid, llm.CodeContextTooLong, 0, 1, 400},
		{"400, too long, by words only", scriptserver.Round{Status: 400, Error: problem("prompt is too long: 210000 tokens > 200000 maximum", "invalid_request_error", nil)}, fault.Invalid, llm.CodeContextTooLong, 0, 1, 400},
		{"413", scriptserver.Round{Status: 413}, fault.Invalid, llm.CodeContextTooLong, 0, 1, 413},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, s, waits := scripted(t, row.round, row.round, row.round)
			_, _, err := generate(t, c, prompt())
			var e *fault.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want a fault", err)
			}
			if e.Kind != row.kind || e.Code != row.code || e.RetryAfter != row.after || e.Status != row.status {
				t.Errorf("got %s %s, retry after %v, status %d; want %s %s %v %d", e.Kind, e.Code, e.RetryAfter, e.Status, row.kind, row.code, row.after, row.status)
			}
			if n := len(s.Requests()); n != row.times || len(*waits) != row.times-1 {
				t.Errorf("%d requests, %d waits, want %d requests", n, len(*waits), row.times)
			}
			if strings.Contains(fault.Message(err), "secret") {
				t.Errorf("the key is shown: %s", fault.Message(err))
			}
		})
	}
}

// TestRepeatsUntilItAnswers: two failures of any kind, then the answer; what was shown of a failed attempt is replaced.
func TestRepeatsUntilItAnswers(t *testing.T) {
	c, s, _ := scripted(t,
		scriptserver.Round{Text: []string{"Привет, ", "half"}, Cut: "abort"},
		scriptserver.Round{Status: 429, RetryAfter: "1"},
		scriptserver.Round{Text: []string{"Hel", "lo"}},
	)
	got, shown, err := generate(t, c, prompt())
	if err != nil {
		t.Fatal(err)
	}
	s.AssertComplete(t)
	if got.Text != "Hello" || shown.text != "Hello" || shown.resets != 1 {
		t.Errorf("answer %q, shown %q, %d resets", got.Text, shown.text, shown.resets)
	}
	rs := s.Requests()
	if diff := cmp.Diff(rs[0].Messages, rs[2].Messages); diff != "" {
		t.Errorf("the repeated request differs:\n%s", diff)
	}
}

func TestNothingShownStaysOfAFailedAttempt(t *testing.T) {
	c, s, _ := scripted(t,
		scriptserver.Round{Text: []string{"half"}, Cut: "clean"},
		scriptserver.Round{Calls: []scriptserver.Call{{ID: "a", Name: "f"}}},
	)
	got, shown, err := generate(t, c, prompt())
	if err != nil {
		t.Fatal(err)
	}
	s.AssertComplete(t)
	if got.Text != "" || shown.text != "" {
		t.Errorf("answer %q, shown %q", got.Text, shown.text)
	}
}

// stub is a model whose attempts fail as told, and then answers.
type stub struct {
	errs []error
	n    int
}

func (m *stub) Stream(ctx context.Context, _ []llms.MessageContent, sink func(llm.Delta) error, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	if m.n++; m.n <= len(m.errs) {
		return nil, m.errs[m.n-1]
	}
	if err := sink(llm.TextDelta{Text: "ok"}); err != nil {
		return nil, err
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "ok", StopReason: "stop"}}}, nil
}

func (m *stub) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse, error) {
	panic("not used")
}

func (m *stub) Call(context.Context, string, ...llms.CallOption) (string, error) { panic("not used") }

func TestWaits(t *testing.T) {
	limited := func(d time.Duration) error { return &fault.Error{Kind: fault.RateLimited, RetryAfter: d} }
	transient := &fault.Error{Kind: fault.Transient}
	for _, row := range []struct {
		name     string
		errs     []error
		min, max time.Duration
		ok       bool
	}{
		{"the provider's delays", []error{limited(3 * time.Second), limited(4 * time.Second)}, 7 * time.Second, 7 * time.Second, true},
		{"a delay at the cap", []error{limited(time.Minute)}, time.Minute, time.Minute, true},
		{"a delay beyond the cap", []error{limited(time.Hour)}, time.Minute, time.Minute, true},
		{"delays of our own", []error{transient, transient}, 1350 * time.Millisecond, 1650 * time.Millisecond, true},
		{"three failures", []error{transient, transient, transient}, 1350 * time.Millisecond, 1650 * time.Millisecond, false},
		{"what cannot succeed", []error{&fault.Error{Kind: fault.Invalid}}, 0, 0, false},
		{"silence", []error{&fault.Error{Kind: fault.Timeout, Code: llm.CodeIdle}}, 0, 0, false},
		{"an error of nobody's", []error{errors.New("boom")}, 0, 0, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				c := llm.NewClient(&stub{errs: row.errs}, slog.New(slog.NewTextHandler(&log, nil)))
				start := time.Now()
				_, err := c.Generate(t.Context(), prompt(), func(chat.Delta) error { return nil })
				if (err == nil) != row.ok {
					t.Errorf("error %v", err)
				}
				if took := time.Since(start); took < row.min || took > row.max {
					t.Errorf("waited %v, want %v to %v", took, row.min, row.max)
				}
				if repeated := strings.Count(log.String(), "model step is repeated"); repeated != min(len(row.errs), 2) && row.max > 0 {
					t.Errorf("the log tells of %d repeats:\n%s", repeated, log.String())
				}
			})
		})
	}
}

func TestCanceledWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &stub{errs: []error{&fault.Error{Kind: fault.RateLimited, RetryAfter: 50 * time.Second}}}
		c := llm.NewClient(m, nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("the user pressed stop")
		go func() {
			time.Sleep(time.Second)
			cancel(why)
		}()
		start := time.Now()
		_, err := c.Generate(ctx, prompt(), func(chat.Delta) error { return nil })
		if fault.KindOf(err) != fault.Canceled || !errors.Is(err, context.Canceled) || !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took != time.Second || m.n != 1 {
			t.Errorf("it took %v and %d attempts", took, m.n)
		}
	})
}

func TestUnreachable(t *testing.T) {
	n := 0
	c, err := llm.New(llm.Options{Provider: llm.OpenAI, BaseURL: "http://model.test/v1", Model: "m", HTTP: &http.Client{
		Transport: transport(func(*http.Request) (*http.Response, error) { n++; return nil, io.ErrUnexpectedEOF }),
	}})
	if err != nil {
		t.Fatal(err)
	}
	llm.RecordWaits(c)
	_, _, err = generate(t, c, prompt())
	if fault.KindOf(err) != fault.Transient || fault.CodeOf(err) != llm.CodeUnavailable || n != 3 {
		t.Errorf("after %d requests: %v", n, err)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	n := 0
	for _, provider := range []string{llm.OpenAI, llm.Anthropic} {
		c, err := llm.New(llm.Options{Provider: provider, BaseURL: "http://model.test/v1", Model: "m", APIKey: "k", HTTP: &http.Client{
			Transport: transport(func(r *http.Request) (*http.Response, error) {
				n++
				return &http.Response{StatusCode: 307, Header: http.Header{"Location": {"http://elsewhere.test/"}}, Body: http.NoBody, Request: r}, nil
			}),
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := generate(t, c, prompt()); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: got %v", provider, err)
		}
	}
	if n != 2 {
		t.Errorf("%d requests, want one for each provider", n)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
