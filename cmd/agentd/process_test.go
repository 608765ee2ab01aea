package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// asProgram makes the test binary be the program, so that tests can start it, kill it and start it again.
const asProgram = "RUN_AS_AGENTD"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	if os.Getenv(asBare) != "" {
		bare()
	}
	os.Exit(m.Run())
}

// patience bounds everything that a test waits for. Nothing depends on it but how long a broken test hangs.
const patience = 60 * time.Second

// process is a running agentd.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	dir   string
	url   string            // of agentd
	mocks map[string]string // name → address
	log   *bytes.Buffer
	once  sync.Once
}

// startIn runs agentd with args in a folder and waits until it is ready.
func startIn(t *testing.T, dir string, env []string, args ...string) *process {
	t.Helper()
	p := &process{t: t, dir: dir, mocks: map[string]string{}, log: &bytes.Buffer{}}
	p.cmd = exec.Command(os.Args[0], args...)
	p.cmd.Env = append(append(os.Environ(), asProgram+"=1"), env...)
	p.cmd.Dir = dir
	p.cmd.Stderr = p.log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.stop)
	lines := bufio.NewScanner(out)
	alone := args[0] == "mock-superset"
	for lines.Scan() {
		before, addr, ok := strings.Cut(lines.Text(), " ready at ")
		if !ok {
			continue
		}
		if name, isMock := strings.CutPrefix(before, "mock-superset "); isMock {
			p.mocks[name] = addr
			if alone {
				p.url = addr
				break
			}
			continue
		}
		p.url = strings.TrimSuffix(addr, "/agent")
		break
	}
	if p.url == "" {
		p.stop()
		t.Fatalf("agentd did not get ready:\n%s", p.log)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the process
	return p
}

// demo runs the demo on a free port, its data in dir.
func demo(t *testing.T, dir string, flags ...string) *process {
	t.Helper()
	return startIn(t, dir, nil, append([]string{"demo", "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(dir, "data")}, flags...)...)
}

// stop ends the process as an operator does, and shows its log when the test failed.
func (p *process) stop() {
	p.once.Do(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		ended := make(chan struct{})
		go func() { _ = p.cmd.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(patience):
			_ = p.cmd.Process.Kill()
			<-ended
			p.t.Error("agentd did not stop")
		}
		if p.t.Failed() {
			p.t.Logf("log of agentd:\n%s", p.log)
		}
	})
}

// kill is kill -9.
func (p *process) kill() {
	p.once.Do(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
}

// call sends JSON and returns status and body.
func (p *process) call(method, path string, body any) (int, map[string]any) {
	p.t.Helper()
	return request(p.t, method, p.url+"/api/v1"+path, body)
}

func request(t *testing.T, method, url string, body any) (int, map[string]any) {
	t.Helper()
	var r io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(b)
	default:
		j, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		r = bytes.NewReader(j)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, r)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if len(b) > 0 {
		if err := json.Unmarshal(b, &out); err != nil {
			t.Fatalf("%s %s: %d is not JSON: %s", method, url, resp.StatusCode, b)
		}
	}
	return resp.StatusCode, out
}

// must is call for what has to succeed.
func (p *process) must(status int, method, path string, body any) map[string]any {
	p.t.Helper()
	got, out := p.call(method, path, body)
	if got != status {
		p.t.Fatalf("%s %s: %d, want %d: %v", method, path, got, status, out)
	}
	return out
}

func (p *process) conversation() string {
	p.t.Helper()
	return p.must(201, "POST", "/conversations", map[string]any{})["id"].(string)
}

// event is one frame of a stream.
type event struct {
	seq  int64
	typ  string
	raw  string
	data map[string]any
}

func (e event) str(key string) string { s, _ := e.data[key].(string); return s }

// stream reads a conversation's events after a position.
type stream struct {
	t    *testing.T
	resp *http.Response
	r    *bufio.Reader
	stop context.CancelFunc
}

func (p *process) stream(conversation string, after int64) *stream {
	p.t.Helper()
	return p.watch(conversation, after, patience)
}

// slow is a stream for a model that needs its time.
func (p *process) slow(conversation string) *stream {
	p.t.Helper()
	return p.watch(conversation, 0, 10*patience)
}

func (p *process) watch(conversation string, after int64, limit time.Duration) *stream {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	req, err := http.NewRequestWithContext(ctx, "GET", p.url+"/api/v1/conversations/"+conversation+"/events", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	if after > 0 {
		req.Header.Set("Last-Event-ID", fmt.Sprint(after))
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
		p.t.Fatalf("stream: %d, %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	s := &stream{t: p.t, resp: resp, r: bufio.NewReader(resp.Body), stop: cancel}
	p.t.Cleanup(s.close)
	return s
}

func (s *stream) close() {
	s.stop()
	_ = s.resp.Body.Close()
}

func newReader(r io.Reader) *bufio.Reader { return bufio.NewReader(r) }

// quick returns the next event without looking into its data; false when the stream ended.
func (s *stream) quick() (e event, ok bool) {
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			return e, false
		}
		switch key, value, _ := strings.Cut(strings.TrimRight(line, "\n"), ": "); key {
		case "id":
			e.seq, _ = strconv.ParseInt(value, 10, 64)
		case "event":
			e.typ = value
		case "data":
			e.raw = value
		case "":
			if e.raw != "" {
				return e, true
			}
		}
	}
}

// next returns the next event; false when the stream ended.
func (s *stream) next() (event, bool) {
	s.t.Helper()
	e, ok := s.quick()
	if ok {
		if err := json.Unmarshal([]byte(e.raw), &e.data); err != nil {
			s.t.Fatalf("data of %s: %v: %s", e.typ, err, e.raw)
		}
	}
	return e, ok
}

// until reads up to and with the terminal event of a run.
func (s *stream) until(run string) []event {
	s.t.Helper()
	var out []event
	for {
		e, ok := s.next()
		if !ok {
			s.t.Fatalf("the stream ended before the run %s did; got %s", run, summary(out))
		}
		if n := len(out); n > 0 && e.seq != out[n-1].seq+1 {
			s.t.Fatalf("event %d follows %d", e.seq, out[n-1].seq)
		}
		out = append(out, e)
		if (e.typ == "run_finished" || e.typ == "run_error") && e.str("run_id") == run {
			return out
		}
	}
}

// say sends a message and reads its run to the end.
func (p *process) say(conversation string, after int64, message map[string]any) (run string, events []event) {
	p.t.Helper()
	run = p.must(202, "POST", "/conversations/"+conversation+"/messages", message)["run_id"].(string)
	s := p.stream(conversation, after)
	defer s.close()
	return run, s.until(run)
}

// summary names the events that matter, in order.
func summary(es []event) string {
	var out []string
	for _, e := range es {
		switch e.typ {
		case "text_delta", "usage", "message", "run_started":
		case "run_finished":
			out = append(out, "finished:"+e.str("outcome"))
		case "run_error":
			out = append(out, "error:"+e.str("code"))
		case "tool_error":
			out = append(out, "tool_error:"+e.str("class"))
		case "tool_outcome":
			out = append(out, "outcome:"+e.str("outcome"))
		case "confirm_resolved":
			out = append(out, "resolved:"+e.str("decision"))
		default:
			out = append(out, e.typ)
		}
	}
	return strings.Join(out, " ")
}

// find returns the last event of a type.
func find(t *testing.T, es []event, typ string) event {
	t.Helper()
	for i := len(es) - 1; i >= 0; i-- {
		if es[i].typ == typ {
			return es[i]
		}
	}
	t.Fatalf("no %s among %s", typ, summary(es))
	return event{}
}

func last(es []event) int64 { return es[len(es)-1].seq }

// decide answers the card and reads the run that it starts.
func (p *process) decide(conversation string, after int64, card event, body map[string]any) []event {
	p.t.Helper()
	body["args_digest"] = card.str("args_digest")
	out := p.must(200, "POST", "/conversations/"+conversation+"/confirmations/"+card.str("confirmation_id"), body)
	s := p.stream(conversation, after)
	defer s.close()
	return s.until(out["run_id"].(string))
}

// fail arms a fault at a mock.
func (p *process) fail(mock string, fault map[string]any) {
	p.t.Helper()
	if status, out := request(p.t, "POST", p.mocks[mock]+"/_mock/faults", fault); status/100 != 2 {
		p.t.Fatalf("arm a fault: %d %v", status, out)
	}
}

// count is how many requests a mock received, or committed.
func (p *process) count(mock, query string) int {
	p.t.Helper()
	_, out := request(p.t, "GET", p.mocks[mock]+"/_mock/count?"+query, nil)
	n, _ := out["count"].(float64)
	return int(n)
}
