package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agentd/internal/llm/scriptserver"
	"agentd/internal/mocksuperset"
)

// asBare makes the test binary be the bare handler that a run is measured beside.
const asBare = "BARE_HANDLER"

// bare makes the same two HTTP calls as a run with one read tool and writes four synced records. It is what
// anybody would write who wanted nothing of agentd's promises.
func bare() {
	f, err := os.OpenFile(os.Getenv("BARE_FILE"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	var mu sync.Mutex
	record := func(b []byte) {
		mu.Lock()
		defer mu.Unlock()
		if _, err := f.Write(b); err != nil {
			panic(err)
		}
		if err := f.Sync(); err != nil {
			panic(err)
		}
	}
	model, superset, token := os.Getenv("BARE_MODEL"), os.Getenv("BARE_SUPERSET"), os.Getenv("BARE_TOKEN")
	body := []byte(`{"model":"scripted","stream":true,"messages":[{"role":"user","content":"Find dashboards about sales"}],"tools":[{"type":"function","function":{"name":"search_dashboards","parameters":{"type":"object"}}}]}`)
	fetch := func(ctx context.Context, method, url string, body io.Reader) []byte {
		req, err := http.NewRequestWithContext(ctx, method, url, body)
		if err != nil {
			panic(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			panic(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 {
			panic(fmt.Sprint(resp.StatusCode, err, string(b)))
		}
		return b
	}
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 64
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("bare ready at http://%s\n", l.Addr())
	panic(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		msg, _ := io.ReadAll(r.Body)
		record(msg)
		record(fetch(r.Context(), "POST", model+"/chat/completions", bytes.NewReader(body)))
		rows := fetch(r.Context(), "GET", superset+"/api/v1/dashboard/?q=(page:0,page_size:50)", nil)
		record(rows[:min(len(rows), 4000)])
		record([]byte("done"))
		_, _ = w.Write([]byte(`{"ok":true}`))
	})))
}

// BenchmarkRunRatio compares one durable run with one read tool, watched over SSE to its end, with the bare
// handler: CPU time of the server's process a run, the time of one at a time, runs a second with 16 at once.
// Clients, model and Superset are in this process and not counted. Goals: at most 12 times the CPU, at least 0.12
// of the runs a second.
func BenchmarkRunRatio(b *testing.B) {
	script, err := scriptserver.Load(strings.NewReader(`{"rounds": [
		{"repeat": true, "when": {"last": "user"}, "calls": [{"id": "a", "name": "search_dashboards", "args": {"query": "sales"}}]},
		{"repeat": true, "when": {"last": "tool"}, "text": ["There are ", "some."]}]}`))
	if err != nil {
		b.Fatal(err)
	}
	model := httptest.NewServer(scriptserver.New(script))
	defer model.Close()
	mock := mocksuperset.New(mocksuperset.Options{Name: "dev", NoControl: true})
	superset := httptest.NewServer(mock)
	defer superset.Close()

	dir := b.TempDir()
	file := filepath.Join(dir, "agentd.yaml")
	text := "listen: 127.0.0.1:0\ndata_dir: " + filepath.Join(dir, "data") + "\nlimits: {runs_per_user: 1000}\ntelemetry: {log_level: warn}\nenvironments:\n" +
		"  - {id: ss-dev, title: Dev, class: dev, base_url: '" + superset.URL + "', auth: {mode: service, username: admin, password_env: SUPERSET_PASSWORD}}\n" +
		"llm: {provider: openai, model: scripted, base_url: '" + model.URL + "/v1'}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	agentd := startServer(b, []string{asProgram + "=1", "SUPERSET_PASSWORD=admin"}, "serve", "--config", file)
	handler := startServer(b, []string{asBare + "=1", "BARE_FILE=" + filepath.Join(dir, "records"), "BARE_MODEL=" + model.URL + "/v1", "BARE_SUPERSET=" + superset.URL, "BARE_TOKEN=" + login(b, superset.URL)})

	ours := func() func() {
		return func() { // each in a conversation of its own, as a first question is
			agentd.run(b, post(b, agentd.url+"/api/v1/conversations", `{}`)["id"].(string))
		}
	}
	theirs := func() func() {
		return func() { post(b, handler.url+"/run", `{"message":"Find dashboards about sales"}`) }
	}
	for b.Loop() {
		var cpu, rate [2]float64
		var p50 [2]time.Duration
		for i, s := range []struct {
			p  *server
			do func() func()
		}{{agentd, ours}, {handler, theirs}} {
			one(s.do(), 50) // warm
			cpu0 := s.p.cpu(b)
			p50[i] = one(s.do(), 300)
			cpu[i] = (s.p.cpu(b) - cpu0).Seconds() / 300
			rate[i] = many(s.do, 16, 4*time.Second)
		}
		b.ReportMetric(1000*cpu[0], "ms_cpu/run")
		b.ReportMetric(1000*cpu[1], "ms_cpu/bare")
		b.ReportMetric(cpu[0]/cpu[1], "x_cpu(<=12)")
		b.ReportMetric(float64(p50[0].Microseconds())/1000, "ms_p50/run")
		b.ReportMetric(float64(p50[1].Microseconds())/1000, "ms_p50/bare")
		b.ReportMetric(rate[0], "runs/s_at_16")
		b.ReportMetric(rate[1], "bare/s_at_16")
		b.ReportMetric(rate[0]/rate[1], "x_runs/s(>=0.12)")
	}
}

func one(do func(), n int) (p50 time.Duration) {
	took := make([]time.Duration, n)
	for i := range took {
		t := time.Now()
		do()
		took[i] = time.Since(t)
	}
	slices.Sort(took)
	return took[n/2]
}

func many(do func() func(), clients int, d time.Duration) float64 {
	var n atomic.Int64
	var wg sync.WaitGroup
	begin := time.Now()
	for range clients {
		one := do()
		wg.Go(func() {
			for time.Since(begin) < d {
				one()
				n.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(n.Load()) / time.Since(begin).Seconds()
}

// server is a process that is measured.
type server struct {
	cmd *exec.Cmd
	url string
}

func startServer(b *testing.B, env []string, args ...string) *server {
	b.Helper()
	s := &server{cmd: exec.Command(os.Args[0], args...)}
	s.cmd.Env = append(os.Environ(), env...)
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() })
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		b.Fatal(err)
	}
	_, addr, _ := strings.Cut(strings.TrimSpace(string(line[:n])), " ready at ")
	s.url = strings.TrimSuffix(addr, "/agent")
	return s
}

// cpu is the user and system time of the process so far, in the kernel's ticks of 10 ms.
func (s *server) cpu(b *testing.B) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		b.Skip("the CPU time of another process is read from /proc: ", err)
	}
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+2:]))
	var ticks int
	for _, i := range []int{11, 12} { // utime, stime
		n, err := strconv.Atoi(f[i])
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

func post(b *testing.B, url, body string) map[string]any {
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	out := map[string]any{}
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil || resp.StatusCode/100 != 2 {
		b.Fatal(resp.StatusCode, out, err)
	}
	return out
}

func login(b *testing.B, url string) string {
	return post(b, url+"/api/v1/security/login", `{"username":"admin","password":"admin","provider":"db","refresh":false}`)["access_token"].(string)
}

// run sends one message and watches its run to the end.
func (s *server) run(b *testing.B, conversation string) {
	base := s.url + "/api/v1/conversations/" + conversation
	run := post(b, base+"/messages", `{"message":"Find dashboards about sales","env_id":"ss-dev"}`)["run_id"].(string)
	req, err := http.NewRequest("GET", base+"/events", nil)
	if err != nil {
		b.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	st := &stream{r: newReader(resp.Body)}
	for {
		e, ok := st.quick()
		if !ok {
			b.Fatal("the stream ended")
		}
		if (e.typ == "run_finished" || e.typ == "run_error") && strings.Contains(e.raw, run) {
			if !strings.Contains(e.raw, "answered") {
				b.Fatal(e.raw)
			}
			return
		}
	}
}
