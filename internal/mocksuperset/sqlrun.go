package mocksuperset

import (
	"context"
	"database/sql"
	"slices"
	"strings"
)

// perform runs the statements one after another; the rows of the last one count.
// Statements that write are one transaction.
func (x *execution) perform(db *sql.DB, list []string) (*frame, string, error) {
	ctx, cancel := x.timeout()
	defer cancel()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, "", err
	}
	defer conn.Close()
	writes := slices.ContainsFunc(list, func(s string) bool { return mutates(code(tokens(s))) })
	if writes {
		if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
			return nil, "", err
		}
	}
	var f *frame
	factor := "NOT_LIMITED"
	for i, s := range list {
		if f, factor, err = x.statement(ctx, conn, s, i == len(list)-1); err != nil {
			if writes {
				_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") // the first error is the one to tell
			}
			return nil, "", err
		}
	}
	if writes {
		_, err = conn.ExecContext(ctx, "COMMIT")
		x.c.changed = err == nil
	}
	return f, factor, err
}

func (x *execution) statement(ctx context.Context, conn *sql.Conn, text string, last bool) (*frame, string, error) {
	list := code(tokens(text))
	word := firstWord(list)
	if slices.Contains(queries, word) && !mutates(list) {
		return x.selection(ctx, conn, list, last)
	}
	if word == "REPLACE" {
		// Superset does not know that this writes, and so never commits it.
		if _, err := conn.ExecContext(ctx, "SAVEPOINT uncommitted"); err != nil {
			return nil, "", err
		}
		_, err := conn.ExecContext(ctx, text)
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK TO uncommitted; RELEASE uncommitted")
		x.query = x.query.with(row{"executed_sql": text})
		return &frame{}, "NOT_LIMITED", err
	}
	x.query = x.query.with(row{"executed_sql": normal(list)})
	f, err := query(ctx, conn, text, -1)
	if err != nil {
		return nil, "", err
	}
	return f, "NOT_LIMITED", nil
}

// selection runs a query with its LIMIT. SELECT INTO and "create table as" make a table, whatever the connection allows.
func (x *execution) selection(ctx context.Context, conn *sql.Conn, list []token, last bool) (*frame, string, error) {
	into := ""
	if at := intoAt(list); at > 0 {
		into = list[at+1].text
		list = slices.Concat(list[:at], list[at+2:])
	}
	if x.fields.bool("select_as_cta") && last {
		into = quoteName(x.fields.str("tmp_table_name"))
	}
	if into != "" {
		kind := "TABLE"
		if strings.EqualFold(x.fields.str("ctas_method"), "VIEW") {
			kind = "VIEW"
		}
		made := "CREATE " + kind + " " + into + " AS\n" + normal(list)
		x.query = x.query.with(row{"executed_sql": made})
		_, err := conn.ExecContext(ctx, made)
		x.c.changed = x.c.changed || err == nil
		return &frame{}, "NOT_LIMITED", err
	}
	text, limit, factor := limited(list, x.limit)
	text = cteColumns.ReplaceAllString(text, "$1 AS (")
	x.query = x.query.with(row{"executed_sql": text, "limit": limit})
	f, err := query(ctx, conn, text, -1)
	if err != nil {
		return nil, "", err
	}
	if len(f.rows) > limit {
		f.rows = f.rows[:limit]
		return f, factor, nil
	}
	return f, "NOT_LIMITED", nil
}

func intoAt(list []token) int {
	depth := 0
	for i, t := range list {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case depth == 0 && t.is("INTO") && i+1 < len(list):
			return i
		}
	}
	return -1
}

// queryBody is a query as SQL Lab's page gets it.
func (c *call) queryBody(q row) obj {
	db := c.st.get("dbs", q.int("database_id"))
	rows, start, end := q["rows"], q["start_time"], q["end_time"]
	return obj{
		"changed_on": isoDate(q.str("changed_on")), "dbId": q.int("database_id"), "db": db["database_name"], "endDttm": end, "errorMessage": q["error_message"],
		"executedSql": q["executed_sql"], "id": q["client_id"], "queryId": q.id(), "limit": q["limit"], "limitingFactor": q["limiting_factor"],
		"progress": q["progress"], "rows": rows, "catalog": q["catalog"], "schema": q["schema"], "ctas": q.bool("select_as_cta"), "serverId": q.id(),
		"sql": q["sql"], "sqlEditorId": q["sql_editor_id"], "startDttm": start, "state": q["status"], "tab": q["tab_name"], "tempSchema": nil,
		"tempTable": nil, "userId": q.int("user_id"), "user": c.personName(q["user_id"]), "resultsKey": nil, "trackingUrl": nil, "extra": obj{},
	}
}
