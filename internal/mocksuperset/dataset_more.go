package mocksuperset

var duplicateSchema = schema{
	"base_model_id":         {kind: kindInt, required: true},
	"table_name":            {kind: kindText, required: true, min: 1, max: 250},
	"is_managed_externally": {kind: kindBool, null: true},
	"external_url":          {kind: kindText, null: true},
}

// duplicateDataset copies a virtual dataset for the caller.
func (c *call) duplicateDataset() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := duplicateSchema.load(body)
	if bad != nil {
		return message(400, bad)
	}
	base := c.st.get("tables", fields.int("base_model_id"))
	if base == nil || kindOf(base) != "virtual" || c.st.find("tables", "table_name", fields["table_name"]) != nil {
		return message(422, "Dataset parameters are invalid.")
	}
	db := c.st.get("dbs", base.int("database_id"))
	copied := row{"table_name": fields["table_name"]}
	for _, name := range []string{"sql", "schema", "catalog", "template_params", "normalize_columns", "always_filter_main_dttm"} {
		copied[name] = base[name]
	}
	ds := c.insertDataset(db, copied, []int{c.userID()})
	st, now := c.write(), c.now()
	for _, table := range []string{"table_columns", "sql_metrics"} {
		for _, r := range st.where(table, "table_id", base.id()) {
			st.insert(table, r.with(row{"table_id": ds.id(), "uuid": c.s.newUUID(), "created_on": now, "changed_on": now,
				"created_by_fk": c.userID(), "changed_by_fk": c.userID()}))
		}
	}
	return reply(201, obj{"id": ds.id(), "result": shown(fields)})
}

var getOrCreateSchema = schema{
	"table_name":              {kind: kindText, required: true},
	"database_id":             {kind: kindInt, required: true},
	"catalog":                 {kind: kindText, null: true},
	"schema":                  {kind: kindText, null: true, max: 250},
	"template_params":         {kind: kindText},
	"normalize_columns":       {kind: kindBool},
	"always_filter_main_dttm": {kind: kindBool},
}

// getOrCreateDataset looks for the name in the database, whatever the schema. Two of the name are an error.
func (c *call) getOrCreateDataset() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := getOrCreateSchema.load(body)
	if bad != nil {
		return message(400, bad)
	}
	var found []row
	for _, ds := range c.st.where("tables", "table_name", fields["table_name"]) {
		if ds.int("database_id") == fields.int("database_id") {
			found = append(found, ds)
		}
	}
	switch len(found) {
	case 0:
	case 1:
		return ok(obj{"result": obj{"table_id": found[0].id()}})
	default:
		return fatal
	}
	fields["database"] = fields["database_id"]
	delete(fields, "database_id")
	ds, a, good := c.makeDataset(fields)
	if !good {
		return a
	}
	return ok(obj{"result": obj{"table_id": ds.id()}})
}

// drillInfo is the short form of a dataset. With a dashboard that the caller sees, one that is not granted is 403.
func (c *call) drillInfo() answer {
	id, isNumber := c.id("id")
	ds := c.st.get("tables", id)
	if !isNumber || ds == nil {
		return notFound
	}
	if !c.seesDataset(ds) {
		v, _, _ := c.argument()
		q, _ := v.(obj)
		if d := c.st.get("dashboards", asInt(q["dashboard_id"])); d != nil && c.seesDashboard(d) {
			return forbidden
		}
		return notFound
	}
	columns := []any{}
	for _, col := range c.columns(ds) {
		if col.bool("groupby") {
			columns = append(columns, col.pick("column_name", "verbose_name"))
		}
	}
	person := func(who any) any {
		n, _ := who.(int)
		if u := c.st.get("ab_user", n); u != nil {
			return u.pick("email", "first_name", "last_name")
		}
		return nil
	}
	return ok(obj{"result": obj{"id": id, "table_name": ds["table_name"], "columns": columns,
		"changed_by": person(ds["changed_by_fk"]), "created_by": person(ds["created_by_fk"]),
		"changed_on_humanized": c.ago(ds.str("changed_on")), "created_on_humanized": c.ago(ds.str("created_on")),
		"owners": c.owners("sqlatable_user", "table_id", id, "email", "first_name", "last_name")}})
}

// deletePart deletes one column or metric: admins only, owners use PUT.
func (c *call) deletePart(table string) answer {
	ds, a, good := c.datasetToChange()
	if !good {
		return a
	}
	part, _ := c.id("part")
	r := c.st.get(table, part)
	if r == nil || r.int("table_id") != ds.id() {
		return notFound
	}
	if !c.isAdmin() {
		return forbidden
	}
	c.write().remove(table, part)
	return okMessage()
}
