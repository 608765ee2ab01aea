package sqlguard_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"agentd/internal/sqlguard"
)

type sqlCase struct{ Dialect, SQL, Want, Why string }

// cases are those that were gathered for the dialects, each with its reason.
func cases(t testing.TB) []sqlCase {
	t.Helper()
	f, err := os.Open("testdata/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []sqlCase
	for s := bufio.NewScanner(f); s.Scan(); {
		var c sqlCase
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	if len(out) < 170 {
		t.Fatalf("%d cases", len(out))
	}
	return out
}

func TestCases(t *testing.T) {
	for _, c := range cases(t) {
		v := sqlguard.Judge(c.Dialect, c.SQL, sqlguard.Options{})
		if v.Allow != (c.Want == "allow") {
			t.Errorf("%s: %q (%s): got %+v, want %s", c.Dialect, c.SQL, c.Why, v, c.Want)
		}
		if v.Allow == (v.Rule != "") || v.Allow == (v.Reason != "") || v.Allow != (v.SQL != "") {
			t.Errorf("%s: %q: a verdict that contradicts itself: %+v", c.Dialect, c.SQL, v)
		}
	}
}

// TestTraps are those of the dialects' manuals that the cases do not have.
func TestTraps(t *testing.T) {
	for _, c := range []struct {
		dialect, sql string
		rule         string // "": allowed
	}{
		{"postgresql", "SELECT 1\x00; DROP TABLE t", "control_character"},
		{"postgresql", "SELECT 1 AS as INTO t", "into"},
		{"postgresql", "SELECT t.as FROM t FOR UPDATE", "row_lock"},
		{"postgresql", "SELECT pg_sleep/**/(1)", "function"},
		{"postgresql", "SELECT t.*INTO x FROM t", "into"},
		{"postgresql", "EXPLAIN ANALYZE CREATE TABLE x AS SELECT 1", "no_query"},
		{"postgresql", "EXPLAIN (ANALYZE, FORMAT json) SELECT 1", ""},
		{"postgresql", "SELECT “a”", "character"},
		{"postgresql", "SELECT a\u00a0FROM t", "character"},
		{"postgresql", "SELECT 'a\u202eb'", "control_character"},
		{"postgresql", "TABLE orders", ""},
		{"postgresql", "WITH d AS (SELECT 1) DELETE FROM t", "statement_word"},
		{"postgresql", "SELECT update, delete, a FROM t", ""},
		{"postgres", "SELECT 1;;", ""},
		{"mysql", "DESC ANALYZE DELETE FROM t", "describe"},
		{"mysql", "DESC SELECT * FROM t LOCK IN SHARE MODE", "row_lock"},
		{"mysql", "DESCRIBE SELECT a FROM t FOR UPDATE", "describe"},
		{"mysql", "DESC orders", ""},
		{"mysql", "EXPLAIN FORMAT=JSON INTO @v SELECT 1", "no_query"},
		{"mysql", "SELECT /*+ SET_VAR(sort_buffer_size=1) */ 1", "comment"},
		{"mysql", "SELECT /*+ MAX_EXECUTION_TIME(100) */ 1", ""},
		{"mysql", "SELECT ſleep(9)", "function"},
		{"mariadb", "SHOW TABLES", ""},
		{"mysql", "SELECT * FROM t PROCEDURE ANALYSE()", "procedure"},
		{"bigquery", "FROM t |> WHERE a > 1 |> AGGREGATE count(*) GROUP BY b", ""},
		{"bigquery", "FROM t |> EXPORT DATA OPTIONS(uri='x')", "pipe"},
		{"bigquery", "SELECT '''it's''', \"\"\"x\"\"\" FROM t", ""},
		{"snowflake", "SELECT * FROM TABLE(proc())", "table_function"},
		{"snowflake", "SELECT * FROM TABLE(FLATTEN(input => a))", ""},
		{"snowflake", "SELECT 1 // a comment", ""},
		{"snowflake", "SELECT * FROM '@stage/x'", "file"},
		{"clickhouse", "SELECT `sl\\x65ep`(3)", "function"},
		{"clickhouse", "SELECT * FROM numbers(10) SETTINGS max_threads = 2", ""},
		{"clickhouse", "SELECT * FROM (SELECT * FROM file('x'))", "table_function"},
		{"trino", "WITH FUNCTION f() RETURNS int RETURN 1 SELECT f()", "with_function"},
		{"presto", "WITH SESSION x = 1 SELECT 1", "with_function"},
		{"mssql", "SELECT 1 SELECT 2", "second_statement"},
		{"mssql", "WITH c AS (SELECT 1 AS a) SELECT a FROM c", ""},
		{"mssql", "SELECT 1 EXEC xp_cmdshell 'dir'", "statement_word"},
		{"mssql", "SELECT [a]]b] FROM [t]", ""},
		{"sqlite", "WITH x AS (SELECT 1) UPDATE OR REPLACE t SET a = 1", "statement_word"},
		{"sqlite", "PRAGMA user_version(7)", "pragma"},
		{"sqlite", "PRAGMA table_info('t')", ""},
		{"sqlite", "SELECT 1 /* open", "comment"},
		{"sqlite", "VACUUM INTO 'x'", "first_word"},
		{"duckdb", "SELECT * FROM a : 'x.csv'", "file"},
		{"duckdb", "SELECT * FROM ('a' JOIN 'b')", "file"},
		{"duckdb", "SUMMARIZE 'https://x'", "no_query"},
		{"duckdb", "SELECT getenv('HOME')", "function"},
		{"duckdb", "UNPIVOT t ON a, b INTO NAME n VALUE v", ""},
		{"databricks", "FROM t INSERT OVERWRITE TABLE x SELECT *", "statement_word"},
		{"hive", "SELECT TRANSFORM(a) USING 'cat' FROM t", "script"},
		{"databricks", "SELECT * FROM csv.`/path`", "file"},
		{"oracle", "SELECT dbms_random.value FROM dual", "function"},
		{"oracle", "SELECT * FROM t@link", "at_sign"},
		{"oracle", "SELECT q'[it's]' FROM dual", ""},
		{"oracle", "EXPLAIN PLAN FOR SELECT 1 FROM dual", "first_word"},
		{"druid", "SELECT * FROM TABLE(EXTERN('x'))", "function"},
		{"druid", "SET x = 1; SELECT 1", "second_statement"},
		{"pinot", "SELECT groovy('x') FROM t", "function"},
		{"", "SELECT 1", "dialect"},
		{"teradata", "SELECT 1", "dialect"},
		{"postgresql", " \n ", "empty"},
		{"postgresql", ";", "empty"},
		{"postgresql", "SELECT 1)", "brackets"},
		{"postgresql", "SELECT \"\"", "empty_name"},
		{"mysql", "SELECT ``", "empty_name"},
	} {
		v := sqlguard.Judge(c.dialect, c.sql, sqlguard.Options{})
		if v.Allow != (c.rule == "") || v.Rule != c.rule {
			t.Errorf("%s: %q: got %+v, want rule %q", c.dialect, c.sql, v, c.rule)
		}
	}
}

func TestLimits(t *testing.T) {
	text := func(n int) string { return "SELECT " + strings.Repeat(" ", n-8) + "1" }
	for n, want := range map[int]string{sqlguard.MaxBytes - 1: "", sqlguard.MaxBytes: "", sqlguard.MaxBytes + 1: "length"} {
		if v := sqlguard.Judge("sqlite", text(n), sqlguard.Options{}); v.Rule != want {
			t.Errorf("%d bytes: %+v", n, v)
		}
	}
	deep := func(n int) string { return "SELECT " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) }
	for n, want := range map[int]string{sqlguard.MaxDepth - 1: "", sqlguard.MaxDepth: "", sqlguard.MaxDepth + 1: "depth"} {
		if v := sqlguard.Judge("sqlite", deep(n), sqlguard.Options{}); v.Rule != want {
			t.Errorf("%d brackets: %s", n, v.Reason)
		}
	}
}

func TestOperatorsLists(t *testing.T) {
	o := sqlguard.Options{DenyFunctions: []string{"My_Func", "sum"}, AllowFunctions: []string{"pg_sleep", "READ_CSV"}}
	for _, c := range []struct {
		dialect, sql string
		allow        bool
	}{
		{"postgresql", "SELECT my_func(1)", false}, {"postgresql", "SELECT s.\"MY_FUNC\"(1)", false}, {"postgresql", "SELECT SUM(a) FROM t", false},
		{"postgresql", "SELECT my_func FROM t", true}, {"postgresql", "SELECT pg_sleep(1)", true}, {"postgresql", "SELECT pg_sleep_for('1s')", false},
		{"duckdb", "SELECT * FROM read_csv('x')", true}, {"duckdb", "SELECT * FROM read_text('x')", false},
	} {
		if v := sqlguard.Judge(c.dialect, c.sql, o); v.Allow != c.allow {
			t.Errorf("%s: got %+v, want %t", c.sql, v, c.allow)
		}
	}
}

func TestTheTextThatIsSent(t *testing.T) {
	for _, c := range []struct{ dialect, sql, want string }{
		{"postgresql", "  SELECT a -- why\n  , b /* x */FROM t ; -- end", "SELECT a\n, b FROM t"},
		{"postgresql", "SELECT 'a'\n  'b'", "SELECT 'a'\n'b'"},
		{"postgresql", "SELECT a->>'x', $$--$$ FROM t", "SELECT a->>'x', $$--$$ FROM t"},
		{"mysql", "SELECT 1 # x\n", "SELECT 1"},
		{"oracle", "SELECT  q'[it's]' FROM dual;", "SELECT q'[it's]' FROM dual"},
		{"mysql", "SELECT a--\tb\n FROM t", "SELECT a\nFROM t"},
	} {
		v := sqlguard.Judge(c.dialect, c.sql, sqlguard.Options{})
		if v.SQL != c.want {
			t.Errorf("%q: got %q, want %q", c.sql, v.SQL, c.want)
		}
		if again := sqlguard.Judge(c.dialect, v.SQL, sqlguard.Options{}); again != v {
			t.Errorf("%q: judged again it is %+v", v.SQL, again)
		}
	}
}

var all = []string{"postgresql", "redshift", "mysql", "bigquery", "snowflake", "clickhouse", "trino", "presto", "mssql", "sqlite", "duckdb", "databricks", "hive", "oracle", "druid", "pinot"}

// FuzzJudge: it never panics, and what it allows is allowed again in the form in which it is sent, which has no
// comment and no semicolon of its own and is no longer than what came.
func FuzzJudge(f *testing.F) {
	for _, c := range cases(f) {
		for i, d := range all {
			if d == c.Dialect {
				f.Add(uint8(i), c.SQL)
			}
		}
	}
	f.Fuzz(func(t *testing.T, dialect uint8, sql string) {
		d := all[int(dialect)%len(all)]
		v := sqlguard.Judge(d, sql, sqlguard.Options{})
		if v.Rule == "internal" {
			t.Fatalf("%s: %q: %s", d, sql, v.Reason)
		}
		if !v.Allow {
			return
		}
		if len(v.SQL) > len(sql) {
			t.Errorf("%s: %q became %q", d, sql, v.SQL)
		}
		again := sqlguard.Judge(d, v.SQL, sqlguard.Options{})
		if again != v {
			t.Errorf("%s: %q is sent as %q, and that is judged %+v", d, sql, v.SQL, again)
		}
		// Whatever else stands behind it is a second statement.
		for _, tail := range []string{"; DROP TABLE t", "\n; DELETE FROM t", ";SELECT 1"} {
			if w := sqlguard.Judge(d, v.SQL+tail, sqlguard.Options{}); w.Allow {
				t.Errorf("%s: %q is allowed with %q behind it", d, v.SQL, tail)
			}
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	const q = "SELECT region, sum(amount) AS total, rank() OVER (PARTITION BY region ORDER BY sum(amount) DESC) FROM sales WHERE day > '2026-01-01' GROUP BY region, seller"
	for b.Loop() {
		if !sqlguard.Judge("postgresql", q, sqlguard.Options{}).Allow {
			b.Fatal("refused")
		}
	}
}
