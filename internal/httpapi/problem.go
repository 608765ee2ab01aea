package httpapi

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"agentd/internal/fault"
)

// Codes of this package. Those of the services come with their errors.
const (
	codeMalformed      = "malformed_json"
	codeCursor         = "bad_cursor"
	codeArtifactCursor = "cursor"
	codeEventID        = "bad_event_id"
	codeMediaType      = "media_type"
	codeBodyTooLarge   = "body_too_large"
	codeCrossOrigin    = "cross_origin"
	codeMethod         = "method_not_allowed"
	codeStopping       = "stopping"
	codeNotReady       = "not_ready"
)

// A problem is an error as it is shown, after RFC 9457. It holds nothing that was meant for the log.
type problem struct {
	Type      string        `json:"type"`
	Title     string        `json:"title"`
	Status    int           `json:"status"`
	Detail    string        `json:"detail"`
	Code      string        `json:"code"`
	RequestID string        `json:"request_id"`
	Errors    []fault.Field `json:"errors,omitempty"`
}

// problemOf turns an error into what a client may see of it.
func problemOf(err error, requestID string) problem {
	status := statusOf(err)
	p := problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status,
		Detail: fault.Message(err), Code: fault.CodeOf(err), RequestID: requestID,
	}
	if fault.KindOf(err) == fault.Internal {
		p.Code = string(fault.Internal)
		return p
	}
	if e, ok := errors.AsType[*fault.Error](err); ok {
		p.Errors = e.Fields
	}
	return p
}

// statusOf is the one table from errors to HTTP.
func statusOf(err error) int {
	switch fault.CodeOf(err) {
	case codeMalformed, codeCursor, codeArtifactCursor, codeEventID:
		return http.StatusBadRequest
	case codeMediaType:
		return http.StatusUnsupportedMediaType
	case codeMethod:
		return http.StatusMethodNotAllowed
	}
	if status, ok := statuses[fault.KindOf(err)]; ok {
		return status
	}
	return http.StatusInternalServerError
}

var statuses = map[fault.Kind]int{
	fault.Invalid:     http.StatusUnprocessableEntity,
	fault.Auth:        http.StatusUnauthorized,
	fault.Denied:      http.StatusForbidden,
	fault.Missing:     http.StatusNotFound,
	fault.Conflict:    http.StatusConflict,
	fault.Gone:        http.StatusGone,
	fault.TooLarge:    http.StatusRequestEntityTooLarge,
	fault.RateLimited: http.StatusTooManyRequests,
	fault.Transient:   http.StatusServiceUnavailable,
	fault.Degraded:    http.StatusServiceUnavailable,
	fault.Canceled:    http.StatusServiceUnavailable,
	fault.Timeout:     http.StatusGatewayTimeout,
	fault.Unknown:     http.StatusBadGateway,
	fault.Mismatch:    http.StatusBadGateway,
}

// writeProblem sends p, with the headers that belong to its status.
func writeProblem(w http.ResponseWriter, p problem, err error) error {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Del("Content-Disposition")
	h.Del("Content-Length")
	h.Del("ETag")
	switch p.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		h.Set("Retry-After", retryAfter(err))
	}
	body, encErr := json.Marshal(p)
	if encErr != nil {
		return encErr
	}
	w.WriteHeader(p.Status)
	_, werr := w.Write(append(body, '\n'))
	return werr
}

// retryAfter is whole seconds, rounded up, at least one: a client that comes too early is refused again.
func retryAfter(err error) string {
	d := time.Second
	if e, ok := errors.AsType[*fault.Error](err); ok && e.RetryAfter > d {
		d = e.RetryAfter
	}
	return strconv.FormatInt(int64(math.Ceil(d.Seconds())), 10)
}
