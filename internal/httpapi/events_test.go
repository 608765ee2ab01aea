package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"agentd/internal/chat"
	"agentd/internal/httpapi"

	"github.com/google/go-cmp/cmp"
)

// A frame as it came over the socket.
type frame struct {
	id, event, data string
}

// A stream is a reader on a socket of its own.
type stream struct {
	t    *testing.T
	resp *http.Response
	r    *bufio.Reader
}

// open starts to read; position is a Last-Event-ID, "" is none.
func (s *server) open(user, conversation, position string) *stream {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	s.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/api/v1/conversations/"+conversation+"/events", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+user)
	req.Header.Set("Accept-Encoding", "gzip")
	if position != "" {
		req.Header.Set("Last-Event-ID", position)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true, DisableCompression: true}).RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(resp.Body)
		s.t.Fatalf("stream: %d %s", resp.StatusCode, b)
	}
	return &stream{t: s.t, resp: resp, r: bufio.NewReader(resp.Body)}
}

func (s *stream) close() { s.resp.Body.Close() }

// next reads one frame; an error when the stream ended. Comments and retry are passed over.
func (s *stream) next() (frame, error) {
	var f frame
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			return frame{}, err
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "id":
			f.id = value
		case "event":
			f.event = value
		case "data":
			f.data = value
		case "":
			if f.data != "" {
				return f, nil
			}
		}
	}
}

func (s *stream) take(n int) []frame {
	s.t.Helper()
	var out []frame
	for range n {
		f, err := s.next()
		if err != nil {
			s.t.Fatalf("after %d frames: %v", len(out), err)
		}
		out = append(out, f)
	}
	return out
}

// ended waits until the stream is over and returns what still came.
func (s *stream) ended() (rest []frame) {
	s.t.Helper()
	for {
		f, err := s.next()
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				s.t.Fatalf("the stream did not end by itself: %v", err)
			}
			return rest
		}
		rest = append(rest, f)
	}
}

func ids(fs []frame) []string {
	var out []string
	for _, f := range fs {
		out = append(out, f.id)
	}
	return out
}

func upTo(from, to int) []string {
	var out []string
	for i := from; i <= to; i++ {
		out = append(out, strconv.Itoa(i))
	}
	return out
}

func delta(i int) chat.Event {
	return &chat.TextDelta{MessageID: "msg_2", Offset: i, Text: "я\n"}
}

func TestStreamHeadersAndFrames(t *testing.T) {
	s := serve(t)
	id := s.conversation("anna")
	s.log.append(id, "run_1", &chat.MessageEvent{MessageID: "msg_1", Role: "user", Text: "line\r\nline: <b>"}, &chat.RunFinished{Outcome: "answered"})
	st := s.open("anna", id, "")
	want := map[string]string{
		"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no",
		"Content-Encoding": "", "X-Content-Type-Options": "nosniff",
	}
	for k, v := range want {
		if got := st.resp.Header.Get(k); got != v {
			t.Errorf("%s is %q, want %q", k, got, v)
		}
	}
	got := st.take(2)
	if diff := cmp.Diff([]frame{
		{"1", "message", `{"type":"message","seq":1,"run_id":"run_1","at":"2026-11-29T12:00:01.250Z","message_id":"msg_1","role":"user","text":"line\r\nline: <b>"}`},
		{"2", "run_finished", `{"type":"run_finished","seq":2,"run_id":"run_1","at":"2026-11-29T12:00:02.250Z","outcome":"answered"}`},
	}, got, cmp.AllowUnexported(frame{})); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
	// The stream belongs to the conversation: it goes on after the end of a run.
	s.log.append(id, "run_2", &chat.RunFinished{Outcome: "answered"})
	if got := st.take(1); got[0].id != "3" {
		t.Errorf("after a terminal event came %v", got)
	}
}

// Readers that are cut at every place go on without a gap and without an event twice, while others read too.
func TestStreamContinues(t *testing.T) {
	s := serve(t)
	id := s.conversation("anna")
	const total = 300
	var writer sync.WaitGroup
	whole := s.open("anna", id, "")
	writer.Go(func() {
		for i := range total {
			s.log.append(id, "run_1", delta(i))
		}
	})
	var got []string
	last := ""
	for n := 1; len(got) < total; n++ {
		st := s.open("anna", id, last)
		for _, f := range st.take(min(n, total-len(got))) {
			got = append(got, f.id)
			last = f.id
		}
		st.close() // in the middle of whatever is there
	}
	writer.Wait()
	if diff := cmp.Diff(upTo(1, total), got); diff != "" {
		t.Errorf("ids of the reader that was cut (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(upTo(1, total), ids(whole.take(total))); diff != "" {
		t.Errorf("ids of the other reader (-want +got):\n%s", diff)
	}
}

func TestStreamPositions(t *testing.T) {
	s := serve(t)
	id := s.conversation("anna")
	for i := range 5 {
		s.log.append(id, "run_1", delta(i))
	}
	for position, want := range map[string][]string{"": upTo(1, 5), "0": upTo(1, 5), "3": {"4", "5"}, "4": {"5"}} {
		st := s.open("anna", id, position)
		if diff := cmp.Diff(want, ids(st.take(len(want)))); diff != "" {
			t.Errorf("after %q (-want +got):\n%s", position, diff)
		}
		st.close()
	}
	at5 := s.open("anna", id, "5")
	s.log.append(id, "run_1", delta(5))
	if got := at5.take(1); got[0].id != "6" {
		t.Errorf("after the last came %v", got)
	}
	if a := s.do("anna", "GET", "/api/v1/conversations/"+id+"/events?last_event_id=7", ""); a.StatusCode != http.StatusBadRequest || a.problem(t).Code != "bad_event_id" {
		t.Errorf("a position of the future: %d %s", a.StatusCode, a.body)
	}
	req, err := http.NewRequest("GET", s.URL+"/api/v1/conversations/"+id+"/events?last_event_id=5", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer anna")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	st := &stream{t: t, resp: resp, r: bufio.NewReader(resp.Body)}
	if got := st.take(1); got[0].id != "6" {
		t.Errorf("after the query's 5 came %v", got)
	}
}

// A log that was shortened says so before it goes on.
func TestStreamResets(t *testing.T) {
	s := serve(t)
	id := s.conversation("anna")
	for i := range 5 {
		s.log.append(id, "run_1", delta(i))
	}
	s.log.mu.Lock()
	s.log.records[id] = s.log.records[id][3:]
	s.log.mu.Unlock()
	got := s.open("anna", id, "1").take(3)
	if diff := cmp.Diff([]string{"3", "4", "5"}, ids(got)); diff != "" || got[0].event != "reset" {
		t.Errorf("frames %v", got)
	}
	var reset struct {
		Type string
		Seq  int64
	}
	if err := json.Unmarshal([]byte(got[0].data), &reset); err != nil || reset.Type != "reset" || reset.Seq != 3 {
		t.Errorf("reset is %s", got[0].data)
	}
}

func TestStreamEnds(t *testing.T) {
	t.Run("when the conversation is deleted", func(t *testing.T) {
		s := serve(t)
		id := s.conversation("anna")
		s.log.append(id, "run_1", delta(0))
		st := s.open("anna", id, "")
		st.take(1)
		if a := s.do("anna", "DELETE", "/api/v1/conversations/"+id, ""); a.StatusCode != http.StatusNoContent {
			t.Fatalf("delete: %d %s", a.StatusCode, a.body)
		}
		if rest := st.ended(); len(rest) != 0 {
			t.Errorf("frames after the deletion: %v", rest)
		}
	})
	t.Run("when the reader signs out", func(t *testing.T) {
		s := serve(t, func(o *httpapi.Options) { o.IdentityCheck = time.Millisecond })
		id := s.conversation("anna")
		st := s.open("anna", id, "")
		s.who.signOut("anna")
		st.ended()
	})
	t.Run("when the server stops", func(t *testing.T) {
		s := serve(t)
		id := s.conversation("anna")
		st := s.open("anna", id, "")
		s.streams.Close()
		st.ended()
		a := s.do("anna", "GET", "/api/v1/conversations/"+id+"/events", "")
		if a.StatusCode != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
			t.Errorf("a stream while stopping: %d %s", a.StatusCode, a.body)
		}
	})
}

// A reader is noted, and a stranger is not.
func TestStreamIsNoted(t *testing.T) {
	s := serve(t)
	id := s.conversation("anna")
	if a := s.do("boris", "GET", "/api/v1/conversations/"+id+"/events", ""); a.StatusCode != http.StatusNotFound {
		t.Fatalf("a stranger: %d", a.StatusCode)
	}
	until := func() time.Time {
		s.log.mu.Lock()
		defer s.log.mu.Unlock()
		return s.log.watched[id]
	}
	if !until().IsZero() {
		t.Error("a stranger was noted")
	}
	before := time.Now()
	st := s.open("anna", id, "")
	s.streams.Close()
	st.ended() // its goroutines have ended then
	if got := until(); got.Before(before.Add(10*time.Minute)) || got.After(time.Now().Add(10*time.Minute)) {
		t.Errorf("noted until %s", got)
	}
}

// A reader that does not read holds up nobody.
func TestStreamStalledReader(t *testing.T) {
	s := serve(t)
	id := s.conversation("anna")
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /api/v1/conversations/%s/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer anna\r\n\r\n", id)
	if _, err := bufio.NewReaderSize(conn, 16).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	st := s.open("anna", id, "")
	big := &chat.TextDelta{MessageID: "msg_2", Text: strings.Repeat("x", 100_000)}
	for range 100 {
		s.log.append(id, "run_1", big)
	}
	if diff := cmp.Diff(upTo(1, 100), ids(st.take(100))); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}
