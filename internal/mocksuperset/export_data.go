package mocksuperset

// Datasets and connections as files of a bundle.

func (c *call) exportDatasets(b *bundle, wanted []int) bool {
	for _, id := range wanted {
		if ds := c.st.get("tables", id); ds == nil || !c.seesDataset(ds) {
			return false
		}
	}
	for _, id := range wanted {
		c.datasetFile(b, c.st.get("tables", id))
	}
	return true
}

// datasetFile adds a dataset and the connection it needs.
func (c *call) datasetFile(b *bundle, ds row) {
	db := c.st.get("dbs", ds.int("database_id"))
	if db == nil {
		return
	}
	b.add("datasets/"+fileName(db.str("database_name"), db.id(), false)+"/"+fileName(ds.str("table_name"), ds.id(), true)+".yaml", c.datasetPairs(ds, db, true))
	c.databaseFile(b, db, false)
}

// datasetPairs is a dataset as it is exported; open says that texts which hold JSON are opened.
func (c *call) datasetPairs(ds, db row, open bool) pairs {
	opened := func(v any) any {
		text, isText := v.(string)
		if !open || !isText || text == "" {
			return v
		}
		if parsed, err := parseJSON([]byte(text)); err == nil {
			return parsed
		}
		return v
	}
	out := pairsOf(ds, "table_name", "main_dttm_col", "currency_code_column", "description", "default_endpoint")
	out = append(out, pair{"offset", ds.int("offset")})
	out = append(out, pairsOf(ds, "cache_timeout", "catalog", "schema", "sql")...)
	out = append(out, pair{"params", opened(ds["params"])}, pair{"template_params", opened(ds["template_params"])},
		pair{"filter_select_enabled", ds.bool("filter_select_enabled")}, pair{"fetch_values_predicate", ds["fetch_values_predicate"]},
		pair{"extra", opened(ds["extra"])}, pair{"normalize_columns", ds.bool("normalize_columns")},
		pair{"always_filter_main_dttm", ds.bool("always_filter_main_dttm")}, pair{"folders", ds["folders"]}, pair{"uuid", ds["uuid"]})
	metrics, columns := []any{}, []any{}
	for _, m := range c.metrics(ds) {
		p := pairsOf(m, "metric_name", "verbose_name", "metric_type", "expression", "description", "d3format")
		metrics = append(metrics, append(p, pair{"currency", currency(m)}, pair{"extra", opened(m["extra"])}, pair{"warning_text", m["warning_text"]}))
	}
	for _, col := range c.columns(ds) {
		p := append(pairsOf(col, "column_name", "verbose_name"), pair{"is_dttm", col.bool("is_dttm")}, pair{"is_active", col.bool("is_active")})
		p = append(p, pairsOf(col, "type", "advanced_data_type")...)
		p = append(p, pair{"groupby", col.bool("groupby")}, pair{"filterable", col.bool("filterable")})
		p = append(p, pairsOf(col, "expression", "description", "python_date_format", "datetime_format")...)
		columns = append(columns, append(p, pair{"extra", opened(col["extra"])}))
	}
	return append(out, pair{"metrics", metrics}, pair{"columns", columns}, pair{"version", exportVersion}, pair{"database_uuid", db["uuid"]})
}

func (c *call) exportDatabases(b *bundle, wanted []int) bool {
	for _, id := range wanted {
		if db := c.st.get("dbs", id); db == nil || !c.seesDatabase(db) {
			return false
		}
	}
	for _, id := range wanted {
		db := c.st.get("dbs", id)
		c.databaseFile(b, db, true)
		for _, ds := range c.st.where("tables", "database_id", id) {
			name := "datasets/" + fileName(db.str("database_name"), id, false) + "/" + fileName(ds.str("table_name"), ds.id(), false) + ".yaml"
			b.add(name, c.datasetPairs(ds, db, false))
		}
	}
	return true
}

// databaseFile adds a connection with its password masked. Its own export calls
// the flag for uploads by its old name.
func (c *call) databaseFile(b *bundle, db row, own bool) {
	upload := "allow_file_upload"
	if own {
		upload = "allow_csv_upload"
	}
	out := pairs{{"database_name", db["database_name"]}, {"sqlalchemy_uri", maskURI(db.str("sqlalchemy_uri"))}, {"cache_timeout", db["cache_timeout"]}}
	for _, flag := range []string{"expose_in_sqllab", "allow_run_async", "allow_ctas", "allow_cvas", "allow_dml"} {
		out = append(out, pair{flag, db.bool(flag)})
	}
	var extra any
	if text := db.str("extra"); text != "" {
		extra = object(text)
	}
	out = append(out, pair{upload, db.bool("allow_file_upload")}, pair{"extra", extra}, pair{"impersonate_user", db.bool("impersonate_user")},
		pair{"configuration_method", textOr(db["configuration_method"], "sqlalchemy_form")}, pair{"uuid", db["uuid"]}, pair{"version", exportVersion})
	b.add("databases/"+fileName(db.str("database_name"), db.id(), false)+".yaml", out)
}
