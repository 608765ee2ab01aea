package mocksuperset

import (
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

func queryRoutes() []route {
	const view = "Query"
	return []route{
		{method: "GET", path: "/api/v1/query/", perm: "can_read", view: view, handle: func(c *call) answer { return c.list(queryListing) }},
		{method: "GET", path: "/api/v1/query/<int:id>", perm: "can_read", view: view, handle: (*call).getQuery},
		{method: "GET", path: "/api/v1/query/updated_since", perm: "can_read", view: view, handle: (*call).queriesSince},
		{method: "POST", path: "/api/v1/query/stop", perm: "can_read", view: view, handle: (*call).stopQuery},
		{method: "GET", path: "/api/v1/sqllab/results/", perm: "can_get_results", view: "SQLLab", handle: (*call).labResults},
		{method: "GET", path: "/api/v1/sqllab/export/<client>/", perm: "can_export_csv", view: "SQLLab", handle: (*call).exportCSV},
		{method: "POST", path: "/api/v1/sqllab/estimate/", perm: "can_estimate_query_cost", view: "SQLLab", handle: func(c *call) answer {
			return c.refusal(backend(500, "Database does not support cost estimation"))
		}},
		{method: "POST", path: "/api/v1/sqllab/format_sql/", perm: "can_format_sql", view: "SQLLab", handle: (*call).formatSQL},
		{method: "GET", path: "/api/v1/sqllab/", perm: "can_read", view: "SQLLab", handle: (*call).labStart},
	}
}

// queryListing are one's own queries; admins see all.
var queryListing = &listing{
	table: "query", title: "Query",
	columns: []string{"id", "changed_on", "client_id", "database.id", "database.database_name", "executed_sql", "error_message", "limit",
		"limiting_factor", "progress", "rows", "schema", "select_as_cta", "sql", "sql_editor_id", "sql_tables", "status", "tab_name",
		"user.first_name", "user.id", "user.last_name", "start_time", "start_running_time", "end_time", "tmp_table_name", "tracking_url", "results_key"},
	order:  []string{"changed_on", "database.database_name", "duration", "rows", "schema", "start_time", "sql", "tab_name", "user.first_name"},
	search: map[string]searchKind{"changed_on": searchDate, "database": searchOne, "sql": searchText, "status": searchText, "user": searchOne, "start_time": searchNumber, "sql_editor_id": searchText},
	sees:   func(c *call, q row) bool { return c.isAdmin() || q.int("user_id") == c.userID() },
	row: func(c *call, q row) obj {
		out := q.pick("id", "client_id", "executed_sql", "error_message", "limit", "limiting_factor", "progress", "rows", "schema", "sql",
			"sql_editor_id", "status", "tab_name", "start_time", "end_time", "tmp_table_name")
		out["changed_on"], out["select_as_cta"] = isoDate(q.str("changed_on")), q.bool("select_as_cta")
		out["start_running_time"], out["tracking_url"], out["results_key"] = q["start_time"], nil, nil
		out["database"] = nil
		if db := c.st.get("dbs", q.int("database_id")); db != nil {
			out["database"] = db.pick("id", "database_name")
		}
		out["user"] = c.person(q["user_id"])
		tables := []any{}
		withRules(q.str("sql"), func(table string) string {
			tables = append(tables, obj{"catalog": nil, "schema": nil, "table": table})
			return ""
		})
		out["sql_tables"] = tables
		return out
	},
}

func (c *call) getQuery() answer {
	id, _ := c.id("id")
	q := c.st.get("query", id)
	if q == nil || !queryListing.sees(c, q) {
		return notFound
	}
	columns := []string{"changed_on", "client_id", "database.id", "end_result_backend_time", "end_time", "error_message", "executed_sql", "id", "limit",
		"progress", "results_key", "rows", "schema", "select_as_cta", "select_as_cta_used", "select_sql", "sql", "sql_editor_id", "start_running_time",
		"start_time", "status", "tab_name", "tmp_schema_name", "tmp_table_name", "tracking_url"}
	full := queryListing.row(c, q)
	labels := obj{}
	for _, col := range columns {
		labels[col] = label(col)
	}
	full["select_as_cta_used"] = false
	for _, name := range []string{"start_time", "start_running_time", "end_time"} {
		if f, isNumber := full[name].(float64); isNumber {
			full[name] = strconv.FormatFloat(f, 'f', 6, 64)
		}
	}
	return ok(obj{"id": id, "result": project(full, columns), "label_columns": labels, "description_columns": obj{}, "show_columns": columns, "show_title": "Show Query"})
}

func (c *call) queriesSince() answer {
	v, a, good := c.argument()
	if !good {
		return a
	}
	q, _ := v.(obj)
	since, named := q["last_updated_ms"]
	if !named {
		return message(400, "Not a valid rison schema 'last_updated_ms' is a required property")
	}
	result := []any{}
	for r := range c.st.table("query").all() {
		t, valid := parseStored(r.str("changed_on"))
		if valid && r.int("user_id") == c.userID() && float64(t.UnixMilli()) > number(since) {
			result = append(result, c.queryBody(r))
		}
	}
	return ok(obj{"result": result})
}

// stopQuery: SQLite cannot cancel what waits; what has ended is no error.
func (c *call) stopQuery() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	id, named := body["client_id"].(string)
	if !named {
		return fatal
	}
	q := c.st.find("query", "client_id", id)
	switch {
	case q == nil:
		return message(404, "Query with client_id "+id+" not found")
	case q.str("status") == "pending" || q.str("status") == "running":
		return message(422, "Could not cancel query")
	}
	return ok(obj{"result": "OK"})
}

// exportCSV runs a query of the history again and gives its rows as a file.
func (c *call) exportCSV() answer {
	q := c.st.find("query", "client_id", c.vars["client"])
	if q == nil {
		return c.refusal(problems(404, problem{message: "The query associated with these results could not be found. You need to re-run the original query.",
			kind: "RESULTS_BACKEND_ERROR", codes: []int{1031, 1032, 1033}}))
	}
	db := c.st.get("dbs", q.int("database_id"))
	if db == nil || !c.seesDatabase(db) || !queryListing.sees(c, q) {
		return forbidden
	}
	source, err := c.s.data.database(db.str("sqlalchemy_uri"))
	if err != nil {
		return c.refusal(backend(500, err.Error()))
	}
	f, err := query(c.r.Context(), source, q.str("executed_sql"), q.int("limit"))
	if err != nil {
		return c.refusal(backend(500, sqliteText(err)))
	}
	var out strings.Builder
	out.WriteString("\ufeff")
	w := csv.NewWriter(&out)
	_ = w.Write(uniqueNames(f.names)) // a strings.Builder does not fail
	line, kinds := make([]string, len(f.names)), make([]string, len(f.names))
	for i := range kinds {
		kinds[i] = guessType(f, i)
	}
	for _, r := range f.rows {
		for i := range r {
			switch v := labValue(r[i], kinds[i]).(type) {
			case nil:
				line[i] = ""
			case string:
				line[i] = v
			default:
				line[i] = dumps(v)
			}
		}
		_ = w.Write(line)
	}
	w.Flush()
	return answer{status: 200, ctype: "text/csv; charset=utf-8", body: []byte(out.String())}.
		with("Content-Disposition", fmt.Sprintf("attachment; filename=%s.csv", textOr(q["tab_name"], "query")))
}

func (c *call) formatSQL() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := schema{"sql": {kind: kindText, required: true}, "engine": nullText, "database_id": {kind: kindInt, null: true}, "template_params": nullText}.load(body)
	if bad != nil {
		return message(400, bad)
	}
	text := fields.str("sql")
	list := code(tokens(text))
	for i, t := range list {
		if t.is("FROM") && i+1 < len(list) && clauseWord(list[i+1].text) || !balanced(list) {
			next := list[min(i+1, len(list)-1)]
			return c.refusal(problems(422, problem{message: fmt.Sprintf("Error parsing near '%s' at line 1:%d", next.text, next.at+len(next.text)), kind: "INVALID_SQL_ERROR",
				extra: obj{"sql": text, "engine": nil, "line": 1, "column": next.at + len(next.text)}, codes: []int{1003}}))
		}
	}
	return ok(obj{"result": pretty(text)})
}

func (c *call) labStart() answer {
	databases := obj{}
	for db := range c.st.table("dbs").all() {
		if c.seesDatabase(db) && db.bool("expose_in_sqllab") {
			full := databaseListing.row(c, db)
			o := obj{}
			for _, name := range append(databaseFlags, "allows_subquery", "backend", "database_name", "force_ctas_schema", "id", "disable_data_preview", "disable_drill_to_detail") {
				o[name] = full[name]
			}
			databases[itoa(db.id())] = o
		}
	}
	return ok(obj{"result": obj{"tab_state_ids": []any{}, "active_tab": nil, "databases": databases}})
}
