package llm

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"agentd/internal/fault"
)

// doer carries one attempt: one request and the reading of its answer. It is handed to a client library as
// its HTTP client. It turns every refusal into an error of ours and watches for silence, and it remembers
// what went wrong, because libraries replace the errors of their HTTP client by texts.
//
// It never repeats a request. A doer is used once; its fields are read after the library has returned.
type doer struct {
	http  *http.Client
	watch *watch
	edit  func(*http.Request) error       // before the request is sent; may be nil
	open  func(*http.Response, io.Reader) // sets what the library reads instead of the body; may be nil

	err error // the first failure, nil if none
}

// Do sends the request once.
func (d *doer) Do(req *http.Request) (*http.Response, error) {
	if d.edit != nil {
		if err := d.edit(req); err != nil {
			return nil, d.fail(fault.Wrap(fault.Internal, "", err))
		}
	}
	d.watch.wait()
	res, err := d.http.Do(req)
	d.watch.rest()
	if err != nil {
		return nil, d.fail(unavailable(err))
	}
	body := &watched{src: res.Body, watch: d.watch}
	if res.StatusCode != http.StatusOK {
		defer func() { _ = res.Body.Close() }() // nothing is lost
		return nil, d.fail(refusal(res.StatusCode, res.Header, readProblem(body)))
	}
	res.Body = body
	if d.open != nil {
		d.open(res, body)
	}
	return res, nil
}

func (d *doer) fail(err error) error {
	if d.err == nil {
		d.err = err
	}
	return hidden{d.err}
}

// failure says what went wrong: the silence or the cancellation that caused it, else what the doer saw, else
// what the library says, which can only be about reading the answer. ctx is the watch's.
func (d *doer) failure(ctx context.Context, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), errIdle):
		return idle(d.watch.limit)
	case ctx.Err() != nil:
		return canceled(ctx)
	case d.err != nil:
		return d.err
	}
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e
	}
	return cut(err)
}

// hidden keeps the chain of an error from langchaingo, which would take it apart.
type hidden struct{ err error }

func (h hidden) Error() string { return h.err.Error() }

// watched is a body that is watched for silence.
type watched struct {
	src   io.ReadCloser
	watch *watch
}

func (b *watched) Read(p []byte) (int, error) {
	b.watch.wait()
	defer b.watch.rest()
	return b.src.Read(p)
}

func (b *watched) Close() error { return b.src.Close() }

// streams reports whether an answer is an event stream. Servers name it carelessly, so all but JSON is.
func streams(h http.Header) bool {
	return !strings.HasPrefix(strings.ToLower(h.Get("Content-Type")), "application/json")
}
