package superset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"

	"agentd/internal/fault"
)

// problemCap bounds what is read of an answer that reports a failure.
const problemCap = 256 << 10

// A call is one request to Superset.
type call struct {
	method string
	path   string // exact, with or without its slash
	query  string // encoded
	body   []byte
	open   func() io.Reader // instead of body, for what is too large to be held: size bytes, from the start each time
	size   int64
	ctype  string
	write  bool // may change something; POST, PUT and DELETE unless said otherwise
	csrf   bool // needs a CSRF pair though it changes nothing
	accept string
}

func newCall(method, path string, body any) (call, error) {
	r := call{method: method, path: path, write: method != http.MethodGet}
	if r.write {
		// A bodyless PUT or DELETE says JSON too: without it a CSRF refusal is a redirect to the login page.
		r.ctype = "application/json"
	}
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return r, fault.Wrap(fault.Internal, "", err)
		}
		r.body = b
	}
	return r, nil
}

// An answer is a response whose failure, if it is one, has been read.
type answer struct {
	status  int
	header  http.Header
	body    io.ReadCloser // of a success; the reader closes it
	problem []byte        // of anything else
}

// send authorises a call and sends it. A call that Superset refused for want of a valid token or CSRF pair was surely
// not executed; it is sent once more with new ones. Every other answer is final.
func (s *Session) send(ctx context.Context, r call) (answer, error) {
	for second := false; ; second = true {
		p, err := s.login.pass(ctx, r.write || r.csrf)
		if err != nil {
			return answer{}, err
		}
		a, err := s.c.roundTrip(ctx, r, s.login.header(p, r.write || r.csrf))
		if err != nil || second {
			return a, err
		}
		switch a.refused(r) {
		case refusedCSRF:
			s.login.forgetPair(p)
		case refusedToken:
			if !s.login.renewable() {
				return a, nil
			}
			s.login.forget(p)
		default:
			return a, nil
		}
	}
}

type refusal int

const (
	executed refusal = iota
	refusedToken
	refusedCSRF
)

// refused tells whether the answer says that the request never reached its handler.
func (a answer) refused(r call) refusal {
	switch {
	case a.status == http.StatusUnauthorized, a.status == http.StatusUnprocessableEntity && parse(a.problem).jwt:
		return refusedToken
	case (r.write || r.csrf) && a.status == http.StatusBadRequest && isCSRF(parse(a.problem).text):
		return refusedCSRF
	case (r.write || r.csrf) && a.status == http.StatusFound && toLogin(a.header.Get("Location")):
		return refusedCSRF
	}
	return executed
}

// isCSRF knows the refusals of Flask-WTF, which have no code of their own.
func isCSRF(text string) bool {
	return strings.HasPrefix(text, "400 Bad Request: The CSRF ") || strings.HasPrefix(text, "400 Bad Request: The referrer ")
}

func toLogin(location string) bool {
	u, err := url.Parse(location)
	return err == nil && strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/login")
}

// get reads JSON into out.
func (s *Session) get(ctx context.Context, path, query string, out any) error {
	return s.do(ctx, call{method: http.MethodGet, path: path, query: query}, out)
}

// write sends a change. out may be nil.
func (s *Session) write(ctx context.Context, method, path string, body, out any) error {
	r, err := newCall(method, path, body)
	if err != nil {
		return err
	}
	return s.do(ctx, r, out)
}

func (s *Session) do(ctx context.Context, r call, out any) error {
	a, err := s.send(ctx, r)
	if err != nil {
		return err
	}
	return s.c.decode(ctx, r, a, out)
}

// roundTrip sends one request, follows no redirect and classifies what went wrong on the way.
func (c *Client) roundTrip(ctx context.Context, r call, h http.Header) (answer, error) {
	u := *c.base
	u.Path += r.path
	u.RawQuery = r.query
	// A body that net/http cannot rewind, though it be empty, keeps it from repeating a GET by itself.
	body := io.NopCloser(bytes.NewReader(r.body))
	switch {
	case r.open != nil:
		body = io.NopCloser(r.open())
	case r.write && len(r.body) == 0:
		body = http.NoBody
	}
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), body)
	if err != nil {
		return answer{}, fault.Wrap(fault.Internal, "", err)
	}
	req.Header = h
	if n := max(int64(len(r.body)), r.size); n > 0 {
		req.ContentLength = n
	}
	if r.ctype != "" {
		h.Set("Content-Type", r.ctype)
	}
	if r.accept != "" {
		h.Set("Cache-Control", "no-cache") // exports are marked as cacheable for a year
	}
	t := c.reads
	if r.write {
		t = c.writes
	}
	resp, err := t.RoundTrip(req)
	if err != nil {
		return answer{}, r.broken(ctx, sent.Load(), err)
	}
	a := answer{status: resp.StatusCode, header: resp.Header}
	if resp.StatusCode/100 == 2 {
		a.body = resp.Body
		return a, nil
	}
	defer resp.Body.Close()
	// The status decides; a text that was cut is as good as none.
	a.problem, _ = io.ReadAll(io.LimitReader(resp.Body, problemCap))
	return a, nil
}

// decode reads a success as JSON into out, or turns the failure into a fault.
func (c *Client) decode(ctx context.Context, r call, a answer, out any) error {
	if a.body == nil {
		return r.failed(a)
	}
	defer a.body.Close()
	if err := r.wantJSON(a); err != nil {
		return err
	}
	lr := &io.LimitedReader{R: a.body, N: c.maxBody + 1}
	raw, err := io.ReadAll(lr)
	switch {
	case err != nil:
		return r.broken(ctx, true, err)
	case lr.N == 0 && r.write:
		return r.strange("Superset's answer is larger than agentd reads.", nil)
	case lr.N == 0:
		return fault.New(fault.TooLarge, "Superset's answer is larger than agentd reads.")
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) && syntax.Offset >= int64(len(raw)) {
			return r.broken(ctx, true, io.ErrUnexpectedEOF)
		}
		return r.strange("Superset's answer could not be read.", err)
	}
	return nil
}

// wantJSON refuses a success that is a page: of a proxy, of a login, of another server.
func (r call) wantJSON(a answer) error {
	if strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
		return nil
	}
	return r.strange("A page came instead of Superset's answer; base_url may lead to something else.", nil)
}
