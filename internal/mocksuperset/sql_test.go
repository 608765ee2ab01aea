package mocksuperset_test

import (
	"fmt"
	"testing"

	"agentd/internal/mocksuperset"
)

// What the parser of a real Superset 6.1.0 said to SQL that is wrong, and what it left to SQLite.
func TestSQLThatIsWrong(t *testing.T) {
	_, base := serve(t, mocksuperset.Options{Name: "prod"})
	s := login(t, base, "admin")
	for _, c := range []struct {
		sql    string
		status int
		text   string
	}{
		{"SELECT * FROM", 422, "Error parsing near 'FROM' at line 1:13"},
		{"SELECT a b c FROM products", 422, "Error parsing near 'c' at line 1:12"},
		{"SELECT (1", 422, "Error parsing near '1' at line 1:9"},
		{"SELECT 1\n\n)", 422, "Error parsing near ')' at line 3:1"},
		{"SELECT * FORM products", 422, "Error parsing near 'products' at line 1:22"},
		{"SELECT * FROM products ORDER BY", 422, "Error parsing near 'ORDER BY' at line 1:31"},
		{"SELECT 1;SELECT (", 422, "Error parsing near '(' at line 1:17"},
		{"SELEC * FROM products", 422, "Error parsing near 'FROM' at line 1:12"},
		{"SELECT FROM products", 500, `sqlite error: near "FROM": syntax error`},
		{"SELECT * FROM products GROUP BY", 500, `sqlite error: near "LIMIT": syntax error`},
		{"FOO bar", 500, `sqlite error: near "FOO": syntax error`},
		{"SELECT nope FROM products", 500, `We can't seem to resolve the column "nope"`},
	} {
		status, body := s.must("POST", "/api/v1/sqllab/execute/", map[string]any{"database_id": 1, "sql": c.sql})
		list, _ := body["errors"].([]any)
		if status != c.status || len(list) == 0 || list[0].(map[string]any)["message"] != c.text {
			t.Errorf("%q: %d %v, want %d %q", c.sql, status, body, c.status, c.text)
		}
	}
}

func TestColumnNamesOfSQLLab(t *testing.T) {
	_, base := serve(t, mocksuperset.Options{Name: "prod"})
	s := login(t, base, "admin")
	_, body := s.must("POST", "/api/v1/sqllab/execute/", map[string]any{"database_id": 1,
		"sql": "select substr(name,1,2), +2, !1, cast(1 as text) from products limit 1"})
	want := []string{"SUBSTRING(name, 1, 2)", "2", "NOT 1", "CAST(1 AS TEXT)"}
	columns, _ := body["columns"].([]any)
	if len(columns) != len(want) {
		t.Fatalf("got %v", body)
	}
	for i, c := range columns {
		if name := c.(map[string]any)["name"]; name != want[i] {
			t.Errorf("column %d is %q, want %q", i, name, want[i])
		}
	}
}

// A layout that is no tree from ROOT_ID down is stored, and then stands in the way of every later PUT.
func TestBrokenLayout(t *testing.T) {
	_, base := serve(t, mocksuperset.Options{Name: "dev"})
	s := login(t, base, "admin")
	status, body := s.must("POST", "/api/v1/dashboard/", map[string]any{"dashboard_title": "layout"})
	if status != 201 {
		t.Fatalf("%d %v", status, body)
	}
	path := fmt.Sprintf("/api/v1/dashboard/%v", body["id"])
	if status, body := s.must("PUT", path, map[string]any{"position_json": `{"DASHBOARD_VERSION_KEY":"v2"}`}); status != 200 {
		t.Fatalf("%d %v", status, body)
	}
	if status, _ := s.must("PUT", path, map[string]any{"css": "a{}"}); status != 500 {
		t.Errorf("PUT gives %d", status)
	}
	if status, _ := s.must("GET", path+"/tabs", nil); status != 500 {
		t.Errorf("GET tabs gives %d", status)
	}
}

func TestDatasetIsOneQuery(t *testing.T) {
	_, base := serve(t, mocksuperset.Options{Name: "dev"})
	s := login(t, base, "admin")
	for sql, want := range map[string]int{"SELECT 1 AS n": 201, "SELECT 1; SELECT 2": 500, "DELETE FROM products": 500, "VALUES (1)": 500} {
		status, body := s.must("POST", "/api/v1/dataset/", map[string]any{"database": 1, "table_name": "q " + sql, "sql": sql})
		if status != want {
			t.Errorf("%q: %d %v, want %d", sql, status, body, want)
		}
	}
}
