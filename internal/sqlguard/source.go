package sqlguard

import "strings"

// tablePlace reports whether a table may stand here.
func (w *walk) tablePlace() bool {
	prev := w.at(-1)
	return *top(w.query) && prev.is("from") && !w.at(-2).is("fill") ||
		prev.is("join") || prev.is("table") ||
		*top(w.from) && (prev.is("(") || prev.is(","))
}

// fileEndings are last parts of a path that DuckDB takes for a file.
var fileEndings = setOf("csv tsv txt parquet json jsonl ndjson xlsx gz zst db duckdb sqlite arrow avro orc")

// source refuses files, scripts and addresses in the place of a table.
func (w *walk) source(x token, tables bool) *refusal {
	prev := w.at(-1)
	behindPivot := prev.is("pivot") || prev.is("unpivot") || prev.is("summarize")
	anywhere := tables || *top(w.from) || behindPivot
	switch {
	case x.kind == str && w.is("duckdb", "snowflake") && (anywhere || prev.is("(") && w.at(-2).is("table")):
		return refuse("file", "A string in the place of a table names a file and is not allowed.")
	case w.is("duckdb") && x.kind == word && *top(w.from) && prev.sign(".") && fileEndings[x.text]:
		return refuse("file", "A table whose name ends in .%s may be a file; that is not allowed.", x.text)
	case w.is("duckdb") && x.kind == name && anywhere && strings.ContainsAny(x.text, `./:*\`):
		return refuse("file", "A quoted name that looks like a file is not allowed in the place of a table.")
	case w.is("databricks") && x.kind == str && prev.is("using"):
		return refuse("script", "USING with a script is not allowed.")
	case w.is("databricks") && x.kind == name && prev.sign(".") && strings.ContainsAny(x.text, `/:\`):
		return refuse("file", "A quoted name that looks like a path is not allowed.")
	}
	return nil
}

// path refuses what needs no brackets to be called.
func (w *walk) path(x token) *refusal {
	text := lower(x.text)
	switch {
	case !x.called():
		return nil
	case w.is("oracle") && w.at(1).is(".") && hasPrefix(text, oraclePackages):
		return refuse("function", "The package %s is not allowed.", text)
	case w.at(-1).is(".") && text == "nextval":
		return refuse("sequence", "NEXTVAL is not allowed: it moves a sequence.")
	}
	return nil
}

// call refuses functions that do more than compute.
func (w *walk) call(x token, tables bool) *refusal {
	if !x.called() || !w.at(1).sign("(") {
		return nil
	}
	f := lower(x.text)
	last := f[strings.LastIndexByte(f, '.')+1:]
	switch {
	case x.kind == name && strings.ContainsRune(x.text, '\\'):
		return refuse("function", "A function with an escape in its name is not allowed.")
	case f == "identifier" && w.is("snowflake", "databricks"):
		return refuse("function", "IDENTIFIER() is not allowed: it makes a name of a text.")
	case w.deny[f] || w.deny[last]:
		return refuse("function", "The function %s is not allowed here.", last)
	case w.allow[last]:
		return nil
	case tables && w.is("clickhouse", "duckdb") && !tableFunctions[w.name][f]:
		return refuse("table_function", "The table function %s is not allowed.", f)
	case !ascii(f) && !w.at(-1).is("with") && !w.at(-1).is(",") && !w.at(-1).is("recursive"): // there it names a CTE
		return refuse("function", "A function whose name is not ASCII is not allowed.")
	case denied(w.name, f), denied(w.name, last):
		return refuse("function", "The function %s is not allowed: it does more than compute.", last)
	case w.is("snowflake") && !w.snowflakeTable(f):
		return refuse("table_function", "The table function %s is not allowed.", f)
	}
	return nil
}

// snowflakeTable reports whether a call within TABLE(…) is one of those that only read.
func (w *walk) snowflakeTable(f string) bool {
	start := 0 // of the path
	for w.at(start - 1).sign(".") {
		start -= 2
	}
	if !w.at(start-1).is("(") || !w.at(start-2).is("table") {
		return true
	}
	return start == 0 && snowflakeTables[f] || lower(w.at(start).text) == "information_schema" || lower(w.at(start+2).text) == "information_schema"
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 128 {
			return false
		}
	}
	return true
}
