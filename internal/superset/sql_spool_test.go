package superset

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentd/internal/chat"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// rowsOf makes an answer of n rows while it is read, and calls each before every one.
func rowsOf(n int, each func(i int)) io.Reader {
	r, w := io.Pipe()
	go func() {
		io.WriteString(w, `{"data":[`)
		for i := range n {
			each(i)
			sep := ","
			if i == 0 {
				sep = ""
			}
			fmt.Fprintf(w, `%s{"n":%d,"t":"%0100d"}`, sep, i, i)
		}
		io.WriteString(w, `],"columns":[{"column_name":"n","type":"INT","type_generic":0},{"column_name":"t"}]}`)
		w.Close()
	}()
	return r
}

func readAll(t testing.TB, r io.Reader, caps SQLCaps) *SQLRows {
	t.Helper()
	a := sqlAnswer{kept: newSpool(caps)}
	if err := a.read(&gauge{r: r, most: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	rows, err := a.rows()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Rows that come after the time cap are counted only. The time begins with the first row, not with the wait for it.
func TestTimeCap(t *testing.T) {
	for _, tt := range []struct {
		pause time.Duration
		kept  int64
		bound string
	}{
		{time.Second - time.Nanosecond, 10, ""}, // the last one comes just before 9 seconds have passed
		{time.Second, 10, ""},
		{time.Second + time.Nanosecond, 9, chat.BoundByTime},
		{5 * time.Second, 2, chat.BoundByTime},
	} {
		synctest.Test(t, func(t *testing.T) {
			got := readAll(t, rowsOf(10, func(i int) {
				if i == 0 {
					time.Sleep(time.Hour)
				} else {
					time.Sleep(tt.pause)
				}
			}), SQLCaps{Time: 9 * time.Second})
			defer got.Close()
			n := int64(0)
			if err := got.Each(func(json.RawMessage) error { n++; return nil }); err != nil {
				t.Error(err)
			}
			if n != tt.kept || got.Bound != tt.bound || got.Count != 10 {
				t.Errorf("%s between rows: %d of %d kept, bound %q", tt.pause, n, got.Count, got.Bound)
			}
		})
	}
}

// What lives in memory while an answer is read, and read again, does not grow with it.
func TestMemoryOfRows(t *testing.T) {
	peak := func(n int) uint64 {
		var most uint64
		look := func(i int) {
			if i%(n/20) == 0 {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
		got := readAll(t, rowsOf(n, look), SQLCaps{Rows: int64(n), Bytes: 1 << 30})
		i := 0
		if err := got.Each(func(json.RawMessage) error { look(i); i++; return nil }); err != nil || i != n {
			t.Errorf("%d of %d rows, %v", i, n, err)
		}
		got.Close()
		return most
	}
	peak(20_000)
	small, large := peak(20_000), peak(200_000) // 2 MB and 25 MB
	t.Logf("live heap %d kB of 20,000 rows, %d kB of 200,000", small>>10, large>>10)
	if large > small+small/5 {
		t.Errorf("ten times the rows take %d kB instead of %d kB", large>>10, small>>10)
	}
}

// FuzzSQLAnswer: whatever Superset sends is refused or read as a plain decoder reads it.
func FuzzSQLAnswer(f *testing.F) {
	f.Add(`{"query_id":1,"status":"success","data":[{"a":1,"b":null},{"b":"\u0041","a":-1e5}],"columns":[{"column_name":"b"},{"column_name":"a"}],"query":{"id":"x"}}`)
	f.Add(`{"columns":[{"column_name":"\"","type_generic":0}],"data":[{"\"":"9007199254740993"},{}]}`)
	f.Add(`{"data":[[]]}`)
	f.Add(`{"data":[{"a":{"b":[1, 2]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		a := sqlAnswer{kept: newSpool(SQLCaps{})}
		defer a.kept.close()
		if a.read(&gauge{r: strings.NewReader(text), most: 1 << 20}) != nil {
			return
		}
		var top map[string]json.RawMessage
		var data []map[string]json.RawMessage
		var columns []sqlColumn
		if !jsontext.Value(text).IsValid() || json.Unmarshal([]byte(text), &top) != nil {
			return // names that come twice mean whatever the reader likes
		}
		for name, out := range map[string]any{"data": &data, "columns": &columns} {
			if v := top[name]; len(v) > 0 && json.Unmarshal(v, out) != nil {
				t.Fatalf("%s was taken: %s", name, v)
			}
		}
		rows, err := a.rows()
		if err != nil || rows.Count != int64(len(data)) {
			t.Fatalf("%d rows, want %d, %v", rows.Count, len(data), err)
		}
		i := 0
		err = rows.Each(func(row json.RawMessage) error {
			var got []any
			if err := json.Unmarshal(row, &got); err != nil {
				return fmt.Errorf("row %d: %w: %s", i, err, row)
			}
			for c, col := range columns {
				var want any
				if v := data[i][col.Name]; len(v) > 0 {
					if col.number() {
						v = exact(v)
					}
					if err := json.Unmarshal(v, &want); err != nil {
						return err
					}
				}
				if diff := cmp.Diff(want, got[c]); diff != "" {
					t.Errorf("row %d, column %q (-want +got):\n%s", i, col.Name, diff)
				}
			}
			i++
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
