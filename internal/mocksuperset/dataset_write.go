package mocksuperset

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

var datasetPost = schema{
	"database":                {kind: kindInt, required: true},
	"catalog":                 {kind: kindText, null: true, max: 250},
	"schema":                  {kind: kindText, null: true, max: 250},
	"table_name":              {kind: kindText, required: true, min: 1, max: 250},
	"sql":                     {kind: kindText, null: true},
	"owners":                  listOf(field{kind: kindInt}),
	"is_managed_externally":   {kind: kindBool, null: true},
	"external_url":            {kind: kindText, null: true},
	"normalize_columns":       {kind: kindBool},
	"always_filter_main_dttm": {kind: kindBool},
	"currency_code_column":    {kind: kindText, null: true, max: 250},
	"template_params":         {kind: kindText, null: true},
	"uuid":                    {kind: kindUUID, null: true},
}

var columnPut = schema{
	"id":                 {kind: kindInt},
	"column_name":        {kind: kindText, required: true, min: 1, max: 255},
	"type":               {kind: kindText, null: true},
	"advanced_data_type": {kind: kindText, null: true, min: 1, max: 255},
	"verbose_name":       {kind: kindText, null: true},
	"description":        {kind: kindText, null: true},
	"expression":         {kind: kindText, null: true},
	"extra":              {kind: kindText, null: true},
	"filterable":         {kind: kindBool},
	"groupby":            {kind: kindBool},
	"is_active":          {kind: kindBool, null: true},
	"is_dttm":            {kind: kindBool, null: true},
	"python_date_format": {kind: kindText, null: true, min: 1, max: 255},
	"datetime_format":    {kind: kindText, null: true, min: 1, max: 100},
	"uuid":               {kind: kindUUID, null: true},
}

var metricPut = schema{
	"id":           {kind: kindInt},
	"expression":   {kind: kindText, required: true},
	"description":  {kind: kindText, null: true},
	"extra":        {kind: kindText, null: true},
	"metric_name":  {kind: kindText, required: true, min: 1, max: 255},
	"metric_type":  {kind: kindText, null: true, min: 1, max: 32},
	"d3format":     {kind: kindText, null: true, min: 1, max: 128},
	"currency":     {kind: kindAny, null: true},
	"verbose_name": {kind: kindText, null: true},
	"warning_text": {kind: kindText, null: true},
	"uuid":         {kind: kindUUID, null: true},
}

var datasetPut = schema{
	"table_name":              {kind: kindText, null: true, min: 1, max: 250},
	"database_id":             {kind: kindInt},
	"sql":                     {kind: kindText, null: true},
	"filter_select_enabled":   {kind: kindBool, null: true},
	"fetch_values_predicate":  {kind: kindText, null: true, max: 1000},
	"catalog":                 {kind: kindText, null: true, max: 250},
	"schema":                  {kind: kindText, null: true, max: 255},
	"description":             {kind: kindText, null: true},
	"main_dttm_col":           {kind: kindText, null: true},
	"currency_code_column":    {kind: kindText, null: true, max: 250},
	"normalize_columns":       {kind: kindBool, null: true},
	"always_filter_main_dttm": {kind: kindBool},
	"offset":                  {kind: kindInt, null: true},
	"default_endpoint":        {kind: kindText, null: true},
	"cache_timeout":           {kind: kindInt, null: true},
	"is_sqllab_view":          {kind: kindBool, null: true},
	"template_params":         {kind: kindText, null: true},
	"owners":                  listOf(field{kind: kindInt}),
	"columns":                 listOf(field{kind: kindNested, fields: columnPut}),
	"metrics":                 listOf(field{kind: kindNested, fields: metricPut}),
	"folders":                 listOf(field{kind: kindAny}),
	"extra":                   {kind: kindText, null: true},
	"is_managed_externally":   {kind: kindBool, null: true},
	"external_url":            {kind: kindText, null: true},
	"uuid":                    {kind: kindUUID, null: true},
}

// tableTitle is how messages name a table.
func tableTitle(schemaName any, table string) string {
	table = strings.ReplaceAll(url.QueryEscape(table), "+", "%20")
	if s, isText := schemaName.(string); isText && s != "" {
		return s + "." + table
	}
	return table
}

// sameTable finds another dataset over a table; a missing schema is a schema of its own.
func (s *state) sameTable(database int, catalog, schemaName any, table string, but int) row {
	for _, ds := range s.where("tables", "table_name", table) {
		if ds.id() != but && ds.int("database_id") == database && ds["schema"] == schemaName && ds["catalog"] == catalog {
			return ds
		}
	}
	return nil
}

func missingTable(schemaName any, table string) string {
	return "Table [" + tableTitle(schemaName, table) + "] could not be found, please double check your database connection, schema, and table name"
}

func (c *call) postDataset() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := datasetPost.load(body)
	if bad != nil {
		return message(400, bad)
	}
	for _, flag := range []string{"normalize_columns", "always_filter_main_dttm"} {
		if _, named := fields[flag]; !named {
			fields[flag] = false
		}
	}
	ds, a, good := c.makeDataset(fields)
	if !good {
		return a
	}
	db := c.st.get("dbs", ds.int("database_id"))
	data := c.datasetData(ds)
	data["folders"] = ds["folders"]
	d := data["database"].(obj)
	merge(d, obj{"configuration_method": textOr(db["configuration_method"], "sqlalchemy_form"), "engine_information": engineInformation(db),
		"parameters": obj{}, "parameters_schema": obj{}, "schema_options": obj{}})
	return reply(201, obj{"id": ds.id(), "result": shown(fields), "data": data})
}

// makeDataset checks what only the state and the database can say, then adds the dataset with its columns.
func (c *call) makeDataset(fields row) (row, answer, bool) {
	faults := obj{}
	db := c.st.get("dbs", fields.int("database"))
	table := fields.str("table_name")
	if db == nil {
		faults["database"] = []any{"Database does not exist"}
	} else if c.st.sameTable(db.id(), fields["catalog"], fields["schema"], table, 0) != nil {
		faults["table"] = []any{"Dataset " + tableTitle(fields["schema"], table) + " already exists"}
	}
	owners, valid := c.computeOwners(intsOf(fields["owners"]))
	if !valid {
		faults["owners"] = []any{"Owners are invalid"}
	}
	draft := row{"table_name": table, "sql": fields["sql"], "schema": fields["schema"], "catalog": fields["catalog"], "template_params": fields["template_params"]}
	var source []tableColumn
	var err error
	if db != nil {
		draft["database_id"] = db.id()
		source, err = c.sourceColumns(draft)
		if fields.str("sql") == "" && err != nil {
			faults["table"] = []any{missingTable(fields["schema"], table)}
		}
	}
	if len(faults) > 0 {
		return nil, message(422, faults), false
	}
	if err != nil {
		return nil, fatal, false
	}
	if _, named := fields["owners"]; !named && len(owners) == 0 {
		owners = []int{c.userID()}
	}
	for k, v := range fields {
		if k != "database" && k != "owners" && !(k == "uuid" && v == nil) {
			draft[k] = v
		}
	}
	ds := c.insertDataset(db, draft, owners)
	c.syncColumns(ds, source, false)
	return c.st.get("tables", ds.id()), answer{}, true
}

// insertDataset adds a dataset with what every new one has, without columns.
func (c *call) insertDataset(db, fields row, owners []int) row {
	st, now := c.write(), c.now()
	ds := st.insert("tables", row{"uuid": c.s.newUUID(), "created_on": now, "changed_on": now, "created_by_fk": c.userID(),
		"changed_by_fk": c.userID(), "database_id": db.id(), "filter_select_enabled": true, "offset": 0, "is_sqllab_view": false,
		"is_managed_externally": false, "normalize_columns": false, "always_filter_main_dttm": false}.with(fields))
	ds = st.update("tables", ds.id(), c.datasetPerms(db, ds))
	c.grantable("datasource_access", ds.str("perm"))
	st.relink("sqlatable_user", "table_id", ds.id(), "user_id", owners)
	c.tagSystem("dataset", ds.id(), owners)
	return ds
}

// datasetPerms are the names by which the right to a dataset is granted.
func (c *call) datasetPerms(db, ds row) row {
	out := row{"perm": datasetPerm(db, ds), "schema_perm": nil}
	if s := ds.str("schema"); s != "" {
		out["schema_perm"] = "[" + db.str("database_name") + "].[" + s + "]"
	}
	return out
}

func (c *call) putDataset() answer {
	if !c.sendsJSON() {
		return problems(400, problem{message: "Request is not JSON", kind: "INVALID_PAYLOAD_FORMAT_ERROR", codes: []int{1019}})
	}
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := datasetPut.load(body)
	if bad != nil {
		return problems(422, problem{message: "The schema of the submitted payload is invalid.", kind: "MARSHMALLOW_ERROR",
			extra: obj{"messages": bad, "payload": body}, codes: []int{1040}})
	}
	if _, named := fields["always_filter_main_dttm"]; !named {
		fields["always_filter_main_dttm"] = false
	}
	ds, a, good := c.datasetToChange()
	if !good {
		return a
	}
	override := c.query().Get("override_columns") == "true"
	owners, a, good := c.datasetRules(ds, fields, override)
	if !good {
		return a
	}
	result := shown(fields)
	if a, good := c.changeDataset(ds, fields, owners, override); !good {
		return a
	}
	return ok(obj{"id": ds.id(), "result": result})
}

// datasetRules checks what only the state can say; all faults come at once.
func (c *call) datasetRules(ds, fields row, override bool) ([]int, answer, bool) {
	faults := obj{}
	database, schemaName, table := ds.int("database_id"), ds["schema"], ds.str("table_name")
	if n, named := fields["database_id"].(int); named {
		if database = n; c.st.get("dbs", n) == nil {
			faults["database"] = []any{"Database does not exist"}
		}
	}
	if v, named := fields["schema"]; named {
		schemaName = v
	}
	if t := fields.str("table_name"); t != "" {
		table = t
	}
	if v, named := fields["catalog"]; named && v != nil {
		faults["catalog"] = []any{"Only the default catalog is supported for this connection"}
	}
	if c.st.sameTable(database, ds["catalog"], schemaName, table, ds.id()) != nil {
		faults["table"] = []any{"Dataset " + tableTitle(schemaName, table) + " already exists"}
	}
	owners := ids(c.st.linked("sqlatable_user", "table_id", ds.id(), "user_id", "ab_user"))
	if asked, named := fields["owners"]; named {
		computed, valid := c.computeOwners(intsOf(asked))
		if !valid {
			faults["owners"] = []any{"Owners are invalid"}
		}
		owners = computed
	}
	if fault := partsFault("column", fields["columns"], c.columns(ds), override); fault != "" {
		faults["columns"] = []any{fault}
	}
	if fault := partsFault("metric", fields["metrics"], c.metrics(ds), false); fault != "" {
		faults["metrics"] = []any{fault}
	}
	if len(faults) > 0 {
		return nil, message(422, faults), false
	}
	return owners, answer{}, true
}

// partsFault checks a list of columns or metrics against those that are there.
func partsFault(kind string, sent any, have []row, anew bool) string {
	name, seen := kind+"_name", map[string]bool{}
	for _, e := range asList(sent) {
		n := e.(row).str(name)
		if seen[n] {
			return "One or more " + kind + "s are duplicated"
		}
		seen[n] = true
	}
	byID, byName := map[int]bool{}, map[string]bool{}
	for _, r := range have {
		byID[r.id()], byName[r.str(name)] = true, true
	}
	fault := ""
	for _, e := range asList(sent) {
		r := e.(row)
		_, hasID := r["id"]
		if hasID && !byID[r.id()] {
			return "One or more " + kind + "s do not exist"
		}
		if !hasID && !anew && byName[r.str(name)] {
			fault = "One or more " + kind + "s already exist"
		}
	}
	return fault
}

// changeDataset writes the fields. Columns and metrics become exactly those sent.
func (c *call) changeDataset(ds, fields row, owners []int, override bool) (answer, bool) {
	st, changes := c.write(), row{}
	replaced := false
	for k, v := range fields {
		switch k {
		case "owners", "columns", "metrics":
		case "uuid":
			if v != nil {
				changes[k] = v
			}
		default:
			changes[k] = v
		}
	}
	if _, named := fields["owners"]; named {
		st.relink("sqlatable_user", "table_id", ds.id(), "user_id", owners)
		c.tagSystem("dataset", ds.id(), owners)
	}
	if v, named := fields["columns"]; named && !override {
		c.replaceParts("table_columns", ds.id(), asList(v), row{"is_dttm": false, "is_active": true, "groupby": true, "filterable": true})
		replaced = true
	}
	if v, named := fields["metrics"]; named {
		c.replaceParts("sql_metrics", ds.id(), asList(v), row{})
		replaced = true
	}
	changed := c.touch("tables", ds, changes)
	if replaced {
		changed = st.update("tables", ds.id(), row{"changed_on": c.now(), "changed_by_fk": c.userID()})
	}
	if db := st.get("dbs", changed.int("database_id")); db != nil {
		changed = st.update("tables", ds.id(), c.datasetPerms(db, changed))
		c.renamePerm(ds.str("perm"), changed.str("perm"))
	}
	if override {
		source, err := c.sourceColumns(changed)
		if errors.Is(err, errNoTable) {
			return message(422, "Dataset could not be updated."), false
		}
		if err != nil {
			return fatal, false
		}
		c.syncColumns(changed, source, true)
	}
	return answer{}, true
}

// renamePerm lets grants follow the new name of what they are about.
func (c *call) renamePerm(old, fresh string) {
	if old == fresh {
		return
	}
	if view := c.st.find("ab_view_menu", "name", old); view != nil {
		c.write().update("ab_view_menu", view.id(), row{"name": fresh})
	}
}

func (c *call) replaceParts(table string, dataset int, sent []any, defaults row) {
	st, now := c.write(), c.now()
	kept := map[int]bool{}
	for _, e := range sent {
		if id := e.(row).id(); id != 0 {
			kept[id] = true
		}
	}
	for _, r := range st.where(table, "table_id", dataset) {
		if !kept[r.id()] {
			st.remove(table, r.id())
		}
	}
	for _, e := range sent {
		fields := row{}
		for k, v := range e.(row) {
			if k == "currency" && v != nil {
				v = dumps(v)
			}
			if !(k == "uuid" && v == nil) {
				fields[k] = v
			}
		}
		fields["changed_on"], fields["changed_by_fk"] = now, c.userID()
		if id := fields.id(); id != 0 {
			st.update(table, id, fields)
			continue
		}
		st.insert(table, row{"table_id": dataset, "uuid": c.s.newUUID(), "created_on": now, "created_by_fk": c.userID()}.with(defaults).with(fields))
	}
}

func (c *call) deleteDatasets(wanted []int, bulk bool) answer {
	var rows []row
	for _, id := range wanted {
		ds := c.st.get("tables", id)
		if ds == nil || !c.seesDataset(ds) {
			return notFound
		}
		rows = append(rows, ds)
	}
	for _, ds := range rows {
		if !c.owns("sqlatable_user", "table_id", ds.id()) {
			return forbidden
		}
	}
	st := c.write()
	for _, ds := range rows {
		st.remove("tables", ds.id())
		for _, t := range []string{"table_columns", "sql_metrics", "sqlatable_user", "rls_filter_tables"} {
			st.removeWhere(t, "table_id", ds.id())
		}
		c.untag("dataset", ds.id(), func(row) bool { return false })
		if view := st.find("ab_view_menu", "name", ds.str("perm")); view != nil {
			st.remove("ab_view_menu", view.id())
		}
	}
	if !bulk {
		return okMessage()
	}
	return message(200, deletedText(len(rows), "dataset"))
}

func deletedText(n int, kind string) string {
	if n == 1 {
		return "Deleted 1 " + kind
	}
	return fmt.Sprintf("Deleted %d %ss", n, kind)
}
