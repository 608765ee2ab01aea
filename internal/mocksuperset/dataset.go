package mocksuperset

import (
	"strconv"
	"strings"

	"github.com/google/uuid"
)

func datasetRoutes() []route {
	const view = "Dataset"
	return []route{
		{method: "GET", path: "/api/v1/dataset/", perm: "can_read", view: view, handle: func(c *call) answer { return c.list(datasetListing) }},
		{method: "GET", path: "/api/v1/dataset/<id>", perm: "can_read", view: view, handle: (*call).getDataset},
		{method: "GET", path: "/api/v1/dataset/<id>/related_objects", perm: "can_read", view: view, handle: (*call).datasetRelated},
		{method: "GET", path: "/api/v1/dataset/_info", perm: "can_read", view: view, handle: func(c *call) answer { return c.info(datasetListing, view) }},
		{method: "GET", path: "/api/v1/dataset/related/<column>", perm: "can_read", view: view, handle: (*call).related},
		{method: "GET", path: "/api/v1/dataset/distinct/<column>", perm: "can_read", view: view, handle: (*call).distinctSchemas},
		{method: "POST", path: "/api/v1/dataset/", perm: "can_write", view: view, changes: true, handle: (*call).postDataset},
		{method: "DELETE", path: "/api/v1/dataset/", perm: "can_write", view: view, changes: true, handle: func(c *call) answer {
			wanted, a, good := c.bulkIDs()
			if !good {
				return a
			}
			return c.deleteDatasets(wanted, true)
		}},
		{method: "PUT", path: "/api/v1/dataset/<id>", perm: "can_write", view: view, changes: true, handle: (*call).putDataset},
		{method: "DELETE", path: "/api/v1/dataset/<id>", perm: "can_write", view: view, changes: true, handle: func(c *call) answer {
			id, isNumber := c.id("id")
			if !isNumber {
				return notFound
			}
			return c.deleteDatasets([]int{id}, false)
		}},
		{method: "PUT", path: "/api/v1/dataset/<id>/refresh", perm: "can_write", view: view, changes: true, handle: (*call).refreshDataset},
		{method: "DELETE", path: "/api/v1/dataset/<id>/column/<part>", perm: "can_write", view: view, changes: true, handle: func(c *call) answer { return c.deletePart("table_columns") }},
		{method: "DELETE", path: "/api/v1/dataset/<id>/metric/<part>", perm: "can_write", view: view, changes: true, handle: func(c *call) answer { return c.deletePart("sql_metrics") }},
		{method: "PUT", path: "/api/v1/dataset/warm_up_cache", perm: "can_warm_up_cache", view: view, handle: (*call).warmDataset},
		{method: "POST", path: "/api/v1/dataset/duplicate", perm: "can_duplicate", view: view, changes: true, handle: (*call).duplicateDataset},
		{method: "POST", path: "/api/v1/dataset/get_or_create/", perm: "can_get_or_create_dataset", view: view, changes: true, handle: (*call).getOrCreateDataset},
		{method: "GET", path: "/api/v1/dataset/<id>/drill_info/", perm: "can_get_drill_info", view: view, handle: (*call).drillInfo},
	}
}

// findDataset looks a dataset up by number or uuid, if it is seen.
func (c *call) findDataset(name string) row {
	var ds row
	if n, err := strconv.Atoi(name); err == nil {
		ds = c.st.get("tables", n)
	} else if u, err := uuid.Parse(name); err == nil {
		ds = c.st.find("tables", "uuid", u.String())
	}
	if ds == nil || !c.seesDataset(ds) {
		return nil
	}
	return ds
}

func (c *call) columns(ds row) []row { return c.st.where("table_columns", "table_id", ds.id()) }
func (c *call) metrics(ds row) []row { return c.st.where("sql_metrics", "table_id", ds.id()) }

func kindOf(ds row) string {
	if ds.str("sql") != "" {
		return "virtual"
	}
	return "physical"
}

// genericType is the kind of a column by its SQL type: 0 number, 1 text, 2 time, 3 boolean.
func genericType(sqlType string) any {
	t := strings.ToUpper(sqlType)
	for _, k := range []struct {
		kind  int
		words []string
	}{
		{0, []string{"INT", "DECIMAL", "NUMERIC", "FLOAT", "DOUBLE", "REAL", "NUMBER", "SERIAL", "MONEY"}},
		{2, []string{"DATE", "TIME"}},
		{3, []string{"BOOL"}},
		{1, []string{"CHAR", "TEXT", "STRING", "CLOB", "UUID", "JSON"}},
	} {
		for _, w := range k.words {
			if strings.Contains(t, w) {
				return k.kind
			}
		}
	}
	return nil
}

var datasetListing = &listing{
	table: "tables", title: "Sqla Table",
	columns: []string{
		"id", "uuid", "database.id", "database.database_name", "database.uuid", "changed_by_name", "changed_by.first_name",
		"changed_by.last_name", "changed_by.id", "changed_on_utc", "changed_on_delta_humanized", "default_endpoint",
		"description", "datasource_type", "explore_url", "extra", "kind", "owners.id", "owners.first_name",
		"owners.last_name", "catalog", "schema", "sql", "table_name", "uuid",
	},
	order: []string{"table_name", "catalog", "schema", "changed_by.first_name", "changed_on_delta_humanized", "database.database_name"},
	search: map[string]searchKind{
		"id": searchNumber, "uuid": searchText, "database": searchOne, "owners": searchMany, "catalog": searchText,
		"schema": searchText, "sql": searchText, "table_name": searchText, "created_by": searchOne, "changed_by": searchOne,
	},
	special: map[string]specialFilter{
		"sql:dataset_is_null_or_empty": func(_ *call, r row, v any) bool { return (r.str("sql") == "") == truthy(v) },
		"id:dataset_is_certified": func(_ *call, r row, v any) bool {
			return strings.Contains(r.str("extra"), `"certification":`) == truthy(v)
		},
	},
	related: map[string]relation{"owners": {"sqlatable_user", "table_id", "user_id", "ab_user"}},
	sees:    (*call).seesDataset,
	sortBy: func(c *call, r row, column string) any {
		if column == "database.database_name" {
			return c.st.get("dbs", r.int("database_id"))["database_name"]
		}
		return nil
	},
	row: func(c *call, ds row) obj {
		out := ds.pick("id", "uuid", "default_endpoint", "description", "extra", "catalog", "schema", "sql", "table_name")
		merge(out, c.changedFields(ds))
		out["changed_on_utc"], out["datasource_type"], out["kind"] = utcDate(ds.str("changed_on")), "table", kindOf(ds)
		out["explore_url"] = "/explore/?datasource_type=table&datasource_id=" + itoa(ds.id())
		if e := ds.str("default_endpoint"); e != "" {
			out["explore_url"] = e
		}
		out["owners"] = c.owners("sqlatable_user", "table_id", ds.id(), "id", "first_name", "last_name")
		out["database"] = nil
		if db := c.st.get("dbs", ds.int("database_id")); db != nil {
			out["database"] = db.pick("id", "database_name", "uuid")
		}
		return out
	},
}

// datasetRelated names what uses a dataset, whether the caller may see it or not.
func (c *call) datasetRelated() answer {
	ds := c.findDataset(c.vars["id"])
	if ds == nil {
		return notFound
	}
	charts, boards := c.usersOf(map[int]bool{ds.id(): true})
	return ok(obj{"charts": counted(charts), "dashboards": counted(boards)})
}

func counted(list []any) obj { return obj{"count": len(list), "result": list} }

// usersOf lists the charts over the datasets and the dashboards that those charts are on.
func (c *call) usersOf(datasets map[int]bool) (charts, boards []any) {
	charts, boards = []any{}, []any{}
	on := map[int]bool{}
	for ch := range c.st.table("slices").all() {
		if ch.str("datasource_type") == "table" && datasets[ch.int("datasource_id")] {
			charts = append(charts, ch.pick("id", "slice_name", "viz_type"))
			for _, l := range c.st.where("dashboard_slices", "slice_id", ch.id()) {
				on[l.int("dashboard_id")] = true
			}
		}
	}
	for d := range c.st.table("dashboards").all() {
		if on[d.id()] {
			var md any
			if text := d.str("json_metadata"); text != "" {
				md = text
			}
			boards = append(boards, obj{"id": d.id(), "json_metadata": md, "slug": d["slug"], "title": d["dashboard_title"]})
		}
	}
	return charts, boards
}
