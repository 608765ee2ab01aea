package mocksuperset

var metadataFile = schema{"version": {kind: kindText, required: true}, "type": {kind: kindText}, "timestamp": {kind: kindAny}}

var nullText = field{kind: kindText, null: true}

var importColumn = schema{
	"column_name": {kind: kindText, required: true}, "extra": {kind: kindDict, null: true}, "verbose_name": nullText,
	"is_dttm": {kind: kindBool, null: true}, "is_active": {kind: kindBool, null: true}, "type": nullText, "advanced_data_type": nullText,
	"groupby": {kind: kindBool}, "filterable": {kind: kindBool}, "expression": nullText, "description": nullText,
	"python_date_format": nullText, "datetime_format": nullText,
}

var importMetric = schema{
	"metric_name": {kind: kindText, required: true}, "verbose_name": nullText, "metric_type": nullText, "expression": {kind: kindText, required: true},
	"description": nullText, "d3format": nullText, "currency": {kind: kindAny, null: true}, "extra": {kind: kindDict, null: true}, "warning_text": nullText,
}

var importSchemas = map[string]schema{
	"dashboards": {
		"dashboard_title": {kind: kindText, required: true}, "description": nullText, "css": nullText, "slug": nullText,
		"uuid": {kind: kindUUID, required: true}, "position": {kind: kindDict}, "metadata": {kind: kindDict}, "version": {kind: kindText, required: true},
		"is_managed_externally": {kind: kindBool, null: true}, "external_url": nullText, "certified_by": nullText, "certification_details": nullText,
		"published": {kind: kindBool, null: true}, "tags": {kind: kindList, elem: &field{kind: kindText}, null: true},
		"theme_uuid": {kind: kindUUID, null: true}, "theme_id": {kind: kindInt, null: true},
	},
	"charts": {
		"slice_name": {kind: kindText, required: true}, "description": nullText, "certified_by": nullText, "certification_details": nullText,
		"viz_type": {kind: kindText, required: true}, "params": {kind: kindDict}, "query_context": {kind: kindText, null: true, check: validJSON},
		"cache_timeout": {kind: kindInt, null: true}, "uuid": {kind: kindUUID, required: true}, "version": {kind: kindText, required: true},
		"dataset_uuid": {kind: kindUUID, required: true}, "is_managed_externally": {kind: kindBool, null: true}, "external_url": nullText,
		"tags": {kind: kindList, elem: &field{kind: kindText}, null: true},
	},
	"datasets": {
		"table_name": {kind: kindText, required: true}, "main_dttm_col": nullText, "currency_code_column": nullText, "description": nullText,
		"default_endpoint": nullText, "offset": {kind: kindInt}, "cache_timeout": {kind: kindInt, null: true}, "schema": nullText, "catalog": nullText,
		"sql": nullText, "source_db_engine": nullText, "params": {kind: kindDict, null: true}, "template_params": {kind: kindDict, null: true},
		"filter_select_enabled": {kind: kindBool}, "fetch_values_predicate": nullText, "extra": {kind: kindDict, null: true},
		"uuid": {kind: kindUUID, required: true}, "columns": listOf(field{kind: kindNested, fields: importColumn}),
		"metrics": listOf(field{kind: kindNested, fields: importMetric}), "version": {kind: kindText, required: true},
		"database_uuid": {kind: kindUUID, required: true}, "data": {kind: kindText}, "is_managed_externally": {kind: kindBool, null: true},
		"external_url": nullText, "normalize_columns": {kind: kindBool}, "always_filter_main_dttm": {kind: kindBool},
		"folders": {kind: kindAny, null: true}, "data_file": nullText,
	},
	"databases": {
		"database_name": {kind: kindText, required: true}, "sqlalchemy_uri": {kind: kindText, required: true}, "password": nullText,
		"encrypted_extra": nullText, "masked_encrypted_extra": {kind: kindText}, "cache_timeout": {kind: kindInt, null: true},
		"expose_in_sqllab": {kind: kindBool}, "allow_run_async": {kind: kindBool}, "allow_ctas": {kind: kindBool}, "allow_cvas": {kind: kindBool},
		"allow_dml": {kind: kindBool}, "allow_csv_upload": {kind: kindBool}, "allow_file_upload": {kind: kindBool}, "impersonate_user": {kind: kindBool},
		"extra": {kind: kindDict}, "uuid": {kind: kindUUID, required: true}, "version": {kind: kindText, required: true},
		"is_managed_externally": {kind: kindBool, null: true}, "external_url": nullText, "ssh_tunnel": {kind: kindAny, null: true},
		"configuration_method": nullText,
	},
	"themes": {
		"theme_name": {kind: kindText, required: true}, "json_data": {kind: kindAny, required: true}, "uuid": {kind: kindUUID, required: true},
		"version": {kind: kindText, required: true},
	},
	"queries": {
		"schema": nullText, "catalog": nullText, "label": nullText, "description": nullText, "sql": {kind: kindText, required: true},
		"uuid": {kind: kindUUID, required: true}, "version": {kind: kindText, required: true}, "database_uuid": {kind: kindUUID, required: true},
	},
}
