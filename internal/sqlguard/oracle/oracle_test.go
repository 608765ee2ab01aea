// Package oracle holds the guard of SQL against the parsers of PostgreSQL and MySQL: what the guard allows and the
// parser understands must be a plain read for the parser. It is a module of its own, so that no parser is ever part of
// agentd.
package oracle

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"agentd/internal/sqlguard"

	pgquery "github.com/wasilibs/go-pgquery"
	"vitess.io/vitess/go/vt/sqlparser"
)

// corpus reads the guard's own cases of a dialect.
func corpus(t testing.TB, dialect string) (out []string) {
	t.Helper()
	f, err := os.Open("../testdata/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c struct{ Dialect, SQL string }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Dialect == dialect {
			out = append(out, c.SQL)
		}
	}
	if len(out) == 0 {
		t.Fatalf("no cases of %s", dialect)
	}
	return out
}

// words are what a mutant is salted with.
var words = strings.Fields("SELECT WITH INSERT INTO UPDATE DELETE MERGE REPLACE FOR SHARE LOCK AS t x ( ) , ; . * = '' -- /* */ EXPLAIN ANALYZE DESC DESCRIBE SHOW TABLE VALUES UNION ALL RETURNING SET DROP CREATE CALL DO BEGIN COPY TRUNCATE FROM WHERE LATERAL OUTFILE DUMPFILE @a := $$ E''")

// mutant joins parts of two texts and salts them.
func mutant(r *rand.Rand, texts []string) string {
	a := strings.Fields(texts[r.IntN(len(texts))])
	b := strings.Fields(texts[r.IntN(len(texts))])
	if len(a) == 0 || len(b) == 0 {
		return ""
	}
	out := slices.Clone(a[:1+r.IntN(len(a))])
	if r.IntN(2) == 0 {
		out = append(out, b[r.IntN(len(b)):]...)
	} else {
		out = slices.Clone(a)
	}
	for range r.IntN(3) {
		out = slices.Insert(out, r.IntN(len(out)+1), words[r.IntN(len(words))])
	}
	if r.IntN(3) == 0 && len(out) > 1 {
		i := r.IntN(len(out))
		out = slices.Delete(out, i, i+1)
	}
	return strings.Join(out, " ")
}

// mutants is how many are judged; a fuzz run by hand has no end.
const mutants = 60_000

func hold(t *testing.T, dialect string, writes func(string) (why string, parsed bool)) {
	texts := corpus(t, dialect)
	r := rand.New(rand.NewPCG(1, 2))
	allowed, parsed := 0, 0
	for i := range mutants {
		sql := mutant(r, texts)
		if i < len(texts) {
			sql = texts[i]
		}
		v := sqlguard.Judge(dialect, sql, sqlguard.Options{})
		if !v.Allow {
			continue
		}
		allowed++
		for _, text := range []string{sql, v.SQL} { // as it was written, and as it is sent
			why, ok := writes(text)
			if ok {
				parsed++
			}
			if why != "" {
				t.Errorf("allowed, and the parser sees %s:\n%s", why, text)
			}
		}
	}
	t.Logf("%s: %d judged, %d allowed, %d parsed", dialect, mutants, allowed, parsed)
	if parsed < mutants/100 {
		t.Errorf("only %d of %d were parsed: the mutants prove nothing", parsed, mutants)
	}
}

func TestPostgreSQL(t *testing.T) { hold(t, "postgresql", postgresWrites) }

// postgresWrites looks through the parse tree for whatever is no plain read.
func postgresWrites(sql string) (why string, parsed bool) {
	text, err := pgquery.ParseToJSON(sql)
	if err != nil {
		return "", false
	}
	var tree struct {
		Stmts []struct {
			Stmt map[string]json.RawMessage `json:"stmt"`
		} `json:"stmts"`
	}
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		return "", false
	}
	if len(tree.Stmts) != 1 {
		return fmt.Sprintf("%d statements", len(tree.Stmts)), true
	}
	for kind := range tree.Stmts[0].Stmt {
		if !slices.Contains([]string{"SelectStmt", "ExplainStmt", "VariableShowStmt"}, kind) {
			return kind, true
		}
	}
	for _, write := range []string{`"InsertStmt"`, `"UpdateStmt"`, `"DeleteStmt"`, `"MergeStmt"`, `"intoClause"`, `"LockingClause"`, `"CreateTableAsStmt"`, `"ExecuteStmt"`} {
		if strings.Contains(text, write+":") {
			return write, true
		}
	}
	return "", true
}

func TestMySQL(t *testing.T) {
	parser, err := sqlparser.New(sqlparser.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hold(t, "mysql", func(sql string) (string, bool) {
		stmt, err := parser.ParseStrictDDL(sql)
		if err != nil {
			return "", false
		}
		why := ""
		switch stmt.(type) {
		case *sqlparser.Select, *sqlparser.Union, *sqlparser.Show, *sqlparser.ExplainStmt, *sqlparser.ExplainTab, *sqlparser.ValuesStatement:
		default:
			return fmt.Sprintf("%T", stmt), true
		}
		_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
			switch n := n.(type) {
			case *sqlparser.Insert, *sqlparser.Update, *sqlparser.Delete, *sqlparser.SelectInto, *sqlparser.AssignmentExpr:
				if v, isInto := n.(*sqlparser.SelectInto); !isInto || v != nil {
					why = fmt.Sprintf("%T", n)
				}
			case *sqlparser.Select:
				if n.Lock != sqlparser.NoLock {
					why = "a lock"
				}
			}
			return true, nil
		}, stmt)
		return why, true
	})
}
