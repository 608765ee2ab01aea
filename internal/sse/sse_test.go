package sse_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"agentd/internal/fault"
	"agentd/internal/sse"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// log is a source in memory that any number of streams follow.
type log struct {
	mu     sync.Mutex
	data   []string
	end    error // of Read, once everything was read
	change chan struct{}
}

func newLog(data ...string) *log { return &log{data: data, change: make(chan struct{})} }

func (l *log) add(end error, data ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data = append(l.data, data...)
	l.end = end
	close(l.change)
	l.change = make(chan struct{})
}

func (l *log) Read(_ context.Context, after int64, limit int) ([]sse.Frame, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []sse.Frame
	for i := int(after); i < len(l.data) && len(out) < limit; i++ {
		out = append(out, sse.Frame{ID: int64(i) + 1, Event: "delta", Data: []byte(l.data[i])})
	}
	if len(out) == 0 {
		return nil, l.end
	}
	return out, nil
}

func (l *log) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.change
}

// serve serves src over real sockets; the errors of Serve come out of the channel.
func serve(t testing.TB, o sse.Options, src sse.Source) (*sse.Server, string, <-chan error) {
	t.Helper()
	s := sse.New(o)
	errs := make(chan error, 10_000)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		after, err := sse.ParseLastEventID(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		errs <- s.Serve(w, r, src, after)
	}))
	t.Cleanup(func() { s.Close(); h.Close() })
	return s, h.Listener.Addr().String(), errs
}

// dial opens a stream and returns after its headers.
func dial(t testing.TB, addr, last string) (net.Conn, *http.Response, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\nLast-Event-ID: %s\r\n\r\n", last)
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c, r, bufio.NewReader(r.Body)
}

// block reads one block of a stream, up to its empty line.
func block(t testing.TB, r *bufio.Reader) string {
	t.Helper()
	var b strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("stream ended in %q: %v", b.String(), err)
		}
		if line == "\n" {
			return b.String()
		}
		b.WriteString(line)
	}
}

func TestStream(t *testing.T) {
	src := newLog(`{"n":1}`, `{"n":2}`)
	s, addr, errs := serve(t, sse.Options{}, src)
	_, resp, r := dial(t, addr, "1")
	want := map[string]string{
		"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no", "Content-Encoding": "",
	}
	for name, value := range want {
		if got := resp.Header.Get(name); got != value || len(resp.Header.Values(name)) > 1 {
			t.Errorf("%s: got %q, want %q", name, resp.Header.Values(name), value)
		}
	}
	var got []string
	for range 2 {
		got = append(got, block(t, r))
	}
	src.add(nil, `{"n":3}`, `{"n":4}`)
	for range 2 {
		got = append(got, block(t, r))
	}
	events := []string{"retry: 2000\n"}
	for i := 2; i <= 4; i++ {
		events = append(events, fmt.Sprintf("id: %d\ndata: {\"n\":%d}\nevent: delta\n", i, i))
	}
	if diff := cmp.Diff(events, got); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
	if n := s.Streams(); n != 1 {
		t.Errorf("open streams: %d, want 1", n)
	}
	// The source ends: what was published before is written, then the connection ends cleanly.
	src.add(fault.New(fault.Missing, "deleted"), `{"n":5}`)
	rest, err := io.ReadAll(r)
	if want := "id: 5\ndata: {\"n\":5}\nevent: delta\n\n"; err != nil || string(rest) != want {
		t.Errorf("rest: got %q, %v; want %q", rest, err, want)
	}
	if err := <-errs; err != nil {
		t.Errorf("serve: got %v, want nil for a source that is gone", err)
	}
}

func TestHeadersComeBeforeTheFirstEvent(t *testing.T) {
	_, addr, _ := serve(t, sse.Options{}, newLog())
	_, resp, r := dial(t, addr, "0")
	if resp.StatusCode != http.StatusOK {
		t.Errorf("status: %d", resp.StatusCode)
	}
	if got := block(t, r); got != "retry: 2000\n" {
		t.Errorf("first block: %q", got)
	}
}

func TestHeartbeat(t *testing.T) {
	_, addr, _ := serve(t, sse.Options{Heartbeat: time.Millisecond}, newLog())
	_, _, r := dial(t, addr, "0")
	block(t, r)
	for range 3 {
		if got := block(t, r); got != ": hb\n" {
			t.Fatalf("got %q, want a comment", got)
		}
	}
}

func TestReset(t *testing.T) {
	src := newLog()
	src.end = sse.ErrReset
	_, addr, errs := serve(t, sse.Options{}, src)
	_, _, r := dial(t, addr, "7")
	all, err := io.ReadAll(r)
	if want := "retry: 2000\n\nid: \ndata: {\"type\":\"reset\"}\nevent: reset\n\n"; err != nil || string(all) != want {
		t.Errorf("got %q, %v; want %q", all, err, want)
	}
	if err := <-errs; err != nil {
		t.Errorf("serve: %v", err)
	}
}

// odd gives one frame, whatever it is.
type odd struct {
	*log
	frame sse.Frame
}

func (o odd) Read(_ context.Context, after int64, _ int) ([]sse.Frame, error) {
	return []sse.Frame{o.frame}, nil
}

func TestFramesThatWouldForgeAreRefused(t *testing.T) {
	for name, f := range map[string]sse.Frame{
		"no data":            {ID: 1, Event: "e"},
		"two lines":          {ID: 1, Event: "e", Data: []byte("a\nevent: admin")},
		"a carriage return":  {ID: 1, Event: "e", Data: []byte("a\revent: admin")},
		"a comment":          {ID: 1, Event: "e", Data: []byte(": a")},
		"a name on two":      {ID: 1, Event: "e\ndata: b", Data: []byte("a")},
		"a position behind":  {ID: 0, Event: "e", Data: []byte("a")},
		"a negative one too": {ID: -1, Event: "e", Data: []byte("a")},
	} {
		_, addr, errs := serve(t, sse.Options{}, odd{newLog(), f})
		_, _, r := dial(t, addr, "0")
		all, _ := io.ReadAll(r)
		if string(all) != "retry: 2000\n\n" {
			t.Errorf("%s: got %q", name, all)
		}
		if err := <-errs; fault.KindOf(err) != fault.Internal {
			t.Errorf("%s: serve: got %v, want internal", name, err)
		}
	}
}

func TestClose(t *testing.T) {
	s, addr, errs := serve(t, sse.Options{}, newLog())
	_, _, r := dial(t, addr, "0")
	s.Close()
	s.Close()
	if _, err := io.ReadAll(r); err != nil {
		t.Errorf("end of the stream: %v", err)
	}
	if err := <-errs; err != nil {
		t.Errorf("serve: %v", err)
	}
	if err := s.Serve(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil), newLog(), 0); fault.KindOf(err) != fault.Transient {
		t.Errorf("serve after close: got %v, want transient", err)
	}
}

// A client that never reads is cut off by the write deadline; others get everything meanwhile.
func TestReaderThatNeverReads(t *testing.T) {
	big := strings.Repeat("x", 64<<10)
	src := newLog()
	_, addr, errs := serve(t, sse.Options{WriteTimeout: 200 * time.Millisecond}, src)
	dial(t, addr, "0") // and reads no further
	_, _, good := dial(t, addr, "0")
	block(t, good)
	const n = 400 // 25 MB: more than the buffers of a socket
	for i := range n {
		src.add(nil, strconv.Itoa(i)+big)
		if got := block(t, good); !strings.HasPrefix(got, fmt.Sprintf("id: %d\n", i+1)) {
			t.Fatalf("event %d: got %.40q", i+1, got)
		}
	}
	if err := <-errs; err != nil { // only the bad one has ended
		t.Errorf("serve: %v", err)
	}
	src.add(fault.New(fault.Gone, ""))
	if _, err := io.ReadAll(good); err != nil {
		t.Errorf("the good stream's end: %v", err)
	}
	<-errs
}

// Clients that drop and come back see every event once and in order.
func TestReconnect(t *testing.T) {
	const events, clients = 3000, 12
	src := newLog()
	_, addr, _ := serve(t, sse.Options{}, src)
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			last := 0
			for last < events {
				c, err := net.Dial("tcp", addr)
				if err != nil {
					t.Error(err)
					return
				}
				fmt.Fprintf(c, "GET /?last_event_id=%d HTTP/1.1\r\nHost: x\r\n\r\n", last)
				resp, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil {
					t.Error(err)
					return
				}
				r := bufio.NewReader(resp.Body)
				for cut := 50 + rand.IntN(600); cut > 0 && last < events; {
					line, err := r.ReadString('\n')
					if err != nil {
						t.Errorf("after event %d: %v", last, err)
						c.Close()
						return
					}
					if v, ok := strings.CutPrefix(line, "id: "); ok {
						id, _ := strconv.Atoi(strings.TrimSpace(v))
						if id != last+1 {
							t.Errorf("event %d follows %d", id, last)
						}
						last = id
						cut--
					}
				}
				c.Close()
			}
		})
	}
	data := strings.Repeat("x", 500)
	for range events / 10 {
		src.add(nil, data, data, data, data, data, data, data, data, data, data)
	}
	wg.Wait()
}

func TestParseLastEventID(t *testing.T) {
	for _, c := range []struct {
		header, query string
		want          int64
		bad           bool
	}{
		{"", "", 0, false}, {"0", "", 0, false}, {"12", "99", 12, false}, {"", "99", 99, false}, {"9223372036854775807", "", 1<<63 - 1, false},
		{"9223372036854775808", "", 0, true}, {"-1", "", 0, true}, {"+1", "", 0, true}, {"01JABC", "", 0, true}, {" 1", "", 0, true}, {"", "x", 0, true}, {"1e3", "", 0, true},
	} {
		r := httptest.NewRequest("GET", "/?last_event_id="+c.query, nil)
		r.Header.Set("Last-Event-ID", c.header)
		got, err := sse.ParseLastEventID(r)
		if c.bad != (fault.KindOf(err) == fault.Invalid) || got != c.want {
			t.Errorf("header %q query %q: got %d, %v", c.header, c.query, got, err)
		}
	}
}

func FuzzParseLastEventID(f *testing.F) {
	for _, s := range []string{"", "0", "17", "-1", "9223372036854775808", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header["Last-Event-Id"] = []string{s}
		n, err := sse.ParseLastEventID(r)
		if n < 0 || (err != nil && (n != 0 || fault.KindOf(err) != fault.Invalid)) {
			t.Errorf("%q: got %d, %v", s, n, err)
		}
	})
}

func TestServeWithoutAWriterThatFlushes(t *testing.T) {
	s := sse.New(sse.Options{})
	defer s.Close()
	err := s.Serve(plain{httptest.NewRecorder()}, httptest.NewRequest("GET", "/", nil), newLog("x"), 0)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// plain hides what its recorder can do besides writing.
type plain struct{ w http.ResponseWriter }

func (p plain) Header() http.Header         { return p.w.Header() }
func (p plain) Write(b []byte) (int, error) { return p.w.Write(b) }
func (p plain) WriteHeader(code int)        { p.w.WriteHeader(code) }
