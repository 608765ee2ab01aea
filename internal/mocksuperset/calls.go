package mocksuperset

import (
	"slices"
	"sync"
	"time"
)

// A Call is one request that was received, answered or not.
type Call struct {
	Seq       int       `json:"seq"`
	Method    string    `json:"method"`
	Path      string    `json:"path"`
	User      string    `json:"user"`      // empty: nobody, or not found out
	Status    int       `json:"status"`    // 0: never answered, or not yet
	Committed bool      `json:"committed"` // it changed metadata or data
	At        time.Time `json:"at"`
}

// callLog remembers requests in the order of their arrival.
type callLog struct {
	mu    sync.Mutex
	calls []Call
	first int // sequence number before the first one kept
}

func (l *callLog) begin(method, path string, at time.Time) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	seq := l.first + len(l.calls) + 1
	l.calls = append(l.calls, Call{Seq: seq, Method: method, Path: path, At: at})
	return seq
}

func (l *callLog) end(seq, status int, user string, committed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := seq - l.first - 1; at >= 0 && at < len(l.calls) {
		l.calls[at].Status, l.calls[at].User, l.calls[at].Committed = status, user, committed
	}
}

func (l *callLog) all() []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.calls)
}

func (l *callLog) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.first += len(l.calls)
	l.calls = nil
}

// Calls gives all requests since the start or the last Reset, in order of arrival.
func (s *Server) Calls() []Call { return s.calls.all() }

// Committed counts the requests of a method (empty: any) and a path (a glob)
// that changed something.
func (s *Server) Committed(method, path string) int {
	return count(s.calls.all(), method, path, 0, true)
}

// Received counts the requests of a method (empty: any) and a path (a glob),
// whatever became of them.
func (s *Server) Received(method, path string) int {
	return count(s.calls.all(), method, path, 0, false)
}

func chosen(calls []Call, method, path string, since int) []Call {
	out := []Call{}
	for _, c := range calls {
		if (method == "" || c.Method == method) && (path == "" || glob(path, c.Path)) && c.Seq > since {
			out = append(out, c)
		}
	}
	return out
}

func count(calls []Call, method, path string, since int, committed bool) int {
	n := 0
	for _, c := range chosen(calls, method, path, since) {
		if !committed || c.Committed {
			n++
		}
	}
	return n
}
