package summarise_test

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"agentd/internal/summarise"
)

// rows is a generated JSON array of about size bytes that is never in memory as a whole.
type rows struct {
	n, i int
	buf  []byte
	done bool
}

const rowSize = 370

func newRows(size int) *rows { return &rows{n: size / rowSize} }

func (r *rows) Read(p []byte) (int, error) {
	for len(r.buf) < len(p) && !r.done {
		switch {
		case r.i == 0:
			r.buf = append(r.buf, '[')
		case r.i == r.n:
			r.buf = append(r.buf, ']')
			r.done = true
			continue
		default:
			r.buf = append(r.buf, ",\n"...)
		}
		i := r.i
		r.buf = fmt.Appendf(r.buf, `{"id":%d,"name":"user %d","email":"user%d@example.com","active":%t,"score":%d.%d,"tags":["a","b","c-%d"],`+
			`"addr":{"city":"Z\u00fcrich","zip":"%05d","geo":[47.%d,8.%d]},"note":"a quote \" and a backslash \\ and ünïcode, then some words that `+
			`make the row about as long as a row of a real answer is, which tends to hold one text of this kind or another, number %d"}`,
			i, i, i, i%2 == 0, i%100, i%10, i%7, i%100000, i%1000, i%1000, i)
		r.i++
	}
	n := copy(p, r.buf)
	r.buf = append(r.buf[:0], r.buf[n:]...)
	if n == 0 && r.done {
		return 0, io.EOF
	}
	return n, nil
}

// BenchmarkArray90MB reports how many times faster a preview is than decoding into any.
func BenchmarkArray90MB(b *testing.B) {
	in, err := io.ReadAll(newRows(90e6))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(in)))
	var mine, std time.Duration
	for b.Loop() {
		b.StopTimer()
		runtime.GC() // what the other left behind is not this one's to clean
		b.StartTimer()
		start := time.Now()
		out := summarise.Bytes(in, summarise.Options{})
		mine += time.Since(start)
		if out.Count == 0 {
			b.Fatal("nothing was counted")
		}
		b.StopTimer()
		start = time.Now()
		var v any
		if err := json.Unmarshal(in, &v); err != nil {
			b.Fatal(err)
		}
		std += time.Since(start)
		b.StartTimer()
	}
	b.ReportMetric(float64(std)/float64(mine), "times-any")
}

// TestMemoryIsBoundedByThePreview reads 24 MB in each shape and looks at the highest heap on the way.
func TestMemoryIsBoundedByThePreview(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 100 MB")
	}
	for name, in := range map[string]io.Reader{
		"an array":   newRows(24e6),
		"a string":   io.MultiReader(one(`{"a":"`), io.LimitReader(repeat(`x\"\u00fc`), 27e6), one(`"}`)),
		"many keys":  io.MultiReader(one(`{"k":1`), io.LimitReader(repeat(`,"id":12`), 24e6), one(`}`)),
		"plain text": io.LimitReader(repeat("A sentence of a log. "), 24e6),
	} {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		start, highest, seen := m.HeapAlloc, uint64(0), 0
		watched := readerFunc(func(p []byte) (int, error) {
			if seen++; seen%64 == 0 {
				runtime.ReadMemStats(&m)
				highest = max(highest, m.HeapAlloc)
			}
			return in.Read(p)
		})
		if _, err := summarise.JSON(watched, summarise.Options{Tail: true}); err != nil {
			t.Fatal(err)
		}
		if highest > start+16<<20 {
			t.Errorf("%s: %d MB above the start", name, (highest-start)>>20)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func one(s string) io.Reader {
	done := false
	return readerFunc(func(p []byte) (int, error) {
		if done {
			return 0, io.EOF
		}
		done = true
		return copy(p, s), nil
	})
}

// repeat is s without end.
func repeat(s string) io.Reader {
	block := strings.Repeat(s, 1+(32<<10)/len(s))
	at := 0
	return readerFunc(func(p []byte) (int, error) {
		n := copy(p, block[at:])
		at = (at + n) % len(block)
		return n, nil
	})
}
