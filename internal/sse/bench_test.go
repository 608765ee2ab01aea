package sse_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"agentd/internal/sse"
)

// BenchmarkIdle opens 2,000 streams over pipes and reports what each costs the process while nothing happens:
// heap and stacks, with net/http's own share and without the client's.
func BenchmarkIdle(b *testing.B) {
	const streams = 2000
	src := newLog()
	s, addr, _ := serve(b, sse.Options{}, src)
	before := memory()
	goroutines := runtime.NumGoroutine()
	for b.Loop() {
		conns := make([]net.Conn, streams)
		for i := range conns {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				b.Fatal(err)
			}
			fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			conns[i] = c
		}
		for s.Streams() < streams {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(200 * time.Millisecond)
		b.ReportMetric(float64(memory()-before)/1024/streams, "kB/stream")
		b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/streams, "goroutines/stream")
		for _, c := range conns {
			c.Close()
		}
		for s.Streams() > 0 {
			time.Sleep(time.Millisecond)
		}
	}
}

func memory() uint64 {
	runtime.GC()
	runtime.GC() // stacks shrink by half each time
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// BenchmarkBurst sends 300 events of 300 bytes to 50 clients at once.
func BenchmarkBurst(b *testing.B) {
	const events, clients = 300, 50
	data := make([]string, events)
	for i := range data {
		data[i] = strings.Repeat("x", 300)
	}
	_, addr, _ := serve(b, sse.Options{}, newLog(data...))
	for b.Loop() {
		var wg sync.WaitGroup
		for range clients {
			wg.Go(func() {
				c, err := net.Dial("tcp", addr)
				if err != nil {
					b.Error(err)
					return
				}
				defer c.Close()
				fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
				resp, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil {
					b.Error(err)
					return
				}
				r := bufio.NewReaderSize(resp.Body, 64<<10)
				for n := 0; n < events; {
					line, err := r.ReadSlice('\n')
					if err != nil {
						b.Error(err)
						return
					}
					if bytes.HasPrefix(line, []byte("id: ")) {
						n++
					}
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(b.N)*events*clients/b.Elapsed().Seconds(), "events/s")
}
