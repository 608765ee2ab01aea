// Package fault gives every error one of a few kinds, so that callers decide by kind and never by text.
package fault

import (
	"context"
	"errors"
	"time"
)

// A Kind says what a caller may do about an error.
type Kind string

// The kinds.
const (
	Internal    Kind = "internal"     // a bug or a broken dependency; the cause goes to the log only
	Invalid     Kind = "invalid"      // the request can never succeed as it is
	Missing     Kind = "missing"      // there is no such thing, or it is not the caller's
	Auth        Kind = "auth"         // who is asking could not be established
	Denied      Kind = "denied"       // who is asking may not
	Conflict    Kind = "conflict"     // the state has moved on
	Gone        Kind = "gone"         // it was there and has expired or was superseded
	TooLarge    Kind = "too_large"    // over a size limit
	RateLimited Kind = "rate_limited" // too many; see RetryAfter
	Transient   Kind = "transient"    // nothing was changed, the same request may succeed later
	Timeout     Kind = "timeout"      // the time limit passed; whether a write was executed is not known
	Unknown     Kind = "unknown"      // the request was sent and no answer came: it may have been executed
	Mismatch    Kind = "mismatch"     // the answer is not the answer to what was asked
	Degraded    Kind = "degraded"     // the peer has failed repeatedly and is left alone for a while
	Canceled    Kind = "canceled"     // the caller gave up
)

// An Error is an error with a kind and a sentence for people. The zero Error is Internal.
type Error struct {
	Kind   Kind
	Code   string // stable, snake_case; "" is the kind itself
	Msg    string // a sentence that user and model may read
	Answer string // JSON that the model reads instead of Msg, where a sentence is not enough
	Fields []Field
	Status int // HTTP status of the peer, 0 where there was none

	RetryAfter time.Duration // set with RateLimited or Transient when the peer named a delay
	Err        error         // the cause, for the log
}

// A Field names one value that was refused and what would be right.
type Field struct {
	Pointer string `json:"pointer"` // JSON pointer into the request
	Detail  string `json:"detail"`
}

// New makes an error of a kind with a sentence for people.
func New(k Kind, msg string) *Error { return &Error{Kind: k, Msg: msg} }

// Wrap makes an error of a kind with a sentence for people and a cause for the log.
func Wrap(k Kind, msg string, cause error) *Error { return &Error{Kind: k, Msg: msg, Err: cause} }

func (e *Error) Error() string {
	switch {
	case e.Err == nil:
		return e.Msg
	case e.Msg == "":
		return e.Err.Error()
	}
	return e.Msg + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf reports the kind of err: that of the outermost *Error in its chain, else Canceled or Timeout for
// the context's errors, else Internal. nil has none.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Kind == "" {
			return Internal
		}
		return e.Kind
	}
	switch {
	case errors.Is(err, context.Canceled):
		return Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	}
	return Internal
}

// CodeOf reports the stable code of err: its Code, else its kind.
func CodeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Code != "" {
		return e.Code
	}
	return string(KindOf(err))
}

// Message returns the sentence of err that people may read. The text of an internal error is shown only where it is
// a peer's answer (Status is set), which the peer shows to people too; our own never is.
func Message(err error) string {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Msg == "" || KindOf(err) == Internal && e.Status == 0 {
		switch KindOf(err) {
		case Canceled:
			return "It was cancelled."
		case Timeout:
			return "The time limit passed."
		}
		return "Internal error."
	}
	return e.Msg
}
