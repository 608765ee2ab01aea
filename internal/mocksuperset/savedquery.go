package mocksuperset

func savedQueryRoutes() []route {
	const view = "SavedQuery"
	return []route{
		{method: "GET", path: "/api/v1/saved_query/", perm: "can_read", view: view, handle: func(c *call) answer { return c.list(savedQueryListing) }},
		{method: "GET", path: "/api/v1/saved_query/_info", perm: "can_read", view: view, handle: func(c *call) answer { return c.info(savedQueryListing, view) }},
		{method: "POST", path: "/api/v1/saved_query/", perm: "can_write", view: view, changes: true, handle: (*call).postSavedQuery},
		{method: "GET", path: "/api/v1/saved_query/<id>", perm: "can_read", view: view, handle: (*call).getSavedQuery},
		{method: "PUT", path: "/api/v1/saved_query/<id>", perm: "can_write", view: view, changes: true, handle: (*call).putSavedQuery},
		{method: "DELETE", path: "/api/v1/saved_query/<id>", perm: "can_write", view: view, changes: true, handle: (*call).deleteSavedQuery},
	}
}

// savedQueryListing are one's own saved queries; others' do not exist, for admins neither.
var savedQueryListing = &listing{
	table: "saved_query", title: "Saved Query",
	columns: []string{"changed_on", "changed_on_delta_humanized", "changed_by.first_name", "changed_by.id", "changed_by.last_name", "created_on",
		"created_by.first_name", "created_by.id", "created_by.last_name", "database.database_name", "database.id", "db_id", "description", "extra",
		"id", "label", "last_run_delta_humanized", "rows", "catalog", "schema", "sql", "sql_tables", "tags.id", "tags.name", "tags.type"},
	order: []string{"catalog", "schema", "label", "description", "sql", "rows", "created_by.first_name", "database.database_name", "created_on",
		"changed_on_delta_humanized", "last_run_delta_humanized"},
	search: map[string]searchKind{"id": searchNumber, "database": searchOne, "label": searchText, "catalog": searchText, "schema": searchText,
		"created_by": searchOne, "changed_by": searchOne, "tags": searchMany},
	special: map[string]specialFilter{
		"label:all_text": func(_ *call, r row, v any) bool {
			text, isText := v.(string)
			if !isText || text == "" {
				return true
			}
			for _, column := range []string{"schema", "label", "description", "sql"} {
				if like(r.str(column), "%"+text+"%") {
					return true
				}
			}
			return false
		},
		"id:saved_query_is_fav": func(c *call, r row, v any) bool { return c.starred("query", r.id()) == truthy(v) },
	},
	sees: (*call).ownsSavedQuery,
	row: func(c *call, q row) obj {
		out := q.pick("db_id", "description", "id", "label", "rows", "catalog", "schema", "sql")
		out["changed_on"], out["created_on"] = isoDate(q.str("changed_on")), isoDate(q.str("created_on"))
		out["extra"], out["last_run_delta_humanized"] = object(q.str("extra_json")), c.ago(q.str("changed_on"))
		out["database"] = nil
		if db := c.st.get("dbs", q.int("db_id")); db != nil {
			out["database"] = db.pick("database_name", "id")
		}
		tables := []any{}
		withRules(q.str("sql"), func(table string) string {
			tables = append(tables, obj{"catalog": nil, "schema": nil, "table": table})
			return ""
		})
		out["sql_tables"], out["tags"] = tables, c.tagsOf("query", q.id(), false)
		return merge(out, c.changedFields(q))
	},
}

func (c *call) ownsSavedQuery(q row) bool { return q.int("created_by_fk") == c.userID() }

var savedQuerySchema = schema{
	"db_id": {kind: kindInt, null: true}, "label": {kind: kindText, null: true, check: labelLength}, "schema": nullText, "catalog": nullText,
	"description": nullText, "sql": nullText, "template_parameters": nullText, "extra_json": {kind: kindText, check: validJSON},
}

func labelLength(v any) []any {
	if len([]rune(textOr(v, ""))) > 256 {
		return []any{"Longer than maximum length 256."}
	}
	return nil
}

func savedQueryBody(q row) obj {
	out := q.pick("catalog", "db_id", "description", "extra_json", "label", "schema", "sql", "template_parameters")
	if out["extra_json"] == nil {
		out["extra_json"] = "{}"
	}
	return out
}

func (c *call) postSavedQuery() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := savedQuerySchema.load(body)
	if bad != nil {
		return message(422, bad)
	}
	now := c.now()
	q := c.write().insert("saved_query", row{"uuid": c.s.newUUID(), "user_id": c.userID(), "created_on": now, "changed_on": now,
		"created_by_fk": c.userID(), "changed_by_fk": c.userID(), "extra_json": "{}"}.with(fields))
	c.tagSystem("query", q.id(), []int{c.userID()})
	return reply(201, obj{"id": q.id(), "result": savedQueryBody(q)})
}

func (c *call) savedQueryByPath() row {
	id, _ := c.id("id")
	q := c.st.get("saved_query", id)
	if q == nil || !c.ownsSavedQuery(q) {
		return nil
	}
	return q
}

func (c *call) getSavedQuery() answer {
	q := c.savedQueryByPath()
	if q == nil {
		return notFound
	}
	out := savedQueryListing.row(c, q)
	out["template_parameters"] = q["template_parameters"]
	return ok(obj{"id": q.id(), "result": out})
}

func (c *call) putSavedQuery() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	q := c.savedQueryByPath()
	if q == nil {
		return notFound
	}
	fields, bad := savedQuerySchema.load(body)
	if bad != nil {
		return message(422, bad)
	}
	return ok(obj{"result": savedQueryBody(c.touch("saved_query", q, fields))})
}

func (c *call) deleteSavedQuery() answer {
	q := c.savedQueryByPath()
	if q == nil {
		return notFound
	}
	c.write().remove("saved_query", q.id())
	c.untag("query", q.id(), func(row) bool { return false })
	return okMessage()
}
