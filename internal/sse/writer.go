package sse

import (
	"net/http"
	"sync"
	"time"
)

const (
	preamble = "retry: 2000\n\n"
	// farewell bounds the last write of a stream that the server ends.
	farewell = time.Second
)

// A writer stands between r3labs and the connection. r3labs flushes after each event and ignores errors; the
// writer flushes when no further event is on its way, bounds each write, and ends the stream at the first error.
type writer struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	fail    func() // ends the stream

	// Of the one goroutine that writes.
	begun bool
	armed time.Time // when the write deadline was last moved

	mu      sync.Mutex
	failed  error
	leaving bool          // the deadline is the last one
	pending int           // events published and not yet flushed
	empty   chan struct{} // closed when pending is 0; nil when nobody waits
}

func newWriter(w http.ResponseWriter, timeout time.Duration, fail func()) *writer {
	return &writer{ResponseWriter: w, control: http.NewResponseController(w), timeout: timeout, fail: fail}
}

// expect counts an event that is about to be published.
func (w *writer) expect() {
	w.mu.Lock()
	w.pending++
	w.mu.Unlock()
}

// drained returns a channel that is closed when everything published has been written.
func (w *writer) drained() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := make(chan struct{})
	if w.pending == 0 {
		close(c)
		return c
	}
	w.empty = c
	return c
}

// hurry bounds a write that is going on, because the server ends the stream.
func (w *writer) hurry() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leaving = true
	_ = w.control.SetWriteDeadline(time.Now().Add(farewell)) // a writer without deadlines does not hang either
}

// arm moves the write deadline ahead of a write. Moving it costs a lock in the runtime, so writes close together
// share one.
func (w *writer) arm() error {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return w.failed
	}
	if !w.leaving && now.Sub(w.armed) > w.timeout/16 {
		w.armed = now
		_ = w.control.SetWriteDeadline(now.Add(w.timeout))
	}
	return nil
}

func (w *writer) Write(b []byte) (int, error) {
	if err := w.arm(); err != nil {
		return 0, err
	}
	n, err := w.ResponseWriter.Write(b)
	if err != nil {
		w.broke(err)
	}
	return n, err
}

// Flush is called by r3labs once after the headers and once after each event.
func (w *writer) Flush() {
	if !w.begun {
		w.begun = true
		if _, err := w.Write([]byte(preamble)); err == nil {
			w.flush()
		}
		return
	}
	w.mu.Lock()
	w.pending--
	more := w.pending > 0
	w.mu.Unlock()
	if more {
		return
	}
	w.flush()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.empty != nil && w.pending == 0 {
		close(w.empty)
		w.empty = nil
	}
}

func (w *writer) flush() {
	if w.arm() != nil {
		return
	}
	if err := w.control.Flush(); err != nil {
		w.broke(err)
	}
}

func (w *writer) broke(err error) {
	w.mu.Lock()
	w.failed = err
	w.mu.Unlock()
	w.fail()
}
