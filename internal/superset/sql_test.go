package superset_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"

	"github.com/google/go-cmp/cmp"
)

// sqlLab answers statements with text, in which ID and SQL are those of the request, and counts requests to stop.
func sqlLab(t *testing.T, o superset.Options, answer func(w http.ResponseWriter, r *http.Request, fill func(string) string)) (*superset.Session, *atomic.Int32) {
	t.Helper()
	stops := &atomic.Int32{}
	o.BaseURL = serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/api/v1/query/stop" {
			stops.Add(1)
			io.WriteString(w, `{"result":"OK"}`)
			return
		}
		var in struct {
			ID  string `json:"client_id"`
			SQL string `json:"sql"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Errorf("the request is no JSON: %v", err)
		}
		sql, _ := json.Marshal(in.SQL)
		answer(w, r, strings.NewReplacer("ID", in.ID, "SQL", string(sql)).Replace)
	})
	return withKey(t, o), stops
}

// says answers with text.
func says(text string) func(http.ResponseWriter, *http.Request, func(string) string) {
	return func(w http.ResponseWriter, _ *http.Request, fill func(string) string) { io.WriteString(w, fill(text)) }
}

const (
	mine = `"query":{"id":"ID","sql":SQL,"state":"success","limitingFactor":"NOT_LIMITED","executedSql":"SELECT 1 LIMIT 11"}`
	good = `"query_id":7,"status":"success",`
)

// ask runs SELECT 1 and closes the rows with the test.
func ask(t *testing.T, s *superset.Session, caps superset.SQLCaps) *superset.SQLRows {
	t.Helper()
	got, err := s.RunSQL(t.Context(), superset.Statement{Database: 1, SQL: "SELECT 1", Limit: 10, Caps: caps})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(got.Close)
	return got
}

// all reads the rows that are kept.
func all(t *testing.T, r *superset.SQLRows) []string {
	t.Helper()
	out := []string{}
	if err := r.Each(func(row json.RawMessage) error { out = append(out, string(row)); return nil }); err != nil {
		t.Error(err)
	}
	return out
}

func TestSQLValues(t *testing.T) {
	col := func(name, typ string, generic any) string {
		b, _ := json.Marshal(map[string]any{"column_name": name, "name": name, "type": typ, "type_generic": generic, "is_dttm": false})
		return string(b)
	}
	data := func(rows ...string) string { return `"data":[` + strings.Join(rows, ",") + `]` }
	cols := func(cols ...string) string { return `"columns":[` + strings.Join(cols, ",") + `]` }
	big, text, float := col("n", "INT", 0), col("t", "STRING", 1), col("f", "FLOAT", 0)
	for _, tt := range []struct {
		name, answer string
		want         []string
	}{
		{"the order of the columns, not that of names or cells", "{" + good + data(`{"t":"x","n":1}`, `{"n":2,"t":"y"}`) + "," + cols(big, text) + "," + mine + "}",
			[]string{`[1,"x"]`, `[2,"y"]`}},
		{"columns before rows, and what nobody knows", `{"later":{"a":[1,{"data":[]}]},` + mine + "," + cols(text) + "," + data(`{"t":"x"}`) + `,"z":null,"status":"success"}`,
			[]string{`["x"]`}},
		{"large integers come as texts", "{" + good + data(`{"n":9007199254740991}`, `{"n":"9007199254740992"}`, `{"n":"-9223372036854775808"}`, `{"n":null}`) + "," + cols(big) + "," + mine + "}",
			[]string{`[9007199254740991]`, `[9007199254740992]`, `[-9223372036854775808]`, `[null]`}},
		{"whatever the database calls its type", "{" + good + data(`{"n":"18446744073709551615"}`) + "," + cols(col("n", "LONGLONG", 0)) + "," + mine + "}",
			[]string{`[18446744073709551615]`}},
		{"texts that only look so stay", "{" + good + data(`{"t":"9007199254740993","n":"0123456789012345678","f":"9007199254740991"}`) + "," + cols(text, big, float) + "," + mine + "}",
			[]string{`["9007199254740993","0123456789012345678","9007199254740991"]`}},
		{"a column without a type", "{" + good + data(`{"n":"9007199254740993"}`) + "," + cols(`{"column_name":"n","type":null,"type_generic":null}`) + "," + mine + "}",
			[]string{`["9007199254740993"]`}},
		{"no number is written anew", "{" + good + data(`{"f":0.1000}`, `{"f":1e-400}`, `{"f":12345678901234567890.123456789}`, `{"f":-0.0}`) + "," + cols(float) + "," + mine + "}",
			[]string{`[0.1000]`, `[1e-400]`, `[12345678901234567890.123456789]`, `[-0.0]`}},
		{"NULL is no empty text", "{" + good + data(`{"t":null}`, `{"t":""}`, `{"t":"null"}`) + "," + cols(text) + "," + mine + "}",
			[]string{`[null]`, `[""]`, `["null"]`}},
		{"letters instead of their escapes", "{" + good + data(`{"t":"\u0451\ud83d\ude00 \"\\\n"}`, `{"t":"ё😀"}`, `{"t":"\ud800"}`, `{"t":"2026-03-31T23:59:59.999999+00:00"}`) + "," + cols(text) + "," + mine + "}",
			[]string{`["ё😀 \"\\\n"]`, `["ё😀"]`, `["\ud800"]`, `["2026-03-31T23:59:59.999999+00:00"]`}},
		{"names", "{" + good + data(`{"\u0430":1,"a__1":2,"":3,"\"":4}`, `{"а":5,"a__1":6,"":7,"\"":8}`) + "," +
			cols(col("", "INT", 0), col("a__1", "INT", 0), col("а", "INT", 0), col(`"`, "INT", 0)) + "," + mine + "}",
			[]string{`[3,2,1,4]`, `[7,6,5,8]`}},
		{"cells that are lists and objects", "{" + good + data(`{"t":{"a":[1,"9007199254740993"]},"n":[]}`) + "," + cols(text, big) + "," + mine + "}",
			[]string{`[{"a":[1,"9007199254740993"]},[]]`}},
		{"rows of different cells", "{" + good + data(`{"t":"x"}`, `{"n":1}`, `{}`) + "," + cols(big, text, float) + "," + mine + "}",
			[]string{`[null,"x",null]`, `[1,null,null]`, `[null,null,null]`}},
		{"no rows", "{" + good + data() + "," + cols(big) + "," + mine + "}", []string{}},
		{"null instead of rows", "{" + good + `"data":null,"columns":[],` + mine + "}", []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := sqlLab(t, superset.Options{}, says(tt.answer))
			r := ask(t, s, superset.SQLCaps{})
			first := []string{}
			for _, row := range r.First {
				first = append(first, string(row))
			}
			if diff := cmp.Diff(tt.want, first); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, all(t, r)); diff != "" {
				t.Errorf("rows read from the start (-want +got):\n%s", diff)
			}
			size := int64(0)
			for _, row := range first {
				size += int64(len(row)) + 1
			}
			if r.Count != int64(len(tt.want)) || r.Bound != "" || r.Limited || r.Executed != "SELECT 1 LIMIT 11" || r.Size < size {
				t.Errorf("count %d, bound %q, limited %v, executed %q, size %d of %d", r.Count, r.Bound, r.Limited, r.Executed, r.Size, size)
			}
		})
	}
}

// One row below a cap, at it and above it. What is behind it is counted.
func TestSQLCaps(t *testing.T) {
	const rows, line = 10, int64(len("[1]\n"))
	s, _ := sqlLab(t, superset.Options{}, says("{"+good+`"data":[`+strings.TrimSuffix(strings.Repeat(`{"n":1},`, rows), ",")+`],"columns":[{"column_name":"n","type":"INT","type_generic":0}],`+mine+"}"))
	for _, tt := range []struct {
		name  string
		caps  superset.SQLCaps
		kept  int
		bound string
	}{
		{"none", superset.SQLCaps{}, rows, ""},
		{"rows, one less", superset.SQLCaps{Rows: rows - 1}, rows - 1, chat.BoundBySize},
		{"rows, as many", superset.SQLCaps{Rows: rows}, rows, ""},
		{"rows, one more", superset.SQLCaps{Rows: rows + 1}, rows, ""},
		{"bytes, one less", superset.SQLCaps{Bytes: rows*line - 1}, rows - 1, chat.BoundBySize},
		{"bytes, as many", superset.SQLCaps{Bytes: rows * line}, rows, ""},
		{"bytes, one more", superset.SQLCaps{Bytes: rows*line + 1}, rows, ""},
		{"bytes of no row", superset.SQLCaps{Bytes: line - 1}, 0, chat.BoundBySize},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ask(t, s, tt.caps)
			if got := all(t, r); len(got) != tt.kept || r.Bound != tt.bound || r.Count != rows {
				t.Errorf("%d of %d rows, bound %q; want %d, %q", len(got), r.Count, r.Bound, tt.kept, tt.bound)
			}
		})
	}
}

// many is an answer of n rows of about 100 bytes.
func many(n int, end string) string {
	var b strings.Builder
	b.WriteString("{" + good + `"data":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"n":%d,"t":"%080d"}`, i, i)
	}
	return b.String() + `],"columns":[{"column_name":"n","type":"INT","type_generic":0},{"column_name":"t","type":"STRING","type_generic":1}],` + end + "}"
}

// inTemp gives the files of rows a folder of their own and returns how to count them: those with a name, and on Linux
// those that are open without one.
func inTemp(t *testing.T) (files func() int) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	return func() int {
		named, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		n := len(named)
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return n
		}
		for _, f := range open {
			if to, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && strings.HasPrefix(to, dir) && strings.HasSuffix(to, "(deleted)") {
				n++
			}
		}
		return n
	}
}

// Rows beyond what is held come back from the file, twice; the file has no name at any time.
func TestSQLManyRows(t *testing.T) {
	files := inTemp(t)
	const n = 50_000
	s, _ := sqlLab(t, superset.Options{}, says(many(n, mine)))
	r := ask(t, s, superset.SQLCaps{})
	if r.Count != n || len(r.First) == 0 || len(r.First) > n/2 {
		t.Fatalf("%d rows, %d of them held", r.Count, len(r.First))
	}
	for range 2 {
		for i, row := range all(t, r) {
			if row != fmt.Sprintf(`[%d,"%080d"]`, i, i) {
				t.Fatalf("row %d is %s", i, row)
			}
		}
	}
	if n := files(); n > 1 { // the one that is open
		t.Errorf("%d files: one has a name", n)
	}
	stop := fmt.Errorf("enough")
	if err := r.Each(func(json.RawMessage) error { return stop }); err != stop {
		t.Errorf("the error of who reads became %v", err)
	}
	r.Close()
	r.Close()
	if files() != 0 {
		t.Error("the file is still there")
	}
}

// However large the first row is, there is one to be shown.
func TestSQLHoldsARow(t *testing.T) {
	inTemp(t)
	cell := strings.Repeat("x", 2<<20)
	s, _ := sqlLab(t, superset.Options{}, says("{"+good+`"data":[{"t":"`+cell+`"},{"t":"y"}],"columns":[{"column_name":"t"}],`+mine+"}"))
	r := ask(t, s, superset.SQLCaps{})
	if len(r.First) != 1 || len(r.First[0]) != len(cell)+4 {
		t.Errorf("%d rows are held", len(r.First))
	}
	if got := all(t, r); len(got) != 2 || got[1] != `["y"]` {
		t.Errorf("%d rows", len(got))
	}
}

// Where the file fails, the answer stands with the rows that are held, and only reading the whole fails.
func TestSQLWithoutRoomForAFile(t *testing.T) {
	t.Setenv("TMPDIR", "/nowhere/at/all")
	s, _ := sqlLab(t, superset.Options{}, says(many(50_000, mine)))
	r := ask(t, s, superset.SQLCaps{})
	if r.Count != 50_000 || len(r.First) == 0 || string(r.First[1]) != fmt.Sprintf(`[1,"%080d"]`, 1) {
		t.Errorf("%d rows, held %d", r.Count, len(r.First))
	}
	if err := r.Each(func(json.RawMessage) error { return nil }); fault.KindOf(err) != fault.Internal {
		t.Errorf("got %v", err)
	}
}

// Of an answer that is not the one that was asked for, or not whole, nothing can be read.
func TestSQLAnswersThatAreRefused(t *testing.T) {
	files := inTemp(t)
	strange := strings.ReplaceAll(mine, `"ID"`, `"abcdefghijk"`)
	for _, tt := range []struct {
		name, answer string
		maxBody      int64
		kind         fault.Kind
		stops        int32
	}{
		{"another query", many(50_000, strange), 0, fault.Mismatch, 0},
		{"another statement", many(3, strings.ReplaceAll(mine, "SQL", `"SELECT 2"`)), 0, fault.Mismatch, 0},
		{"no query at all", many(3, `"x":1`), 0, fault.Mismatch, 0},
		{"a query that failed", strings.Replace(many(3, mine), `"status":"success"`, `"status":"failed"`, 1), 0, fault.Mismatch, 0},
		{"rows without columns", "{" + good + `"data":[{"a":1}],` + mine + "}", 0, fault.Mismatch, 0},
		{"in the background", `{` + strings.Replace(mine, `"success"`, `"running"`, 1) + `}`, 0, fault.Invalid, 1},
		{"a list", `[]`, 0, fault.Mismatch, 0},
		{"rows that are lists", "{" + good + `"data":[[1]],` + mine + "}", 0, fault.Mismatch, 0},
		{"rows that are an object", "{" + good + `"data":{"a":1},` + mine + "}", 0, fault.Mismatch, 0},
		{"a second answer behind it", many(3, mine) + `{}`, 0, fault.Mismatch, 0},
		{"broken JSON", "{" + good + `"data":[{"a":tru}],` + mine + "}", 0, fault.Mismatch, 0},
		{"nothing", "", 0, fault.Transient, 1},
		{"cut within the rows", many(50_000, mine)[:4<<20], 0, fault.Transient, 1},
		{"cut within what is only counted", many(50_000, mine)[:3<<20], 1, fault.Transient, 1},
		{"cut before its last bracket", strings.TrimSuffix(many(3, mine), "}"), 0, fault.Transient, 1},
		{"a row that is too large", "{" + good + `"data":[{"t":"` + strings.Repeat("x", 300_000) + `"}],` + mine + "}", 200_000, fault.TooLarge, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var caps superset.SQLCaps
			if tt.maxBody == 1 {
				tt.maxBody, caps.Rows = 0, 10
			}
			s, stops := sqlLab(t, superset.Options{MaxBody: tt.maxBody}, says(tt.answer))
			r, err := s.RunSQL(t.Context(), superset.Statement{Database: 1, SQL: "SELECT 1", Limit: 10, Caps: caps})
			if r != nil || fault.KindOf(err) != tt.kind {
				t.Errorf("rows %v, error %v, want %s", r != nil, err, tt.kind)
			}
			if stops.Load() != tt.stops || files() != 0 {
				t.Errorf("%d requests to stop, want %d; %d files", stops.Load(), tt.stops, files())
			}
		})
	}
	t.Run("many rows that are not too large", func(t *testing.T) {
		s, _ := sqlLab(t, superset.Options{MaxBody: 200_000}, says(many(50_000, mine)))
		if r := ask(t, s, superset.SQLCaps{}); r.Count != 50_000 {
			t.Errorf("%d rows", r.Count)
		}
	})
}

// Whoever stops waiting half way through the rows has Superset told, and nothing is left.
func TestSQLIsCancelledHalfWay(t *testing.T) {
	files := inTemp(t)
	ctx, cancel := context.WithCancel(t.Context())
	row := `{"t":"` + strings.Repeat("x", 1<<20) + `"},`
	s, stops := sqlLab(t, superset.Options{}, func(w http.ResponseWriter, r *http.Request, fill func(string) string) {
		io.WriteString(w, "{"+good+`"data":[`)
		for range 48 { // more than there is room for between here and a reader that has not begun
			io.WriteString(w, row)
		}
		cancel()
		<-r.Context().Done()
	})
	r, err := s.RunSQL(ctx, superset.Statement{Database: 1, SQL: "SELECT 1", Limit: 10})
	if r != nil || fault.KindOf(err) != fault.Canceled || !strings.Contains(fault.Message(err), "nothing of the answer was kept") {
		t.Errorf("got %v", err)
	}
	if stops.Load() != 1 || files() != 0 {
		t.Errorf("%d requests to stop, %d files", stops.Load(), files())
	}
}
