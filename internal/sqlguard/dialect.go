package sqlguard

import "strings"

// dialect is how a database reads text. The zero dialect is plain standard SQL.
type dialect struct {
	name string

	escapes      bool // a backslash escapes in strings
	either       bool // whether it does is a setting of the server: both readings must be allowed
	doubleString bool // "x" is a string and not a name
	backtick     bool // `x` is a name
	bracketName  bool // [x] is a name
	hashComment  bool
	slashComment bool // //
	nested       bool // block comments nest
	dollar       bool // $$x$$
	dollarTag    bool // $tag$x$tag$
	eString      bool // E'x' escapes
	qString      bool // q'[x]'
	triple       bool // three quotes
	dashBlank    bool // -- is a comment before a blank only

	starts words // first words of a statement
}

// readings are the ways in which the text is read: do backslashes escape?
func (d *dialect) readings() []bool {
	if d.either {
		return []bool{false, true}
	}
	return []bool{d.escapes}
}

// is reports whether d is one of the dialects named.
func (d *dialect) is(names ...string) bool {
	for _, n := range names {
		if d.name == n {
			return true
		}
	}
	return false
}

// words is a set of lower-case words.
type words map[string]bool

func setOf(lists ...string) words {
	m := words{}
	for _, l := range lists {
		for _, w := range strings.Fields(l) {
			m[w] = true
		}
	}
	return m
}

const (
	reads     = "select with"
	described = "describe desc"
)

var dialects = byName(
	dialect{name: "postgresql", either: true, nested: true, dollar: true, dollarTag: true, eString: true,
		starts: setOf(reads, "table values explain show")},
	dialect{name: "redshift", either: true, nested: true, dollar: true, dollarTag: true, eString: true,
		starts: setOf(reads, "values explain show")},
	dialect{name: "mysql", escapes: true, doubleString: true, backtick: true, hashComment: true, dashBlank: true,
		starts: setOf(reads, described, "table values explain show")},
	dialect{name: "bigquery", escapes: true, doubleString: true, backtick: true, hashComment: true, triple: true,
		starts: setOf(reads, "values from explain")},
	dialect{name: "snowflake", escapes: true, slashComment: true, dollar: true,
		starts: setOf(reads, described, "values explain show")},
	dialect{name: "clickhouse", escapes: true, backtick: true, hashComment: true, dollar: true, dollarTag: true,
		starts: setOf(reads, described, "from explain show exists")},
	dialect{name: "trino", starts: setOf(reads, described, "table values explain show")},
	dialect{name: "mssql", bracketName: true, nested: true, starts: setOf(reads)},
	dialect{name: "sqlite", backtick: true, bracketName: true, starts: setOf(reads, "values explain pragma")},
	dialect{name: "duckdb", dollar: true, dollarTag: true, eString: true,
		starts: setOf(reads, described, "table values from explain show pivot unpivot summarize")},
	dialect{name: "databricks", escapes: true, doubleString: true, backtick: true,
		starts: setOf(reads, described, "table values from explain show")},
	dialect{name: "oracle", qString: true, starts: setOf(reads)}, // its EXPLAIN writes a table
	dialect{name: "druid", starts: setOf(reads, described, "values explain")},
	dialect{name: "pinot", backtick: true, starts: setOf(reads, "explain")},
)

// aliases are other names under which databases with the same rules run.
var aliases = map[string]string{
	"postgres": "postgresql", "mariadb": "mysql", "presto": "trino", "awsathena": "trino", "clickhousedb": "clickhouse",
	"hive": "databricks", "motherduck": "duckdb",
}

func byName(list ...dialect) map[string]*dialect {
	m := map[string]*dialect{}
	for i := range list {
		m[list[i].name] = &list[i]
	}
	return m
}

func dialectOf(name string) (*dialect, bool) {
	name = lower(name)
	if a, ok := aliases[name]; ok {
		name = a
	}
	d, ok := dialects[name]
	return d, ok
}
