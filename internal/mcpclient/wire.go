package mcpclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"
)

// problemCap bounds the body of an answer that is no success.
const problemCap = 64 << 10

// wire is the HTTP below the SDK. It adds the server's headers, for that server only, bounds every answer, and notes
// in the exchange of a request what the SDK does not tell.
type wire struct {
	origin  url.URL
	headers map[string]string
	max     int64
	calls   *http.Transport
	streams *http.Transport // of requests whose answer begins at once
}

func newWire(s Server, o Options) (*wire, error) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, errors.New("its address cannot be read") // the error would quote it
	}
	w := &wire{origin: *u, headers: s.Headers, max: o.MaxBytes, calls: http.DefaultTransport.(*http.Transport).Clone()}
	w.calls.MaxIdleConnsPerHost = o.InFlight
	w.streams = w.calls.Clone()
	w.streams.ResponseHeaderTimeout = o.ConnectTimeout / 3 // connecting waits for it, and goes on without it
	return w, nil
}

// client is what the SDK sends with. A redirect within the server is followed; one to elsewhere is not, since it
// would take the arguments, if not the headers, to somebody else.
func (w *wire) client() *http.Client {
	return &http.Client{Transport: w, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if !w.own(r.URL) || len(via) > 3 {
			return errElsewhere
		}
		return nil
	}}
}

var (
	errElsewhere = errors.New("the server redirects to somewhere else")
	errTooLarge  = errors.New("the answer is larger than agentd reads")
)

func (w *wire) own(u *url.URL) bool { return u.Scheme == w.origin.Scheme && u.Host == w.origin.Host }

func (w *wire) close() {
	w.calls.CloseIdleConnections()
	w.streams.CloseIdleConnections()
}

// RoundTrip sends one request of the SDK.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if !w.own(req.URL) {
		return nil, errElsewhere
	}
	ctx := req.Context()
	x := exchangeOf(ctx)
	// When it is over the SDK tells the server that it was cancelled; that is no part of the exchange. Neither is the
	// stream of what the server says by itself, which is opened while connecting.
	if x != nil && (x.over() != nil || req.Method == http.MethodGet && req.Header.Get("Last-Event-ID") == "") {
		x = nil
	}
	if x != nil {
		x.start()
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: x.wrote})
	}
	req = req.Clone(ctx)
	for k, v := range w.headers {
		req.Header.Set(k, v)
	}
	if req.Method == http.MethodGet {
		return w.stream(req, x)
	}
	resp, err := w.calls.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	return w.bound(resp, x)
}

// stream opens a stream of what the server says by itself. One that does not even begin is taken for a server that
// has none, since the SDK would wait for it without an end.
func (w *wire) stream(req *http.Request, x *exchange) (*http.Response, error) {
	resp, err := w.streams.RoundTrip(req)
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() && req.Header.Get("Last-Event-ID") == "" {
		return &http.Response{
			Status: "405 Method Not Allowed", StatusCode: http.StatusMethodNotAllowed, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{}, Body: http.NoBody, Request: req,
		}, nil
	}
	if err != nil {
		return nil, err
	}
	if x == nil && resp.StatusCode/100 == 2 {
		return resp, nil // as long as the session; the SDK bounds each message
	}
	return w.bound(resp, x)
}

// bound limits the body of an answer and keeps it for the exchange. JSON is read here, so that a body that is cut or
// too large fails its own request and not the session of all others.
func (w *wire) bound(resp *http.Response, x *exchange) (*http.Response, error) {
	if x != nil {
		x.answered(resp)
	}
	if resp.StatusCode/100 != 2 {
		resp.Body = &capped{ReadCloser: resp.Body, left: problemCap, quiet: true, x: x}
		if x == nil || resp.StatusCode == http.StatusNotFound {
			return resp, nil
		}
		// An error of the request. As an answer the SDK would end the session for it.
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return nil, fmt.Errorf("HTTP %d", resp.StatusCode)
	}
	body := &capped{ReadCloser: resp.Body, left: w.max, x: x}
	resp.Body = body
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/event-stream" {
		return resp, nil
	}
	b, err := io.ReadAll(body)
	if cerr := body.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
	return resp, nil
}

// capped reads at most left bytes. More are an error, or with quiet the end.
type capped struct {
	io.ReadCloser
	left  int64
	quiet bool
	x     *exchange // nil: nobody keeps it
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left < 0 || c.quiet && c.left == 0 {
		return 0, c.end()
	}
	n, err := c.ReadCloser.Read(p[:min(int64(len(p)), c.left+1)])
	if int64(n) > c.left {
		n, err = int(c.left), nil
		c.left = -1
		if n == 0 {
			err = c.end()
		}
	} else {
		c.left -= int64(n)
	}
	if c.x != nil {
		c.x.keep(p[:n])
	}
	return n, err
}

func (c *capped) end() error {
	if c.quiet {
		return io.EOF
	}
	if c.x != nil {
		c.x.overflow()
	}
	return errTooLarge
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// retryAfter is the delay that an answer names, or 0.
func retryAfter(h http.Header) time.Duration {
	if d, err := time.ParseDuration(h.Get("Retry-After") + "s"); err == nil && d > 0 {
		return d
	}
	if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
