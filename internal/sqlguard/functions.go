package sqlguard

import "strings"

// deniedFunctions do more than compute, by dialect: they write, lock, wait, change the session, read files or
// the network, or run a text as SQL.
var deniedFunctions = map[string]words{
	"postgresql": setOf(`nextval setval set_config dblink query_to_xml query_to_xmlschema query_to_xml_and_xmlschema cursor_to_xml
		cursor_to_xmlschema crosstab crosstab2 crosstab3 crosstab4 connectby ts_stat ts_rewrite xpath_table loread lowrite currtid
		currtid2 database_to_xml schema_to_xml table_to_xml table_to_xmlschema txid_current pg_current_xact_id
		postgres_fdw_disconnect postgres_fdw_disconnect_all postgres_fdw_get_connections plpgsql_call_handler`),
	"mysql": setOf(`sleep benchmark load_file get_lock release_lock release_all_locks is_free_lock is_used_lock master_pos_wait
		source_pos_wait wait_for_executed_gtid_set wait_until_sql_thread_after_gtids sys_exec sys_eval sys_get sys_set nextval setval
		last_insert_id asynchronous_connection_failover_add_source`),
	"bigquery":  setOf("external_query"),
	"snowflake": setOf("external_query infer_schema get_presigned_url build_scoped_file_url"),
	"clickhouse": setOf(`url urlcluster file filecluster s3 s3cluster s3queue gcs remote remotesecure mysql postgresql mongodb redis
		sqlite jdbc odbc hdfs hdfscluster azureblobstorage azureblobstoragecluster deltalake deltalakecluster deltalakelocal iceberg
		iceberglocal icebergs3 icebergazure iceberghdfs icebergcluster icebergs3cluster icebergazurecluster hudi hudicluster paimon
		executable input sleep sleepeachrow getclienthttpheader catboostevaluate arrowflight ytsaurus prometheusquery
		prometheusqueryrange kafka nats rabbitmq odbcbridge addresstoline addresstosymbol trap aigenerate nvme ftp
		materializedpostgresql`),
	"mssql": setOf(`openrowset openquery opendatasource xp_cmdshell fn_dump_dblog fn_dblog fn_get_audit_file
		fn_xe_file_target_read_file fn_trace_gettable`),
	"sqlite": setOf("load_extension writefile readfile edit fsdir fts3_tokenizer sqlite_attach eval zipfile lsmode csv"),
	"duckdb": setOf(`query query_table glob getenv nextval sniff_csv st_read st_read_meta duckdb_secrets which_secret write_log
		delta_scan iceberg_scan enable_logging http_get http_post read_text read_blob load_aws_credentials checkpoint force_checkpoint
		json_execute_serialized_sql import_database sqlite_attach postgres_attach mysql_execute postgres_execute shellfs`),
	"databricks": setOf(`reflect java_method read_files ai_query http_request remote_query secret try_secret cloud_files read_kafka
		read_kinesis read_pubsub read_pulsar read_statestore try_reflect`),
	"trino":  setOf("query raw_query execute"),
	"oracle": setOf("httpuritype httpuri dburitype xdburitype bfilename uriftype getxml external"),
	"druid":  setOf("extern http localfiles s3 external azure google hdfs"),
	"pinot":  setOf("groovy"),
}

// deniedPrefixes begin the names of whole families of them.
var deniedPrefixes = map[string][]string{
	"postgresql": strings.Fields(`pg_sleep pg_read_ pg_ls_ pg_stat_file pg_file_ lo_ pg_advisory_ pg_try_advisory_ pg_terminate_ pg_cancel_
		pg_reload_ pg_rotate_ pg_notify pg_logical_ pg_replication_ pg_create_ pg_drop_ pg_switch_ pg_promote pg_wal_replay_
		pg_stat_reset pg_export_ pg_import_ pg_start_ pg_stop_ pg_backup_ pg_log_ dblink_ pg_execute_server pg_current_wal_insert_
		binary_upgrade_ pg_sync_ pg_copy_ pg_set_ pg_restore_ pg_clear_ pg_prewarm autoprewarm pg_truncate_ brin_ gin_clean pgp_ http_
		aws_ apg_ rds_ cron_ pg_buffercache_ pg_stat_statements_reset google_ml azure_ pg_background_ xmlfile`),
	"duckdb":    strings.Fields("read_ scan_ sqlite_ postgres_ mysql_ parquet_ arrow_scan bigquery_ mssql_ odbc_ http_ gsheet"),
	"trino":     strings.Fields("system."),
	"mssql":     strings.Fields("xp_ sp_ fn_my_"),
	"snowflake": strings.Fields("system$"),
}

// harmless are names that a prefix would deny.
var harmless = map[string]words{"snowflake": setOf("system$typeof system$clustering_information")}

// oraclePackages are packages of Oracle whose functions need no brackets.
var oraclePackages = strings.Fields("dbms_ utl_ owa_ apex_ ctx_")

// tableFunctions are all that may stand in the place of a table, where a database has many that read elsewhere.
var tableFunctions = map[string]words{
	"clickhouse": setOf(`numbers numbers_mt generateseries generate_series values view merge cluster clusterallreplicas zeros zeros_mt
		generaterandom dictionary viewexplain mergetreeindex null`),
	"duckdb": setOf(`range generate_series unnest json_each json_tree values duckdb_tables duckdb_columns duckdb_views duckdb_functions
		duckdb_schemas duckdb_types flatten`),
}

// snowflakeTables may stand in TABLE(…).
var snowflakeTables = setOf("flatten generator result_scan split_to_table strtok_split_to_table")

// denied reports whether a function, in lower case, is on the list of a dialect.
func denied(dialect, f string) bool {
	if dialect == "redshift" {
		dialect = "postgresql"
	}
	if harmless[dialect][f] {
		return false
	}
	return deniedFunctions[dialect][f] || hasPrefix(f, deniedPrefixes[dialect])
}

func hasPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
