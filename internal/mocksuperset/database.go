package mocksuperset

import "strings"

func databaseRoutes() []route {
	const view = "Database"
	return []route{
		{method: "GET", path: "/api/v1/database/", perm: "can_read", view: view, handle: func(c *call) answer { return c.list(databaseListing) }},
		{method: "GET", path: "/api/v1/database/<int:id>", perm: "can_read", view: view, handle: (*call).getDatabase},
		{method: "GET", path: "/api/v1/database/<int:id>/related_objects/", perm: "can_read", view: view, handle: (*call).databaseRelated},
		{method: "GET", path: "/api/v1/database/_info", perm: "can_read", view: view, handle: func(c *call) answer { return c.info(databaseListing, view) }},
		{method: "GET", path: "/api/v1/database/related/<column>", perm: "can_read", view: view, handle: (*call).related},
		{method: "POST", path: "/api/v1/database/", perm: "can_write", view: view, changes: true, handle: (*call).postDatabase},
		{method: "PUT", path: "/api/v1/database/<int:id>", perm: "can_write", view: view, changes: true, handle: (*call).putDatabase},
		{method: "DELETE", path: "/api/v1/database/<int:id>", perm: "can_write", view: view, changes: true, handle: (*call).deleteDatabase},
		{method: "GET", path: "/api/v1/database/<int:id>/connection", perm: "can_write", view: view, handle: (*call).getConnection},
		{method: "POST", path: "/api/v1/database/test_connection/", perm: "can_write", view: view, handle: (*call).testConnection},
		{method: "GET", path: "/api/v1/database/<int:id>/schemas/", perm: "can_read", view: view, handle: (*call).databaseSchemas},
		{method: "GET", path: "/api/v1/database/<int:id>/catalogs/", perm: "can_read", view: view, handle: (*call).databaseCatalogs},
		{method: "GET", path: "/api/v1/database/<int:id>/tables/", perm: "can_read", view: view, handle: (*call).databaseTables},
		{method: "GET", path: "/api/v1/database/<int:id>/table_metadata/", perm: "can_read", view: view, handle: (*call).tableMetadata},
		{method: "GET", path: "/api/v1/database/<int:id>/table_metadata/extra/", perm: "can_read", view: view, handle: func(*call) answer { return ok(obj{}) }},
		{method: "GET", path: "/api/v1/database/<int:id>/select_star/<table>/", perm: "can_read", view: view, handle: (*call).selectStarOf},
		{method: "GET", path: "/api/v1/database/<int:id>/select_star/<table>/<schema>/", perm: "can_read", view: view, handle: (*call).selectStarOf},
		{method: "GET", path: "/api/v1/database/<int:id>/function_names/", perm: "can_read", view: view, handle: func(c *call) answer {
			if c.databaseByPath() == nil {
				return notFound
			}
			return ok(obj{"function_names": functionNames})
		}},
		{method: "POST", path: "/api/v1/database/<int:id>/validate_sql/", perm: "can_read", view: view, handle: (*call).validateSQL},
	}
}

func backendOf(db row) string {
	scheme, _, _ := strings.Cut(db.str("sqlalchemy_uri"), "://")
	scheme, _, _ = strings.Cut(scheme, "+")
	return scheme
}

func driverOf(db row) string {
	scheme, _, _ := strings.Cut(db.str("sqlalchemy_uri"), "://")
	if _, driver, found := strings.Cut(scheme, "+"); found {
		return driver
	}
	switch scheme {
	case "sqlite":
		return "pysqlite"
	case "postgresql":
		return "psycopg2"
	}
	return scheme
}

func engineInformation(db row) obj {
	if backendOf(db) == "sqlite" {
		return obj{"disable_ssh_tunneling": true, "supports_dynamic_catalog": false, "supports_file_upload": true, "supports_oauth2": false}
	}
	return obj{"disable_ssh_tunneling": false, "supports_dynamic_catalog": backendOf(db) == "postgresql", "supports_file_upload": true, "supports_oauth2": false}
}

var databaseFlags = []string{"allow_ctas", "allow_cvas", "allow_dml", "allow_run_async", "allow_file_upload", "expose_in_sqllab"}

var databaseListing = &listing{
	table: "dbs", title: "Database", whole: true,
	columns: []string{
		"allow_file_upload", "allow_ctas", "allow_cvas", "allow_dml", "allow_run_async", "allows_cost_estimate",
		"allows_subquery", "allows_virtual_table_explore", "backend", "changed_on", "changed_on_delta_humanized",
		"changed_by.first_name", "changed_by.last_name", "created_by.first_name", "created_by.last_name",
		"configuration_method", "database_name", "explore_database_id", "expose_in_sqllab", "extra", "force_ctas_schema",
		"id", "uuid", "disable_data_preview", "disable_drill_to_detail", "allow_multi_catalog", "engine_information",
	},
	order: []string{"allow_file_upload", "allow_dml", "allow_run_async", "changed_on", "changed_on_delta_humanized",
		"created_by.first_name", "database_name", "expose_in_sqllab"},
	search: map[string]searchKind{
		"allow_file_upload": searchBool, "allow_dml": searchBool, "allow_run_async": searchBool, "created_by": searchOne,
		"changed_by": searchOne, "database_name": searchText, "expose_in_sqllab": searchBool, "uuid": searchText,
	},
	special: map[string]specialFilter{
		"allow_file_upload:upload_is_enabled": func(_ *call, r row, v any) bool { return r.bool("allow_file_upload") == truthy(v) },
	},
	sees: (*call).seesDatabase,
	row: func(c *call, db row) obj {
		out := db.pick("id", "uuid", "database_name", "configuration_method", "extra", "force_ctas_schema")
		for _, flag := range databaseFlags {
			out[flag] = db.bool(flag)
		}
		extra := object(db.str("extra"))
		out["allows_cost_estimate"], out["allows_subquery"], out["allow_multi_catalog"] = false, true, truthy(extra["allow_multi_catalog"])
		out["allows_virtual_table_explore"] = extra["allows_virtual_table_explore"] == nil || truthy(extra["allows_virtual_table_explore"])
		out["disable_data_preview"] = extra["disable_data_preview"] != nil && truthy(extra["disable_data_preview"])
		out["disable_drill_to_detail"] = extra["disable_drill_to_detail"] != nil && truthy(extra["disable_drill_to_detail"])
		out["backend"], out["engine_information"] = backendOf(db), engineInformation(db)
		out["explore_database_id"] = db.id()
		if n, isNumber := extra["explore_database_id"].(int); isNumber {
			out["explore_database_id"] = n
		}
		merge(out, c.changedFields(db))
		out["changed_on"] = isoDate(db.str("changed_on"))
		return out
	},
}

func (c *call) databaseByPath() row {
	id, _ := c.id("id")
	db := c.st.get("dbs", id)
	if db == nil || !c.seesDatabase(db) {
		return nil
	}
	return db
}

func (c *call) getDatabase() answer {
	db := c.databaseByPath()
	if db == nil {
		return notFound
	}
	return ok(obj{"id": db.id(), "result": c.databaseBody(db)})
}

func (c *call) databaseBody(db row) obj {
	out := db.pick("id", "uuid", "database_name", "cache_timeout", "configuration_method", "force_ctas_schema")
	for _, flag := range databaseFlags {
		out[flag] = db.bool(flag)
	}
	out["backend"], out["driver"], out["engine_information"] = backendOf(db), driverOf(db), engineInformation(db)
	out["impersonate_user"], out["is_managed_externally"] = db.bool("impersonate_user"), db.bool("is_managed_externally")
	return out
}

func (c *call) databaseRelated() answer {
	db := c.databaseByPath()
	if db == nil {
		return notFound
	}
	datasets := map[int]bool{}
	for _, ds := range c.st.where("tables", "database_id", db.id()) {
		datasets[ds.id()] = true
	}
	charts, boards := c.usersOf(datasets)
	return ok(obj{"charts": counted(charts), "dashboards": counted(boards), "sqllab_tab_states": counted([]any{})})
}
