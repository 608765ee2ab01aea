package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// wholeRows is how many rows TestWholeResult asks for: the most that a stored result has.
const wholeRows = 100_000

// wholeSQL has everything in its rows that could get lost on the way: integers on both sides of 2^53, decimals, NULL
// beside an empty text, times, letters and signs beyond ASCII, two columns of one name, columns in no alphabet's order.
var wholeSQL = fmt.Sprintf("WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < %d) "+
	`SELECT 'Zeile, "№ ' || n || '" 😀' AS z, 9007199254690992 + n AS big, n / 8.0 AS ratio, CASE WHEN n / 2 * 2 = n THEN NULL ELSE '' END AS note, `+
	"'2026-03-31 23:59:59.123456' AS at, n AS a, -n AS a FROM c", wholeRows)

const wholeColumns = "z STRING, big INT, ratio FLOAT, note STRING, at STRING, a INT, a__1 INT"

// wholeCells are the values of row n as JSON.
func wholeCells(n int) []string {
	note, ratio := `""`, strconv.FormatFloat(float64(n)/8, 'f', -1, 64)
	if n%2 == 0 {
		note = "null"
	}
	if n%8 == 0 {
		ratio += ".0"
	}
	return []string{fmt.Sprintf(`"Zeile, \"№ %d\" 😀"`, n), strconv.Itoa(9007199254690992 + n), ratio, note, `"2026-03-31 23:59:59.123456"`, strconv.Itoa(n), strconv.Itoa(-n)}
}

func wholeRow(n int) string { return "[" + strings.Join(wholeCells(n), ",") + "]" }

// TestWholeResult: a query of 100,000 rows is asked for whole. The model gets five rows and a pointer and reads on by
// cursor; the API gives every page and the downloads; each row is compared.
func TestWholeResult(t *testing.T) {
	args, err := json.Marshal(map[string]any{"database_id": 1, "sql": wholeSQL, "whole": true, "timeout_s": 60})
	if err != nil {
		t.Fatal(err)
	}
	const (
		id   = `"artifact_id": "${find:_artifact_uri: (agentd.artifact:///art_[0-9A-Z]+)}"`
		next = `"cursor": "${find:next_cursor: ([A-Za-z0-9_.=-]+)}"`
	)
	call := func(name, args string) string {
		return fmt.Sprintf(`{"calls": [{"id": "c", "name": %q, "args": %s}]}`, name, args)
	}
	script := scripted(t, `{"rounds": [`+strings.Join([]string{
		call("run_sql", string(args)),
		call("read_artifact", `{`+id+`}`),
		call("read_artifact", `{`+id+`, `+next+`}`),
		call("read_artifact", `{`+id+`, `+next+`, "limit": 3}`),
		call("read_artifact", `{`+id+`, "columns": ["a", "big", "note"], "filter": [{"column": "a", "op": "ge", "value": "99999"}]}`),
		`{"text": ["These are all."]}`,
	}, ",")+`]}`)
	p := demo(t, t.TempDir(), script.flags()...)
	_, es := p.say(p.conversation(), 0, map[string]any{"message": "All rows, please", "env_id": "ss-dev"})
	if got := summary(es); got != "tool_start tool_result tool_start tool_result tool_start tool_result tool_start tool_result tool_start tool_result finished:answered" {
		t.Fatalf("events %s", got)
	}
	script.complete()

	// What the page is told.
	var result event
	for _, e := range es {
		if e.typ == "tool_result" && e.str("tool") == "run_sql" {
			result = e
		}
	}
	preview, stored := result.data["preview"].(map[string]any), result.data["artifact"].(map[string]any)
	if preview["completeness"] != "INCOMPLETE" || preview["returned"] != 5.0 || preview["total"] != float64(wholeRows) || fmt.Sprint(preview["bounded_by"]) != "[preview_limit]" {
		t.Errorf("preview %v", preview)
	}
	if stored["decision"] != "CREATED" || stored["coverage"] != "COMPLETE" || stored["rows"] != float64(wholeRows) || stored["format"] != "jsonl" {
		t.Errorf("artifact %v", stored)
	}

	// What the model reads: five rows and the pointer, then page after page from the first row on, then the end.
	texts := []string{}
	for _, m := range script.server.Requests()[5].Messages {
		if m.Role == "tool" {
			texts = append(texts, string(m.Content))
		}
	}
	if len(texts) != 5 {
		t.Fatalf("%d results reached the model", len(texts))
	}
	if !strings.Contains(texts[0], wholeRow(5)) || strings.Contains(texts[0], wholeRow(6)) || !strings.Contains(texts[0], "Stored: 100000 rows") {
		t.Errorf("the model reads %s", texts[0])
	}
	n := 0
	for i, text := range texts[1:4] {
		from := n
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, `["`) && !strings.HasPrefix(line, `["z"`) {
				if n++; strings.TrimSpace(line) != wholeRow(n) {
					t.Fatalf("page %d, row %d is %s", i+1, n, line)
				}
			}
		}
		if n == from || i == 2 && n != from+3 || !strings.Contains(text, fmt.Sprintf("Rows %d to %d of 100000.", from+1, n)) || len([]rune(text)) > 4000 {
			t.Errorf("page %d: %s", i+1, text)
		}
	}
	if !strings.Contains(texts[4], "[99999,9007199254790991,\"\"]\n[100000,9007199254790992,null]") {
		t.Errorf("the last rows: %s", texts[4])
	}

	artifact := p.url + "/api/v1/artifacts/" + stored["id"].(string)
	readPages(t, artifact)
	download(t, artifact, "csv", "\uFEFFz,big,ratio,note,at,a,a__1\r\n", "\r\n", func(n int) string {
		c := wholeCells(n)
		return strings.Join([]string{fmt.Sprintf(`"Zeile, ""№ %d"" 😀"`, n), c[1], c[2], strings.TrimPrefix(c[3], "null"), strings.Trim(c[4], `"`), c[5], c[6]}, ",")
	})
	download(t, artifact, "jsonl", "", "\n", func(n int) string {
		c := wholeCells(n)
		return fmt.Sprintf(`{"z":%s,"big":%s,"ratio":%s,"note":%s,"at":%s,"a":%s,"a__1":%s}`, c[0], c[1], c[2], c[3], c[4], c[5], c[6])
	})
}

func get(t *testing.T, url string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d", url, resp.StatusCode)
	}
	return resp
}

// readPages reads a stored result page by page, as the page does.
func readPages(t *testing.T, artifact string) {
	t.Helper()
	n, cursor := 0, ""
	for {
		body, err := io.ReadAll(get(t, artifact+"?limit=1000&cursor="+url.QueryEscape(cursor)).Body)
		if err != nil {
			t.Fatal(err)
		}
		var page struct {
			Columns []struct{ Name, Type string }
			Rows    []json.RawMessage
			Total   int
			Next    string `json:"next_cursor"`
			EOF     bool
		}
		if err := json.Unmarshal(body, &page); err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for _, c := range page.Columns {
			names = append(names, c.Name+" "+c.Type)
		}
		if strings.Join(names, ", ") != wholeColumns || page.Total != wholeRows || len(page.Rows) == 0 {
			t.Fatalf("after %d rows: columns %v, total %d, %d rows", n, names, page.Total, len(page.Rows))
		}
		for _, r := range page.Rows {
			if n++; string(r) != wholeRow(n) {
				t.Fatalf("row %d is %s, want %s", n, r, wholeRow(n))
			}
		}
		if page.EOF {
			break
		}
		cursor = page.Next
	}
	if n != wholeRows {
		t.Errorf("the pages have %d rows", n)
	}
}

// download compares a download line by line.
func download(t *testing.T, artifact, format, head, end string, line func(n int) string) {
	t.Helper()
	r := bufio.NewReader(get(t, artifact+"/download?format="+format).Body)
	got := make([]byte, len(head))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != head {
		t.Fatalf("%s begins with %q: %v", format, got, err)
	}
	for n := 1; n <= wholeRows; n++ {
		got, err := r.ReadBytes('\n')
		if want := line(n) + end; err != nil || !bytes.Equal(got, []byte(want)) {
			t.Fatalf("%s, row %d is %q, want %q: %v", format, n, got, want, err)
		}
	}
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("%s ends with %q, %v", format, rest, err)
	}
}

// TestWholeResultIsStopped: a run that is stopped while the rows come leaves nothing of them, and Superset is told.
func TestWholeResultIsStopped(t *testing.T) {
	args, err := json.Marshal(map[string]any{"database_id": 1, "sql": wholeSQL, "whole": true, "timeout_s": 60})
	if err != nil {
		t.Fatal(err)
	}
	script := scripted(t, `{"rounds": [{"calls": [{"id": "c", "name": "run_sql", "args": `+string(args)+`}]}]}`)
	dir := t.TempDir()
	p := startIn(t, dir, []string{"TMPDIR=" + dir}, append([]string{"demo", "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(dir, "data")}, script.flags()...)...)
	const execute = "/api/v1/sqllab/execute/"
	p.fail("dev", map[string]any{"path": execute, "fault": map[string]any{"trickle_bytes_per_s": 20 << 20}}) // half a second
	c := p.conversation()
	run := p.must(202, "POST", "/conversations/"+c+"/messages", map[string]any{"message": "All rows, please", "env_id": "ss-dev"})["run_id"].(string)
	for answered := false; !answered; { // then its rows are on the way
		_, out := request(t, "GET", p.mocks["dev"]+"/_mock/calls?path="+execute, nil)
		answered = strings.Contains(fmt.Sprint(out), "status:200")
	}
	p.must(204, "POST", "/conversations/"+c+"/cancel", map[string]any{})
	es := p.stream(c, 0).until(run)
	if got := summary(es); !strings.HasPrefix(got, "tool_start tool_error:") || !strings.HasSuffix(got, "finished:cancelled") {
		t.Errorf("events %s", got)
	}
	for p.count("dev", "path=/api/v1/query/stop") == 0 {
	}
	for _, folder := range []string{dir, filepath.Join(dir, "data", "artifacts")} {
		list, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			if !f.IsDir() {
				t.Errorf("%s is left in %s", f.Name(), folder)
			}
		}
	}
	script.complete()
}
