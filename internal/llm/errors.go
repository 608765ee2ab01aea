package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"agentd/internal/fault"
)

// The stable codes of Generate's errors.
const (
	CodeRateLimited    = "model_rate_limited"     // RateLimited
	CodeQuota          = "model_quota"            // RateLimited, and waiting does not help
	CodeUnavailable    = "model_unavailable"      // Transient: a 5xx, or no connection
	CodeCut            = "model_cut"              // Transient: the answer stopped, or was damaged, before its end
	CodeRefused        = "model_refused_request"  // Invalid
	CodeContextTooLong = "model_context_too_long" // Invalid
	CodeAuth           = "model_auth"             // Auth
	CodeIdle           = "model_idle"             // Timeout: the stream was silent too long
	CodeCanceled       = "model_canceled"         // Canceled, or Timeout where the caller's own time was over
)

var errNoFinish = errors.New("the stream ended without a reason for the end")

func cut(cause error) *fault.Error {
	return &fault.Error{Kind: fault.Transient, Code: CodeCut, Msg: "The model's answer was cut off before its end.", Err: cause}
}

func unavailable(cause error) *fault.Error {
	return &fault.Error{Kind: fault.Transient, Code: CodeUnavailable, Msg: "The model provider cannot be reached.", Err: cause}
}

func idle(limit time.Duration) *fault.Error {
	return &fault.Error{Kind: fault.Timeout, Code: CodeIdle, Msg: fmt.Sprintf("The model was silent for %v.", limit)}
}

// canceled is the error of a step whose caller gave up. ctx must be done.
func canceled(ctx context.Context) *fault.Error {
	e := &fault.Error{Kind: fault.Canceled, Code: CodeCanceled, Msg: "The model step was cancelled.", Err: ctx.Err()}
	if errors.Is(e.Err, context.DeadlineExceeded) {
		e.Kind, e.Msg = fault.Timeout, "The time limit passed during the model step."
	}
	if c := context.Cause(ctx); c != nil && !errors.Is(c, e.Err) {
		e.Err = errors.Join(e.Err, c)
	}
	return e
}

// A problem is a provider's description of an error, the same in an answer's body and in a stream's chunk.
type problem struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    scalar `json:"code"` // OpenAI sends a word, llama.cpp a number
}

func (p problem) says(words ...string) bool {
	for _, w := range words {
		if p.Type == w || string(p.Code) == w {
			return true
		}
	}
	return false
}

// tooLong are the providers' ways to say that a prompt does not fit; most have no code for it. They are asked
// only of a request that was refused anyway, so a wrong guess cannot change what is repeated.
var tooLong = regexp.MustCompile(`(?i)context (length|size|window)|prompt is too long|too many (input )?tokens|input is too long`)

// refusal turns a status and what the provider said into an error. A retry that the provider asks for is in header.
func refusal(status int, header http.Header, p problem) *fault.Error {
	e := &fault.Error{Status: status, Err: fmt.Errorf("provider: status %d %s %s: %s", status, p.Type, p.Code, p.Message)}
	set := func(k fault.Kind, code, msg string) { e.Kind, e.Code, e.Msg = k, code, msg }
	switch {
	case status == http.StatusPaymentRequired, p.says("insufficient_quota", "billing_error"):
		set(fault.RateLimited, CodeQuota, "The account at the model provider has no quota left.")
	case status == http.StatusTooManyRequests:
		set(fault.RateLimited, CodeRateLimited, "The model provider limits requests just now.")
		e.RetryAfter = retryAfter(header)
	case status == http.StatusUnauthorized, status == http.StatusForbidden: // their words may hold the key
		set(fault.Auth, CodeAuth, "The model provider does not accept the configured key.")
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly:
		set(fault.Transient, CodeUnavailable, "The model provider has a fault just now.")
		e.RetryAfter = retryAfter(header)
	case status == http.StatusRequestEntityTooLarge, p.says("context_length_exceeded", "exceed_context_size_error", "request_too_large"), tooLong.MatchString(p.Message):
		set(fault.Invalid, CodeContextTooLong, "The conversation is too long for the model.")
	default:
		set(fault.Invalid, CodeRefused, strings.TrimSuffix("The model provider refused the request: "+short(p.Message, 300), ": "))
	}
	return e
}

// midstream is an error that came inside a stream, after status 200.
func midstream(p problem) *fault.Error {
	status := http.StatusServiceUnavailable
	switch n, err := strconv.Atoi(string(p.Code)); {
	case err == nil && n >= 400 && n < 600:
		status = n
	case p.says("rate_limit_error", "rate_limit_exceeded", "rate_limited", "requests", "tokens"):
		status = http.StatusTooManyRequests
	case p.says("authentication_error", "permission_error", "invalid_api_key"):
		status = http.StatusUnauthorized
	case p.says("invalid_request_error", "not_found_error", "context_length_exceeded", "exceed_context_size_error"):
		status = http.StatusBadRequest
	}
	e := refusal(status, nil, p)
	e.Status = 0 // there was no such answer
	return e
}

// retryAfter reads the delay that a provider names, 0 where there is none: retry-after-ms, then Retry-After in
// seconds or as a date.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// readProblem reads the body of an error. What is not in a known form is kept as text.
func readProblem(body io.Reader) problem {
	b, _ := io.ReadAll(io.LimitReader(body, 64<<10)) // a body that breaks off is as good as none
	if p, ok := parseProblem(b); ok {
		return p
	}
	return problem{Message: short(string(b), 300)}
}

// short keeps the first n code points.
func short(s string, n int) string {
	s = strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}
