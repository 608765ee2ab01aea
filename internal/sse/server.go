// Package sse keeps event streams open: one connection follows one source by a cursor. It is the only home of
// r3labs/sse, which frames the events; each connection has a private stream of it, so that a client which does
// not read holds up nobody but itself.
package sse

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"agentd/internal/fault"

	r3 "github.com/r3labs/sse/v2"
)

// A Frame is one event of a stream. Data is not empty and on one line.
type Frame struct {
	ID    int64 // greater than the one before
	Event string
	Data  []byte
}

// A Source is what a stream follows. Its methods are called from one goroutine at a time.
type Source interface {
	// Read returns at most limit frames after a position, in order, and none when there are no more yet. An error
	// ends the stream: ErrReset with a reset event, Missing and Gone in silence.
	Read(ctx context.Context, after int64, limit int) ([]Frame, error)
	// Changed returns a channel that is closed after the next change. It is taken before each Read.
	Changed() <-chan struct{}
}

// Options of a Server. The zero Options are those of the API's description.
type Options struct {
	Heartbeat    time.Duration // between comments; default 15 s
	WriteTimeout time.Duration // of one write; a client that takes none for so long is cut off; default 20 s
}

// Server serves streams. Make it with New. It is safe for several goroutines.
type Server struct {
	o      Options
	frames *r3.Server
	last   atomic.Int64 // number of the last private stream

	ctx   context.Context // ends with Close
	close context.CancelFunc

	mu      sync.Mutex // guards closed, and that open grows no more after it
	closed  bool
	open    sync.WaitGroup
	streams atomic.Int64
}

// New makes a server. The caller closes it before it shuts the HTTP server down, which waits for streams.
func New(o Options) *Server {
	if o.Heartbeat <= 0 {
		o.Heartbeat = 15 * time.Second
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = 20 * time.Second
	}
	f := r3.New()
	f.AutoReplay = false // its log grows for ever and renumbers ids
	f.BufferSize = 1
	f.Headers = map[string]string{
		"Content-Type":      "text/event-stream; charset=utf-8",
		"Cache-Control":     "no-cache, no-transform",
		"X-Accel-Buffering": "no",
	}
	s := &Server{o: o, frames: f}
	s.ctx, s.close = context.WithCancel(context.Background())
	return s
}

// Streams reports how many streams are open.
func (s *Server) Streams() int { return int(s.streams.Load()) }

// Close ends all streams and waits until they have ended. Later Serves fail with Transient. It may be called
// twice.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.close()
	s.open.Wait()
}

func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.open.Add(1)
	return true
}

// Serve streams what src has after a position, and what comes, until the client leaves or does not read, src is
// at its end, or the server closes. Headers are sent at once. It returns nil then, and an error only when
// nothing was written (Transient: the server is closed) or src failed, which is for the log: the answer has begun.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, src Source, after int64) error {
	if !s.enter() {
		return fault.New(fault.Transient, "The server is stopping.")
	}
	defer s.open.Done()
	s.streams.Add(1)
	defer s.streams.Add(-1)

	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	out := newWriter(w, s.o.WriteTimeout, cancel)
	defer context.AfterFunc(s.ctx, func() { out.hurry(); cancel() })()

	id := strconv.FormatInt(s.last.Add(1), 36)
	p := &pump{s: s, stream: id, src: src, after: after, out: out}
	ended := make(chan struct{})
	// r3labs drops what is published before the subscriber is registered. It calls OnSubscribe after that, on a
	// goroutine of its own, which so becomes the pump.
	s.frames.CreateStream(id).OnSubscribe = func(string, *r3.Subscriber) {
		defer close(ended)
		defer cancel()
		p.run(ctx)
	}
	// r3labs looks at nothing else of a request. Last-Event-ID must not reach it.
	s.frames.ServeHTTP(out, (&http.Request{URL: &url.URL{RawQuery: "stream=" + id}}).WithContext(ctx))
	s.frames.RemoveStream(id) // only now: a stream that is removed under its client leaks a goroutine
	<-ended
	return p.err
}
