package supersettools_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/mocksuperset"
	"agentd/internal/superset"
	"agentd/internal/supersettools"
	"agentd/internal/tool"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func TestSQLReal(t *testing.T) { sqlSuite(t, real(t), 100_000, 100_001) }

func TestSQL(t *testing.T) {
	_, base := mock(t)
	sqlSuite(t, base, 20_000) // cmd/agentd asks a mock for 100,000
}

// sqlSuite is what a real Superset and the mock both pass.
func sqlSuite(t *testing.T, base string, many ...int) {
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
			defer r.Close()
			if len(r.Rows.Rows) != tt.n || r.Rows.Stream != nil || r.Bounded != tt.bounded || (r.Total == nil) != tt.bounded || len(r.Warnings) != 0 {
				t.Errorf("%d rows, bounded %v, total %v, %v", len(r.Rows.Rows), r.Bounded, deref(r.Total), r.Warnings)
			}
			if tt.first != "" && string(r.Rows.Rows[0]) != tt.first {
				t.Errorf("first row %s, want %s", r.Rows.Rows[0], tt.first)
			}
		})
	}
	t.Run("many rows", func(t *testing.T) { t.Logf("this Superset gives %d rows of them", wholeSQL(t, b, many...)) })
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

// series is a statement of n rows in which everything is that could get lost on the way.
func series(n int) string {
	return fmt.Sprintf("WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < %d) SELECT 'строка ' || n AS z, 9007199254690992 + n AS big, n / 8.0 AS ratio, "+
		"CASE WHEN n / 2 * 2 = n THEN NULL ELSE '' END AS note, '2026-03-31 23:59:59.123456' AS at, n AS a, -n AS a FROM c", n)
}

// seriesRow is a row of it.
func seriesRow(n int) string {
	note, ratio := `""`, strconv.FormatFloat(float64(n)/8, 'f', -1, 64)
	if n%2 == 0 {
		note = "null"
	}
	if n%8 == 0 {
		ratio += ".0"
	}
	return fmt.Sprintf(`["строка %d",%d,%s,%s,"2026-03-31 23:59:59.123456",%d,%d]`, n, 9007199254690992+n, ratio, note, n, -n)
}

// wholeSQL reads a large result through its stream. Half of its integers are beyond 2^53. It returns how many rows this
// Superset gives at most.
func wholeSQL(t *testing.T, b *bench, rowCounts ...int) (most int) {
	const limit = 100_000
	for _, rows := range rowCounts {
		b := &bench{t: t, set: b.set, user: b.user}
		r := b.mustRun("run_sql", fmt.Sprintf(`{"database_id":1,"whole":true,"timeout_s":60,"sql":%q}`, series(rows)))
		defer r.Close()
		each := func(yield func(json.RawMessage) error) error {
			for _, row := range r.Rows.Rows {
				if err := yield(row); err != nil {
					return err
				}
			}
			return nil
		}
		most = len(r.Rows.Rows)
		if s := r.Rows.Stream; s != nil {
			each, most = s.Each, int(s.Count)
		}
		total, warnings := ptr(int64(rows)), 0
		if rows > limit {
			total = nil
		}
		if most < min(rows, limit) { // DISPLAY_MAX_ROW
			warnings = 1
		}
		if diff := cmp.Diff(total, r.Total); diff != "" || !r.Keep || r.Bounded != (rows > most) || len(r.Warnings) != warnings {
			t.Errorf("%d of %d rows: bounded %v, %v, total (-want +got):\n%s", most, rows, r.Bounded, r.Warnings, diff)
		}
		names := []string{}
		for _, c := range r.Rows.Columns {
			names = append(names, c.Name+" "+c.Type)
		}
		if want := "z STRING, big INT, ratio FLOAT, note STRING, at STRING, a INT, a__1 INT"; strings.Join(names, ", ") != want {
			t.Errorf("columns %v", names)
		}
		n := 0
		err := each(func(row json.RawMessage) error {
			n++
			if got, want := plain(t, row), seriesRow(n); got != want {
				return fmt.Errorf("row %d is %s, want %s", n, got, want)
			}
			return nil
		})
		if err != nil || n != most {
			t.Errorf("%d of %d rows: %v", n, most, err)
		}
		if plain(t, r.Rows.Rows[4]) != seriesRow(5) {
			t.Errorf("the fifth row held is %s", r.Rows.Rows[4])
		}
	}
	return most
}

func ptr(n int64) *int64 { return &n }

// A Superset shows 10,000 rows unless it is configured otherwise; one with a results backend gives all of them there.
func TestWholeSQL(t *testing.T) {
	for name, tt := range map[string]struct {
		o    mocksuperset.Options
		rows int
		most int
	}{
		"as Superset is":            {mocksuperset.Options{}, 20_000, 10_000},
		"DISPLAY_MAX_ROW is raised": {mocksuperset.Options{DisplayMaxRow: 100_000}, 20_000, 20_000},
		"RESULTS_BACKEND is set":    {mocksuperset.Options{ResultsBackend: true}, 20_000, 20_000},
	} {
		t.Run(name, func(t *testing.T) {
			m := mocksuperset.New(tt.o)
			srv := httptest.NewServer(m)
			t.Cleanup(func() { m.Close(); srv.Close() })
			if most := wholeSQL(t, newBench(t, srv.URL, "sql_user"), tt.rows); most != tt.most {
				t.Errorf("%d rows, want %d", most, tt.most)
			}
		})
	}
}

// Where the rows cannot be had from the results backend, those of the answer stand.
func TestWholeSQLWithoutItsResults(t *testing.T) {
	for name, fault := range map[string]mocksuperset.Fault{
		"gone": {Status: 410}, "a page": {Status: 200, Body: "<html>"}, "cut": {CutAfter: 1 << 20},
		"another's": {Status: 200, Body: map[string]any{"status": "success", "data": []any{}, "columns": []any{}, "query": map[string]any{"id": "x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			m := mocksuperset.New(mocksuperset.Options{ResultsBackend: true})
			srv := httptest.NewServer(m)
			t.Cleanup(func() { m.Close(); srv.Close() })
			fault.Path, fault.Times = "/api/v1/sqllab/results/", -1
			m.Fail(fault)
			if most := wholeSQL(t, newBench(t, srv.URL, "sql_user"), 20_000); most != 10_000 {
				t.Errorf("%d rows", most)
			}
		})
	}
}

// plain is JSON with letters instead of their escapes. Numbers stay as they are.
func plain(t *testing.T, row json.RawMessage) string {
	v := jsontext.Value(slices.Clone(row))
	if err := v.Format(); err != nil {
		t.Fatal(err)
	}
	return string(v)
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

// The caps of a stored result bound what is read: rows by the limit that Superset is given, bytes by what is kept.
func TestCapsOfSQL(t *testing.T) {
	_, base := mock(t)
	for _, tt := range []struct {
		name    string
		caps    superset.SQLCaps
		bound   string
		kept    int
		total   *int64
		summary string
	}{
		{"none", superset.SQLCaps{}, "", 80, ptr(80), "80 rows from"},
		{"rows, one less", superset.SQLCaps{Rows: 79}, "", 79, nil, "The first 79 rows from"},
		{"rows, as many", superset.SQLCaps{Rows: 80}, "", 80, ptr(80), "80 rows from"},
		{"bytes", superset.SQLCaps{Bytes: 100}, chat.BoundBySize, 7, ptr(80), "80 rows from"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, base, "sql_user")
			envs, err := supersettools.NewEnvironments(supersettools.Environment{ID: "dev", Class: "dev", Client: b.client})
			if err != nil {
				t.Fatal(err)
			}
			if b.set, err = tool.NewSet(supersettools.New(supersettools.Deps{Environments: envs, Rows: tt.caps})...); err != nil {
				t.Fatal(err)
			}
			r := b.mustRun("run_sql", `{"database_id":1,"sql":"SELECT sku FROM products","whole":true}`)
			defer r.Close()
			bound, kept := "", len(r.Rows.Rows)
			if s := r.Rows.Stream; s != nil {
				bound, kept = s.Bound, 0
				if err := s.Each(func(json.RawMessage) error { kept++; return nil }); err != nil || s.Count != 80 {
					t.Errorf("%d rows, %v", s.Count, err)
				}
			}
			if bound != tt.bound || kept != tt.kept || r.Bounded != (tt.total == nil) || !strings.HasPrefix(r.Summary, tt.summary) {
				t.Errorf("bound %q, %d rows kept, bounded %v, %s", bound, kept, r.Bounded, r.Summary)
			}
			if diff := cmp.Diff(tt.total, r.Total); diff != "" {
				t.Errorf("total (-want +got):\n%s", diff)
			}
		})
	}
}
