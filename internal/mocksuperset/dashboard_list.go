package mocksuperset

var dashboardListing = &listing{
	table: "dashboards", title: "Dashboard",
	columns: []string{
		"id", "uuid", "published", "status", "slug", "url", "thumbnail_url", "certified_by", "certification_details",
		"changed_by.first_name", "changed_by.last_name", "changed_by.id", "changed_by_name", "changed_on_utc",
		"changed_on_delta_humanized", "created_on_delta_humanized", "created_by.first_name", "created_by.id",
		"created_by.last_name", "dashboard_title", "owners.id", "owners.first_name", "owners.last_name", "owners.email",
		"roles.id", "roles.name", "is_managed_externally", "uuid", "tags.id", "tags.name", "tags.type",
	},
	order: []string{"changed_by.first_name", "changed_on_delta_humanized", "created_by.first_name", "dashboard_title", "published", "changed_on"},
	search: map[string]searchKind{
		"created_by": searchOne, "changed_by": searchOne, "dashboard_title": searchText, "id": searchNumber, "uuid": searchText,
		"owners": searchMany, "published": searchBool, "roles": searchMany, "slug": searchText, "tags": searchMany,
	},
	special: map[string]specialFilter{
		"dashboard_title:title_or_slug": func(_ *call, r row, v any) bool {
			text, isText := v.(string)
			return !isText || text == "" || like(r.str("dashboard_title"), "%"+text+"%") || like(r.str("slug"), "%"+text+"%")
		},
		"id:dashboard_is_favorite":  func(c *call, r row, v any) bool { return c.starred("Dashboard", r.id()) == truthy(v) },
		"id:dashboard_is_certified": func(_ *call, r row, v any) bool { return (r.str("certified_by") != "") == truthy(v) },
		"created_by:dashboard_created_by_me": func(c *call, r row, _ any) bool {
			return r.int("created_by_fk") == c.userID() || r.int("changed_by_fk") == c.userID()
		},
		"created_by:dashboard_has_created_by": func(_ *call, r row, v any) bool { return (r["created_by_fk"] != nil) == truthy(v) },
		"tags:dashboard_tags":                 func(c *call, r row, v any) bool { return c.taggedLike("dashboard", r.id(), v) },
		"tags:dashboard_tag_id":               func(c *call, r row, v any) bool { return c.taggedWith("dashboard", r.id(), v) },
	},
	related: map[string]relation{
		"owners": {"dashboard_user", "dashboard_id", "user_id", "ab_user"},
		"roles":  {"dashboard_roles", "dashboard_id", "role_id", "ab_role"},
		"tags":   {"tagged_object", "object_id", "tag_id", "tag"},
	},
	sees: (*call).seesDashboard,
	row: func(c *call, d row) obj {
		out := d.pick("id", "uuid", "slug", "certified_by", "certification_details", "dashboard_title")
		out["published"], out["is_managed_externally"] = flag(d, "published"), d.bool("is_managed_externally")
		out["status"] = "draft"
		if d.bool("published") {
			out["status"] = "published"
		}
		out["url"], out["thumbnail_url"] = dashboardURL(d), thumbnail("dashboard", d)
		out["changed_on_utc"] = utcDate(d.str("changed_on"))
		out["owners"] = c.owners("dashboard_user", "dashboard_id", d.id(), "id", "first_name", "last_name", "email")
		out["roles"], out["tags"] = c.roleRefs(d.id()), c.tagsOf("dashboard", d.id(), false)
		return merge(out, c.changedFields(d))
	},
}

func truthy(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case int:
		return v != 0
	case string:
		return v != ""
	}
	return v != nil
}
