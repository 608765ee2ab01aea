package mocksuperset

import (
	"slices"
	"sort"
	"strings"
)

// timeGrains are what SQLite can round times to.
var timeGrains = []any{
	[]string{"PT1S", "Second"}, []string{"PT5S", "5 second"}, []string{"PT30S", "30 second"}, []string{"PT1M", "Minute"},
	[]string{"PT5M", "5 minute"}, []string{"PT10M", "10 minute"}, []string{"PT15M", "15 minute"}, []string{"PT30M", "30 minute"},
	[]string{"PT1H", "Hour"}, []string{"PT6H", "6 hour"}, []string{"P1D", "Day"}, []string{"P1W", "Week"}, []string{"P1M", "Month"},
	[]string{"P3M", "Quarter"}, []string{"P1Y", "Year"}, []string{"P1W/1970-01-03T00:00:00Z", "Week ending Saturday"},
	[]string{"P1W/1970-01-04T00:00:00Z", "Week ending Sunday"}, []string{"1969-12-28T00:00:00Z/P1W", "Week starting Sunday"},
	[]string{"1969-12-29T00:00:00Z/P1W", "Week starting Monday"},
}

func (c *call) getDataset() answer {
	ds := c.findDataset(c.vars["id"])
	if ds == nil {
		return notFound
	}
	full := c.datasetBody(ds)
	v, a, good := c.argument()
	if !good {
		return a
	}
	q, _ := v.(obj)
	if list, _ := q["columns"].([]any); len(list) > 0 {
		var asked []string
		for _, e := range list {
			name, _ := e.(string)
			head, _, _ := strings.Cut(name, ".")
			if _, there := full[head]; there {
				asked = append(asked, name)
			}
		}
		if len(asked) > 0 {
			full = project(full, asked)
		}
	}
	if c.query().Get("include_rendered_sql") == "true" {
		text, err := c.renderedSQL(ds)
		if err != nil {
			return message(400, err.Error())
		}
		full["rendered_sql"] = text
	}
	return ok(obj{"id": ds.id(), "result": full})
}

func (c *call) datasetBody(ds row) obj {
	out := ds.pick("id", "uuid", "cache_timeout", "catalog", "currency_code_column", "default_endpoint", "description", "extra",
		"fetch_values_predicate", "main_dttm_col", "schema", "sql", "table_name", "template_params")
	names := func(who any) any {
		if p, isPerson := c.person(who).(obj); isPerson {
			delete(p, "id")
			return p
		}
		return nil
	}
	out["changed_by"], out["created_by"] = names(ds["changed_by_fk"]), names(ds["created_by_fk"])
	out["changed_on"], out["created_on"] = isoDate(ds.str("changed_on")), isoDate(ds.str("created_on"))
	out["changed_on_humanized"], out["created_on_humanized"] = c.ago(ds.str("changed_on")), c.ago(ds.str("created_on"))
	for _, flag := range []string{"always_filter_main_dttm", "is_managed_externally", "is_sqllab_view", "normalize_columns", "filter_select_enabled"} {
		out[flag] = ds.bool(flag)
	}
	out["offset"], out["kind"], out["name"], out["datasource_name"] = ds.int("offset"), kindOf(ds), datasetTitle(ds), ds["table_name"]
	out["datasource_type"], out["uid"], out["url"] = "table", itoa(ds.id())+"__table", "/tablemodelview/edit/"+itoa(ds.id())
	out["owners"] = c.owners("sqlatable_user", "table_id", ds.id(), "id", "first_name", "last_name")
	db := c.st.get("dbs", ds.int("database_id"))
	out["database"] = nil
	if db != nil {
		d := db.pick("id", "uuid", "database_name")
		d["backend"], d["allow_multi_catalog"] = backendOf(db), truthy(object(db.str("extra"))["allow_multi_catalog"])
		out["database"] = d
	}
	columns, metrics := []any{}, []any{}
	for _, col := range c.columns(ds) {
		columns = append(columns, columnBody(col))
	}
	for _, m := range c.metrics(ds) {
		o := m.pick("d3format", "description", "expression", "extra", "id", "metric_name", "metric_type", "uuid", "verbose_name", "warning_text")
		o["changed_on"], o["created_on"] = isoDate(m.str("changed_on")), isoDate(m.str("created_on"))
		o["currency"] = currency(m)
		metrics = append(metrics, o)
	}
	out["columns"], out["metrics"] = columns, metrics
	out["time_grain_sqla"], out["granularity_sqla"] = timeGrains, c.timeColumns(ds)
	out["order_by_choices"], out["verbose_map"] = c.orderChoices(ds), c.verboseMap(ds)
	out["column_formats"], out["select_star"] = c.columnFormats(ds), c.selectStar(db, ds)
	return out
}

func columnBody(col row) obj {
	o := col.pick("advanced_data_type", "column_name", "description", "expression", "extra", "id", "python_date_format", "type", "uuid", "verbose_name")
	o["changed_on"], o["created_on"] = isoDate(col.str("changed_on")), isoDate(col.str("created_on"))
	for _, flag := range []string{"filterable", "groupby", "is_active", "is_dttm"} {
		o[flag] = col.bool(flag)
	}
	o["type_generic"] = typeOf(col)
	return o
}

func typeOf(col row) any {
	if col["type"] == nil {
		if col.bool("is_dttm") {
			return 2
		}
		return nil
	}
	return genericType(col.str("type"))
}

func currency(m row) any {
	v, err := parseJSON([]byte(m.str("currency")))
	if err != nil {
		return nil
	}
	return v
}

// timeColumns are the columns that are times, and the main one even where it is none.
func (c *call) timeColumns(ds row) []any {
	out, main := []any{}, ds.str("main_dttm_col")
	for _, col := range c.columns(ds) {
		if col.bool("is_dttm") {
			out = append(out, []any{col["column_name"], col["column_name"]})
			if col.str("column_name") == main {
				main = ""
			}
		}
	}
	if main != "" {
		out = append(out, []any{main, main})
	}
	return out
}

func (c *call) orderChoices(ds row) []any {
	var names []string
	for _, col := range c.columns(ds) {
		names = append(names, col.str("column_name"))
	}
	sort.Strings(names)
	out := []any{}
	for _, n := range names {
		quoted := dumps(n)
		out = append(out, []string{"[" + quoted + ", true]", n + " [asc]"}, []string{"[" + quoted + ", false]", n + " [desc]"})
	}
	return out
}

func (c *call) verboseMap(ds row) obj {
	out := obj{"__timestamp": "Time"}
	for _, col := range c.columns(ds) {
		out[col.str("column_name")] = nameOr(col, "column_name")
	}
	for _, m := range c.metrics(ds) {
		out[m.str("metric_name")] = nameOr(m, "metric_name")
	}
	return out
}

func nameOr(r row, name string) any {
	if v := r.str("verbose_name"); v != "" {
		return v
	}
	return r[name]
}

func (c *call) columnFormats(ds row) obj {
	out := obj{}
	for _, m := range c.metrics(ds) {
		if f := m.str("d3format"); f != "" {
			out[m.str("metric_name")] = f
		}
	}
	return out
}

func (c *call) selectStar(db, ds row) any {
	if db == nil || backendOf(db) != "sqlite" {
		return nil
	}
	return starSQL(ds.str("schema"), ds.str("table_name"))
}

func starSQL(schemaName, table string) string {
	name := quoteName(table)
	if schemaName != "" {
		name = quoteName(schemaName) + "." + name
	}
	return "SELECT\n  *\nFROM " + name + "\nLIMIT 100\nOFFSET 0"
}

// quoteName quotes a name for SQLite where it needs it.
func quoteName(name string) string {
	plain := name != ""
	for i, r := range name {
		lower := r >= 'a' && r <= 'z' || r == '_'
		if !lower && !(i > 0 && r >= '0' && r <= '9') {
			plain = false
		}
	}
	if plain && !slices.Contains(sqlWords, name) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

var sqlWords = []string{"add", "all", "and", "as", "asc", "between", "by", "case", "check", "column", "create", "cross",
	"default", "delete", "desc", "distinct", "drop", "else", "end", "except", "exists", "from", "full", "group", "having", "in",
	"index", "inner", "insert", "intersect", "into", "is", "isnull", "join", "key", "left", "like", "limit", "not", "null",
	"offset", "on", "or", "order", "outer", "primary", "references", "right", "select", "set", "table", "then", "to", "union",
	"unique", "update", "using", "values", "view", "when", "where", "with"}

// dashboardDatasets gives the datasets of a dashboard's charts, trimmed to the
// columns and metrics that the charts use.
func (c *call) dashboardDatasets() answer {
	d := c.findDashboard(c.vars["id"])
	if d == nil {
		return reply(404, obj{"error": "Dashboard not found."})
	}
	bySet := map[int][]row{}
	var order []int
	for _, ch := range c.charts(d.id()) {
		id := ch.int("datasource_id")
		if c.st.get("tables", id) == nil {
			continue
		}
		if bySet[id] == nil {
			order = append(order, id)
		}
		bySet[id] = append(bySet[id], ch)
	}
	slices.Sort(order)
	result := []any{}
	for _, id := range order {
		result = append(result, c.trimmedDataset(c.st.get("tables", id), bySet[id]))
	}
	return ok(obj{"result": result})
}

var (
	metricParams = []string{"metric", "metric_2", "metrics", "metrics_b", "percent_metrics", "secondary_metric", "size", "timeseries_limit_metric", "x", "y"}
	columnParams = []string{"all_columns", "all_columns_x", "columns", "entity", "groupby", "order_by_cols", "series"}
)

func asList(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

// usedBy collects the names of metrics and columns that charts use.
func usedBy(charts []row) (metrics, columns map[string]bool) {
	metrics, columns = map[string]bool{}, map[string]bool{}
	columnName := func(v any) {
		switch v := v.(type) {
		case string:
			columns[v] = true
		case obj:
			columns[textOr(v["label"], textOr(v["sqlExpression"], ""))] = true
		}
	}
	for _, ch := range charts {
		form := formData(ch)
		for _, p := range metricParams {
			for _, m := range asList(form[p]) {
				switch m := m.(type) {
				case string:
					metrics[m] = true
				case obj:
					metrics[textOr(m["label"], "")] = true
					if col, isObject := m["column"].(obj); isObject {
						columnName(col["column_name"])
					}
				}
			}
		}
		for _, f := range asList(form["adhoc_filters"]) {
			if o, isObject := f.(obj); isObject && o["clause"] == "WHERE" {
				columnName(o["subject"])
			}
		}
		queries, _ := object(ch.str("query_context"))["queries"].([]any)
		for _, q := range queries {
			o, _ := q.(obj)
			for _, col := range asList(o["columns"]) {
				columnName(col)
			}
		}
		if len(queries) == 0 {
			for _, p := range columnParams {
				for _, col := range asList(form[p]) {
					columnName(col)
				}
			}
		}
	}
	return metrics, columns
}

func (c *call) trimmedDataset(ds row, charts []row) obj {
	metrics, columns := usedBy(charts)
	out := c.datasetData(ds)
	verbose := obj{"__timestamp": "Time"}
	out["metrics"] = keepNamed(out["metrics"].([]any), "metric_name", metrics, verbose)
	types, names := map[int]bool{}, []any{}
	for _, col := range c.columns(ds) {
		names = append(names, col["column_name"])
		if v := col.str("verbose_name"); v != "" && v != col.str("column_name") {
			names = append(names, v)
		}
		if n, isNumber := typeOf(col).(int); isNumber {
			types[n] = true
		}
	}
	out["columns"] = keepNamed(out["columns"].([]any), "column_name", columns, verbose)
	kinds := []int{}
	for n := range types {
		kinds = append(kinds, n)
	}
	slices.Sort(kinds)
	out["column_types"], out["column_names"], out["verbose_map"] = kinds, names, verbose
	for _, name := range []string{"description", "catalog", "currency_formats", "extra"} {
		delete(out, name)
	}
	return out
}

func keepNamed(list []any, name string, wanted map[string]bool, verbose obj) []any {
	out := []any{}
	for _, e := range list {
		o := e.(obj)
		title, _ := o["verbose_name"].(string)
		if wanted[o[name].(string)] || (name == "metric_name" && title != "" && wanted[title]) {
			out = append(out, o)
			verbose[o[name].(string)] = nameOr(row(o), name)
		}
	}
	return out
}

// datasetData is the whole of a dataset as pages get it.
func (c *call) datasetData(ds row) obj {
	out := ds.pick("id", "cache_timeout", "catalog", "currency_code_column", "default_endpoint", "description", "extra", "fetch_values_predicate", "main_dttm_col",
		"params", "perm", "schema", "sql", "table_name", "template_params")
	for _, flag := range []string{"always_filter_main_dttm", "is_sqllab_view", "normalize_columns", "filter_select_enabled"} {
		out[flag] = ds.bool(flag)
	}
	out["filter_select"], out["health_check_message"], out["offset"] = ds.bool("filter_select_enabled"), nil, ds.int("offset")
	out["name"], out["datasource_name"], out["type"] = datasetTitle(ds), ds["table_name"], "table"
	out["uid"], out["edit_url"] = itoa(ds.id())+"__table", "/tablemodelview/edit/"+itoa(ds.id())
	out["owners"] = c.owners("sqlatable_user", "table_id", ds.id(), "id", "first_name", "last_name", "email", "username")
	columns, metrics := []any{}, []any{}
	for _, col := range c.columns(ds) {
		o := columnBody(col)
		for _, name := range []string{"changed_on", "created_on", "extra", "is_active"} {
			delete(o, name)
		}
		columns = append(columns, merge(o, certification(col)))
	}
	for _, m := range c.metrics(ds) {
		o := m.pick("d3format", "description", "expression", "id", "metric_name", "uuid", "verbose_name", "warning_text")
		o["currency"] = currency(m)
		metrics = append(metrics, merge(o, certification(m)))
	}
	out["columns"], out["metrics"] = columns, metrics
	db := c.st.get("dbs", ds.int("database_id"))
	out["database"], out["select_star"] = nil, c.selectStar(db, ds)
	if db != nil {
		full := databaseListing.row(c, db)
		d := obj{"name": db["database_name"], "id": db.id()}
		for _, name := range []string{"allow_multi_catalog", "allows_cost_estimate", "allows_subquery", "allows_virtual_table_explore", "backend", "disable_data_preview", "disable_drill_to_detail", "explore_database_id"} {
			d[name] = full[name]
		}
		out["database"] = d
	}
	out["time_grain_sqla"], out["granularity_sqla"] = timeGrains, c.timeColumns(ds)
	out["order_by_choices"], out["verbose_map"], out["column_formats"] = c.orderChoices(ds), c.verboseMap(ds), c.columnFormats(ds)
	return out
}

func certification(r row) obj {
	extra := object(r.str("extra"))
	cert, isObject := extra["certification"].(obj)
	return obj{"is_certified": isObject, "certified_by": cert["certified_by"], "certification_details": cert["details"], "warning_markdown": extra["warning_markdown"]}
}
