package httpapi

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"

	"agentd/internal/fault"

	"github.com/labstack/echo/v4"
)

// A trace is what is known of a request when it has been answered.
type trace struct {
	id   string
	user string
}

const traceKey = "trace"

func traceOf(c echo.Context) *trace {
	t, _ := c.Get(traceKey).(*trace)
	if t == nil {
		t = &trace{id: rand.Text()}
		c.Set(traceKey, t)
	}
	return t
}

var requestIDPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{8,64}$`)

// edge gives every request an id, the headers that every answer has, one line in the log, and an answer when a
// handler fails or panics. It is the only place that logs errors of requests. The log holds the path but no query,
// no header and no body, since those can hold what nobody should keep.
func (a *API) edge(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := a.o.Now()
		t := traceOf(c)
		if id := c.Request().Header.Get("X-Request-ID"); requestIDPattern.MatchString(id) {
			t.id = id
		}
		secure(c.Response().Header())
		c.Response().Header().Set("X-Request-ID", t.id)
		done := a.metrics.began()
		err := ours(guarded(next, c))
		begun := c.Response().Committed
		if err != nil {
			a.fail(c, err)
		}
		took := a.o.Now().Sub(start)
		done(c.Request().Method, a.pattern(c), c.Response().Status, took)
		attrs := []slog.Attr{
			slog.String("request_id", t.id), slog.String("method", c.Request().Method), slog.String("path", c.Request().URL.Path),
			slog.Int("status", c.Response().Status), slog.Duration("took", took),
		}
		if t.user != "" {
			attrs = append(attrs, slog.String("user", t.user))
		}
		level := slog.LevelInfo
		if routine[c.Path()] {
			level = slog.LevelDebug
		}
		if err != nil {
			attrs = append(attrs, slog.String("code", fault.CodeOf(err)), slog.String("cause", err.Error()))
			gone := c.Request().Context().Err() != nil // the client: whatever failed then is its doing
			if statusOf(err) >= http.StatusInternalServerError && !gone {
				level = slog.LevelError
			}
		}
		a.o.Logger.LogAttrs(c.Request().Context(), level, "request", attrs...)
		if begun && halfSent(err) {
			panic(http.ErrAbortHandler) // cuts the connection, so that nobody takes the half for the whole
		}
		return nil
	}
}

// routine are addresses that machines ask all the time.
var routine = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true}

// cut is an error after an answer has begun.
type cut struct{ error }

func (c *cut) Unwrap() error { return c.error }

// halfSent reports whether an error left an answer unfinished. A stream's end is not one: its frames are whole.
func halfSent(err error) bool {
	_, panicked := errors.AsType[*panicked](err)
	_, broken := errors.AsType[*cut](err)
	return panicked || broken
}

// panicked is a panic of a handler, with its place.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }

// guarded turns a panic into an error.
func guarded(next echo.HandlerFunc, c echo.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{value: v, stack: debug.Stack()}
		}
	}()
	return next(c)
}

// fail answers with a problem document, unless an answer has begun.
func (a *API) fail(c echo.Context, err error) {
	if c.Response().Committed {
		return
	}
	if werr := writeProblem(c.Response(), problemOf(err, traceOf(c).id), err); werr != nil {
		a.o.Logger.LogAttrs(c.Request().Context(), slog.LevelDebug, "answer was not sent", slog.String("cause", werr.Error()))
	}
}

// ours gives the framework's own errors a kind.
func ours(err error) error {
	var he *echo.HTTPError
	if !errors.As(err, &he) {
		return err
	}
	switch he.Code {
	case http.StatusNotFound:
		return fault.Wrap(fault.Missing, "There is nothing at this address.", err)
	case http.StatusMethodNotAllowed:
		return &fault.Error{Kind: fault.Invalid, Code: codeMethod, Msg: "This address does not answer this method.", Err: err}
	}
	return fault.Wrap(fault.Internal, "", err)
}

// pattern is the route as it is written in the table, so that metrics do not grow with what is asked for: of an
// address that is not there the framework gives the address itself.
func (a *API) pattern(c echo.Context) string {
	if a.paths[c.Path()] && c.Response().Status != http.StatusMethodNotAllowed {
		return c.Path()
	}
	return "none"
}

// sameOrigin refuses writes that a browser sends for a page of another origin.
func (a *API) sameOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := a.guard.Check(c.Request()); err != nil {
			return &fault.Error{Kind: fault.Denied, Code: codeCrossOrigin, Msg: "This request came from a page of another origin.", Err: err}
		}
		return next(c)
	}
}
