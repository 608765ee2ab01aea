package sqlguard

import "strings"

// functionToo are write words that are functions as well.
var functionToo = setOf("insert replace truncate delete")

// behindColumn are words that show that a write word before them is a column.
var behindColumn = setOf("as and is in like")

// write refuses write words where they begin a write; as a column, an alias or a function they pass. It is also
// what finds writes in CTEs, behind CTEs and in Hive's FROM t INSERT.
func (w *walk) write(x token) *refusal {
	if !writeWords[x.text] {
		return nil
	}
	prev, next := w.at(-1), w.at(1)
	switch {
	case !w.is("clickhouse") && prev.sign(")") && (x.text != "replace" || !next.sign("(")): // SQLite: WITH … UPDATE OR …
		return statementWord(x)
	case x.text == "truncate" && prev.is("overflow"), // ON OVERFLOW TRUNCATE
		x.text == "merge" && w.is("clickhouse") && next.sign("("),
		prev.sign("|>"):
		return nil
	case next.sign("(") && functionToo[x.text]:
		return nil
	}
	switch next.kind {
	case word:
		if x.text != "delete" && next.text == "from" || behindColumn[next.text] {
			return nil
		}
	case sign:
		if !next.sign("@") && !next.sign("#") && !next.sign("[") && !next.sign("(") {
			return nil
		}
	}
	return statementWord(x)
}

func statementWord(x token) *refusal {
	return refuse("statement_word", "%s is not allowed here: it begins a statement that writes.", strings.ToUpper(x.text))
}

// transactWords begin statements of T-SQL, which need no semicolon before them.
var transactWords = setOf(`insert update delete merge truncate drop create alter exec execute declare set use grant revoke deny
	backup restore dbcc kill shutdown waitfor begin commit rollback save print raiserror return goto if while bulk open close
	deallocate checkpoint reconfigure readtext writetext updatetext throw revert setuser move send receive enable disable go add lineno`)

// transact refuses a second statement of T-SQL, which nothing parts from the first one.
func (w *walk) transact(x token) *refusal {
	prev, next := w.at(-1), w.at(1)
	switch {
	case writeWords[x.text] && prev.sign(")") && (x.text != "replace" || !next.sign("(")):
		return statementWord(x)
	case transactWords[x.text] && (x.text != "update" || !next.sign("(")):
		return refuse("statement_word", "%s is not allowed: in this dialect it begins another statement.", strings.ToUpper(x.text))
	case x.text == "fetch" && !prev.is("rows") && !prev.is("row"):
		return refuse("statement_word", "FETCH of a cursor is not allowed.")
	case x.text != "select":
		return nil
	}
	joined := w.i == 0 || prev.sign("(") || prev.is("union") || prev.is("all") || prev.is("except") || prev.is("intersect")
	behindCTEs := prev.sign(")") && w.depth == 0 && !w.selected && w.t[0].word("with")
	if w.depth == 0 {
		w.selected = true
	}
	if !joined && !behindCTEs {
		return refuse("second_statement", "Only one statement is allowed; there is a second SELECT.")
	}
	return nil
}
