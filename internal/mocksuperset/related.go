package mocksuperset

import (
	"slices"
	"sort"
	"strings"
)

// related answers which users or roles a field may name: everybody, with mail
// address, for all who may read the resource.
func (c *call) related() answer {
	v, a, good := c.argument()
	if !good {
		return a
	}
	q, isObject := v.(obj)
	if !isObject {
		return badSchema(v, "object")
	}
	var rows []row
	text := func(r row) string { return r.str("first_name") + " " + r.str("last_name") }
	find := func(r row) string { return text(r) + "\x00" + r.str("username") }
	switch column := c.vars["column"]; column {
	case "owners", "created_by", "changed_by", "last_saved_by", "user":
		for u := range c.st.table("ab_user").all() {
			rows = append(rows, u)
		}
		sort.SliceStable(rows, func(i, j int) bool { return rows[i].str("first_name") < rows[j].str("first_name") })
	case "roles":
		for r := range c.st.table("ab_role").all() {
			rows = append(rows, r)
		}
		text = func(r row) string { return r.str("name") }
		find = text
	case "database", "dashboards", "dashboard", "chart", "tables":
		table, title := relatedTable(column)
		for r := range c.st.table(table).all() {
			if c.seesRelated(table, r) {
				rows = append(rows, r)
			}
		}
		text = func(r row) string { return r.str(title) }
		find = text
	default:
		return notFound
	}
	if len(intsOf(q["include_ids"])) > 0 && asInt(q["page"]) > 0 {
		return message(422, "Could not process entity")
	}
	if wanted, isText := q["filter"].(string); isText && wanted != "" {
		rows = keep(rows, func(r row) bool {
			return slices.ContainsFunc(strings.Split(find(r), "\x00"), func(s string) bool { return like(s, "%"+wanted+"%") })
		})
	}
	count := len(rows)
	rows = pageOf(rows, q, false)
	for _, id := range intsOf(q["include_ids"]) {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.id() == id }) {
			if u := c.st.get("ab_user", id); u != nil {
				rows = append(rows, u)
				count++
			}
		}
	}
	result := []any{}
	for _, r := range rows {
		extra := obj{}
		if r["username"] != nil {
			extra = obj{"active": r.bool("active"), "email": r["email"]}
		}
		result = append(result, obj{"extra": extra, "text": text(r), "value": r.id()})
	}
	return ok(obj{"count": count, "result": result})
}

func relatedTable(column string) (table, title string) {
	switch column {
	case "database":
		return "dbs", "database_name"
	case "chart":
		return "slices", "slice_name"
	case "tables":
		return "tables", "table_name"
	}
	return "dashboards", "dashboard_title"
}

func (c *call) seesRelated(table string, r row) bool {
	switch table {
	case "dbs":
		return c.seesDatabase(r)
	case "slices":
		return c.seesChart(r)
	case "tables":
		return c.seesDataset(r)
	}
	return c.seesDashboard(r)
}

// distinctSchemas answers which schemas datasets have.
func (c *call) distinctSchemas() answer {
	if c.vars["column"] != "schema" && c.vars["column"] != "catalog" {
		return notFound
	}
	seen, result := map[string]bool{}, []any{}
	v, a, good := c.argument()
	if !good {
		return a
	}
	q, _ := v.(obj)
	for ds := range c.st.table("tables").all() {
		s := ds.str(c.vars["column"])
		if s == "" || seen[s] || !c.seesDataset(ds) || !like(s, textOr(q["filter"], "")+"%") {
			continue
		}
		seen[s] = true
		result = append(result, obj{"text": s, "value": s})
	}
	return ok(obj{"count": len(result), "result": result})
}

var infoKeys = []any{"add_columns", "edit_columns", "filters", "permissions", "add_title", "edit_title", "none"}

// operatorNames are what people read for an operator.
var operatorNames = map[string]string{
	"sw": "Starts with", "ew": "Ends with", "ct": "Contains", "eq": "Equal to", "nsw": "Not Starts with",
	"new": "Not Ends with", "nct": "Not Contains", "neq": "Not Equal to", "in": "In", "not_in": "Not In",
	"gt": "Greater than", "lt": "Smaller than", "rel_o_m": "Relation", "nrel_o_m": "No Relation",
	"rel_m_m": "Relation as Many", "title_or_slug": "Title or Slug", "dashboard_is_favorite": "Is favorite",
	"chart_is_favorite": "Is favorite", "dashboard_is_certified": "Is certified", "chart_is_certified": "Is certified",
	"dataset_is_certified": "Is certified", "dashboard_created_by_me": "Created by me", "chart_created_by_me": "Created by me",
	"dashboard_has_created_by": "Has created by", "chart_has_created_by": "Has created by", "chart_all_text": "All Text",
	"dataset_is_null_or_empty": "Null or Empty", "dashboard_tags": "Is tagged", "chart_tags": "Is tagged",
	"dashboard_tag_id": "Is tagged", "chart_tag_id": "Is tagged", "chart_owned_created_favored_by_me": "Owned Created or Favored",
}

// info tells what the caller may do with a resource and how it can be searched.
func (c *call) info(l *listing, view string) answer {
	v, a, good := c.argument()
	if !good {
		return a
	}
	q, isObject := v.(obj)
	if !isObject {
		return badSchema(v, "object")
	}
	keys, _ := q["keys"].([]any)
	for _, k := range keys {
		if !slices.Contains(infoKeys, k) {
			return message(400, "Not a valid rison schema "+pyRepr(k)+" is not one of "+pyRepr(infoKeys))
		}
	}
	wants := func(key string) bool { return len(keys) == 0 || slices.Contains(keys, any(key)) }
	out := obj{}
	if wants("permissions") {
		out["permissions"] = c.permissionsOn(view)
	}
	if wants("filters") {
		out["filters"] = filtersOf(l)
	}
	if wants("add_title") {
		out["add_title"] = "Add " + l.title
	}
	if wants("edit_title") {
		out["edit_title"] = "Edit " + l.title
	}
	if wants("add_columns") {
		out["add_columns"] = []any{}
	}
	if wants("edit_columns") {
		out["edit_columns"] = []any{}
	}
	return ok(out)
}

// pageOnly are permissions that no method of a resource asks for.
var pageOnly = []string{"can_drill", "can_view_query", "can_view_chart_as_table", "can_tag", "can_list"}

func (c *call) permissionsOn(view string) []string {
	out := []string{}
	c.may("", "")
	for held := range c.perms {
		if perm, on, _ := strings.Cut(held, " "); on == view && !slices.Contains(pageOnly, perm) {
			out = append(out, perm)
		}
	}
	slices.Sort(out)
	return out
}

func filtersOf(l *listing) obj {
	out := obj{}
	for column, kind := range l.search {
		list := []any{}
		for _, op := range opsOf(kind) {
			list = append(list, obj{"name": operatorNames[op], "operator": op})
		}
		for _, key := range sortedKeys(l.special) {
			if op, found := strings.CutPrefix(key, column+":"); found {
				list = append(list, obj{"name": operatorNames[op], "operator": op})
			}
		}
		out[column] = list
	}
	return out
}
