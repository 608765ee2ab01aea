package mocksuperset

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

const sqlMaxRow = 100000

func sqlLabRoutes() []route {
	const view = "SQLLab"
	return []route{
		{method: "POST", path: "/api/v1/sqllab/execute/", perm: "can_execute_sql_query", view: view, handle: (*call).executeSQL},
	}
}

var executeSchema = schema{
	"database_id": {kind: kindInt, required: true}, "sql": {kind: kindText, required: true},
	"client_id": {kind: kindText, null: true}, "queryLimit": {kind: kindInt, null: true}, "sql_editor_id": {kind: kindText, null: true},
	"catalog": {kind: kindText, null: true}, "schema": {kind: kindText, null: true}, "tab": {kind: kindText, null: true},
	"ctas_method": {kind: kindText, null: true}, "templateParams": {kind: kindText, null: true}, "tmp_table_name": {kind: kindText, null: true},
	"select_as_cta": {kind: kindBool, null: true}, "json": {kind: kindBool, null: true}, "runAsync": {kind: kindBool, null: true},
	"expand_data": {kind: kindBool, null: true},
}

// execution is one run of SQL Lab.
type execution struct {
	c      *call
	fields row
	db     row
	query  row // as kept in the history
	limit  int
}

func (c *call) executeSQL() answer {
	if !c.sendsJSON() {
		return c.refusal(notJSON())
	}
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := executeSchema.load(body)
	if bad != nil {
		return message(400, bad)
	}
	x := &execution{c: c, fields: fields, limit: fields.int("queryLimit")}
	if x.limit <= 0 || x.limit > sqlMaxRow {
		x.limit = sqlMaxRow
	}
	x.db = c.st.get("dbs", fields.int("database_id"))
	if x.db == nil || !c.seesDatabase(x.db) {
		return c.refusal(backend(500, "The database referenced in this query was not found. Please contact an administrator for further assistance or try again."))
	}
	if id := fields.str("client_id"); id != "" {
		if old := c.st.find("query", "client_id", id); old != nil {
			if old.str("status") == "pending" {
				return ok(obj{"query": merge(c.queryBody(old), obj{"extra": obj{"columns": obj{}}})})
			}
			return c.refusal(reply(500, obj{"errors": []any{obj{"message": "Failed to execute query '" + fields.str("sql") + "': (sqlite3.IntegrityError) UNIQUE constraint failed: query.client_id"}}}))
		}
	}
	x.begin()
	if fields.bool("runAsync") {
		return reply(202, obj{"query": c.queryBody(x.query)})
	}
	return x.run()
}

// begin writes the query into the history.
func (x *execution) begin() {
	c, now := x.c, x.c.s.clock
	c.record(func(st *state) {
		id := x.fields.str("client_id")
		if id == "" {
			id = c.s.newKey(10)
		}
		x.query = st.insert("query", row{"client_id": id, "database_id": x.db.id(), "user_id": c.userID(), "sql": x.fields["sql"],
			"schema": x.fields["schema"], "catalog": x.fields["catalog"], "tab_name": x.fields["tab"], "sql_editor_id": x.fields["sql_editor_id"],
			"status": "pending", "limit": x.limit, "limiting_factor": "DROPDOWN", "progress": 0, "select_as_cta": x.fields.bool("select_as_cta"),
			"changed_on": stored(now.now()), "start_time": float64(now.wall().UnixMicro()) / 1000})
	})
}

func (x *execution) finish(changes row) {
	x.c.record(func(st *state) {
		x.query = st.update("query", x.query.id(), changes.with(row{"progress": 100, "end_time": float64(x.c.s.clock.wall().UnixMicro()) / 1000}))
	})
}

// refuse ends the query as failed.
func (x *execution) refuse(a answer, text string) answer {
	x.finish(row{"status": "failed", "error_message": text})
	return x.c.refusal(a)
}

func (x *execution) run() answer {
	text, a, good := x.rendered()
	if !good {
		return a
	}
	list := statements(text)
	if len(list) == 0 {
		return x.refuse(reply(500, obj{"errors": []any{obj{"message": fmt.Sprintf("Failed to execute query '%d' - '%s': list index out of range", x.query.id(), x.fields.str("sql"))}}}), "empty")
	}
	if a, refused := x.parse(list, text); refused {
		return a
	}
	if a, refused := x.access(list); refused {
		return a
	}
	source, err := x.c.s.data.database(x.db.str("sqlalchemy_uri"))
	if err != nil {
		return x.refuse(x.engineError(err.Error()), err.Error())
	}
	f, factor, err := x.perform(source, list)
	if err != nil {
		if at, wrong := misread(list, text, sqliteText(err)); wrong {
			return x.refuse(parseError(text, at), "Error parsing")
		}
		return x.refuse(x.engineError(sqliteText(err)), sqliteText(err))
	}
	return x.success(f, factor)
}

// rendered fills the template in.
func (x *execution) rendered() (string, answer, bool) {
	text, err := x.c.render(x.fields.str("sql"), object(x.fields.str("templateParams")))
	var undefined *errUndefined
	var broken *errTemplate
	switch {
	case errors.As(err, &undefined):
		names := []any{}
		for _, n := range undefined.names {
			names = append(names, n)
		}
		return "", x.refuse(reply(500, obj{"errors": []any{obj{"error_type": "MISSING_TEMPLATE_PARAMS_ERROR",
			"message": fmt.Sprintf("Failed to execute query '%d' - '%s': The parameter %s in your query is undefined.", x.query.id(), x.fields.str("sql"), strings.Join(quoteAll(undefined.names), ", ")),
			"extra":   obj{"template_parameters": object(x.fields.str("templateParams")), "undefined_parameters": names, "issue_codes": problem{codes: []int{1006}}.json()["extra"].(obj)["issue_codes"]}}}}), err.Error()), false
	case errors.As(err, &broken):
		return "", x.refuse(problems(422, problem{message: "Jinja2 template error (TemplateSyntaxError): " + broken.text, kind: "GENERIC_COMMAND_ERROR",
			extra: obj{"template": x.fields.str("sql"), "line": 1, "exception_type": "TemplateSyntaxError"}, codes: []int{1010}}), err.Error()), false
	}
	return text, answer{}, true
}

var (
	mutating    = []string{"INSERT", "UPDATE", "DELETE", "DROP", "CREATE", "ALTER", "TRUNCATE", "MERGE"}
	otherRuns   = []string{"REPLACE", "SET", "CALL", "SHOW", "USE", "GRANT", "DESCRIBE", "COMMENT", "KILL", "PRAGMA", "ATTACH", "DETACH", "EXPLAIN", "ANALYZE", "VACUUM", "REINDEX", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE"}
	queries     = []string{"SELECT", "WITH", "VALUES", "("}
	noFunctions = []string{"load_extension", "sqlite_compileoption_get", "sqlite_version", "sqlite_source_id", "sqlite_compileoption_used", "sqlite_offset"}
)

func firstWord(list []token) string {
	if len(list) == 0 {
		return ""
	}
	return strings.ToUpper(list[0].text)
}

// mutates says whether a statement writes, as Superset's parser sees it: not REPLACE, not SELECT INTO.
func mutates(list []token) bool {
	word := firstWord(list)
	if slices.Contains(mutating, word) {
		return true
	}
	if word != "WITH" {
		return false
	}
	depth := 0
	for _, t := range list {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case depth == 0 && t.kind == tokenWord && slices.Contains(mutating, strings.ToUpper(t.text)):
			return true
		}
	}
	return false
}

// parse refuses what does not parse, functions that are not allowed, and writing where it is not.
func (x *execution) parse(list []string, whole string) (answer, bool) {
	for _, s := range list {
		parts := code(tokens(s))
		word := firstWord(parts)
		if slices.ContainsFunc(parts, func(t token) bool { return t.kind == tokenBroken }) {
			return x.refuse(invalidScript(whole), "Unable to parse script"), true
		}
		known := slices.Contains(queries, word) || slices.Contains(mutating, word) || slices.Contains(otherRuns, word)
		behind := 1 // where an unknown first word stops making sense: behind its alias, or what it is multiplied with
		if len(parts) > 1 && (parts[1].kind == tokenWord || parts[1].is("*")) {
			behind = 2
		}
		// A name, or a name with an alias, parses: it is the database that refuses it.
		known = known || len(parts) <= behind
		if at, wrong := unbalancedAt(parts); wrong || !known {
			if !wrong {
				at = parts[behind]
			}
			at.at += max(strings.Index(whole, s), 0)
			return x.refuse(parseError(whole, at), "Error parsing"), true
		}
	}
	for _, t := range tokens(whole) {
		if t.kind == tokenWord && slices.Contains(noFunctions, strings.ToLower(t.text)) {
			return x.refuse(problems(500, problem{message: "SQL statement contains disallowed function(s): {'" + strings.Join(noFunctions, "', '") + "'}", kind: "SYNTAX_ERROR", codes: []int{1030}}), "disallowed function"), true
		}
	}
	for _, s := range list {
		if mutates(code(tokens(s))) && !x.db.bool("allow_dml") {
			return x.refuse(problems(500, problem{message: "This database does not allow for DDL/DML, but the query mutates data. Please contact your administrator for more assistance.",
				kind: "DML_NOT_ALLOWED_ERROR", codes: []int{1022}}), "DML not allowed"), true
		}
	}
	return answer{}, false
}

var nearWord = regexp.MustCompile(`^near "(.*)": syntax error$`)

// emptyPart are words behind which Superset's parser takes nothing at all for an answer.
var emptyPart = []string{"SELECT", "DISTINCT", "BY", "LIMIT"}

// misread says whether the real one's parser would have refused what SQLite cannot
// read, and where: for plain queries it would, unless it only misses a list.
func misread(list []string, whole, fault string) (token, bool) {
	near := nearWord.FindStringSubmatch(fault)
	if near == nil && fault != "incomplete input" {
		return token{}, false
	}
	var found token
	for _, s := range list {
		parts := code(tokens(s))
		if w := firstWord(parts); w != "SELECT" && w != "WITH" || len(parts) == 0 {
			return token{}, false
		}
		start := max(strings.Index(whole, s), 0)
		i := -1
		for n, t := range parts {
			if near != nil && t.text == near[1] {
				i = n
			}
		}
		if i > 0 {
			if parts[i-1].is("*") && parts[i].kind == tokenWord && i+1 < len(parts) {
				i++ // "* name" has been read as an alias
			}
			if slices.Contains(emptyPart, strings.ToUpper(parts[i-1].text)) {
				return token{}, false
			}
			found = token{parts[i].kind, parts[i].text, start + parts[i].at}
			continue
		}
		last := parts[len(parts)-1]
		if last.is("BY") && len(parts) > 1 && parts[len(parts)-2].is("ORDER") {
			return token{last.kind, whole[start+parts[len(parts)-2].at : start+last.at+2], start + parts[len(parts)-2].at}, true
		}
		if slices.Contains(emptyPart, strings.ToUpper(last.text)) {
			return token{}, false
		}
		found = token{last.kind, last.text, start + last.at}
	}
	return found, true
}

func invalidScript(whole string) answer {
	return problems(422, problem{message: "Unable to parse script", kind: "INVALID_SQL_ERROR",
		extra: obj{"sql": whole, "engine": "sqlite", "line": nil, "column": nil}, codes: []int{1003}})
}

// parseError names a token, with the place where it ends.
func parseError(whole string, at token) answer {
	before := whole[:min(at.at+len(at.text), len(whole))]
	line, column := 1+strings.Count(before, "\n"), len(before)-strings.LastIndexByte(before, '\n')-1
	return problems(422, problem{message: fmt.Sprintf("Error parsing near '%s' at line %d:%d", at.text, line, column), kind: "INVALID_SQL_ERROR",
		extra: obj{"sql": strings.TrimSpace(whole), "engine": "sqlite", "line": line, "column": column}, codes: []int{1003}})
}

// access: without the whole database every table has to be granted as a dataset.
func (x *execution) access(list []string) (answer, bool) {
	if x.c.readsDatabase(x.db) {
		return answer{}, false
	}
	var denied []string
	for _, s := range list {
		withRules(s, func(table string) string {
			if !x.c.readsTable(x.db, "", table) && !slices.Contains(denied, table) {
				denied = append(denied, table)
			}
			return ""
		})
	}
	if len(denied) == 0 {
		return answer{}, false
	}
	text := "You need access to the following tables: `" + strings.Join(denied, "`, `") + "`,\n            `all_database_access` or `all_datasource_access` permission"
	return x.refuse(problems(403, problem{message: text, kind: "TABLE_SECURITY_ACCESS_ERROR", extra: obj{"tables": denied, "link": ""}, codes: []int{1017}}), "no access"), true
}

func (x *execution) engineError(text string) answer {
	engine := engineName(backendOf(x.db))
	if column, found := strings.CutPrefix(text, "no such column: "); found {
		return problems(500, problem{message: "We can't seem to resolve the column \"" + column + "\"", kind: "COLUMN_DOES_NOT_EXIST_ERROR", extra: obj{"engine_name": engine}, codes: []int{1003, 1004}})
	}
	if engine == "SQLite" {
		text = "sqlite error: " + text
	}
	return problems(500, problem{message: text, kind: "GENERIC_DB_ENGINE_ERROR", extra: obj{"engine_name": engine}, codes: []int{1002}})
}

// sqlLabTimeout is longer than the 30 seconds of a real Superset: how busy the machine is must not decide about a test.
const sqlLabTimeout = 2 * time.Minute

func (x *execution) timeout() (context.Context, context.CancelFunc) {
	return context.WithTimeout(x.c.r.Context(), sqlLabTimeout)
}

// record changes the state beside the request's own answer: for what has to be
// written while no lock is held.
func (c *call) record(change func(*state)) {
	c.s.writing.Lock()
	defer c.s.writing.Unlock()
	st := c.s.current.Load().fork()
	change(st)
	c.s.current.Store(st)
	c.s.clock.tick()
	c.st = st
}
