package mocksuperset

import (
	"slices"
	"strconv"
)

// layoutCharts are the charts that a layout names by uuid, with their ids in
// the source, in the order of their nodes' names.
func layoutCharts(layout obj) (uuids []string, ids map[string]int, err error) {
	ids = map[string]int{}
	for _, name := range sortedKeys(layout) {
		node, isNode := layout[name].(obj)
		if !isNode {
			continue
		}
		kind, typed := node["type"]
		if !typed {
			return nil, nil, errUnknown
		}
		meta, _ := node["meta"].(obj)
		uuid, named := meta["uuid"]
		if kind != "CHART" || !named {
			continue
		}
		id, there := meta["chartId"]
		if !there {
			return nil, nil, errUnknown
		}
		text := textOr(uuid, "")
		if _, twice := ids[text]; !twice {
			uuids = append(uuids, text)
		}
		ids[text] = asInt(id)
	}
	return uuids, ids, nil
}

func (m *importer) dashboards() error {
	chartUUIDs, datasetUUIDs, themeUUIDs := map[string]bool{}, map[string]bool{}, map[any]bool{}
	for _, f := range m.of("dashboards") {
		position, there := f.body["position"].(obj)
		if !there {
			return errUnknown
		}
		uuids, _, err := layoutCharts(position)
		if err != nil {
			return err
		}
		for _, u := range uuids {
			chartUUIDs[u] = true
		}
		metadata, _ := f.body["metadata"].(obj)
		eachTarget(metadata, func(t obj) { datasetUUIDs[textOr(t["datasetUuid"], "")] = true })
		themeUUIDs[f.body["theme_uuid"]] = true
	}
	for _, f := range m.of("charts") {
		if chartUUIDs[textOr(f.body["uuid"], "")] {
			datasetUUIDs[textOr(f.body["dataset_uuid"], "")] = true
		}
	}
	themes := m.themes(themeUUIDs)
	databases, err := m.neededDatabases(func(f *bundleFile) bool { return datasetUUIDs[textOr(f.body["uuid"], "")] })
	if err != nil {
		return err
	}
	datasets, err := m.neededDatasets(databases, every, false)
	if err != nil {
		return err
	}
	charts := map[string]int{}
	for _, f := range m.of("charts") {
		ds := datasets[textOr(f.body["dataset_uuid"], "")]
		if ds == nil {
			continue
		}
		ch, err := m.chart(f, ds, false)
		if err != nil {
			return err
		}
		charts[ch.str("uuid")] = ch.id()
		m.tags(f, "chart", ch.id())
	}
	for _, f := range m.of("dashboards") {
		if err := m.oneDashboard(f, charts, datasets, themes); err != nil {
			return err
		}
	}
	return nil
}

func (m *importer) themes(wanted map[any]bool) map[string]int {
	out := map[string]int{}
	for _, f := range m.of("themes") {
		if !wanted[f.body["uuid"]] {
			continue
		}
		id := uuidOf(f.body)
		t := m.c.st.find("themes", "uuid", id)
		if t == nil && m.may("Theme") {
			now := m.c.now()
			t = m.c.write().insert("themes", row{"uuid": id, "theme_name": f.body["theme_name"], "json_data": jsonText(f.body["json_data"]),
				"is_system": false, "created_on": now, "changed_on": now, "created_by_fk": m.c.userID(), "changed_by_fk": m.c.userID()})
		}
		if t != nil {
			out[id] = t.id()
		}
	}
	return out
}

// oneDashboard writes a dashboard of /dashboard/import/. With overwrite its
// charts become those of the bundle that its layout names, else they are added.
func (m *importer) oneDashboard(f *bundleFile, charts map[string]int, datasets map[string]row, themes map[string]int) error {
	uuids, err := m.renumber(f.body, charts, datasets)
	if err != nil {
		return err
	}
	if u, named := f.body["theme_uuid"]; named {
		f.body["theme_id"] = nil
		if id, known := themes[textOr(u, "")]; known {
			f.body["theme_id"] = id
		}
	}
	d, err := m.dashboard(f, m.overwrite)
	if err != nil {
		return err
	}
	have := []int{}
	if !m.overwrite {
		for _, l := range m.c.st.where("dashboard_slices", "dashboard_id", d.id()) {
			have = append(have, l.int("slice_id"))
		}
	}
	for _, u := range uuids {
		if id, known := charts[u]; known && !slices.Contains(have, id) {
			have = append(have, id)
		}
	}
	m.c.write().relink("dashboard_slices", "dashboard_id", d.id(), "slice_id", have)
	m.tags(f, "dashboard", d.id())
	m.modernise(d.id())
	return nil
}

// dashboard writes one dashboard: looked for by uuid or slug, whoever owns it.
func (m *importer) dashboard(f *bundleFile, overwrite bool) (row, error) {
	id := uuidOf(f.body)
	have, can := m.c.st.find("dashboards", "uuid", id), m.may("Dashboard")
	if have != nil {
		if overwrite && can && (!m.c.seesDashboard(have) || !m.c.owns("dashboard_user", "dashboard_id", have.id())) {
			return nil, &errImport{"A dashboard already exists and user doesn't have permissions to overwrite it"}
		}
		if !overwrite || !can {
			return have, nil
		}
	} else if !can {
		return nil, &errImport{"Dashboard doesn't exist and user doesn't have permission to create dashboards"}
	}
	fields := row{"uuid": id}
	for _, name := range []string{"dashboard_title", "description", "css", "slug", "certified_by", "certification_details", "published",
		"is_managed_externally", "external_url", "theme_id"} {
		if v, there := f.body[name]; there {
			fields[name] = v
		}
	}
	for name, column := range map[string]string{"position": "position_json", "metadata": "json_metadata"} {
		if o, there := f.body[name].(obj); there {
			delete(o, "show_native_filters")
			fields[column] = dumps(o)
		}
	}
	slug := fields["slug"]
	d, fresh, err := m.upsert("dashboards", fields, func(r row) bool { return slug != nil && r["slug"] == slug })
	if err != nil {
		return nil, errUnknown
	}
	if fresh {
		d = m.c.insertDashboard(fields, []int{m.c.userID()})
	}
	m.own("dashboard_user", "dashboard_id", "dashboard", d.id())
	return d, nil
}

// renumber puts the target's ids where the file has the source's, and gives the
// charts of the layout. What the layout does not name is dropped in some places
// and fails the import in others.
func (m *importer) renumber(body obj, charts map[string]int, datasets map[string]row) ([]string, error) {
	position, _ := body["position"].(obj)
	uuids, old, err := layoutCharts(position)
	if err != nil {
		return nil, err
	}
	ids := map[int]int{}
	for u, id := range old {
		if fresh, known := charts[u]; known {
			ids[id] = fresh
		}
	}
	if metadata, there := body["metadata"].(obj); there {
		if err := renumberMetadata(metadata, ids, datasets); err != nil {
			return nil, err
		}
	}
	for _, node := range position {
		o, _ := node.(obj)
		meta, _ := o["meta"].(obj)
		if fresh, known := charts[textOr(meta["uuid"], "")]; known && o["type"] == "CHART" {
			meta["chartId"] = fresh
		}
	}
	return uuids, nil
}

func renumberMetadata(md obj, ids map[int]int, datasets map[string]row) error {
	if list, there := md["timed_refresh_immune_slices"].([]any); there {
		for i, e := range list {
			fresh, known := ids[asInt(e)]
			if !known {
				return errUnknown
			}
			list[i] = fresh
		}
	}
	if expanded, there := md["expanded_slices"].(obj); there {
		out := obj{}
		for k, v := range expanded {
			fresh, known := ids[atoi(k)]
			if !known {
				return errUnknown
			}
			out[itoa(fresh)] = v
		}
		md["expanded_slices"] = out
	}
	if scopes, there := md["filter_scopes"].(obj); there {
		md["filter_scopes"] = renamedKeys(scopes, ids)
	}
	if text, there := md["default_filters"].(string); there {
		md["default_filters"] = dumps(renamedKeys(object(text), ids))
	}
	var failed error
	eachTarget(md, func(t obj) {
		u, named := t["datasetUuid"]
		delete(t, "datasetUuid")
		if !named || u == nil || u == "" {
			return
		}
		ds := datasets[textOr(u, "")]
		if ds == nil {
			failed = errUnknown
			return
		}
		t["datasetId"] = ds.id()
	})
	if failed != nil {
		return failed
	}
	for _, e := range asList(md["native_filter_configuration"]) {
		filter, _ := e.(obj)
		renumberExcluded(filter["scope"], ids)
	}
	global, _ := md["global_chart_configuration"].(obj)
	renumberExcluded(global["scope"], ids)
	if charts, there := md["chart_configuration"].(obj); there {
		out := obj{}
		for k, v := range charts {
			fresh, known := ids[atoi(k)]
			if _, err := strconv.Atoi(k); err != nil || !known {
				continue
			}
			if o, isObject := v.(obj); isObject {
				o["id"] = fresh
				cross, _ := o["crossFilters"].(obj)
				renumberExcluded(cross["scope"], ids)
			}
			out[itoa(fresh)] = v
		}
		md["chart_configuration"] = out
	}
	return nil
}

func renamedKeys(o obj, ids map[int]int) obj {
	out := obj{}
	for k, v := range o {
		if fresh, known := ids[atoi(k)]; known {
			out[itoa(fresh)] = v
		}
	}
	return out
}

func renumberExcluded(scope any, ids map[int]int) {
	o, isObject := scope.(obj)
	if !isObject {
		return
	}
	list, there := o["excluded"].([]any)
	if !there || len(list) == 0 {
		return
	}
	out := []any{}
	for _, e := range list {
		if fresh, known := ids[asInt(e)]; known {
			out = append(out, fresh)
		}
	}
	o["excluded"] = out
}

// assets overwrites everything that is in the bundle. With sparse parents may be
// missing and are found in the target.
func (m *importer) assets() error {
	databases, datasets, charts := map[string]row{}, map[string]row{}, map[string]int{}
	if m.sparse {
		for r := range m.c.st.table("dbs").all() {
			databases[r.str("uuid")] = r
		}
		for r := range m.c.st.table("tables").all() {
			datasets[r.str("uuid")] = r
		}
		for r := range m.c.st.table("slices").all() {
			charts[r.str("uuid")] = r.id()
		}
	}
	for _, f := range m.of("databases") {
		db, err := m.database(f, true)
		if err != nil {
			return err
		}
		databases[db.str("uuid")] = db
	}
	for _, f := range m.of("datasets") {
		db := databases[textOr(f.body["database_uuid"], "")]
		if db == nil {
			return errUnknown
		}
		ds, err := m.dataset(f, db, true)
		if err != nil {
			return err
		}
		datasets[ds.str("uuid")] = ds
	}
	for _, f := range m.of("charts") {
		ds := datasets[textOr(f.body["dataset_uuid"], "")]
		if ds == nil {
			return errUnknown
		}
		ch, err := m.chart(f, ds, true)
		if err != nil {
			return err
		}
		charts[ch.str("uuid")] = ch.id()
	}
	for _, f := range m.of("dashboards") {
		uuids, err := m.renumber(f.body, charts, datasets)
		if err != nil {
			return err
		}
		d, err := m.dashboard(f, true)
		if err != nil {
			return err
		}
		var on []int
		for _, u := range uuids {
			id, known := charts[u]
			if !known {
				break // the real one stops here and so loses the charts behind
			}
			on = append(on, id)
		}
		m.c.write().relink("dashboard_slices", "dashboard_id", d.id(), "slice_id", on)
		m.modernise(d.id())
	}
	return nil
}

// modernise takes filters of the old kind out of the metadata, as every import does.
func (m *importer) modernise(dashboard int) {
	md := object(m.c.st.get("dashboards", dashboard).str("json_metadata"))
	if _, there := md["native_filter_configuration"]; !there {
		md["native_filter_configuration"] = []any{}
	}
	delete(md, "default_filters")
	delete(md, "filter_scopes")
	m.c.write().update("dashboards", dashboard, row{"json_metadata": dumps(md)})
}

func importRoutes() []route {
	take := func(name string) func(*call) answer {
		return func(c *call) answer { return c.importBundle(importKinds[name]) }
	}
	return []route{
		{method: "POST", path: "/api/v1/dashboard/import/", perm: "can_write", view: "Dashboard", changes: true, handle: take("dashboard")},
		{method: "POST", path: "/api/v1/chart/import/", perm: "can_write", view: "Chart", changes: true, handle: take("chart")},
		{method: "POST", path: "/api/v1/dataset/import/", perm: "can_write", view: "Dataset", changes: true, handle: take("dataset")},
		{method: "POST", path: "/api/v1/database/import/", perm: "can_write", view: "Database", changes: true, handle: take("database")},
		{method: "POST", path: "/api/v1/assets/import/", perm: "can_import_", view: "ImportExportRestApi", changes: true, handle: take("assets")},
	}
}
