package summarise_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

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

// BenchmarkMemoryRatio reports the largest live heap while 1 MB, 32 MB and 1 GB are read, and the last in
// terms of the first.
func BenchmarkMemoryRatio(b *testing.B) {
	var small, middle, large int64
	for b.Loop() {
		small, middle, large = live(b, newRows(1e6)), live(b, newRows(32e6)), live(b, newRows(1e9))
	}
	b.ReportMetric(float64(small)/1e3, "kB-of-1MB")
	b.ReportMetric(float64(middle)/1e3, "kB-of-32MB")
	b.ReportMetric(float64(large)/1e3, "kB-of-1GB")
	b.ReportMetric(float64(large)/float64(small), "times-1MB")
}

// live is the largest heap in use while in is previewed, above what was in use before. Garbage does not count.
func live(t testing.TB, in io.Reader) int64 {
	t.Helper()
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	start, highest := heap(), int64(0)
	read, next := 0, 0
	watched := readerFunc(func(p []byte) (int, error) {
		if read >= next {
			highest = max(highest, heap())
			next = read + max(64<<10, read/32) // often at first, and still some times a GB
		}
		n, err := in.Read(p)
		read += n
		return n, err
	})
	if _, err := summarise.JSON(watched, summarise.Options{Tail: true}); err != nil {
		t.Fatal(err)
	}
	return max(highest, heap()) - start
}

// TestMemoryDoesNotGrowWithTheInput reads 1 MB and 8 MB in each shape.
func TestMemoryDoesNotGrowWithTheInput(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 120 MB")
	}
	around := func(before string, body io.Reader, size int64, after string) io.Reader {
		return io.MultiReader(strings.NewReader(before), io.LimitReader(body, size), strings.NewReader(after))
	}
	for name, shape := range map[string]func(size int64) io.Reader{
		"an array": func(n int64) io.Reader { return newRows(int(n)) },
		"a main array": func(n int64) io.Reader {
			return io.MultiReader(strings.NewReader(`{"count":1,"result":`), newRows(int(n)), strings.NewReader(`}`))
		},
		"one element": func(n int64) io.Reader {
			return io.MultiReader(strings.NewReader(`[{"a":`), newRows(int(n)), strings.NewReader(`}]`))
		},
		"an item behind": func(n int64) io.Reader {
			return io.MultiReader(strings.NewReader(`[1,2,3,4,5,{"a":`), newRows(int(n)), strings.NewReader(`}]`))
		},
		"keys in keys": func(n int64) io.Reader {
			level := `{` + strings.Repeat(`"f":"`+strings.Repeat("x", 120)+`",`, 20) + `"error":`
			first := `{` + strings.Repeat(`"f":"`+strings.Repeat("x", 2000)+`",`, 40) + `"error":`
			deep := int(n) / len(level)
			return io.MultiReader(strings.NewReader(first), io.LimitReader(repeat(level), int64(deep*len(level))), strings.NewReader(`1`), io.LimitReader(repeat("}"), int64(deep+1)))
		},
		"a string": func(n int64) io.Reader { return around(`{"a":"`, repeat(`x\"\u00fc`), n/9*9, `"}`) },
		"strings": func(n int64) io.Reader {
			return around(`{"a":"b"`, repeat(`,"a":"`+strings.Repeat("x", 299_993)+`"`), n/300_000*300_000, `}`)
		},
		"many keys": func(n int64) io.Reader { return around(`{"k":1`, repeat(`,"id":12`), n/8*8, `}`) },
		"a nest of keys": func(n int64) io.Reader {
			return around(`{"k":1`, repeat(`,"error":{"id":{"next":[1,2]}}`), n/30*30, `}`)
		},
		"many items":       func(n int64) io.Reader { return around(`[[1]`, repeat(`,[[{"a":1}],2,3,"four"]`), n/24*24, `]`) },
		"a number":         func(n int64) io.Reader { return around(`[1`, repeat("0123456789"), n, `]`) },
		"blanks":           func(n int64) io.Reader { return around(`[1`, repeat(" \n"), n, `]`) },
		"plain text":       func(n int64) io.Reader { return io.LimitReader(repeat("A sentence of a log. "), n) },
		"what is no UTF-8": func(n int64) io.Reader { return io.LimitReader(repeat("\xff\xfe\x80"), n) },
	} {
		t.Run(name, func(t *testing.T) {
			small, large := live(t, shape(1_200_000)), live(t, shape(8_400_000))
			if large > small+small/4+(128<<10) {
				t.Errorf("%d kB for 1 MB, %d kB for 8 MB", small>>10, large>>10)
			}
		})
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

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
