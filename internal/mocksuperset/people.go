package mocksuperset

// The admins' addresses of users and roles. They ask no CSRF token, and their
// lists have no permission names of Superset's own kind.

func peopleRoutes() []route {
	return []route{
		{method: "GET", path: "/api/v1/security/roles/", perm: "can_get", view: "Role", handle: func(c *call) answer { return c.list(roleListing) }},
		{method: "POST", path: "/api/v1/security/roles/", perm: "can_post", view: "Role", exempt: true, changes: true, handle: (*call).postRole},
		{method: "DELETE", path: "/api/v1/security/roles/<int:id>", perm: "can_delete", view: "Role", exempt: true, changes: true, handle: func(c *call) answer { return c.dropPerson("ab_role", "role_id") }},
		{method: "GET", path: "/api/v1/security/roles/<int:id>/permissions/", perm: "can_list_role_permissions", view: "Role", handle: (*call).rolePermissions},
		{method: "POST", path: "/api/v1/security/roles/<int:id>/permissions", perm: "can_add_role_permissions", view: "Role", exempt: true, changes: true, handle: (*call).grantRole},
		{method: "GET", path: "/api/v1/security/users/", perm: "can_get", view: "User", handle: func(c *call) answer { return c.list(userListing) }},
		{method: "POST", path: "/api/v1/security/users/", perm: "can_post", view: "User", exempt: true, changes: true, handle: (*call).postUser},
		{method: "PUT", path: "/api/v1/security/users/<int:id>", perm: "can_put", view: "User", exempt: true, changes: true, handle: (*call).putUser},
		{method: "DELETE", path: "/api/v1/security/users/<int:id>", perm: "can_delete", view: "User", exempt: true, changes: true, handle: func(c *call) answer { return c.dropPerson("ab_user", "user_id") }},
		{method: "GET", path: "/api/v1/security/resources/", perm: "can_get", view: "ViewMenu", handle: func(c *call) answer { return c.list(resourceListing) }},
		{method: "GET", path: "/api/v1/security/permissions-resources/", perm: "can_get", view: "PermissionViewMenu", handle: func(c *call) answer { return c.list(pairListing) }},
	}
}

var roleListing = &listing{
	table: "ab_role", title: "Role", columns: []string{"id", "name"}, order: []string{"id", "name"},
	search: map[string]searchKind{"id": searchNumber, "name": searchText},
	row:    func(_ *call, r row) obj { return r.pick("id", "name") },
}

var resourceListing = &listing{
	table: "ab_view_menu", title: "View Menu", columns: []string{"id", "name"}, order: []string{"id", "name"},
	search: map[string]searchKind{"id": searchNumber, "name": searchText},
	row:    func(_ *call, r row) obj { return r.pick("id", "name") },
}

var pairListing = &listing{
	table: "ab_permission_view", title: "Permission View", columns: []string{"id", "permission.name", "view_menu.name"}, order: []string{"id", "permission.name", "view_menu.name"},
	search: map[string]searchKind{"id": searchNumber},
	special: map[string]specialFilter{
		"view_menu:rel_o_m":  func(_ *call, r row, v any) bool { return r.int("view_menu_id") == asInt(v) },
		"permission:rel_o_m": func(_ *call, r row, v any) bool { return r.int("permission_id") == asInt(v) },
	},
	row: func(c *call, r row) obj {
		out := obj{"id": r.id(), "permission": nil, "view_menu": nil}
		if p := c.st.get("ab_permission", r.int("permission_id")); p != nil {
			out["permission"] = p.pick("name")
		}
		if v := c.st.get("ab_view_menu", r.int("view_menu_id")); v != nil {
			out["view_menu"] = v.pick("name")
		}
		return out
	},
}

var userListing = &listing{
	table: "ab_user", title: "User",
	columns: []string{"id", "first_name", "last_name", "username", "email", "active", "login_count", "last_login", "roles.id", "roles.name"},
	order:   []string{"id", "first_name", "last_name", "username", "email", "active", "login_count", "last_login"},
	search: map[string]searchKind{"id": searchNumber, "first_name": searchText, "last_name": searchText, "username": searchText, "email": searchText,
		"active": searchBool, "roles": searchMany},
	related: map[string]relation{"roles": {"ab_user_role", "user_id", "role_id", "ab_role"}},
	row: func(c *call, u row) obj {
		out := u.pick("id", "first_name", "last_name", "username", "email", "login_count", "last_login")
		roles := []any{}
		for _, r := range c.st.linked("ab_user_role", "user_id", u.id(), "role_id", "ab_role") {
			roles = append(roles, r.pick("id", "name"))
		}
		out["active"], out["roles"] = u.bool("active"), roles
		return out
	},
}

func (c *call) postRole() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := schema{"name": {kind: kindText, required: true, min: 1, max: 64}}.load(body)
	if bad != nil {
		return message(422, bad)
	}
	if c.st.find("ab_role", "name", fields["name"]) != nil {
		return fatal
	}
	r := c.write().insert("ab_role", fields)
	return reply(201, obj{"id": r.id(), "result": shown(fields)})
}

func (c *call) rolePermissions() answer {
	id, _ := c.id("id")
	if c.st.get("ab_role", id) == nil {
		return notFound
	}
	result := []any{}
	for _, held := range c.st.where("ab_permission_view_role", "role_id", id) {
		if pv := c.st.get("ab_permission_view", held.int("permission_view_id")); pv != nil {
			pair := pairListing.row(c, pv)
			p, _ := pair["permission"].(obj)
			v, _ := pair["view_menu"].(obj)
			result = append(result, obj{"id": pv.id(), "permission_name": p["name"], "view_menu_name": v["name"]})
		}
	}
	return ok(obj{"result": result})
}

func (c *call) grantRole() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := schema{"permission_view_menu_ids": listOf(field{kind: kindInt})}.load(body)
	id, _ := c.id("id")
	switch {
	case bad != nil:
		return message(400, bad)
	case c.st.get("ab_role", id) == nil:
		return notFound
	}
	c.write().relink("ab_permission_view_role", "role_id", id, "permission_view_id", intsOf(fields["permission_view_menu_ids"]))
	return ok(obj{"result": shown(fields)})
}

var userSchema = schema{
	"username": {kind: kindText, min: 1, max: 250}, "password": {kind: kindText, min: 1, max: 250}, "first_name": {kind: kindText, min: 1, max: 250},
	"last_name": {kind: kindText, min: 1, max: 250}, "email": {kind: kindText, min: 1, max: 250}, "active": {kind: kindBool},
	"roles": listOf(field{kind: kindInt}), "groups": listOf(field{kind: kindInt}),
}

func (c *call) postUser() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := userSchema.load(body)
	if bad == nil {
		bad = obj{}
		for _, name := range []string{"username", "password", "first_name", "last_name", "email"} {
			if fields[name] == nil {
				bad[name] = []any{"Missing data for required field."}
			}
		}
	}
	if len(bad) > 0 {
		return message(400, bad)
	}
	roles := intsOf(fields["roles"])
	if c.st.find("ab_user", "username", fields["username"]) != nil || c.st.find("ab_user", "email", fields["email"]) != nil || !c.rolesExist(roles) {
		return message(422, "The user could not be created: name or mail address in use, or a role that does not exist.")
	}
	delete(fields, "roles")
	delete(fields, "groups")
	u := c.write().insert("ab_user", row{"active": true, "login_count": 0, "created_on": c.now()}.with(fields))
	c.write().relink("ab_user_role", "user_id", u.id(), "role_id", roles)
	return reply(201, obj{"id": u.id()})
}

func (c *call) putUser() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := userSchema.load(body)
	id, _ := c.id("id")
	switch {
	case bad != nil:
		return message(400, bad)
	case c.st.get("ab_user", id) == nil:
		return notFound
	}
	result := shown(fields)
	if roles, named := fields["roles"]; named {
		if !c.rolesExist(intsOf(roles)) {
			return message(422, "A role does not exist.")
		}
		c.write().relink("ab_user_role", "user_id", id, "role_id", intsOf(roles))
	}
	delete(fields, "roles")
	delete(fields, "groups")
	c.write().update("ab_user", id, fields)
	return ok(obj{"result": result})
}

func (c *call) dropPerson(table, column string) answer {
	id, _ := c.id("id")
	if c.st.get(table, id) == nil {
		return notFound
	}
	c.write().remove(table, id)
	c.write().removeWhere("ab_user_role", column, id)
	return okMessage()
}

// grantable makes the pair by which a database or dataset is granted, as Superset does when one is made.
func (c *call) grantable(permission, name string) {
	st := c.write()
	p := st.find("ab_permission", "name", permission)
	if p == nil {
		p = st.insert("ab_permission", row{"name": permission})
	}
	v := st.find("ab_view_menu", "name", name)
	if v == nil {
		v = st.insert("ab_view_menu", row{"name": name})
	}
	for _, pv := range st.where("ab_permission_view", "view_menu_id", v.id()) {
		if pv.int("permission_id") == p.id() {
			return
		}
	}
	st.insert("ab_permission_view", row{"permission_id": p.id(), "view_menu_id": v.id()})
}
