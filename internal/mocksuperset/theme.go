package mocksuperset

func themeRoutes() []route {
	const view = "Theme"
	return []route{
		{method: "GET", path: "/api/v1/theme/", perm: "can_read", view: view, handle: func(c *call) answer { return c.list(themeListing) }},
		{method: "POST", path: "/api/v1/theme/", perm: "can_write", view: view, changes: true, handle: (*call).postTheme},
		{method: "GET", path: "/api/v1/theme/<int:id>", perm: "can_read", view: view, handle: (*call).getTheme},
		{method: "DELETE", path: "/api/v1/theme/<int:id>", perm: "can_write", view: view, changes: true, handle: (*call).deleteTheme},
	}
}

var themeListing = &listing{
	table: "themes", title: "Theme",
	columns: []string{"changed_on_delta_humanized", "changed_by.first_name", "changed_by.id", "changed_by.last_name", "changed_by_name", "created_on",
		"created_by.first_name", "created_by.id", "created_by.last_name", "json_data", "id", "is_system", "is_system_default", "is_system_dark",
		"theme_name", "uuid"},
	order:  []string{"theme_name"},
	search: map[string]searchKind{"theme_name": searchText, "uuid": searchText, "json_data": searchText, "is_system": searchBool, "created_by": searchOne, "changed_by": searchOne},
	row: func(c *call, t row) obj {
		out := t.pick("id", "uuid", "theme_name", "json_data")
		for _, f := range []string{"is_system", "is_system_default", "is_system_dark"} {
			out[f] = t.bool(f)
		}
		out["created_on"] = isoDate(t.str("created_on"))
		return merge(out, c.changedFields(t))
	},
}

var themeSchema = schema{"theme_name": {kind: kindText, required: true, min: 1, max: 250}, "json_data": {kind: kindText, required: true, check: validJSON}}

func (c *call) postTheme() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := themeSchema.load(body)
	if bad != nil {
		return message(400, bad)
	}
	now := c.now()
	t := c.write().insert("themes", row{"uuid": c.s.newUUID(), "is_system": false, "created_on": now, "changed_on": now,
		"created_by_fk": c.userID(), "changed_by_fk": c.userID()}.with(fields))
	return reply(201, obj{"id": t.id(), "result": shown(fields)})
}

func (c *call) getTheme() answer {
	id, _ := c.id("id")
	t := c.st.get("themes", id)
	if t == nil {
		return notFound
	}
	return ok(obj{"id": id, "result": themeListing.row(c, t)})
}

func (c *call) deleteTheme() answer {
	id, _ := c.id("id")
	t := c.st.get("themes", id)
	if t == nil {
		return notFound
	}
	if t.bool("is_system") {
		return message(403, "Cannot delete system theme.")
	}
	st := c.write()
	st.remove("themes", id)
	for _, d := range st.where("dashboards", "theme_id", id) {
		st.update("dashboards", d.id(), row{"theme_id": nil})
	}
	return message(200, "Deleted 1 theme")
}
