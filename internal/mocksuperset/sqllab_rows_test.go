package mocksuperset_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"agentd/internal/mocksuperset"
)

// A large answer comes as the real one's: its members in their order, each row an object in the order of the columns.
func TestManyRowsOfSQLLab(t *testing.T) {
	m, base := serve(t, mocksuperset.Options{Name: "dev", DisplayMaxRow: 100_000})
	s := login(t, base, "sql_user")
	const n = 20_000
	body := fmt.Sprintf(`{"database_id":1,"queryLimit":%d,"sql":"WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < %d) SELECT 'ё😀' || n AS z, 9007199254740000 + n AS big, n / 8.0 AS f FROM c"}`, n, n)
	ask := func() ([]byte, error) {
		req, err := http.NewRequestWithContext(t.Context(), "POST", base+"/api/v1/sqllab/execute/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {"application/json"}, "X-Csrftoken": {s.csrf}, "Authorization": {"Bearer " + s.token}}
		res, err := s.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return io.ReadAll(res.Body)
	}
	got, err := ask()
	if err != nil {
		t.Fatal(err)
	}
	order := regexp.MustCompile(`^\{"query_id":\d+,"status":"success","data":\[\{"z":"\\u0451\\ud83d\\ude001","big":9007199254740001,"f":0\.125\},` +
		`[\s\S]*,\{"z":"\\u0451\\ud83d\\ude0020000","big":"9007199254760000","f":2500\.0\}\],"columns":\[\{[^\]]*"column_name":"z"[^\]]*\],"selected_columns":\[[^\]]*\],"expanded_columns":\[\],"query":\{`)
	if !order.Match(got) || bytes.Count(got, []byte(`{"z":`)) != n {
		t.Errorf("%d rows: %.300s … %s", bytes.Count(got, []byte(`{"z":`)), got, got[max(0, len(got)-1500):])
	}
	m.Fail(mocksuperset.Fault{Path: "/api/v1/sqllab/execute/", CutAfter: 1 << 20})
	if part, err := ask(); err == nil || len(part) != 1<<20 {
		t.Errorf("an answer that is cut: %d bytes, %v", len(part), err)
	}
}

// What a Superset shows of 20,000 rows, as 6.1.0 was seen to do: 10,000, and the number of all; the rest stands in the
// results backend, for who asked and for admins.
func TestDisplayMaxRow(t *testing.T) {
	_, base := serve(t, mocksuperset.Options{ResultsBackend: true})
	s := login(t, base, "sql_user")
	query := map[string]any{"database_id": 1, "sql": "WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 20000) SELECT n FROM c"}
	_, body := s.must("POST", "/api/v1/sqllab/execute/", query)
	told, _ := body["query"].(map[string]any)
	if rows := body["data"].([]any); len(rows) != 10_000 || body["displayLimitReached"] != true || told["rows"] != float64(20_000) || told["limitingFactor"] != "NOT_LIMITED" {
		t.Errorf("%d rows, limit reached %v, %v", len(rows), body["displayLimitReached"], told)
	}
	for _, c := range []struct {
		user, q string
		status  int
		rows    int
	}{
		{"sql_user", fmt.Sprintf("(key:'%v')", told["resultsKey"]), 200, 20_000},
		{"sql_user", fmt.Sprintf("(key:'%v',rows:3)", told["resultsKey"]), 200, 3},
		{"admin", fmt.Sprintf("(key:'%v')", told["resultsKey"]), 200, 20_000},
		{"sql_user", "(key:'nothing')", 404, 0},
		{"sql_user", "()", 400, 0},
	} {
		status, body := login(t, base, c.user).must("GET", "/api/v1/sqllab/results/?q="+c.q, nil)
		if rows, _ := body["data"].([]any); status != c.status || len(rows) != c.rows {
			t.Errorf("%s %s: %d, %d rows", c.user, c.q, status, len(rows))
		}
	}
	query["sql"] = "SELECT 1 AS n"
	if _, body := s.must("POST", "/api/v1/sqllab/execute/", query); body["displayLimitReached"] != nil {
		t.Errorf("of one row: %v", body)
	}
}
