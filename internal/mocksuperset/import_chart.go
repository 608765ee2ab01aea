package mocksuperset

// chart writes one chart that uses a dataset of the target.
func (m *importer) chart(f *bundleFile, ds row, overwrite bool) (row, error) {
	id := uuidOf(f.body)
	have, can := m.c.st.find("slices", "uuid", id), m.may("Chart")
	params, hasParams := f.body["params"].(obj)
	if !hasParams {
		return nil, errUnknown
	}
	if have != nil {
		if overwrite && can && (!m.c.seesChart(have) || !m.c.owns("slice_user", "slice_id", have.id())) {
			return nil, &errImport{"A chart already exists and user doesn't have permissions to overwrite it"}
		}
		if !overwrite || !can {
			return have, nil
		}
	} else if !can {
		return nil, &errImport{"Chart doesn't exist and user doesn't have permission to create charts"}
	}
	params["datasource"] = itoa(ds.id()) + "__table"
	layers := []any{}
	for _, l := range asList(params["annotation_layers"]) {
		if o, isObject := l.(obj); isObject && o["annotationType"] == "FORMULA" {
			layers = append(layers, l)
		}
	}
	params["annotation_layers"] = layers
	fields := row{"uuid": id, "params": dumps(params)}.with(datasetRefs(ds))
	for _, name := range []string{"slice_name", "description", "certified_by", "certification_details", "viz_type", "query_context", "cache_timeout",
		"is_managed_externally", "external_url"} {
		if v, there := f.body[name]; there {
			fields[name] = v
		}
	}
	if text, isText := fields["query_context"].(string); isText {
		fields["query_context"] = repointed(text, ds)
	}
	if fields.str("viz_type") == "dist_bar" {
		modernBar(fields, params)
	}
	ch, fresh, err := m.upsert("slices", fields, func(row) bool { return false })
	if err != nil {
		return nil, errUnknown
	}
	if fresh {
		ch = m.c.insertChart(fields, []int{m.c.userID()})
	}
	m.own("slice_user", "slice_id", "chart", ch.id())
	return ch, nil
}

// repointed is a saved query over another dataset.
func repointed(text string, ds row) string {
	q := object(text)
	source := obj{"id": ds.id(), "type": "table"}
	q["datasource"] = source
	if form, there := q["form_data"].(obj); there {
		form["datasource"] = itoa(ds.id()) + "__table"
	}
	for _, e := range asList(q["queries"]) {
		if o, isObject := e.(obj); isObject && o["datasource"] != nil {
			o["datasource"] = source
		}
	}
	return dumps(q)
}

// modernBar converts the one old kind of chart that the mock knows.
func modernBar(fields row, params obj) {
	params["viz_type"] = "echarts_timeseries_bar"
	fields["viz_type"], fields["params"] = "echarts_timeseries_bar", dumps(params)
	if text, isText := fields["query_context"].(string); isText {
		q := object(text)
		if q["form_data"] != nil {
			q["form_data"] = params
			fields["query_context"] = dumps(q)
		}
	}
}

// neededDatabases imports the connections that the chosen datasets use and gives them by uuid.
func (m *importer) neededDatabases(wanted func(dataset *bundleFile) bool) (map[string]row, error) {
	uuids, out := map[any]bool{}, map[string]row{}
	for _, f := range m.of("datasets") {
		if wanted(f) {
			uuids[f.body["database_uuid"]] = true
		}
	}
	for _, f := range m.of("databases") {
		if !uuids[f.body["uuid"]] {
			continue
		}
		db, err := m.database(f, false)
		if err != nil {
			return nil, err
		}
		out[db.str("uuid")] = db
	}
	return out, nil
}

func (m *importer) neededDatasets(databases map[string]row, wanted func(*bundleFile) bool, overwrite bool) (map[string]row, error) {
	out := map[string]row{}
	for _, f := range m.of("datasets") {
		db := databases[textOr(f.body["database_uuid"], "")]
		if db == nil || !wanted(f) {
			continue
		}
		ds, err := m.dataset(f, db, overwrite)
		if err != nil {
			return nil, err
		}
		out[ds.str("uuid")] = ds
	}
	return out, nil
}

func (m *importer) charts() error {
	uuids := map[any]bool{}
	for _, f := range m.of("charts") {
		uuids[f.body["dataset_uuid"]] = true
	}
	wanted := func(f *bundleFile) bool { return uuids[f.body["uuid"]] }
	databases, err := m.neededDatabases(wanted)
	if err != nil {
		return err
	}
	datasets, err := m.neededDatasets(databases, wanted, false)
	if err != nil {
		return err
	}
	for _, f := range m.of("charts") {
		ds := datasets[textOr(f.body["dataset_uuid"], "")]
		if ds == nil {
			continue
		}
		ch, err := m.chart(f, ds, m.overwrite)
		if err != nil {
			return err
		}
		m.tags(f, "chart", ch.id())
	}
	return nil
}

func every(*bundleFile) bool { return true }

func (m *importer) datasets() error {
	databases, err := m.neededDatabases(every)
	if err != nil {
		return err
	}
	_, err = m.neededDatasets(databases, every, m.overwrite)
	return err
}

func (m *importer) databases() error {
	databases := map[string]row{}
	for _, f := range m.of("databases") {
		db, err := m.database(f, m.overwrite)
		if err != nil {
			return err
		}
		databases[db.str("uuid")] = db
	}
	_, err := m.neededDatasets(databases, every, false)
	return err
}
