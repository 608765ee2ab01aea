package mocksuperset

// What the sections of a fixture file do.

func (c *call) fixtureDatabase(i item) error {
	fields := i.own("database_name", "sqlalchemy_uri", "uuid", "allow_dml", "allow_ctas", "allow_cvas", "allow_run_async", "allow_file_upload", "expose_in_sqllab")
	if extra, there := i.fields["extra"]; there {
		fields["extra"] = dumps(extra)
	}
	if have := c.st.find("dbs", "database_name", fields["database_name"]); have != nil {
		c.st.update("dbs", have.id(), fields)
		return nil
	}
	if fields["sqlalchemy_uri"] == nil {
		fields["sqlalchemy_uri"] = "sqlite://"
	}
	c.insertDatabase(fields)
	return nil
}

func (c *call) fixtureTag(i item) error {
	t := c.customTag(i.text("name"))
	if v, there := i.fields["description"]; there {
		c.st.update("tag", t.id(), row{"description": v})
	}
	return nil
}

func (c *call) fixtureUser(i item) error {
	fields := i.own("username", "password", "first_name", "last_name", "email", "active")
	if have := c.st.find("ab_user", "username", i.fields["username"]); have != nil {
		c.st.update("ab_user", have.id(), fields)
		return nil
	}
	name := i.text("username")
	c.st.insert("ab_user", row{"password": name, "first_name": name, "last_name": "", "email": name + "@example.com", "active": true,
		"login_count": 0, "created_on": seededOn}.with(fields))
	return nil
}

func (c *call) fixtureUserRoles(i item) error {
	if _, there := i.fields["roles"]; !there {
		return nil
	}
	roles := []int{}
	for _, n := range i.texts("roles") {
		r := c.st.find("ab_role", "name", n)
		if r == nil {
			return i.fail("roles", "there is no role "+n)
		}
		roles = append(roles, r.id())
	}
	u := c.st.find("ab_user", "username", i.fields["username"])
	c.st.relink("ab_user_role", "user_id", u.id(), "role_id", roles)
	return nil
}

func (c *call) fixtureRole(i item) error {
	r := c.st.find("ab_role", "name", i.fields["name"])
	if r == nil {
		r = c.st.insert("ab_role", row{"name": i.fields["name"]})
	}
	grant := func(permission, view string) {
		c.grantable(permission, view)
		p, v := c.st.find("ab_permission", "name", permission), c.st.find("ab_view_menu", "name", view)
		for _, pv := range c.st.where("ab_permission_view", "view_menu_id", v.id()) {
			if pv.int("permission_id") == p.id() {
				c.st.insert("ab_permission_view_role", row{"permission_view_id": pv.id(), "role_id": r.id()})
			}
		}
	}
	if like := i.text("like"); like != "" {
		other := c.st.find("ab_role", "name", like)
		if other == nil {
			return i.fail("like", "there is no role "+like)
		}
		for _, p := range c.st.pairs(other.id()) {
			grant(p[0], p[1])
		}
	}
	for _, e := range asList(i.fields["permissions"]) {
		pair := asList(e)
		if len(pair) != 2 {
			return i.fail("permissions", "a permission is a pair: [can_read, Dashboard]")
		}
		grant(textOr(pair[0], ""), textOr(pair[1], ""))
	}
	for _, n := range i.texts("databases") {
		db := c.st.find("dbs", "database_name", n)
		if db == nil {
			return i.fail("databases", "there is no database "+n)
		}
		grant("database_access", databasePerm(db))
	}
	for _, n := range i.texts("datasets") {
		ds := c.st.find("tables", "table_name", n)
		if ds == nil {
			return i.fail("datasets", "there is no dataset "+n)
		}
		grant("datasource_access", ds.str("perm"))
	}
	return nil
}

// fixtureOwners are the users named as owners; admin when the field is left out.
func (c *call) fixtureOwners(i item) ([]int, error) {
	if _, there := i.fields["owners"]; !there {
		return []int{c.userID()}, nil
	}
	out := []int{}
	for _, n := range i.texts("owners") {
		u := c.st.find("ab_user", "username", n)
		if u == nil {
			return nil, i.fail("owners", "there is no user "+n)
		}
		out = append(out, u.id())
	}
	return out, nil
}

func (c *call) fixtureDataset(i item) error {
	db := c.st.find("dbs", "database_name", i.fields["database"])
	if db == nil {
		return i.fail("database", "there is no database "+i.text("database"))
	}
	owners, err := c.fixtureOwners(i)
	if err != nil {
		return err
	}
	fields := i.own("table_name", "schema", "sql", "uuid", "description", "main_dttm_col", "cache_timeout")
	var ds row
	for _, have := range c.st.where("tables", "table_name", i.fields["table_name"]) {
		if have.int("database_id") == db.id() {
			ds = c.st.update("tables", have.id(), fields)
		}
	}
	fresh := ds == nil
	if fresh {
		ds = c.insertDataset(db, fields, owners)
	} else if _, there := i.fields["owners"]; there {
		c.st.relink("sqlatable_user", "table_id", ds.id(), "user_id", owners)
		c.tagSystem("dataset", ds.id(), owners)
	}
	if list, there := i.fields["columns"]; there {
		c.replaceParts("table_columns", ds.id(), rowsOf(list), row{"is_dttm": false, "is_active": true, "groupby": true, "filterable": true})
	} else if fresh {
		source, err := c.sourceColumns(ds)
		if err != nil {
			return i.fail("table_name", "its columns cannot be read: "+err.Error())
		}
		c.syncColumns(ds, source, false)
	}
	if list, there := i.fields["metrics"]; there {
		c.replaceParts("sql_metrics", ds.id(), rowsOf(list), row{})
	}
	return nil
}

func rowsOf(list any) []any {
	var out []any
	for _, e := range asList(list) {
		o, _ := e.(obj)
		out = append(out, row(o))
	}
	return out
}

func (c *call) fixtureChart(i item) error {
	owners, err := c.fixtureOwners(i)
	if err != nil {
		return err
	}
	fields := i.own("slice_name", "viz_type", "uuid", "description", "cache_timeout", "certified_by")
	have := c.st.find("slices", "slice_name", i.fields["slice_name"])
	var ds row
	if name := i.text("dataset"); name != "" {
		if ds = c.st.find("tables", "table_name", name); ds == nil {
			return i.fail("dataset", "there is no dataset "+name)
		}
		merge(fields, datasetRefs(ds))
	} else if have == nil {
		return i.fail("", "a new chart needs its dataset")
	} else {
		ds = c.st.get("tables", have.int("datasource_id"))
	}
	if p, there := i.fields["params"].(obj); there {
		fields["params"] = dumps(p)
	}
	if q, there := i.fields["query_context"].(obj); there {
		if ds != nil && q["datasource"] == nil {
			q["datasource"] = obj{"id": ds.id(), "type": "table"}
		}
		fields["query_context"] = dumps(q)
	}
	if have == nil {
		c.insertChart(fields, owners)
		return nil
	}
	c.st.update("slices", have.id(), fields)
	if _, there := i.fields["owners"]; there {
		c.st.relink("slice_user", "slice_id", have.id(), "user_id", owners)
		c.tagSystem("chart", have.id(), owners)
	}
	return nil
}

func (c *call) fixtureDashboard(i item) error {
	owners, err := c.fixtureOwners(i)
	if err != nil {
		return err
	}
	var charts []int
	for _, n := range i.texts("charts") {
		ch := c.st.find("slices", "slice_name", n)
		if ch == nil {
			return i.fail("charts", "there is no chart "+n)
		}
		charts = append(charts, ch.id())
	}
	fields := i.own("dashboard_title", "uuid", "slug", "published", "css", "description", "certified_by", "certification_details")
	for name, column := range map[string]string{"position": "position_json", "metadata": "json_metadata"} {
		if o, there := i.fields[name].(obj); there {
			fields[column] = dumps(o)
		}
	}
	var d row
	switch {
	case i.text("slug") != "":
		d = c.st.find("dashboards", "slug", i.fields["slug"])
	case i.text("dashboard_title") != "":
		d = c.st.find("dashboards", "dashboard_title", i.fields["dashboard_title"])
	default:
		return i.fail("", "a dashboard needs a slug or a dashboard_title")
	}
	if d == nil {
		d = c.insertDashboard(fields, owners)
	} else {
		c.st.update("dashboards", d.id(), fields)
		if _, there := i.fields["owners"]; there {
			c.st.relink("dashboard_user", "dashboard_id", d.id(), "user_id", owners)
			c.tagSystem("dashboard", d.id(), owners)
		}
	}
	if _, there := i.fields["charts"]; there {
		c.st.relink("dashboard_slices", "dashboard_id", d.id(), "slice_id", charts)
	}
	for _, n := range i.texts("tags") {
		t := c.customTag(n)
		c.tagAs("dashboard", d.id(), t.str("type"), n)
	}
	return nil
}

func (c *call) fixtureReport(i item) error {
	owners, err := c.fixtureOwners(i)
	if err != nil {
		return err
	}
	fields := i.own("name", "type", "crontab", "active", "description")
	if n := i.text("dashboard"); n != "" {
		d := c.st.find("dashboards", "slug", n)
		if d == nil {
			d = c.st.find("dashboards", "dashboard_title", n)
		}
		if d == nil {
			return i.fail("dashboard", "there is no dashboard "+n)
		}
		fields["dashboard_id"] = d.id()
	}
	if n := i.text("chart"); n != "" {
		ch := c.st.find("slices", "slice_name", n)
		if ch == nil {
			return i.fail("chart", "there is no chart "+n)
		}
		fields["chart_id"] = ch.id()
	}
	if have := c.st.find("report_schedule", "name", i.fields["name"]); have != nil {
		c.st.update("report_schedule", have.id(), fields)
		return nil
	}
	now := c.now()
	r := c.st.insert("report_schedule", row{"type": "Report", "crontab": "0 7 * * 1", "active": true, "last_state": "Not triggered",
		"validator_config_json": "{}", "log_retention": 90, "grace_period": 14400, "working_timeout": 3600, "report_format": "PNG",
		"creation_method": "alerts_reports", "timezone": "UTC", "extra_json": "{}", "force_screenshot": false,
		"created_on": now, "changed_on": now, "created_by_fk": c.userID(), "changed_by_fk": c.userID()}.with(fields))
	c.st.relink("report_schedule_user", "report_schedule_id", r.id(), "user_id", owners)
	return nil
}
