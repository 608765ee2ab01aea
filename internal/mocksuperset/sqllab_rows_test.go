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
	m, base := serve(t, mocksuperset.Options{Name: "dev"})
	s := login(t, base, "sql_user")
	const n = 100_000
	body := fmt.Sprintf(`{"database_id":1,"queryLimit":%d,"sql":"WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < %d) SELECT 'x' || n AS z, 9007199254740000 + n AS big, n / 8.0 AS f FROM c"}`, n, n)
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
	order := regexp.MustCompile(`^\{"query_id":\d+,"status":"success","data":\[\{"z":"x1","big":9007199254740001,"f":0\.125\},` +
		`[\s\S]*,\{"z":"x100000","big":"9007199254840000","f":12500\.0\}\],"columns":\[\{[^\]]*"column_name":"z"[^\]]*\],"selected_columns":\[[^\]]*\],"expanded_columns":\[\],"query":\{`)
	if !order.Match(got) || bytes.Count(got, []byte(`{"z":`)) != n {
		t.Errorf("%d rows: %.300s … %s", bytes.Count(got, []byte(`{"z":`)), got, got[max(0, len(got)-1500):])
	}
	m.Fail(mocksuperset.Fault{Path: "/api/v1/sqllab/execute/", CutAfter: 1 << 20})
	if part, err := ask(); err == nil || len(part) != 1<<20 {
		t.Errorf("an answer that is cut: %d bytes, %v", len(part), err)
	}
}
