package mocksuperset

// embeddedDashboard is the setting that lets a dashboard be embedded elsewhere. Admins only may write it.
func (c *call) embeddedDashboard() answer {
	d := c.findDashboard(c.vars["id"])
	if d == nil {
		return notFound
	}
	have := c.st.find("embedded_dashboards", "dashboard_id", d.id())
	switch c.r.Method {
	case "GET":
		if have == nil {
			return notFound
		}
	case "DELETE":
		if have != nil {
			c.write().remove("embedded_dashboards", have.id())
		}
		return okMessage()
	default:
		body, a, good := c.jsonBody()
		if !good {
			return a
		}
		fields, bad := schema{"allowed_domains": {kind: kindList, elem: &field{kind: kindText}, required: true}}.load(body)
		if bad != nil {
			return message(400, bad)
		}
		fields["changed_on"], fields["changed_by_fk"] = c.now(), c.userID()
		if have == nil {
			have = c.write().insert("embedded_dashboards", row{"dashboard_id": d.id(), "uuid": c.s.newUUID()}.with(fields))
		} else {
			have = c.write().update("embedded_dashboards", have.id(), fields)
		}
	}
	out := have.pick("allowed_domains", "uuid")
	out["changed_on"], out["dashboard_id"] = isoDate(have.str("changed_on")), itoa(d.id())
	out["changed_by"] = nil
	if u := c.st.get("ab_user", have.int("changed_by_fk")); u != nil {
		out["changed_by"] = u.pick("first_name", "id", "last_name", "username")
	}
	return ok(obj{"result": out})
}

func embeddedRoutes() []route {
	const path, view = "/api/v1/dashboard/<id>/embedded", "Dashboard"
	return []route{
		{method: "GET", path: path, perm: "can_get_embedded", view: view, handle: (*call).embeddedDashboard},
		{method: "POST", path: path, perm: "can_set_embedded", view: view, changes: true, handle: (*call).embeddedDashboard},
		{method: "PUT", path: path, perm: "can_set_embedded", view: view, changes: true, handle: (*call).embeddedDashboard},
		{method: "DELETE", path: path, perm: "can_delete_embedded", view: view, changes: true, handle: (*call).embeddedDashboard},
	}
}
