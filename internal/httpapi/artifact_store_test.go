package httpapi_test

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"agentd/internal/artifact"
	"agentd/internal/artifact/artifacttest"
	"agentd/internal/chat"
	"agentd/internal/httpapi"

	"github.com/google/go-cmp/cmp"
)

// keep serves a real store, in which rows of anna are kept, and returns their id.
func keep(t *testing.T, columns []chat.Column, rows ...string) (*server, *watchedStore, string) {
	t.Helper()
	dir, err := artifact.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	a := &watchedStore{Store: artifact.New(artifacttest.NewIndex(), dir, artifact.Options{}), closed: make(chan struct{}, 1000)}
	s := serve(t, func(o *httpapi.Options) { o.Artifacts = a })
	return s, a, a.put(t, columns, rows...)
}

// watchedStore tells when a payload that was opened is closed, and how much was alive while it was read.
type watchedStore struct {
	*artifact.Store
	closed  chan struct{}
	gauge   bool
	highest uint64 // read it behind closed
}

func (w *watchedStore) put(t *testing.T, columns []chat.Column, rows ...string) string {
	t.Helper()
	out, err := w.Create(t.Context(), artifact.Spec{Owner: artifact.Owner{User: "anna", Conversation: "c1"}, Format: chat.FormatRows, Columns: columns})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := out.WriteRow([]byte(r)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := out.Commit()
	if err != nil {
		t.Fatal(err)
	}
	return m.ID
}

func (w *watchedStore) Open(ctx context.Context, who artifact.Owner, id string) (chat.ArtifactMeta, io.ReadCloser, error) {
	m, r, err := w.Store.Open(ctx, who, id)
	return m, &watchedPayload{ReadCloser: r, w: w}, err
}

type watchedPayload struct {
	io.ReadCloser
	w    *watchedStore
	read int
}

// Read looks at the heap every few megabytes; who reads stands still meanwhile.
func (p *watchedPayload) Read(b []byte) (int, error) {
	const often = 4 << 20
	n, err := p.ReadCloser.Read(b)
	if p.w.gauge && p.read/often != (p.read+n)/often {
		p.w.highest = max(p.w.highest, alive())
	}
	p.read += n
	return n, err
}

func (p *watchedPayload) Close() error {
	p.w.closed <- struct{}{}
	return p.ReadCloser.Close()
}

var columnsAB = []chat.Column{{Name: "a"}, {Name: "b"}}

var requestID = regexp.MustCompile(`"request_id":"[^"]*"`)

// visible is everything of an answer that a client sees, but for what is new in each.
func visible(a answer) string {
	h := a.Header.Clone()
	h.Del("Date")
	h.Del("X-Request-Id")
	return fmt.Sprintf("%d %v %s", a.StatusCode, h, requestID.ReplaceAll(a.body, nil))
}

// A stranger's answer says nothing that that for an unknown id does not say: not by a status, a word, or a header.
func TestStrangersSeeNothing(t *testing.T) {
	s, a, id := keep(t, columnsAB, `[1,"x"]`, `[2,"y"]`)
	first, err := a.Read(t.Context(), artifact.Owner{User: "anna", AnyConversation: true}, id, artifact.Request{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	unknown := []string{"art_01ARZ3NDEKTSV4RRFFQ69G5FAV", strings.ToLower(id), id + "0", "art_", "a", "ART_" + id[4:], id + "%2F..", "%00", "..%2F..%2Fx", "a%20b", "%27"}
	for _, user := range []string{"boris", "admin", "anna2", "Anna"} {
		for _, c := range [][2]string{
			{"GET", ""}, {"GET", "?limit=1&columns=a"}, {"GET", "?columns=nope"}, {"GET", "?cursor=" + first.Next}, {"GET", "?cursor=x"}, {"GET", "?limit=0"},
			{"GET", "/download"}, {"GET", "/download?format=csv"}, {"GET", "/download?format=xlsx"}, {"HEAD", "/download"}, {"DELETE", ""},
		} {
			got := visible(s.do(user, c[0], "/api/v1/artifacts/"+id+c[1], ""))
			for _, other := range unknown {
				if want := visible(s.do(user, c[0], "/api/v1/artifacts/"+other+c[1], "")); got != want {
					t.Errorf("%s %s as %s:\nof another %s\n%s: %s", c[0], c[1], user, got, other, want)
				}
			}
			if !strings.HasPrefix(got, "404 ") && c[1] != "?limit=0" {
				t.Errorf("%s %s as %s: %s", c[0], c[1], user, got)
			}
		}
	}
	for _, c := range [][2]string{{"GET", ""}, {"GET", "/download"}, {"HEAD", "/download"}, {"DELETE", ""}} {
		if got := s.do("anna", c[0], "/api/v1/artifacts/"+id+c[1], ""); got.StatusCode/100 != 2 {
			t.Errorf("%s %s as the owner: %d", c[0], c[1], got.StatusCode)
		}
	}
	// %2e%2e is a way to write .., which is no place below artifacts at all.
	if got := s.do("anna", "GET", "/api/v1/artifacts/%2e%2e", ""); got.StatusCode != http.StatusNotFound {
		t.Errorf("%%2e%%2e: %d", got.StatusCode)
	}
}

func TestDownloadForms(t *testing.T) {
	s, a, _ := keep(t, nil)
	for name, c := range map[string]struct {
		columns            []chat.Column
		rows               []string
		lines, commas, doc string
	}{
		"nulls and texts": {columnsAB, []string{`[null,""]`, `["NULL"," x "]`, `[true,"ü\r\n\"é"]`},
			`{"a":null,"b":""}` + "\n" + `{"a":"NULL","b":" x "}` + "\n" + `{"a":true,"b":"ü\r\n\"é"}` + "\n",
			"a,b\r\n,\"\"\r\nNULL,\" x \"\r\ntrue,\"ü\r\n\"\"é\"\r\n", ""},
		"exact numbers": {columnsAB, []string{`[9007199254740993,-0.10]`, `[123456789012345678901234567890,1E-7]`},
			`{"a":9007199254740993,"b":-0.10}` + "\n" + `{"a":123456789012345678901234567890,"b":1E-7}` + "\n",
			"a,b\r\n9007199254740993,-0.10\r\n123456789012345678901234567890,1E-7\r\n", ""},
		"formulas": {columnsAB, []string{`["=1+1","+1"]`, `["-1","-1+1"]`, `["@x","\tx"]`, `["\r=1","\n=1"]`, `["＝1+1","a=b"]`, `[{"=":1},["@"]]`},
			"", "a,b\r\n'=1+1,'+1\r\n-1,'-1+1\r\n'@x,'\tx\r\n\"'\r=1\",\"'\n=1\"\r\n'＝1+1,a=b\r\n\"{\"\"=\"\":1}\",\"[\"\"@\"\"]\"\r\n", ""},
		"names that come again": {[]chat.Column{{Name: "a"}, {Name: "a"}, {Name: "a_2"}, {Name: `"`}}, []string{`[1,2,3,4]`},
			`{"a":1,"a_2":2,"a_2_2":3,"\"":4}` + "\n", "a,a,a_2,\"\"\"\"\r\n1,2,3,4\r\n", ""},
		"one column": {[]chat.Column{{Name: "a"}}, []string{`[null]`, `[""]`, `[1]`},
			`{"a":null}` + "\n" + `{"a":""}` + "\n" + `{"a":1}` + "\n", "a\r\n\"\"\r\n\"\"\r\n1\r\n", ""},
		"a short row": {columnsAB, []string{`[1]`}, `{"a":1,"b":null}` + "\n", "a,b\r\n1,\r\n", ""},
		"items": {nil, []string{`{"a":1,"b":{"c":2}}`, `{"b":2,"d":3}`},
			`{"a":1,"b":{"c":2}}` + "\n" + `{"b":2,"d":3}` + "\n", "a,b,d\r\n1,\"{\"\"c\"\":2}\",\r\n,2,3\r\n", ""},
		"values": {nil, []string{`1`, `[2]`, `"x"`}, "1\n[2]\n\"x\"\n", "value\r\n1\r\n[2]\r\nx\r\n", ""},
		"none":   {columnsAB, nil, "", "a,b\r\n", `{"columns":[{"name":"a"},{"name":"b"}],"rows":[` + "\n]}\n"},
		"a large cell": {columnsAB, []string{`[1,"` + strings.Repeat("x", 2<<20) + `"]`},
			`{"a":1,"b":"` + strings.Repeat("x", 2<<20) + `"}` + "\n", "a,b\r\n1," + strings.Repeat("x", 2<<20) + "\r\n", ""},
	} {
		id := a.put(t, c.columns, c.rows...)
		for format, want := range map[string]string{"jsonl": c.lines, "csv": c.commas, "json": c.doc} {
			if want == "" && (format == "json" || len(c.rows) > 0) {
				continue
			}
			if format == "csv" {
				want = "\uFEFF" + want
			}
			got := s.do("anna", "GET", "/api/v1/artifacts/"+id+"/download?format="+format, "")
			<-a.closed
			if string(got.body) != want && len(want) < 10_000 {
				t.Errorf("%s as %s (-want +got):\n%s", name, format, cmp.Diff(want, string(got.body)))
			} else if string(got.body) != want {
				t.Errorf("%s as %s: %d bytes, want %d", name, format, len(got.body), len(want))
			}
			if format == "csv" {
				rows, err := csv.NewReader(strings.NewReader(string(got.body))).ReadAll()
				if err != nil || len(rows) != len(c.rows)+1 {
					t.Errorf("%s: read back %d rows, %v", name, len(rows), err)
				}
			}
			for line := range strings.Lines(string(got.body)) {
				if format == "jsonl" && !json.Valid([]byte(line)) {
					t.Errorf("%s: no JSON: %.100s", name, line)
				}
			}
		}
	}
}

// alive is the heap without garbage: how much of that there is depends on what else the machine does.
func alive() uint64 {
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}

// A download of any size takes the same memory.
func TestDownloadIsStreamed(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 40 MB")
	}
	row := `[1234567,"` + strings.Repeat("some text, ", 36) + `"]`
	s, a, _ := keep(t, nil)
	id := a.put(t, columnsAB, strings.Split(strings.Repeat(row+"\n", 100_000)[:100_000*(len(row)+1)-1], "\n")...)
	for _, format := range []string{"jsonl", "csv", "json"} {
		a.gauge, a.highest = true, 0
		start := alive()
		resp, err := s.Client().Do(s.request("anna", "/api/v1/artifacts/"+id+"/download?format="+format))
		if err != nil {
			t.Fatal(err)
		}
		size, err := io.Copy(io.Discard, resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		<-a.closed
		if size < 40_000_000 {
			t.Errorf("%s: %d bytes", format, size)
		}
		if a.highest == 0 || a.highest > start+4<<20 {
			t.Errorf("%s: %.1f MB were alive", format, (float64(a.highest)-float64(start))/(1<<20))
		}
	}
}

// A client that leaves in the middle ends the reading, and is no fault of the server.
func TestDownloadThatIsBrokenOff(t *testing.T) {
	row := `[1,"` + strings.Repeat("x", 1000) + `"]`
	s, a, id := keep(t, columnsAB, strings.Split(strings.Repeat(row+"\n", 20_000)[:20_000*(len(row)+1)-1], "\n")...)
	for _, format := range []string{"jsonl", "csv"} {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET /api/v1/artifacts/%s/download?format=%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer anna\r\n\r\n", id, format)
		if _, err := bufio.NewReaderSize(conn, 16).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		conn.Close()
		select {
		case <-a.closed:
		case <-time.After(30 * time.Second):
			t.Fatal("the server still reads")
		}
	}
	s.Close() // the requests have been logged then
	if strings.Contains(s.said.String(), `"level":"ERROR"`) {
		t.Errorf("it was taken for a fault:\n%s", s.said.String())
	}
}

func (s *server) request(user, path string) *http.Request {
	req, err := http.NewRequest("GET", s.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+user)
	return req
}
