package sqlguard

import (
	"strings"
)

// judge decides about one statement.
type judge struct {
	*dialect
	deny, allow map[string]bool // the operator's lists
}

var (
	queryStarts  = setOf("select with values table from pivot unpivot summarize")
	inBrackets   = setOf("select with values table from") // what may begin a statement behind a bracket
	writeWords   = setOf("insert update delete merge replace upsert truncate")
	explainWords = setOf("analyze verbose extended formatted cost codegen logical plan for query tree syntax pipeline estimate ast json distributed")
	pragmas      = setOf(`table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list database_list
		collation_list function_list compile_options`)
)

// statement decides by the first word. Everything that is not known to read is refused.
func (j judge) statement(t []token) *refusal {
	i := 0
	for i < len(t) && t[i].sign("(") {
		i++
	}
	if i == len(t) || t[i].kind != word {
		return refuse("first_word", "A statement begins with a word such as SELECT or WITH.")
	}
	first := t[i].text
	if !j.starts[first] || i > 0 && !inBrackets[first] {
		return refuse("first_word", "%s is not allowed: only statements that read are.", strings.ToUpper(first))
	}
	rest := t[i+1:]
	switch first {
	case "pragma":
		return pragma(rest)
	case "show":
		return j.show(rest)
	case "describe", "desc", "summarize", "exists":
		return j.describe(first, rest)
	case "explain":
		return j.explain(rest)
	}
	return j.query(t)
}

// pragma allows those that list, in the form without a value.
func pragma(t []token) *refusal {
	if len(t) == 0 || t[0].kind != word || !pragmas[t[0].text] {
		return refuse("pragma", "This PRAGMA is not allowed; the ones that list tables, columns and indexes are.")
	}
	const longest = 4 // name ( table )
	if len(t) > longest {
		return refuse("pragma", "A PRAGMA takes one name in brackets.")
	}
	for _, x := range t {
		if x.sign("=") {
			return refuse("pragma", "A PRAGMA may not set a value.")
		}
	}
	return nil
}

func (j judge) show(t []token) *refusal {
	if !j.plain(t) {
		return refuse("show", "SHOW may name things only: no brackets, WHERE or INTO.")
	}
	return nil
}

// plain reports whether t names things and computes nothing.
func (j judge) plain(t []token) bool {
	for _, x := range t {
		switch {
		case j.is("duckdb") && (x.kind == str || x.kind == name && strings.ContainsAny(x.text, "./:*")): // a file
			return false
		case x.sign("("), x.sign("->>"), x.sign("|>"), x.sign("@"), x.word("into"), x.word("where"):
			return false
		}
	}
	return true
}

// describe takes a name or a query.
func (j judge) describe(first string, t []token) *refusal {
	for i, x := range t {
		write := x.kind == word && (writeWords[x.text] || x.text == "analyze" || x.text == "call" || x.text == "format")
		if write && (i == 0 || !t[i-1].sign(".")) {
			return refuse("describe", "%s is not allowed behind %s.", strings.ToUpper(x.text), strings.ToUpper(first))
		}
	}
	query := len(t) > 0 && (t[0].word("select") || t[0].word("with")) // no name, though it may look as plain as one
	if !query && j.plain(t) {
		return nil
	}
	for len(t) > 0 && t[0].word("table") {
		t = t[1:]
	}
	return j.query(t)
}

// explain skips the options, behind which a query must begin, whether or not it is executed.
func (j judge) explain(t []token) *refusal {
	for len(t) > 0 {
		x := t[0]
		switch {
		case x.sign("(") && len(t) > 1 && t[1].kind == word && !j.starts[t[1].text]:
			i := 1
			for i < len(t) && (t[i].kind == word || t[i].kind == number || t[i].sign(",")) {
				i++
			}
			if i == len(t) || !t[i].sign(")") {
				return refuse("explain", "The options of EXPLAIN may hold words and numbers only.")
			}
			t = t[i+1:]
		case (x.word("format") || x.word("type") || x.word("using")) && len(t) > 2 && t[1].sign("="):
			t = t[3:]
		case x.word("using") && len(t) > 1:
			t = t[2:]
		case x.kind == word && explainWords[x.text]:
			t = t[1:]
		default:
			return j.query(t)
		}
	}
	return refuse("explain", "There is no query behind EXPLAIN.")
}
