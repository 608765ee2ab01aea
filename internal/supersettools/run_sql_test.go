package supersettools_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"agentd/internal/fault"
	"agentd/internal/mocksuperset"
	"agentd/internal/tool"
)

func TestSQLReal(t *testing.T) { sqlSuite(t, real(t)) }

func TestSQL(t *testing.T) {
	_, base := mock(t)
	sqlSuite(t, base)
}

// sqlSuite is what a real Superset and the mock both pass.
func sqlSuite(t *testing.T, base string) {
	b := newBench(t, base, "sql_user")
	if w := b.mustBind("run_sql", `{"database_id":1,"sql":"SELECT 1"}`); w.Risk != tool.Query {
		t.Errorf("risk %s", w.Risk)
	}
	rows := []struct {
		name, args string
		n          int
		bounded    bool
		first      string
	}{
		{"one", `{"database_id":1,"sql":"SELECT 1 AS one, 'x' AS x, NULL AS n"}`, 1, false, `[1,"x",null]`},
		{"comment and semicolon", `{"database_id":1,"sql":"SELECT 1 AS one -- hello\n;"}`, 1, false, `[1]`},
		{"big integers", `{"database_id":1,"sql":"SELECT 9007199254740993 AS big UNION ALL SELECT NULL"}`, 2, false, `[9007199254740993]`},
		{"limit", `{"database_id":1,"schema":"main","sql":"SELECT sku FROM products ORDER BY sku","limit":2}`, 2, true, `["SKU-00001"]`},
		{"at the limit", `{"database_id":1,"sql":"SELECT 1 AS a UNION ALL SELECT 2","limit":2}`, 2, false, `[1]`},
		{"whole", `{"database_id":1,"sql":"SELECT sku FROM products","whole":true}`, 80, false, ""},
		{"nothing", `{"database_id":1,"sql":"SELECT * FROM empty_events"}`, 0, false, ""},
	}
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			b := &bench{t: t, set: b.set, user: b.user}
			r := b.mustRun("run_sql", tt.args)
			if len(r.Rows.Rows) != tt.n || r.Bounded != tt.bounded || (r.Total == nil) != tt.bounded || len(r.Warnings) != 0 {
				t.Errorf("%d rows, bounded %v, total %v, %v", len(r.Rows.Rows), r.Bounded, deref(r.Total), r.Warnings)
			}
			if tt.first != "" && string(r.Rows.Rows[0]) != tt.first {
				t.Errorf("first row %s, want %s", r.Rows.Rows[0], tt.first)
			}
		})
	}
	refused := []struct {
		name, user, args string
		kind             fault.Kind
	}{
		{"writes", "sql_user", `{"database_id":1,"sql":"DELETE FROM products"}`, fault.Invalid},
		{"two", "sql_user", `{"database_id":1,"sql":"SELECT 1; SELECT 2"}`, fault.Invalid},
		{"into", "sql_user", `{"database_id":1,"sql":"SELECT 1 AS a INTO t"}`, fault.Invalid},
		{"no such column", "sql_user", `{"database_id":1,"sql":"SELECT zzz FROM products"}`, fault.Invalid},
		{"a hidden database", "sql_user", `{"database_id":2,"sql":"SELECT 1"}`, fault.Invalid},
		{"no right", "alpha", `{"database_id":1,"sql":"SELECT 1"}`, fault.Denied},
	}
	for _, tt := range refused {
		t.Run(tt.name, func(t *testing.T) {
			_, err := newBench(t, base, tt.user).run("run_sql", tt.args)
			if fault.KindOf(err) != tt.kind {
				t.Errorf("got %v", err)
			}
		})
	}
}

// What the guard refuses never reaches Superset.
func TestRefusedSQLIsNotSent(t *testing.T) {
	m, base := mock(t)
	b := newBench(t, base, "sql_user")
	for _, sql := range []string{"DROP TABLE products", "SELECT 1; DROP TABLE products", "PRAGMA user_version = 1", "ATTACH 'x' AS y", "REPLACE INTO t VALUES (1)"} {
		w := b.mustBind("run_sql", `{"database_id":1,"sql":"`+sql+`"}`)
		if _, err := w.Preview(t.Context()); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", sql, err)
		}
		if _, err := w.Run(t.Context()); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if n := m.Received("", "/api/v1/sqllab/*"); n != 0 {
		t.Errorf("%d statements were sent", n)
	}
}

// A statement that takes too long is stopped, and is no unknown outcome.
func TestSlowSQLIsStopped(t *testing.T) {
	m, base := mock(t)
	m.Fail(mocksuperset.Fault{Method: "POST", Path: "/api/v1/sqllab/execute/", Hang: true})
	b := newBench(t, base, "sql_user")
	begin := time.Now()
	_, err := b.run("run_sql", `{"database_id":1,"sql":"SELECT 1","timeout_s":1}`)
	if fault.KindOf(err) != fault.Timeout || !strings.Contains(fault.Message(err), "query") {
		t.Errorf("after %s: %v", time.Since(begin), err)
	}
	paths := []string{}
	for _, c := range m.Calls() {
		paths = append(paths, c.Path)
	}
	if !slices.Contains(paths, "/api/v1/query/stop") {
		t.Errorf("nobody was told to stop: %v", paths)
	}
}
