package mocksuperset

import (
	"bytes"
	"net"
	"net/http"
	"strconv"
	"time"
)

// play answers a request, or lets it fail as the fault says. do does the work;
// undone records a request that was not done.
func (s *Server) play(w http.ResponseWriter, r *http.Request, f *Fault, do func() answer, undone func(status int)) {
	if f == nil {
		send(w, do())
		return
	}
	switch {
	case f.Status != 0:
		undone(f.Status)
		send(w, faultAnswer(f))
	case f.HTML:
		undone(502)
		send(w, htmlAnswer(502, page("502 Bad Gateway", "<center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center>")))
	case f.RedirectToLogin:
		undone(302)
		send(w, redirectTo(302, s.base+"/login/?next="+escapeNext(r.URL.RequestURI())))
	case f.Hang:
		undone(0)
		s.hang(r)
		drop(w)
	case f.CommitThenHang:
		do()
		s.hang(r)
		drop(w)
	case f.Reset:
		undone(0)
		drop(w)
	case f.CommitThenReset:
		do()
		drop(w)
	case f.Delay > 0:
		if s.wait(r, time.Duration(f.Delay)*time.Millisecond) {
			send(w, do())
		} else {
			undone(0)
		}
	case f.CutAfter > 0:
		cut(w, held(do()), f.CutAfter)
	case f.Trickle > 0:
		s.trickle(w, r, held(do()), f.Trickle)
	}
}

func send(w http.ResponseWriter, a answer) {
	begin(w, a)
	if a.stream != nil {
		_ = a.stream(w) // as below
		return
	}
	_, _ = w.Write(a.body) // the client may be gone, then nobody is left to tell
}

// held is an answer whose length is known.
func held(a answer) answer {
	if a.stream == nil {
		return a
	}
	var b bytes.Buffer
	_ = a.stream(&b) // a buffer does not fail
	a.body, a.stream = b.Bytes(), nil
	return a
}

func begin(w http.ResponseWriter, a answer) {
	for name, values := range a.header {
		for _, v := range values {
			w.Header().Add(name, v)
		}
	}
	if a.ctype != "" {
		w.Header().Set("Content-Type", a.ctype)
	}
	if a.stream == nil {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
}

func faultAnswer(f *Fault) answer {
	a := answer{status: f.Status, ctype: "application/json"}
	switch body := f.Body.(type) {
	case nil:
		a.ctype = "text/html; charset=utf-8"
	case string:
		a.ctype, a.body = "text/html; charset=utf-8", []byte(body)
	default:
		a.body = encode(body)
	}
	for name, value := range f.Headers {
		if http.CanonicalHeaderKey(name) == "Content-Type" {
			a.ctype = value
			continue
		}
		a = a.with(name, value)
	}
	return a
}

// hang waits until the client gives up or the server is closed.
func (s *Server) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.closed:
	}
}

// wait says false when the client or the server gave up first.
func (s *Server) wait(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
	case <-s.closed:
	}
	return false
}

// drop closes the connection without an answer, with a reset where there is a real one.
func drop(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the documented way to end a connection that cannot be taken over
	}
	if tcp, isTCP := conn.(*net.TCPConn); isTCP {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// cut announces the whole answer and sends its beginning.
func cut(w http.ResponseWriter, a answer, bytes int) {
	begin(w, a)
	_, _ = w.Write(a.body[:min(bytes, len(a.body))])
	if bytes >= len(a.body) {
		return
	}
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// trickle sends the answer so many bytes a second, ten times a second.
func (s *Server) trickle(w http.ResponseWriter, r *http.Request, a answer, perSecond int) {
	begin(w, a)
	const slices = 10
	step := max(perSecond/slices, 1)
	pause := time.Second * time.Duration(step) / time.Duration(perSecond)
	for rest := a.body; len(rest) > 0; {
		n := min(step, len(rest))
		if _, err := w.Write(rest[:n]); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		if rest = rest[n:]; len(rest) > 0 && !s.wait(r, pause) {
			return
		}
	}
}
