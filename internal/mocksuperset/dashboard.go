package mocksuperset

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

func dashboardRoutes() []route {
	const view = "Dashboard"
	return []route{
		{method: "GET", path: "/api/v1/dashboard/", perm: "can_read", view: view, handle: func(c *call) answer { return c.list(dashboardListing) }},
		{method: "POST", path: "/api/v1/dashboard/", perm: "can_write", view: view, changes: true, handle: (*call).postDashboard},
		{method: "DELETE", path: "/api/v1/dashboard/", perm: "can_write", view: view, changes: true, handle: (*call).bulkDeleteDashboards},
		{method: "GET", path: "/api/v1/dashboard/<id>", perm: "can_read", view: view, handle: (*call).getDashboard},
		{method: "PUT", path: "/api/v1/dashboard/<id>", perm: "can_write", view: view, changes: true, handle: (*call).putDashboard},
		{method: "DELETE", path: "/api/v1/dashboard/<id>", perm: "can_write", view: view, changes: true, handle: (*call).deleteDashboard},
		{method: "GET", path: "/api/v1/dashboard/<id>/charts", perm: "can_read", view: view, handle: (*call).dashboardCharts},
		{method: "GET", path: "/api/v1/dashboard/<id>/datasets", perm: "can_read", view: view, handle: (*call).dashboardDatasets},
		{method: "GET", path: "/api/v1/dashboard/<id>/tabs", perm: "can_read", view: view, handle: (*call).dashboardTabs},
		{method: "PUT", path: "/api/v1/dashboard/<id>/filters", perm: "can_write", view: view, changes: true, handle: (*call).putDashboardFilters},
		{method: "PUT", path: "/api/v1/dashboard/<id>/colors", perm: "can_write", view: view, changes: true, handle: (*call).putDashboardColors},
		{method: "POST", path: "/api/v1/dashboard/<id>/copy/", perm: "can_write", view: view, changes: true, handle: (*call).copyDashboard},
		{method: "GET", path: "/api/v1/dashboard/_info", perm: "can_read", view: view, handle: func(c *call) answer { return c.info(dashboardListing, view) }},
		{method: "GET", path: "/api/v1/dashboard/related/<column>", perm: "can_read", view: view, handle: (*call).related},
		{method: "POST", path: "/api/v1/dashboard/<id>/favorites/", perm: "can_read", view: view, changes: true, handle: func(c *call) answer { return c.star(dashboardStars, true) }},
		{method: "DELETE", path: "/api/v1/dashboard/<id>/favorites/", perm: "can_read", view: view, changes: true, handle: func(c *call) answer { return c.star(dashboardStars, false) }},
		{method: "GET", path: "/api/v1/dashboard/favorite_status/", perm: "can_read", view: view, handle: func(c *call) answer { return c.starStatus(dashboardStars) }},
	}
}

// findDashboard looks a dashboard up as reading does: by number, uuid or slug.
// A text of digits is a number, whatever slugs there are.
func (c *call) findDashboard(name string) row {
	var d row
	if n, err := strconv.Atoi(name); err == nil {
		d = c.st.get("dashboards", n)
	} else if u, err := uuid.Parse(name); err == nil {
		d = c.st.find("dashboards", "uuid", u.String())
	} else {
		d = c.st.find("dashboards", "slug", name)
	}
	if d == nil || !c.seesDashboard(d) {
		return nil
	}
	return d
}

// beyondInt says whether a name is a number that no database takes.
func beyondInt(name string) bool {
	if strings.Trim(name, "0123456789") != "" || name == "" {
		return false
	}
	_, err := strconv.ParseInt(name, 10, 64)
	return err != nil
}

// charts are the charts of a dashboard in the order of their ids.
func (c *call) charts(dashboard int) []row {
	out := c.st.linked("dashboard_slices", "dashboard_id", dashboard, "slice_id", "slices")
	slices.SortFunc(out, func(a, b row) int { return a.id() - b.id() })
	return out
}

func dashboardURL(d row) string {
	name := d.str("slug")
	if name == "" {
		name = itoa(d.id())
	}
	return "/superset/dashboard/" + name + "/"
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func thumbnail(kind string, r row) string {
	return "/api/v1/" + kind + "/" + itoa(r.id()) + "/thumbnail/" + digest(r.str("uuid"), r.str("changed_on")) + "/"
}

func (c *call) roleRefs(dashboard int) []any {
	out := []any{}
	for _, r := range c.st.linked("dashboard_roles", "dashboard_id", dashboard, "role_id", "ab_role") {
		out = append(out, r.pick("id", "name"))
	}
	return out
}

// changedFields are the four ways in which answers tell who changed an object and when.
func (c *call) changedFields(r row) obj {
	return obj{
		"changed_by":                 c.person(r["changed_by_fk"]),
		"changed_by_name":            c.personName(r["changed_by_fk"]),
		"changed_on_delta_humanized": c.ago(r.str("changed_on")),
		"created_by":                 c.person(r["created_by_fk"]),
		"created_on_delta_humanized": c.ago(r.str("created_on")),
	}
}

func merge(a, b obj) obj {
	for k, v := range b {
		a[k] = v
	}
	return a
}

var dashboardGetColumns = []string{
	"id", "slug", "url", "dashboard_title", "thumbnail_url", "published", "css", "theme", "json_metadata", "position_json",
	"certified_by", "certification_details", "changed_by_name", "changed_by", "changed_on", "created_by", "charts", "owners",
	"roles", "tags", "changed_on_delta_humanized", "created_on_delta_humanized", "is_managed_externally", "uuid",
}

func (c *call) getDashboard() answer {
	if beyondInt(c.vars["id"]) {
		return fatal
	}
	d := c.findDashboard(c.vars["id"])
	if d == nil {
		return notFound
	}
	columns, tagsNamed := dashboardGetColumns, false
	if text := c.query().Get("q"); text != "" {
		v, err := parseRison(text)
		if err != nil {
			return message(400, "Invalid rison query parameter")
		}
		if q, isObject := v.(obj); isObject {
			var asked []string
			list, _ := q["columns"].([]any)
			for _, e := range list {
				if name, ok := e.(string); ok && slices.Contains(dashboardGetColumns, name) {
					asked = append(asked, name)
				}
			}
			if len(list) > 0 {
				columns, tagsNamed = asked, slices.Contains(asked, "tags")
			}
		}
	}
	full := c.dashboardBody(d)
	if tagsNamed {
		full["tags"] = c.tagsOf("dashboard", d.id(), false)
	}
	return ok(obj{"result": project(full, columns)})
}

func (c *call) dashboardBody(d row) obj {
	names := []any{}
	for _, ch := range c.charts(d.id()) {
		names = append(names, ch["slice_name"])
	}
	out := d.pick("id", "slug", "dashboard_title", "css", "json_metadata", "position_json", "certified_by", "certification_details", "uuid")
	out["url"], out["thumbnail_url"] = dashboardURL(d), thumbnail("dashboard", d)
	out["published"], out["is_managed_externally"] = flag(d, "published"), d.bool("is_managed_externally")
	out["changed_on"], out["charts"] = isoDate(d.str("changed_on")), names
	out["owners"] = c.owners("dashboard_user", "dashboard_id", d.id(), "first_name", "id", "last_name")
	out["roles"], out["tags"] = c.roleRefs(d.id()), c.tagsOf("dashboard", d.id(), true)
	out["theme"] = nil
	if t := c.st.get("themes", d.int("theme_id")); t != nil {
		out["theme"] = t.pick("id", "theme_name", "json_data")
	}
	return merge(out, c.changedFields(d))
}

// dashboardCharts lists the charts of a dashboard, those over other people's data too.
func (c *call) dashboardCharts() answer {
	d := c.findDashboard(c.vars["id"])
	if d == nil {
		return notFound
	}
	result := []any{}
	for _, ch := range c.charts(d.id()) {
		out := ch.pick("cache_timeout", "certification_details", "certified_by", "description", "id", "slice_name")
		out["changed_on"] = isoDate(ch.str("changed_on"))
		out["description_markeddown"] = markdown(ch.str("description"))
		out["form_data"], out["slice_url"] = formData(ch), sliceURL(ch)
		result = append(result, out)
	}
	return ok(obj{"result": result})
}

func (c *call) dashboardTabs() answer {
	d := c.findDashboard(c.vars["id"])
	if d == nil {
		return notFound
	}
	if brokenLayout(d) {
		return fatal
	}
	layout := object(d.str("position_json"))
	all, tree := obj{}, []any{}
	var walk func(id string, out *[]any)
	walk = func(id string, out *[]any) {
		node, isNode := layout[id].(obj)
		if !isNode {
			return
		}
		list := out
		if node["type"] == "TAB" {
			meta, _ := node["meta"].(obj)
			title, _ := meta["text"].(string)
			if title == "" {
				title, _ = meta["defaultText"].(string)
			}
			children := []any{}
			all[id] = title
			item := obj{"value": id, "title": title, "parents": node["parents"]}
			list = &children
			defer func() {
				item["children"] = children
				*out = append(*out, item)
			}()
		}
		kids, _ := node["children"].([]any)
		for _, k := range kids {
			if name, isText := k.(string); isText {
				walk(name, list)
			}
		}
	}
	walk("ROOT_ID", &tree)
	return ok(obj{"result": obj{"all_tabs": all, "tab_tree": tree, "native_filters": c.filtersByTab(d)}})
}

// filtersByTab puts each native filter under the tab that it is in scope of, or under "all".
func (c *call) filtersByTab(d row) obj {
	filters, _ := object(d.str("json_metadata"))["native_filter_configuration"].([]any)
	out := obj{}
	put := func(key string, f any) {
		list, _ := out[key].([]any)
		out[key] = append(list, f)
	}
	for _, f := range filters {
		o, isObject := f.(obj)
		if !isObject {
			continue
		}
		scope, _ := o["scope"].(obj)
		roots, _ := scope["rootPath"].([]any)
		inTab := false
		for _, r := range roots {
			if name, isText := r.(string); isText && name != "ROOT_ID" {
				put(name, f)
				inTab = true
			}
		}
		if !inTab {
			put("all", f)
		}
	}
	return out
}
