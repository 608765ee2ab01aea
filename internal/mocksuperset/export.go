package mocksuperset

import (
	"math/rand/v2"
	"slices"
	"strings"
)

const exportVersion = "1.0.0"

func exportRoutes() []route {
	return []route{
		{method: "GET", path: "/api/v1/dashboard/export/", perm: "can_export", view: "Dashboard", handle: func(c *call) answer { return c.export("dashboard", "Dashboard", c.exportDashboards) }},
		{method: "GET", path: "/api/v1/chart/export/", perm: "can_export", view: "Chart", handle: func(c *call) answer { return c.export("chart", "Slice", c.exportCharts) }},
		{method: "GET", path: "/api/v1/dataset/export/", perm: "can_export", view: "Dataset", handle: func(c *call) answer { return c.export("dataset", "SqlaTable", c.exportDatasets) }},
		{method: "GET", path: "/api/v1/database/export/", perm: "can_export", view: "Database", handle: func(c *call) answer { return c.export("database", "Database", c.exportDatabases) }},
		{method: "GET", path: "/api/v1/assets/export/", perm: "can_export", view: "ImportExportRestApi", handle: (*call).exportAssets},
	}
}

// export answers one kind's export: any id that is missing, hidden or named twice is 404 for all.
func (c *call) export(kind, class string, fill func(*bundle, []int) bool) answer {
	wanted, a, good := c.bulkIDs()
	if !good {
		return a
	}
	sorted := slices.Clone(wanted)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) != len(wanted) {
		return notFound
	}
	b := &bundle{}
	c.metadata(b, class)
	if !fill(b, sorted) {
		return notFound
	}
	if c.hiddenInside(b) {
		return fatal
	}
	out := c.sendBundle(b, kind)
	if token := c.query().Get("token"); token != "" {
		out = out.with("Set-Cookie", token+"=done; Max-Age=600; Path=/")
	}
	return out
}

func (c *call) sendBundle(b *bundle, kind string) answer {
	name, data := b.zipped(kind, c.s.clock.now())
	return answer{status: 200, ctype: "application/zip", body: data}.
		with("Content-Disposition", "attachment; filename="+name).with("Cache-Control", "public, max-age=31536000")
}

func (c *call) metadata(b *bundle, class string) {
	b.add("metadata.yaml", pairs{{"version", exportVersion}, {"type", class}, {"timestamp", c.s.clock.now().Format("2006-01-02T15:04:05.000000+00:00")}})
}

// hiddenInside: a chart on the dashboard that the caller does not see makes the whole export fail.
func (c *call) hiddenInside(b *bundle) bool {
	_, failed := b.texts[hiddenMark]
	return failed
}

const hiddenMark = "\x00hidden"

func (c *call) exportDashboards(b *bundle, wanted []int) bool {
	for _, id := range wanted {
		if d := c.st.get("dashboards", id); d == nil || !c.seesDashboard(d) {
			return false
		}
	}
	for _, id := range wanted {
		c.exportDashboard(b, c.st.get("dashboards", id))
	}
	return true
}

func (c *call) exportDashboard(b *bundle, d row) {
	c.dashboardFile(b, d)
	var charts []int
	for _, ch := range c.charts(d.id()) {
		if !c.seesChart(ch) {
			b.add(hiddenMark, nil)
			return
		}
		charts = append(charts, ch.id())
		c.chartFile(b, ch)
	}
	if c.s.features.tags && !c.withoutTags {
		c.tagsFile(b, []int{d.id()}, charts)
	}
	if t := c.st.get("themes", d.int("theme_id")); t != nil {
		c.themeFile(b, t)
	}
	for _, id := range filterDatasets(object(d.str("json_metadata"))) {
		if ds := c.st.get("tables", id); ds != nil && c.seesDataset(ds) {
			c.datasetFile(b, ds)
		}
	}
}

// eachTarget calls f with each target of the native filters in metadata.
func eachTarget(metadata obj, f func(target obj)) {
	for _, e := range asList(metadata["native_filter_configuration"]) {
		filter, _ := e.(obj)
		for _, t := range asList(filter["targets"]) {
			if target, isObject := t.(obj); isObject {
				f(target)
			}
		}
	}
}

func filterDatasets(metadata obj) []int {
	var out []int
	eachTarget(metadata, func(t obj) {
		if id := asInt(t["datasetId"]); id != 0 {
			out = append(out, id)
		}
	})
	return out
}

func (c *call) dashboardFile(b *bundle, d row) {
	out := pairsOf(d, "dashboard_title", "description", "css", "slug", "certified_by", "certification_details")
	out = append(out, pair{"published", d.bool("published")}, pair{"uuid", d["uuid"]})
	position := object(d.str("position_json"))
	if len(position) == 0 {
		position = defaultLayout(d["dashboard_title"])
	}
	c.placeOrphans(position, d)
	out = append(out, pair{"position", position})
	if d.str("json_metadata") != "" {
		metadata := object(d.str("json_metadata"))
		eachTarget(metadata, func(t obj) {
			id, there := t["datasetId"]
			delete(t, "datasetId")
			if ds := c.st.get("tables", asInt(id)); there && ds != nil && c.seesDataset(ds) {
				t["datasetUuid"] = ds["uuid"]
			}
		})
		out = append(out, pair{"metadata", metadata})
	}
	var theme any
	if t := c.st.get("themes", d.int("theme_id")); t != nil {
		theme = t["uuid"]
	}
	out = append(out, pair{"theme_uuid", theme}, pair{"version", exportVersion})
	if c.s.features.tags {
		out = append(out, pair{"tags", c.customTags("dashboard", d.id())})
	}
	b.add("dashboards/"+fileName(d.str("dashboard_title"), d.id(), true)+".yaml", out)
}

func (c *call) customTags(kind string, id int) []string {
	out := []string{}
	for _, t := range c.st.tagRows(kind, id) {
		if t.str("type") == "custom" {
			out = append(out, t.str("name"))
		}
	}
	return out
}

func defaultLayout(title any) obj {
	return obj{
		"DASHBOARD_VERSION_KEY": "v2",
		"ROOT_ID":               obj{"children": []any{"GRID_ID"}, "id": "ROOT_ID", "type": "ROOT"},
		"GRID_ID":               obj{"children": []any{}, "id": "GRID_ID", "parents": []any{"ROOT_ID"}, "type": "GRID"},
		"HEADER_ID":             obj{"id": "HEADER_ID", "meta": obj{"text": title}, "type": "HEADER"},
	}
}

// placeOrphans gives charts of the dashboard that its layout does not name a row of their own.
func (c *call) placeOrphans(layout obj, d row) {
	named := map[any]bool{}
	for _, node := range layout {
		o, _ := node.(obj)
		meta, _ := o["meta"].(obj)
		if o["type"] == "CHART" {
			named[meta["uuid"]] = true
		}
	}
	var orphans []row
	for _, ch := range c.charts(d.id()) {
		if !named[ch["uuid"]] {
			orphans = append(orphans, ch)
		}
	}
	if len(orphans) == 0 {
		return
	}
	random := rand.New(rand.NewPCG(uint64(d.id()), uint64(len(orphans))))
	suffix := func() string {
		out := make([]byte, 8)
		for i := range out {
			out[i] = keyLetters[random.IntN(26)]
		}
		return string(out)
	}
	root, _ := layout["ROOT_ID"].(obj)
	grid, hasGrid := layout["GRID_ID"].(obj)
	rowID, children := "ROW-N-"+suffix(), []any{}
	inGrid := hasGrid && slices.Contains(asList(root["children"]), any("GRID_ID"))
	for _, ch := range orphans {
		id := "CHART-" + suffix()
		children = append(children, id)
		node := obj{"children": []any{}, "id": id, "type": "CHART",
			"meta": obj{"chartId": ch.id(), "height": 50, "sliceName": ch["slice_name"], "uuid": ch["uuid"], "width": 4}}
		if inGrid {
			node["parents"] = []any{"ROOT_ID", "GRID_ID", rowID}
		}
		layout[id] = node
	}
	if inGrid {
		grid["children"] = append(asList(grid["children"]), rowID)
		layout[rowID] = obj{"children": children, "id": rowID, "type": "ROW", "parents": []any{"ROOT_ID", "GRID_ID"},
			"meta": obj{"0": "ROOT_ID", "background": "BACKGROUND_TRANSPARENT"}}
	}
}

func (c *call) exportCharts(b *bundle, wanted []int) bool {
	for _, id := range wanted {
		if ch := c.st.get("slices", id); ch == nil || !c.seesChart(ch) {
			return false
		}
	}
	for _, id := range wanted {
		c.chartFile(b, c.st.get("slices", id))
		if c.s.features.tags {
			c.tagsFile(b, nil, []int{id})
		}
	}
	return true
}

func (c *call) chartFile(b *bundle, ch row) {
	out := pairsOf(ch, "slice_name", "description", "certified_by", "certification_details", "viz_type")
	params := ch["params"]
	if text := ch.str("params"); text != "" {
		p := object(text)
		if ds := c.st.get("tables", ch.int("datasource_id")); ds != nil || p["datasource"] == nil {
			p["datasource"] = itoa(ch.int("datasource_id")) + "__table"
		}
		params = p
	}
	out = append(out, pair{"params", params}, pair{"query_context", ch["query_context"]}, pair{"cache_timeout", ch["cache_timeout"]},
		pair{"uuid", ch["uuid"]}, pair{"version", exportVersion})
	ds := c.st.get("tables", ch.int("datasource_id"))
	if ds != nil {
		out = append(out, pair{"dataset_uuid", ds["uuid"]})
	}
	if c.s.features.tags {
		out = append(out, pair{"tags", c.customTags("chart", ch.id())})
	}
	b.add("charts/"+fileName(ch.str("slice_name"), ch.id(), true)+".yaml", out)
	if ds != nil && c.seesDataset(ds) {
		c.datasetFile(b, ds)
	}
}

// tagsFile lists the tags of a dashboard that people set, and of charts whatever is not their kind or owner.
func (c *call) tagsFile(b *bundle, dashboards, charts []int) {
	list, named := []any{}, map[string]bool{}
	add := func(t row) {
		if !named[t.str("name")] {
			named[t.str("name")] = true
			list = append(list, pairs{{"tag_name", t["name"]}, {"description", t["description"]}})
		}
	}
	for _, id := range dashboards {
		for _, t := range c.st.tagRows("dashboard", id) {
			if t.str("type") == "custom" {
				add(t)
			}
		}
	}
	for _, id := range charts {
		for _, t := range c.st.tagRows("chart", id) {
			if !strings.Contains(t.str("name"), "type:") && !strings.Contains(t.str("name"), "owner:") {
				add(t)
			}
		}
	}
	b.add("tags.yaml", pairs{{"tags", list}})
}

func (c *call) themeFile(b *bundle, t row) {
	b.add("themes/"+fileName(t.str("theme_name"), t.id(), false)+".yaml", pairs{
		{"theme_name", t["theme_name"]}, {"json_data", object(t.str("json_data"))}, {"uuid", t["uuid"]}, {"version", exportVersion}})
}

func (c *call) exportAssets() answer {
	b := &bundle{}
	c.metadata(b, "assets")
	each := func(table string, sees func(row) bool, put func(row)) {
		for r := range c.st.table(table).all() {
			if sees(r) {
				put(r)
			}
		}
	}
	each("dbs", c.seesDatabase, func(r row) { c.databaseFile(b, r, true) })
	each("tables", c.seesDataset, func(r row) { c.datasetFile(b, r) })
	each("slices", c.seesChart, func(r row) { c.chartFile(b, r) })
	c.withoutTags = true
	each("dashboards", c.seesDashboard, func(r row) { c.exportDashboard(b, r) })
	if c.hiddenInside(b) {
		return fatal
	}
	return c.sendBundle(b, "assets")
}
