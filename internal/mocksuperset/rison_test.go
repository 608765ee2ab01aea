package mocksuperset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRison(t *testing.T) {
	for _, row := range []struct {
		text string
		want any
	}{
		{"(a:1,b:!(x,'y z'),c:!t)", obj{"a": 1, "b": []any{"x", "y z"}, "c": true}},
		{"'it!'s !!'", "it's !"},
		{"!(1,-2,1.5,!n)", []any{1, -2, 1.5, nil}},
		{"!()", []any{}},
		{"()", obj{}},
	} {
		got, err := parseRison(row.text)
		if err != nil || !cmp.Equal(got, row.want) {
			t.Errorf("%s: got %v, %v", row.text, got, err)
		}
	}
	for _, text := range []string{"", "(a", "(a:1,)", "it's", "a b", "!x", "(a:'b)", "!(1", "1a"} {
		if got, err := parseRison(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

// FuzzRison: whatever comes, the parser ends and does not panic.
func FuzzRison(f *testing.F) {
	for _, seed := range []string{"(a:1)", "!(1,2)", "'a!'b'", "(filters:!((col:id,opr:in,value:!(1,2))))", "((((", "!!", "!(!(!("} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, text string) { _, _ = parseRison(text) })
}

func TestLike(t *testing.T) {
	for _, row := range []struct {
		text, pattern string
		want          bool
	}{
		{"Sales", "%ALE%", true}, {"Отчёт", "%отчёт%", false}, {"a1b", "a_b", true}, {"ab", "a_b", false}, {"", "%", true}, {"abc", "a%c%", true},
	} {
		if got := like(row.text, row.pattern); got != row.want {
			t.Errorf("%q like %q: %v", row.text, row.pattern, got)
		}
	}
}

// FuzzSQL: cutting SQL into tokens loses nothing but space, and rewriting ends.
func FuzzSQL(f *testing.F) {
	for _, seed := range []string{"SELECT 1", "select a, 'it''s' from t -- c", "/* x", "WITH x(a) AS (SELECT 1) SELECT a FROM x", "'", "[a", "x'61'", "1e+5.2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, tok := range tokens(text) {
			if tok.at < end || tok.at+len(tok.text) > len(text) || text[tok.at:tok.at+len(tok.text)] != tok.text {
				t.Fatalf("token %q is not at %d", tok.text, tok.at)
			}
			end = tok.at + len(tok.text)
		}
		_ = pretty(text)
		_ = withRules(text, func(string) string { return "1" })
		_, _, _ = limited(code(tokens(text)), 5)
	})
}

func TestWithRules(t *testing.T) {
	rule := func(table string) string {
		if table == "orders" {
			return "region = 'EMEA'"
		}
		return ""
	}
	for _, row := range []struct{ text, want string }{
		{"SELECT * FROM orders", "SELECT * FROM (SELECT * FROM orders WHERE region = 'EMEA') AS orders"},
		{"SELECT * FROM main.orders o JOIN x ON x.a = o.a", "SELECT * FROM (SELECT * FROM main.orders WHERE region = 'EMEA') o JOIN x ON x.a = o.a"},
		{"SELECT * FROM x, orders WHERE 1", "SELECT * FROM x, (SELECT * FROM orders WHERE region = 'EMEA') AS orders WHERE 1"},
		{"SELECT 'FROM orders'", "SELECT 'FROM orders'"},
	} {
		if got := withRules(row.text, rule); got != row.want {
			t.Errorf("got  %s\nwant %s", got, row.want)
		}
	}
}
