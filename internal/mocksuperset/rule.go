package mocksuperset

func ruleRoutes() []route {
	const view = "Row Level Security"
	return []route{
		{method: "GET", path: "/api/v1/rowlevelsecurity/", perm: "can_read", view: view, handle: func(c *call) answer { return c.list(ruleListing) }},
		{method: "GET", path: "/api/v1/rowlevelsecurity/_info", perm: "can_read", view: view, handle: func(c *call) answer { return c.info(ruleListing, view) }},
		{method: "POST", path: "/api/v1/rowlevelsecurity/", perm: "can_write", view: view, changes: true, handle: (*call).postRule},
		{method: "DELETE", path: "/api/v1/rowlevelsecurity/", perm: "can_write", view: view, changes: true, handle: (*call).bulkDeleteRules},
		{method: "GET", path: "/api/v1/rowlevelsecurity/<id>", perm: "can_read", view: view, handle: (*call).getRule},
		{method: "PUT", path: "/api/v1/rowlevelsecurity/<id>", perm: "can_write", view: view, changes: true, handle: (*call).putRule},
		{method: "DELETE", path: "/api/v1/rowlevelsecurity/<id>", perm: "can_write", view: view, changes: true, handle: (*call).deleteRule},
	}
}

const ruleTable = "row_level_security_filters"

var ruleListing = &listing{
	table: ruleTable, title: "Row Level Security Filter", extra: []string{"description"},
	columns: []string{"id", "name", "filter_type", "tables.id", "tables.table_name", "tables.schema", "roles.id", "roles.name", "clause",
		"changed_on_delta_humanized", "changed_by.first_name", "changed_by.last_name", "changed_by.id", "group_key"},
	order: []string{"name", "filter_type", "clause", "changed_on_delta_humanized", "group_key"},
	search: map[string]searchKind{"name": searchText, "description": searchText, "clause": searchText, "group_key": searchText, "filter_type": searchBool,
		"roles": searchMany, "tables": searchMany, "created_by": searchOne, "changed_by": searchOne},
	related: map[string]relation{
		"roles":  {"rls_filter_roles", "rls_filter_id", "role_id", "ab_role"},
		"tables": {"rls_filter_tables", "rls_filter_id", "table_id", "tables"},
	},
	row: func(c *call, r row) obj {
		out := r.pick("id", "name", "filter_type", "clause", "group_key", "description")
		out["roles"], out["tables"] = c.ruleRoles(r), c.ruleTables(r)
		return merge(out, c.changedFields(r))
	},
}

func (c *call) ruleRoles(r row) []any {
	out := []any{}
	for _, role := range c.st.linked("rls_filter_roles", "rls_filter_id", r.id(), "role_id", "ab_role") {
		out = append(out, role.pick("id", "name"))
	}
	return out
}

func (c *call) ruleTables(r row) []any {
	out := []any{}
	for _, ds := range c.st.linked("rls_filter_tables", "rls_filter_id", r.id(), "table_id", "tables") {
		out = append(out, ds.pick("id", "schema", "table_name"))
	}
	return out
}

func atLeastOne(v any) []any {
	if len(asList(v)) == 0 {
		return []any{"Shorter than minimum length 1."}
	}
	return nil
}

func ruleSchema(post bool) schema {
	tables := listOf(field{kind: kindInt})
	tables.required, tables.check = post, atLeastOne
	roles := listOf(field{kind: kindInt})
	roles.required = post
	return schema{
		"name": {kind: kindText, required: post, min: 1, max: 255}, "description": nullText,
		"filter_type": {kind: kindText, required: post, oneOf: []string{"Regular", "Base"}}, "tables": tables, "roles": roles,
		"group_key": nullText, "clause": {kind: kindText, required: post},
	}
}

var rulePost, rulePut = ruleSchema(true), ruleSchema(false)

// ruleFields reads a body and checks what only the state can say.
func (c *call) ruleFields(s schema) (row, answer, bool) {
	body, a, good := c.jsonBody()
	if !good {
		return nil, a, false
	}
	fields, bad := s.load(body)
	if bad != nil {
		return nil, message(400, bad), false
	}
	for _, id := range intsOf(fields["tables"]) {
		if c.st.get("tables", id) == nil {
			return nil, message(422, "[l'Datasource does not exist']"), false
		}
	}
	if !c.rolesExist(intsOf(fields["roles"])) {
		return nil, message(422, "[l'Some roles do not exist']"), false
	}
	return fields, answer{}, true
}

func (c *call) setRuleLinks(id int, fields row) {
	if v, named := fields["tables"]; named {
		c.write().relink("rls_filter_tables", "rls_filter_id", id, "table_id", intsOf(v))
	}
	if v, named := fields["roles"]; named {
		c.write().relink("rls_filter_roles", "rls_filter_id", id, "role_id", intsOf(v))
	}
}

func ruleColumns(fields row) row {
	out := row{}
	for k, v := range fields {
		if k != "tables" && k != "roles" {
			out[k] = v
		}
	}
	return out
}

func (c *call) postRule() answer {
	fields, a, good := c.ruleFields(rulePost)
	if !good {
		return a
	}
	if c.st.find(ruleTable, "name", fields["name"]) != nil {
		return message(422, "()")
	}
	now := c.now()
	r := c.write().insert(ruleTable, row{"created_on": now, "changed_on": now, "created_by_fk": c.userID(), "changed_by_fk": c.userID()}.with(ruleColumns(fields)))
	c.setRuleLinks(r.id(), fields)
	return reply(201, obj{"id": r.id(), "result": shown(fields)})
}

func (c *call) ruleByPath() row {
	id, _ := c.id("id")
	return c.st.get(ruleTable, id)
}

func (c *call) getRule() answer {
	r := c.ruleByPath()
	if r == nil {
		return notFound
	}
	columns := []string{"id", "name", "filter_type", "tables.id", "tables.schema", "tables.table_name", "roles.id", "roles.name", "clause", "group_key", "description"}
	labels := obj{}
	for _, col := range columns {
		if col != "id" {
			labels[col] = label(col)
		}
	}
	return ok(obj{"id": r.id(), "result": project(ruleListing.row(c, r), columns), "label_columns": labels, "description_columns": obj{},
		"show_columns": columns, "show_title": "Show Row Level Security Filter"})
}

func (c *call) putRule() answer {
	fields, a, good := c.ruleFields(rulePut)
	if !good {
		return a
	}
	r := c.ruleByPath()
	if r == nil {
		return notFound
	}
	c.setRuleLinks(r.id(), fields)
	c.touch(ruleTable, r, ruleColumns(fields))
	return ok(obj{"id": r.id(), "result": shown(fields)})
}

func (c *call) dropRule(id int) {
	c.write().remove(ruleTable, id)
	c.write().removeWhere("rls_filter_roles", "rls_filter_id", id)
	c.write().removeWhere("rls_filter_tables", "rls_filter_id", id)
}

func (c *call) deleteRule() answer {
	r := c.ruleByPath()
	if r == nil {
		return notFound
	}
	c.dropRule(r.id())
	return okMessage()
}

func (c *call) bulkDeleteRules() answer {
	wanted, a, good := c.bulkIDs()
	if !good {
		return a
	}
	for _, id := range wanted {
		if c.st.get(ruleTable, id) == nil {
			return notFound
		}
	}
	for _, id := range wanted {
		c.dropRule(id)
	}
	return message(200, deletedText(len(wanted), "rule"))
}
