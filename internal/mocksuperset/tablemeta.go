package mocksuperset

import (
	"context"
	"database/sql"
	"regexp"
	"strings"
)

// tableColumn is a column as the database declares it.
type tableColumn struct{ name, declared string }

// short is the type without its size, long the type as SQLAlchemy writes it.
func (t tableColumn) short() string {
	head, _, _ := strings.Cut(t.declared, "(")
	return strings.ToUpper(strings.TrimSpace(head))
}

var commaInType = regexp.MustCompile(`\s*,\s*`)

func (t tableColumn) long() string { return commaInType.ReplaceAllString(t.declared, ", ") }

func (t tableColumn) isTime() bool {
	return strings.Contains(t.short(), "DATE") || strings.Contains(t.short(), "TIME")
}

// tableColumns reads the columns of a table; none when there is no such table.
func tableColumns(ctx context.Context, db *sql.DB, table string) ([]tableColumn, error) {
	f, err := query(ctx, db, "PRAGMA main.table_info("+quoted(table)+")", -1)
	if err != nil {
		return nil, err
	}
	var out []tableColumn
	for _, r := range f.rows {
		name, _ := r[1].(string)
		declared, _ := r[2].(string)
		out = append(out, tableColumn{name, declared})
	}
	return out, nil
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// tableNames are the tables or views of a database, sorted.
func tableNames(ctx context.Context, db *sql.DB, kind string) ([]string, error) {
	f, err := query(ctx, db, "SELECT name FROM main.sqlite_master WHERE type = '"+kind+"' AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name", -1)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range f.rows {
		out = append(out, r[0].(string))
	}
	return out, nil
}

// tableMetadata describes a table. A table that is not there has no columns; keys
// are never told, the real one finds none on SQLite.
func (c *call) tableMetadata() answer {
	q := c.query()
	if q.Get("name") == "" {
		return problems(422, problem{message: "An error happened when validating the request", kind: "INVALID_PAYLOAD_SCHEMA_ERROR",
			extra: obj{"messages": obj{"name": []any{"Missing data for required field."}}}, codes: []int{1020}})
	}
	db := c.databaseByPath()
	if db == nil {
		return problems(404, problem{message: "No such database", kind: "DATABASE_NOT_FOUND_ERROR", codes: []int{1011, 1036}})
	}
	name, schemaName := q.Get("name"), q.Get("schema")
	if !c.readsTable(db, schemaName, name) {
		return reply(404, obj{"errors": []any{obj{"message": "No such table", "error_type": "TABLE_NOT_FOUND_ERROR", "level": "error", "extra": nil}}})
	}
	source, err := c.s.data.database(db.str("sqlalchemy_uri"))
	if err != nil {
		return backend(500, err.Error())
	}
	columns, err := tableColumns(c.r.Context(), source, name)
	if err != nil {
		return backend(500, err.Error())
	}
	indexes, byColumn, err := tableIndexes(c.r.Context(), source, name)
	if err != nil {
		return backend(500, err.Error())
	}
	list, names := []any{}, []string{}
	for _, col := range columns {
		keys := byColumn[col.name]
		if keys == nil {
			keys = []any{}
		}
		list = append(list, obj{"comment": nil, "keys": keys, "longType": col.long(), "name": col.name, "type": col.short()})
		names = append(names, quoteName(col.name))
	}
	star := starSQL(schemaName, name)
	if len(names) > 0 {
		star = strings.Replace(star, "  *", "  "+strings.Join(names, ",\n  "), 1)
	}
	return ok(obj{"name": name, "columns": list, "comment": nil, "foreignKeys": []any{}, "indexes": indexes,
		"primaryKey": obj{"constrained_columns": nil, "name": nil}, "selectStar": star})
}

func tableIndexes(ctx context.Context, db *sql.DB, table string) ([]any, map[string][]any, error) {
	f, err := query(ctx, db, "PRAGMA main.index_list("+quoted(table)+")", -1)
	if err != nil {
		return nil, nil, err
	}
	out, byColumn := []any{}, map[string][]any{}
	for _, r := range f.rows {
		name, _ := r[1].(string)
		if strings.HasPrefix(name, "sqlite_autoindex") {
			continue
		}
		parts, err := query(ctx, db, "PRAGMA main.index_info("+quoted(name)+")", -1)
		if err != nil {
			return nil, nil, err
		}
		columns := []any{}
		for _, p := range parts.rows {
			columns = append(columns, p[2])
		}
		index := obj{"column_names": columns, "dialect_options": obj{}, "name": name, "type": "index", "unique": r[2]}
		out = append(out, index)
		for _, col := range columns {
			byColumn[col.(string)] = append(byColumn[col.(string)], index)
		}
	}
	return out, byColumn, nil
}

// readsTable: the whole database is granted, or a dataset over the table.
func (c *call) readsTable(db row, schemaName, table string) bool {
	if c.readsDatabase(db) {
		return true
	}
	for _, ds := range c.st.where("tables", "database_id", db.id()) {
		if ds.str("table_name") == table && (schemaName == "" || ds.str("schema") == "" || ds.str("schema") == schemaName) && c.readsDataset(ds) {
			return true
		}
	}
	return false
}

func (c *call) databaseTables() answer {
	v, a, good := c.argument()
	if !good {
		return a
	}
	q, _ := v.(obj)
	schemaName, named := q["schema_name"].(string)
	if !named {
		return message(400, "Not a valid rison schema 'schema_name' is a required property")
	}
	db := c.databaseByPath()
	if db == nil {
		return reply(404, obj{"error": "Database not found."})
	}
	source, err := c.s.data.database(db.str("sqlalchemy_uri"))
	if err != nil {
		return reply(422, obj{"error": err.Error()})
	}
	result := []any{}
	for _, kind := range []string{"table", "view"} {
		names, err := tableNames(c.r.Context(), source, kind)
		if err != nil {
			return reply(422, obj{"error": err.Error()})
		}
		for _, n := range names {
			if c.readsTable(db, schemaName, n) {
				result = append(result, obj{"extra": nil, "type": kind, "value": n})
			}
		}
	}
	return ok(obj{"count": len(result), "result": result})
}
