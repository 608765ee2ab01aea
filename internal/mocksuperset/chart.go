package mocksuperset

import (
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

func chartRoutes() []route {
	const view = "Chart"
	return []route{
		{method: "GET", path: "/api/v1/chart/", perm: "can_read", view: view, handle: func(c *call) answer { return c.list(chartListing) }},
		{method: "POST", path: "/api/v1/chart/", perm: "can_write", view: view, changes: true, handle: (*call).postChart},
		{method: "DELETE", path: "/api/v1/chart/", perm: "can_write", view: view, changes: true, handle: (*call).bulkDeleteCharts},
		{method: "PUT", path: "/api/v1/chart/<id>", perm: "can_write", view: view, changes: true, handle: (*call).putChart},
		{method: "DELETE", path: "/api/v1/chart/<id>", perm: "can_write", view: view, changes: true, handle: (*call).deleteChart},
		{method: "GET", path: "/api/v1/chart/<id>", perm: "can_read", view: view, handle: (*call).getChart},
		{method: "GET", path: "/api/v1/chart/<id>/data/", perm: "can_read", view: view, handle: (*call).chartData},
		{method: "POST", path: "/api/v1/chart/data", perm: "can_read", view: view, exempt: true, handle: (*call).postChartData},
		{method: "POST", path: "/datasource/samples", perm: "can_samples", view: "Datasource", cookie: true, exempt: true, handle: (*call).oldSamples},
		{method: "PUT", path: "/api/v1/chart/warm_up_cache", perm: "can_warm_up_cache", view: view, handle: (*call).warmChart},
		{method: "GET", path: "/api/v1/chart/_info", perm: "can_read", view: view, handle: func(c *call) answer { return c.info(chartListing, view) }},
		{method: "GET", path: "/api/v1/chart/related/<column>", perm: "can_read", view: view, handle: (*call).related},
		{method: "POST", path: "/api/v1/chart/<id>/favorites/", perm: "can_read", view: view, changes: true, handle: func(c *call) answer { return c.star(chartStars, true) }},
		{method: "DELETE", path: "/api/v1/chart/<id>/favorites/", perm: "can_read", view: view, changes: true, handle: func(c *call) answer { return c.star(chartStars, false) }},
		{method: "GET", path: "/api/v1/chart/favorite_status/", perm: "can_read", view: view, handle: func(c *call) answer { return c.starStatus(chartStars) }},
	}
}

// findChart looks a chart up as reading does: by number or uuid, if it is seen.
func (c *call) findChart(name string) row {
	var ch row
	if n, err := strconv.Atoi(name); err == nil {
		ch = c.st.get("slices", n)
	} else if u, err := uuid.Parse(name); err == nil {
		ch = c.st.find("slices", "uuid", u.String())
	}
	if ch == nil || !c.seesChart(ch) {
		return nil
	}
	return ch
}

// formData is the parameters of a chart with what they have to agree with.
func formData(ch row) obj {
	out := object(ch.str("params"))
	out["slice_id"], out["viz_type"] = ch.id(), ch["viz_type"]
	out["datasource"] = itoa(ch.int("datasource_id")) + "__" + ch.str("datasource_type")
	if ch["cache_timeout"] != nil {
		out["cache_timeout"] = ch["cache_timeout"]
	}
	return out
}

func sliceURL(ch row) string {
	return "/explore/?slice_id=" + itoa(ch.id()) + "&form_data=" + strings.ReplaceAll(url.QueryEscape(`{"slice_id": `+itoa(ch.id())+`}`), "+", "%20")
}

// markdown is a description as HTML. Only paragraphs are made of it.
func markdown(text string) string {
	if text == "" {
		return ""
	}
	var out []string
	for _, p := range strings.Split(text, "\n\n") {
		out = append(out, "<p>"+html.EscapeString(p)+"</p>")
	}
	return strings.Join(out, "\n")
}

func datasetTitle(ds row) string {
	if s := ds.str("schema"); s != "" {
		return s + "." + ds.str("table_name")
	}
	return ds.str("table_name")
}

// datasourceFields tell of the dataset of a chart, with nulls when it is gone.
func (c *call) datasourceFields(ch row) obj {
	out := obj{"datasource_type": ch["datasource_type"], "datasource_id": ch["datasource_id"], "datasource_name_text": nil, "datasource_url": nil}
	if ds := c.st.get("tables", ch.int("datasource_id")); ds != nil {
		out["datasource_name_text"] = datasetTitle(ds)
		out["datasource_url"] = "/explore/?datasource_type=table&datasource_id=" + itoa(ds.id())
	}
	return out
}

func (c *call) chartDashboards(ch row, metadata bool) []any {
	out := []any{}
	for _, d := range c.st.linked("dashboard_slices", "slice_id", ch.id(), "dashboard_id", "dashboards") {
		o := d.pick("id", "dashboard_title")
		if metadata {
			o["json_metadata"] = d["json_metadata"]
		}
		out = append(out, o)
	}
	return out
}

func (c *call) getChart() answer {
	name := c.vars["id"]
	if _, err := strconv.ParseUint(name, 10, 63); err != nil {
		if _, err := uuid.Parse(name); err != nil {
			return fatal
		}
	}
	ch := c.findChart(name)
	if ch == nil {
		return notFound
	}
	out := ch.pick("cache_timeout", "certification_details", "certified_by", "description", "id", "params", "query_context", "slice_name", "uuid", "viz_type")
	merge(out, c.datasourceFields(ch))
	if n := ch["cache_timeout"]; n != nil {
		out["cache_timeout"] = fmt.Sprint(n) // a text here, a number everywhere else
	}
	if ds := c.st.get("tables", ch.int("datasource_id")); ds != nil {
		out["datasource_uuid"] = ds["uuid"]
	} else {
		out["datasource_id"] = nil
	}
	out["changed_on_delta_humanized"], out["dashboards"] = c.ago(ch.str("changed_on")), c.chartDashboards(ch, true)
	out["is_managed_externally"], out["thumbnail_url"] = ch.bool("is_managed_externally"), thumbnail("chart", ch)
	out["owners"] = c.owners("slice_user", "slice_id", ch.id(), "id", "first_name", "last_name", "email")
	out["tags"], out["url"] = c.tagsOf("chart", ch.id(), false), "/explore/?slice_id="+itoa(ch.id())
	return ok(obj{"result": out})
}

var chartListing = &listing{
	table: "slices", title: "Slice",
	columns: []string{
		"is_managed_externally", "certified_by", "certification_details", "cache_timeout", "changed_by.first_name",
		"changed_by.last_name", "changed_by.id", "changed_by_name", "changed_on_delta_humanized", "changed_on_dttm",
		"changed_on_utc", "created_by.first_name", "created_by.id", "created_by.last_name", "created_by_name",
		"created_on_delta_humanized", "datasource_id", "datasource_name_text", "datasource_type", "datasource_url",
		"description", "description_markeddown", "edit_url", "form_data", "id", "last_saved_at", "last_saved_by.id",
		"last_saved_by.first_name", "last_saved_by.last_name", "owners.first_name", "owners.id", "owners.last_name",
		"owners.email", "dashboards.id", "dashboards.dashboard_title", "params", "slice_name", "slice_url",
		"table.default_endpoint", "table.table_name", "thumbnail_url", "url", "viz_type", "tags.id", "tags.name",
		"tags.type", "uuid",
	},
	order: []string{"changed_by.first_name", "changed_on_delta_humanized", "datasource_id", "datasource_name",
		"last_saved_at", "last_saved_by.id", "last_saved_by.first_name", "last_saved_by.last_name", "slice_name", "viz_type"},
	search: map[string]searchKind{
		"created_by": searchOne, "changed_by": searchOne, "last_saved_by": searchOne, "last_saved_at": searchDate,
		"datasource_id": searchNumber, "datasource_name": searchText, "datasource_type": searchText, "description": searchText,
		"id": searchNumber, "uuid": searchText, "owners": searchMany, "dashboards": searchMany, "slice_name": searchText,
		"tags": searchMany, "viz_type": searchText,
	},
	special: map[string]specialFilter{
		"slice_name:chart_all_text": func(_ *call, r row, v any) bool {
			text, isText := v.(string)
			if !isText || text == "" {
				return true
			}
			for _, column := range []string{"slice_name", "description", "viz_type", "datasource_name"} {
				if like(r.str(column), "%"+text+"%") {
					return true
				}
			}
			return false
		},
		"id:chart_is_favorite":  func(c *call, r row, v any) bool { return c.starred("slice", r.id()) == truthy(v) },
		"id:chart_is_certified": func(_ *call, r row, v any) bool { return (r.str("certified_by") != "") == truthy(v) },
		"id:chart_owned_created_favored_by_me": func(c *call, r row, _ any) bool {
			return r.int("created_by_fk") == c.userID() || c.starred("slice", r.id()) || c.ownsExactly("slice_user", "slice_id", r.id())
		},
		"created_by:chart_created_by_me": func(c *call, r row, _ any) bool {
			return r.int("created_by_fk") == c.userID() || r.int("changed_by_fk") == c.userID()
		},
		"created_by:chart_has_created_by": func(_ *call, r row, v any) bool { return (r["created_by_fk"] != nil) == truthy(v) },
		"tags:chart_tags":                 func(c *call, r row, v any) bool { return c.taggedLike("chart", r.id(), v) },
		"tags:chart_tag_id":               func(c *call, r row, v any) bool { return c.taggedWith("chart", r.id(), v) },
	},
	related: map[string]relation{
		"owners":     {"slice_user", "slice_id", "user_id", "ab_user"},
		"dashboards": {"dashboard_slices", "slice_id", "dashboard_id", "dashboards"},
		"tags":       {"tagged_object", "object_id", "tag_id", "tag"},
	},
	sees: (*call).seesChart,
	sortBy: func(c *call, r row, column string) any {
		if field, found := strings.CutPrefix(column, "last_saved_by."); found {
			if u := c.st.get("ab_user", r.int("last_saved_by_fk")); u != nil {
				return u[field]
			}
		}
		return nil
	},
	row: func(c *call, ch row) obj {
		out := ch.pick("certified_by", "certification_details", "cache_timeout", "description", "id", "params", "slice_name", "viz_type", "uuid")
		merge(out, c.changedFields(ch))
		merge(out, c.datasourceFields(ch))
		out["created_by_name"] = c.personName(ch["created_by_fk"])
		out["changed_on_utc"], out["changed_on_dttm"] = utcDate(ch.str("changed_on")), nil
		if t, valid := parseStored(ch.str("changed_on")); valid {
			out["changed_on_dttm"] = pyFloat(float64(t.UnixMicro()) / 1000)
		}
		out["description_markeddown"], out["edit_url"] = markdown(ch.str("description")), "/chart/edit/"+itoa(ch.id())
		out["form_data"], out["slice_url"], out["url"] = formData(ch), sliceURL(ch), "/explore/?slice_id="+itoa(ch.id())
		out["is_managed_externally"], out["thumbnail_url"] = ch.bool("is_managed_externally"), thumbnail("chart", ch)
		out["last_saved_at"], out["last_saved_by"] = isoDate(ch.str("last_saved_at")), c.person(ch["last_saved_by_fk"])
		out["owners"] = c.owners("slice_user", "slice_id", ch.id(), "id", "first_name", "last_name", "email")
		out["dashboards"], out["tags"] = c.chartDashboards(ch, false), c.tagsOf("chart", ch.id(), false)
		out["table"] = nil
		if ds := c.st.get("tables", ch.int("datasource_id")); ds != nil {
			out["table"] = ds.pick("default_endpoint", "table_name")
		}
		return out
	},
}

// ownsExactly is ownership without the admins' right to everything.
func (c *call) ownsExactly(link, column string, id int) bool {
	for _, l := range c.st.where(link, column, id) {
		if l.int("user_id") == c.userID() {
			return true
		}
	}
	return false
}
