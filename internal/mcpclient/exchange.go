package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

// exchange is one request with its answer as it came, byte for byte. The SDK decodes results into float64, which
// rounds large ids, and says of a failure neither whether the request had been sent nor what the status was.
// It is safe for several goroutines.
type exchange struct {
	stop context.CancelCauseFunc
	over func() error // the error of its context

	mu       sync.Mutex
	sent     bool // the request, or its beginning, may have reached the server
	status   int  // 0: no answer began
	after    time.Duration
	body     bytes.Buffer
	tooLarge bool
}

// begin starts an exchange over a request that is made with the context returned. end must be called.
func begin(ctx context.Context) (_ context.Context, x *exchange, end func()) {
	ctx, stop := context.WithCancelCause(ctx)
	x = &exchange{stop: stop, over: ctx.Err}
	return context.WithValue(ctx, exchangeKey{}, x), x, func() { stop(nil) }
}

func (x *exchange) wrote() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sent = true
}

// answered notes that an answer begins. A stream that goes on after a break begins a new message.
func (x *exchange) answered(resp *http.Response) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sent, x.status, x.after = true, resp.StatusCode, retryAfter(resp.Header)
	if x.body.Len() > 0 {
		x.body.WriteString("\n\n")
	}
}

// start forgets what came before of a request that takes several.
func (x *exchange) start() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status, x.after = 0, 0
}

func (x *exchange) keep(b []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.body.Write(b)
}

// overflow ends the exchange, so that the SDK does not try to go on with the stream.
func (x *exchange) overflow() {
	x.mu.Lock()
	x.tooLarge = true
	x.mu.Unlock()
	x.stop(errTooLarge)
}

// response is the JSON-RPC answer.
type response struct {
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// response returns the last answer that came whole. The server's own requests and notifications are none.
func (x *exchange) response() (response, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.status/100 != 2 {
		return response{}, false
	}
	b := bytes.TrimSpace(x.body.Bytes())
	if len(b) > 0 && b[0] == '{' {
		return parse(b)
	}
	var last response
	found := false
	for data := range messages(b) {
		if r, ok := parse(data); ok {
			last, found = r, true
		}
	}
	return last, found
}

// problem returns the JSON-RPC error in the body of an answer that is no success.
func (x *exchange) problem() (response, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	r, ok := parse(bytes.TrimSpace(x.body.Bytes()))
	return r, ok && r.Error != nil
}

func parse(b []byte) (response, bool) {
	var r response
	err := json.Unmarshal(b, &r)
	return r, err == nil && (r.Result != nil || r.Error != nil)
}

// messages walks the data of the events in a stream that has been read.
func messages(b []byte) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		var data []byte
		for len(b) > 0 {
			line := b
			if i := bytes.IndexByte(b, '\n'); i >= 0 {
				line, b = b[:i], b[i+1:]
			} else {
				b = nil
			}
			line = bytes.TrimSuffix(line, []byte{'\r'})
			if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				if data != nil {
					data = append(data, '\n')
				}
				data = append(data, bytes.TrimPrefix(rest, []byte{' '})...)
			}
			if (len(line) == 0 || b == nil) && data != nil {
				if !yield(data) {
					return
				}
				data = nil
			}
		}
	}
}
