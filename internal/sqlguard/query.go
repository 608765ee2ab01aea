package sqlguard

import "strings"

// walk goes once over the tokens of a query and knows where it is.
type walk struct {
	judge
	t []token
	i int

	// For each bracket that is open, outermost first: is this place in a FROM clause, and is the bracket a
	// query or a table expression?
	from  []bool
	query []bool

	depth    int
	settings bool // behind SETTINGS of ClickHouse
	read     bool // a word that makes a query was seen
	main     bool // behind a list of CTEs, the query they are for was seen
	selected bool // T-SQL: the outermost SELECT was seen
}

// query refuses everything in a query that may do more than read.
func (j judge) query(t []token) *refusal {
	i := 0
	for i < len(t) && t[i].sign("(") {
		i++
	}
	if i == len(t) || t[i].kind != word || !queryStarts[t[i].text] {
		return refuse("no_query", "A query must stand here, for example SELECT.")
	}
	w := walk{judge: j, t: t, from: []bool{false}, query: []bool{true}, main: !t[0].word("with")}
	for w.i = range t {
		if err := w.token(t[w.i]); err != nil {
			return err
		}
	}
	if !w.read || !w.main {
		return refuse("no_query", "There is no query behind the WITH list.")
	}
	return nil
}

// at is the token k places from here.
func (w *walk) at(k int) token {
	if i := w.i + k; i >= 0 && i < len(w.t) {
		return w.t[i]
	}
	return token{kind: sign}
}

// top is the state of the innermost bracket.
func top(s []bool) *bool { return &s[len(s)-1] }

func (w *walk) token(x token) *refusal {
	if x.kind == sign {
		return w.sign(x)
	}
	tables := w.tablePlace()
	for _, check := range [...]func() *refusal{
		func() *refusal { return w.source(x, tables) },
		func() *refusal { return w.call(x, tables) },
		func() *refusal { return w.path(x) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	if x.kind != word || w.named(x) {
		return nil
	}
	if err := w.keyword(x); err != nil {
		return err
	}
	w.clause(x)
	if err := w.setting(x); err != nil {
		return err
	}
	if w.is("mssql") {
		return w.transact(x)
	}
	return w.write(x)
}

// named reports whether a word is a name because of what stands before it: a dot, or an AS that is not itself
// a name. AS never excuses INTO.
func (w *walk) named(x token) bool {
	if w.at(-1).word("as") && x.text != "into" {
		n := 0
		for k := -1; w.at(k).word("as"); k-- {
			n++
			if w.at(k - 1).sign(".") {
				n++
			}
		}
		return n%2 == 1
	}
	return w.at(-1).sign(".")
}

var pipeSteps = setOf(`select extend set drop rename as where limit aggregate distinct order union intersect except join left
	right full cross inner window tablesample pivot unpivot`)

func (w *walk) sign(x token) *refusal {
	prev, next := w.at(-1), w.at(1)
	switch x.text {
	case "(", "[", "{":
		table := x.text == "(" && (*top(w.query) && prev.is("from") || prev.is("join") || *top(w.from) && (prev.sign(",") || prev.sign("(")))
		query := next.kind == word && queryStarts[next.text]
		w.from, w.query = append(w.from, table && !query), append(w.query, query || table)
		w.depth++
	case ")", "]", "}":
		w.from, w.query = w.from[:len(w.from)-1], w.query[:len(w.query)-1]
		w.depth--
	case ":=":
		if !w.is("duckdb") {
			return refuse("assignment", "An assignment (:=) is not allowed.")
		}
	case "->>":
		if w.is("snowflake") {
			return refuse("flow_operator", "The flow operator (->>) chains statements and is not allowed.")
		}
	case "|>":
		if next.kind != word || !pipeSteps[next.text] {
			return refuse("pipe", "This step behind |> is not allowed.")
		}
	case "@":
		if w.is("snowflake", "oracle") || w.is("mssql") && !next.sign("@") && !prev.sign("@") {
			return refuse("at_sign", "The sign @ is not allowed: it names a stage, a link or a variable.")
		}
	}
	return nil
}

// keyword refuses words that write, lock or define something, wherever they stand.
func (w *walk) keyword(x token) *refusal {
	next := w.at(1)
	switch x.text {
	case "into":
		if w.is("duckdb") && next.is("name") && w.at(3).is("value") { // of UNPIVOT
			return nil
		}
		return refuse("into", "INTO is not allowed: it writes a table, a file or a variable.")
	case "for":
		if next.kind == word && lockWords[next.text] {
			return refuse("row_lock", "FOR %s is not allowed: it locks rows.", strings.ToUpper(next.text))
		}
	case "lock":
		if next.is("in") {
			return refuse("row_lock", "LOCK IN is not allowed: it locks rows.")
		}
	case "next":
		if next.is("value") {
			return refuse("sequence", "NEXT VALUE is not allowed: it moves a sequence.")
		}
	case "with":
		if next.word("function") || next.word("procedure") || next.word("session") {
			return refuse("with_function", "WITH %s is not allowed.", strings.ToUpper(next.text))
		}
	case "procedure":
		if w.is("mysql") {
			return refuse("procedure", "PROCEDURE is not allowed.")
		}
	}
	if w.is("mssql") && lockHints[x.text] {
		return refuse("lock_hint", "The hint %s is not allowed: it locks.", strings.ToUpper(x.text))
	}
	return nil
}

var (
	lockWords = setOf("update share no key browse")
	lockHints = setOf("updlock xlock tablock tablockx holdlock paglock rowlock serializable repeatableread")
	clauseEnd = setOf("where group order having qualify limit select union except intersect window prewhere settings format on using array fill")
	readWords = setOf("select values table from pivot summarize unpivot")
)

// clause keeps track of where in the query this is.
func (w *walk) clause(x token) {
	switch {
	case x.text == "settings":
		w.settings = w.is("clickhouse")
	case x.text == "from" && *top(w.query) && !w.at(-1).is("distinct") && !w.at(-1).is("fill") && !w.at(-1).is(":"):
		*top(w.from) = true
	}
	if clauseEnd[x.text] {
		*top(w.from) = false
	}
	if queryStarts[x.text] && (w.depth == 0 && x.text != "with" || w.depth == 1 && w.at(-1).sign("(") && w.at(-2).sign(")")) {
		w.main = true
	}
	if readWords[x.text] {
		w.read = true
	}
}

var chSettings = setOf(`max_threads max_block_size join_algorithm join_use_nulls final distributed_product_mode group_by_use_nulls
	prefer_localhost_replica max_bytes_before_external_group_by max_bytes_before_external_sort use_query_cache extremes
	transform_null_in any_join_distinct_right_table_keys skip_unavailable_shards prefer_column_name_to_alias settings`)

func (w *walk) setting(x token) *refusal {
	if w.settings && w.at(1).sign("=") && !chSettings[x.text] && !strings.HasPrefix(x.text, "optimize_") && !strings.HasPrefix(x.text, "enable_") {
		return refuse("setting", "The setting %s may not be changed.", x.text)
	}
	return nil
}
