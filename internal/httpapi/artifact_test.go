package httpapi_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/httpapi"

	"github.com/google/go-cmp/cmp"
)

const artID = "art_01K9V3H4Y5Z6A7B8C9D0E1F2G3"

// stored is one stored result of anna, in pages of two rows.
type stored struct {
	meta    chat.ArtifactMeta
	rows    []json.RawMessage
	raw     string
	asked   artifact.Request
	breaks  int // bytes of the payload after which it cannot be read; 0 is never
	deleted bool
}

func (s *stored) Stat(_ context.Context, who artifact.Owner, id string) (chat.ArtifactMeta, error) {
	if who.User != "anna" || !who.AnyConversation || id != artID || s.deleted {
		return chat.ArtifactMeta{}, fault.New(fault.Missing, "There is no such stored result.")
	}
	if s.meta.State == chat.ArtifactExpired {
		return chat.ArtifactMeta{}, &fault.Error{Kind: fault.Gone, Code: "artifact_expired", Msg: "It has expired."}
	}
	return s.meta, nil
}

func (s *stored) Read(ctx context.Context, who artifact.Owner, id string, q artifact.Request) (artifact.Page, error) {
	m, err := s.Stat(ctx, who, id)
	if err != nil {
		return artifact.Page{}, err
	}
	s.asked = q
	from := 0
	if q.Cursor != "" {
		if from, err = strconv.Atoi(q.Cursor); err != nil {
			return artifact.Page{}, &fault.Error{Kind: fault.Invalid, Code: "cursor", Msg: "The cursor is not one of this result."}
		}
	}
	for _, c := range q.Columns {
		if c == "nope" {
			return artifact.Page{}, &fault.Error{Kind: fault.Invalid, Code: "columns", Msg: "No column nope.", Fields: []fault.Field{{Pointer: "/columns", Detail: "must be among a"}}}
		}
	}
	to := min(len(s.rows), from+2)
	p := artifact.Page{Meta: m, Columns: m.Columns, Rows: s.rows[from:to], EOF: to == len(s.rows)}
	if m.Format == chat.FormatText {
		p.Text = s.raw
	}
	if !p.EOF {
		p.Next = strconv.Itoa(to)
	}
	return p, nil
}

func (s *stored) Open(ctx context.Context, who artifact.Owner, id string) (chat.ArtifactMeta, io.ReadCloser, error) {
	m, err := s.Stat(ctx, who, id)
	m.Size = int64(len(s.raw))
	var r io.Reader = strings.NewReader(s.raw)
	if s.breaks > 0 {
		r = io.MultiReader(io.LimitReader(r, int64(s.breaks)), iotest.ErrReader(errors.New("the bucket is gone")))
	}
	return m, io.NopCloser(r), err
}

func (s *stored) Delete(ctx context.Context, who artifact.Owner, id string) error {
	_, err := s.Stat(ctx, who, id)
	s.deleted = s.deleted || err == nil
	return err
}

func table() *stored {
	n := int64(3)
	s := &stored{meta: chat.ArtifactMeta{ID: artID, User: "anna", Format: chat.FormatRows, Rows: &n, State: chat.ArtifactCommitted, Expires: noon.Add(time.Hour),
		Columns: []chat.Column{{Name: "id", Type: "BIGINT"}, {Name: "=name"}, {Name: "note"}}}}
	for _, r := range []string{`[9007199254740993,"a,\"b\"\nc",null]`, `[-1.50,"=SUM(A1)","-5"]`, `[1e400,"@x",{"k":[1]}]`} {
		s.rows = append(s.rows, json.RawMessage(r))
		s.raw += r + "\n"
	}
	return s
}

func TestArtifactPages(t *testing.T) {
	a := table()
	s := serve(t, func(o *httpapi.Options) { o.Artifacts = a })
	path := "/api/v1/artifacts/" + artID
	first := s.do("anna", "GET", path+"?limit=2&columns=id,%3Dname", "")
	want := `{"columns":[{"name":"id","type":"BIGINT"},{"name":"=name"},{"name":"note"}],"rows":[[9007199254740993,"a,\"b\"\nc",null],[-1.50,"=SUM(A1)","-5"]],` +
		`"total":3,"next_cursor":"2","eof":false,"expires_at":"2026-11-29T13:00:00.25Z"}`
	if first.StatusCode != 200 || strings.TrimSpace(string(first.body)) != want {
		t.Errorf("%d\n%s, want\n%s", first.StatusCode, first.body, want)
	}
	if diff := cmp.Diff(artifact.Request{Limit: 2, Columns: []string{"id", "=name"}}, a.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	s.do("anna", "GET", path+"?columns=a,b&columns=c", "")
	if diff := cmp.Diff([]string{"a,b", "c"}, a.asked.Columns); diff != "" {
		t.Errorf("columns with commas (-want +got):\n%s", diff)
	}
	if last := s.do("anna", "GET", path+"?cursor=2", ""); !strings.Contains(string(last.body), `"eof":true`) || strings.Contains(string(last.body), "next_cursor") {
		t.Errorf("last page is %s", last.body)
	}
	for query, want := range map[string]struct {
		status  int
		code    string
		pointer string
	}{
		"?cursor=x": {400, "cursor", ""}, "?limit=0": {422, "invalid", "/limit"}, "?limit=1001": {422, "invalid", "/limit"}, "?columns=nope": {422, "columns", "/columns"},
	} {
		got := s.do("anna", "GET", path+query, "")
		p := got.problem(t)
		if got.StatusCode != want.status || p.Code != want.code || (want.pointer != "") != (len(p.Errors) == 1) {
			t.Errorf("%s: %d %+v", query, got.StatusCode, p)
		}
	}
	if got := s.do("anna", "GET", path+"?limit=1000", ""); got.StatusCode != 200 {
		t.Errorf("limit 1000: %d", got.StatusCode)
	}
}

func TestArtifactOwner(t *testing.T) {
	a := table()
	s := serve(t, func(o *httpapi.Options) { o.Artifacts = a })
	path := "/api/v1/artifacts/" + artID
	for _, r := range [][2]string{{"GET", path}, {"GET", path + "/download"}, {"DELETE", path}} {
		stranger, unknown := s.do("boris", r[0], r[1], ""), s.do("boris", r[0], strings.Replace(r[1], "art_0", "art_1", 1), "")
		if stranger.StatusCode != 404 || unknown.StatusCode != 404 || stranger.problem(t).Detail != unknown.problem(t).Detail {
			t.Errorf("%s: stranger %d, unknown %d", r[0], stranger.StatusCode, unknown.StatusCode)
		}
	}
	for _, id := range []string{"..%2F..%2Fetc", "a%27b", "%00"} {
		if got := s.do("anna", "GET", "/api/v1/artifacts/"+id, ""); got.StatusCode != 404 {
			t.Errorf("%s: %d", id, got.StatusCode)
		}
	}
	if a.deleted {
		t.Fatal("a stranger deleted it")
	}
	a.meta.State = chat.ArtifactExpired
	if got := s.do("anna", "GET", path, ""); got.StatusCode != 410 || got.problem(t).Code != "artifact_expired" {
		t.Errorf("expired: %d %s", got.StatusCode, got.body)
	}
	a.meta.State = chat.ArtifactCommitted
	if got := s.do("anna", "DELETE", path, ""); got.StatusCode != 204 || !a.deleted {
		t.Errorf("delete: %d", got.StatusCode)
	}
}

func TestDownload(t *testing.T) {
	s := serve(t, func(o *httpapi.Options) { o.Artifacts = table() })
	path := "/api/v1/artifacts/" + artID + "/download"
	lines := `{"id":9007199254740993,"=name":"a,\"b\"\nc","note":null}` + "\n" + `{"id":-1.50,"=name":"=SUM(A1)","note":"-5"}` + "\n" +
		`{"id":1e400,"=name":"@x","note":{"k":[1]}}` + "\n"
	for format, want := range map[string][3]string{
		"":              {"application/x-ndjson", ".jsonl", lines},
		"?format=jsonl": {"application/x-ndjson", ".jsonl", lines},
		"?format=json": {"application/json", ".json", `{"columns":[{"name":"id","type":"BIGINT"},{"name":"=name"},{"name":"note"}],"rows":[` + "\n" +
			strings.ReplaceAll(strings.TrimSpace(table().raw), "\n", ",\n") + "\n]}\n"},
		"?format=csv": {"text/csv; charset=utf-8; header=present", ".csv",
			"\uFEFFid,'=name,note\r\n9007199254740993,\"a,\"\"b\"\"\nc\",\r\n-1.50,'=SUM(A1),-5\r\n1e400,'@x,\"{\"\"k\"\":[1]}\"\r\n"},
	} {
		a := s.do("anna", "GET", path+format, "")
		if a.StatusCode != 200 || a.Header.Get("Content-Type") != want[0] || a.Header.Get("Content-Disposition") != `attachment; filename="`+artID+want[1]+`"` {
			t.Errorf("%q: %d %v\n%s", format, a.StatusCode, a.Header, s.said.String())
		}
		if diff := cmp.Diff(want[2], string(a.body)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", format, diff)
		}
		if format == "?format=csv" {
			if rows, err := csv.NewReader(bytes.NewReader(a.body)).ReadAll(); err != nil || len(rows) != 4 {
				t.Errorf("read back: %v, %d rows", err, len(rows))
			}
		}
		head := s.do("anna", "HEAD", path+format, "")
		if head.StatusCode != 200 || len(head.body) != 0 || head.Header.Get("Content-Type") != want[0] || head.Header.Get("Content-Disposition") != a.Header.Get("Content-Disposition") {
			t.Errorf("HEAD %q: %d %v %q", format, head.StatusCode, head.Header, head.body)
		}
	}
	for _, path := range []string{strings.Replace(path, "art_0", "art_1", 1), path + "?format=xlsx"} {
		get, head := s.do("anna", "GET", path, ""), s.do("anna", "HEAD", path, "")
		if head.StatusCode != get.StatusCode || len(head.body) != 0 {
			t.Errorf("HEAD %s: %d, GET %d", path, head.StatusCode, get.StatusCode)
		}
	}
	bad := s.do("anna", "GET", path+"?format=xlsx", "")
	if p := bad.problem(t); bad.StatusCode != 422 || p.Errors[0].Pointer != "/format" || bad.Header.Get("Content-Disposition") != "" {
		t.Errorf("xlsx: %d %s", bad.StatusCode, bad.body)
	}
	for format, media := range map[string]string{chat.FormatText: "text/plain; charset=utf-8", chat.FormatJSON: "application/json", chat.FormatBinary: "application/octet-stream"} {
		s := serve(t, func(o *httpapi.Options) {
			o.Artifacts = &stored{meta: chat.ArtifactMeta{ID: artID, User: "anna", Format: format}, raw: "{}"}
		})
		if a := s.do("anna", "GET", path, ""); a.StatusCode != 200 || a.Header.Get("Content-Type") != media || a.Header.Get("Content-Length") != "2" || string(a.body) != "{}" {
			t.Errorf("%s: %d %v %s", format, a.StatusCode, a.Header, a.body)
		}
		if a := s.do("anna", "GET", path+"?format=csv", ""); a.StatusCode != 422 {
			t.Errorf("%s as csv: %d", format, a.StatusCode)
		}
	}
}

// A part of a result must not look like the whole, whether or not something was sent already.
func TestDownloadThatBreaks(t *testing.T) {
	small := table()
	small.breaks = 60
	s := serve(t, func(o *httpapi.Options) { o.Artifacts = small })
	path := "/api/v1/artifacts/" + artID + "/download?format=csv"
	if a := s.do("anna", "GET", path, ""); a.StatusCode != 500 || a.Header.Get("Content-Disposition") != "" {
		t.Errorf("before the first byte: %d %v", a.StatusCode, a.Header)
	}
	big := table()
	big.raw = fmt.Sprintf("[1,%q,2]\n", strings.Repeat("x", 1<<20)) + big.raw
	big.breaks = len(big.raw) - 10
	s = serve(t, func(o *httpapi.Options) { o.Artifacts = big })
	req, err := http.NewRequest("GET", s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer anna")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("a broken download ended as if it were whole")
	}
	if !strings.Contains(s.said.String(), "the bucket is gone") {
		t.Error("the cause was not logged")
	}
}
