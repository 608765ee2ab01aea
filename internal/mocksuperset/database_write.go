package mocksuperset

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

var knownEngines = []string{"sqlite", "postgresql", "mysql"}

// validURI is the check of a connection's address.
func validURI(v any) []any {
	text, _ := v.(string)
	if scheme, _, found := strings.Cut(text, "://"); !found || scheme == "" {
		return []any{"Invalid connection string, a valid string usually follows: backend+driver://user:password@database-host/database-name"}
	}
	return nil
}

func databaseSchema(put bool) schema {
	flag, null := field{kind: kindBool}, field{kind: kindText, null: true}
	return schema{
		"database_name": {kind: kindText, required: !put, null: put, min: 1, max: 250}, "sqlalchemy_uri": {kind: kindText, min: 1, max: 1024, check: validURI},
		"cache_timeout": {kind: kindInt, null: true}, "expose_in_sqllab": flag, "allow_run_async": flag, "allow_file_upload": flag,
		"allow_ctas": flag, "allow_cvas": flag, "allow_dml": flag, "force_ctas_schema": null, "impersonate_user": flag,
		"configuration_method":   {kind: kindText, oneOf: []string{"sqlalchemy_form", "dynamic_form"}},
		"masked_encrypted_extra": null, "extra": {kind: kindText, check: validJSON}, "server_cert": null,
		"driver": null, "engine": null, "parameters": {kind: kindDict}, "uuid": {kind: kindUUID}, "is_managed_externally": {kind: kindBool, null: true},
		"external_url": null, "ssh_tunnel": {kind: kindAny, null: true},
	}
}

var (
	databasePost = databaseSchema(false)
	databasePut  = databaseSchema(true)
)

func notJSON() answer {
	return problems(400, problem{message: "Request is not JSON", kind: "INVALID_PAYLOAD_FORMAT_ERROR", codes: []int{1019}})
}

func (c *call) postDatabase() answer {
	if !c.sendsJSON() {
		return notJSON()
	}
	if _, err := parseJSON(c.body); err != nil {
		return c.refusal(backend(400, badJSON))
	}
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := databasePost.loadLoose(body)
	if bad != nil {
		return message(422, bad)
	}
	if c.st.find("dbs", "database_name", fields["database_name"]) != nil {
		return message(422, obj{"database_name": "A database with the same name already exists."})
	}
	db := c.insertDatabase(fields)
	result := shown(fields)
	for _, name := range []string{"configuration_method", "expose_in_sqllab", "uuid"} {
		result[name] = db[name]
	}
	result["driver"] = driverOf(db)
	return reply(201, obj{"id": db.id(), "result": result})
}

// insertDatabase adds a connection with what every new one has, and the name by which it is granted.
func (c *call) insertDatabase(fields row) row {
	st, now := c.write(), c.now()
	db := st.insert("dbs", row{"uuid": c.s.newUUID(), "created_on": now, "changed_on": now, "created_by_fk": c.userID(), "changed_by_fk": c.userID(),
		"expose_in_sqllab": true, "allow_run_async": false, "allow_file_upload": false, "allow_ctas": false, "allow_cvas": false, "allow_dml": false,
		"impersonate_user": false, "configuration_method": "sqlalchemy_form", "is_managed_externally": false,
		"extra": "{\"allows_virtual_table_explore\": true}"}.with(fields))
	c.grantable("database_access", databasePerm(db))
	return db
}

func (c *call) putDatabase() answer {
	if !c.sendsJSON() {
		return notJSON()
	}
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := databasePut.load(body)
	if bad != nil {
		return message(400, bad)
	}
	db := c.databaseByPath()
	if db == nil {
		return notFound
	}
	if name := fields.str("database_name"); name != "" {
		if other := c.st.find("dbs", "database_name", name); other != nil && other.id() != db.id() {
			return message(422, obj{"database_name": "A database with the same name already exists."})
		}
	}
	changes := row{}
	for k, v := range fields {
		changes[k] = v
	}
	if uri := fields.str("sqlalchemy_uri"); strings.Contains(uri, ":"+masked+"@") && maskURI(db.str("sqlalchemy_uri")) == uri {
		delete(changes, "sqlalchemy_uri")
	}
	if text, named := fields["masked_encrypted_extra"].(string); named {
		changes["masked_encrypted_extra"] = unmaskExtra(text, db.str("masked_encrypted_extra"))
	}
	changed := c.touch("dbs", db, changes)
	if changed.str("database_name") != db.str("database_name") {
		c.renameDatabase(db, changed)
	}
	result := shown(fields)
	result["configuration_method"] = changed["configuration_method"]
	if _, named := result["sqlalchemy_uri"]; !named {
		result["sqlalchemy_uri"] = maskURI(changed.str("sqlalchemy_uri"))
	}
	return ok(obj{"id": db.id(), "result": result})
}

// renameDatabase lets grants and datasets follow a new name.
func (c *call) renameDatabase(old, fresh row) {
	c.renamePerm(databasePerm(old), databasePerm(fresh))
	for _, ds := range c.st.where("tables", "database_id", fresh.id()) {
		perms := c.datasetPerms(fresh, ds)
		c.renamePerm(ds.str("perm"), perms.str("perm"))
		c.write().update("tables", ds.id(), perms)
	}
}

// unmaskExtra keeps the stored value of every key that comes back masked.
func unmaskExtra(text, had string) string {
	sent, stored := object(text), object(had)
	for k, v := range sent {
		if v == masked {
			sent[k] = stored[k]
		}
	}
	return dumps(sent)
}

func maskExtra(v any) any {
	text, isText := v.(string)
	if !isText {
		return nil
	}
	out := object(text)
	for k := range out {
		out[k] = masked
	}
	return strings.NewReplacer(`":`, `": `, `",`, `", `).Replace(dumps(out))
}

func (c *call) deleteDatabase() answer {
	db := c.databaseByPath()
	if db == nil {
		return notFound
	}
	var names []string
	for _, r := range c.st.where("report_schedule", "database_id", db.id()) {
		names = append(names, r.str("name"))
	}
	switch {
	case len(names) > 0:
		return message(422, "There are associated alerts or reports: "+strings.Join(names, ","))
	case len(c.st.where("tables", "database_id", db.id())) > 0:
		return message(422, "Cannot delete a database that has datasets attached")
	}
	st := c.write()
	st.remove("dbs", db.id())
	if view := st.find("ab_view_menu", "name", databasePerm(db)); view != nil {
		st.remove("ab_view_menu", view.id())
	}
	return okMessage()
}

// getConnection tells admins the address, with its secrets masked. One that is not there answers almost nothing.
func (c *call) getConnection() answer {
	id, _ := c.id("id")
	db := c.st.get("dbs", id)
	if db == nil {
		return ok(obj{"id": id, "result": obj{"is_managed_externally": false}})
	}
	out := c.databaseBody(db)
	out["sqlalchemy_uri"], out["extra"], out["server_cert"], out["ssh_tunnel"] = maskURI(db.str("sqlalchemy_uri")), db["extra"], db["server_cert"], nil
	out["masked_encrypted_extra"] = maskExtra(db["masked_encrypted_extra"])
	out["parameters"], out["parameters_schema"] = parametersOf(db), obj{}
	if backendOf(db) == "postgresql" {
		out["parameters_schema"] = postgresParameters
	}
	return ok(obj{"id": db.id(), "result": out})
}

func parametersOf(db row) obj {
	u, err := url.Parse(db.str("sqlalchemy_uri"))
	if err != nil || backendOf(db) != "postgresql" {
		return obj{}
	}
	var port any
	if n, err := strconv.Atoi(u.Port()); err == nil {
		port = n
	}
	var password any
	if _, has := u.User.Password(); has {
		password = masked
	}
	queryPart := obj{}
	for k := range u.Query() {
		queryPart[k] = u.Query().Get(k)
	}
	return obj{"database": strings.TrimPrefix(u.Path, "/"), "encryption": false, "host": u.Hostname(), "password": password, "port": port, "query": queryPart, "username": u.User.Username()}
}

var postgresParameters = obj{
	"type": "object", "required": []string{"database", "host", "port", "username"},
	"properties": obj{
		"database": obj{"description": "Database name", "type": "string"}, "encryption": obj{"description": "Use an encrypted connection to the database", "type": "boolean"},
		"host": obj{"description": "Hostname or IP address", "type": "string"}, "password": obj{"description": "Password", "nullable": true, "type": "string"},
		"port":  obj{"description": "Database port", "maximum": 65536, "minimum": 0, "type": "integer"},
		"query": obj{"additionalProperties": obj{}, "description": "Additional parameters", "type": "object"},
		"ssh":   obj{"description": "Use an ssh tunnel connection to the database", "type": "boolean"}, "username": obj{"description": "Username", "nullable": true, "type": "string"},
	},
}

func (c *call) testConnection() answer {
	if !c.sendsJSON() {
		return notJSON()
	}
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	test := databaseSchema(true)
	uri := test["sqlalchemy_uri"]
	uri.required = true
	test["sqlalchemy_uri"] = uri
	fields, bad := test.load(body)
	if bad != nil {
		return message(400, bad)
	}
	address := fields.str("sqlalchemy_uri")
	engine := backendOf(row{"sqlalchemy_uri": address})
	_, err := c.s.data.database(address)
	switch {
	case err == nil:
		return okMessage()
	case !slices.Contains(knownEngines, engine):
		return problems(422, problem{message: "Could not load database driver for: " + engine, kind: "GENERIC_COMMAND_ERROR", level: "warning", codes: []int{1010}})
	case engine == "sqlite":
		return problems(422, problem{message: err.Error(), kind: "GENERIC_DB_ENGINE_ERROR", extra: obj{"engine_name": "SQLite"}, codes: []int{1002}})
	}
	return problems(422, problem{message: "Could not load database driver for: " + engineName(engine), kind: "GENERIC_COMMAND_ERROR", level: "warning", codes: []int{1010}})
}

// engineName is an engine as people write it.
func engineName(engine string) string {
	switch engine {
	case "sqlite":
		return "SQLite"
	case "postgresql":
		return "PostgreSQL"
	case "mysql":
		return "MySQL"
	}
	return engine
}

func (c *call) databaseSchemas() answer {
	db := c.databaseByPath()
	if db == nil {
		return notFound
	}
	if _, err := c.s.data.database(db.str("sqlalchemy_uri")); err != nil {
		return message(500, err.Error())
	}
	result := []any{}
	if c.readsDatabase(db) {
		result = append(result, "main")
	} else {
		for _, ds := range c.st.where("tables", "database_id", db.id()) {
			if c.readsDataset(ds) && ds["schema"] != nil && !slices.Contains(result, ds["schema"]) {
				result = append(result, ds["schema"])
			}
		}
	}
	return ok(obj{"result": result})
}

func (c *call) databaseCatalogs() answer {
	db := c.databaseByPath()
	switch {
	case db == nil:
		return notFound
	case !c.readsDatabase(db):
		return c.refusal(backend(500, "Could not locate column in row for column 'catalog'"))
	}
	return ok(obj{"result": []any{}})
}

func (c *call) selectStarOf() answer {
	db := c.databaseByPath()
	if db == nil || !c.readsTable(db, c.vars["schema"], c.vars["table"]) {
		return notFound
	}
	return ok(obj{"result": starSQL(c.vars["schema"], c.vars["table"])})
}

var validateSchema = schema{
	"sql": {kind: kindText, required: true}, "catalog": {kind: kindText, null: true}, "schema": {kind: kindText, null: true},
	"template_params": {kind: kindDict, null: true},
}

// validateSQL: no engine of the mock has a validator.
func (c *call) validateSQL() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	if _, bad := validateSchema.load(body); bad != nil {
		return message(400, bad)
	}
	db := c.databaseByPath()
	if db == nil {
		return notFound
	}
	return problems(422, problem{message: "no SQL validator is configured for " + backendOf(db), kind: "GENERIC_DB_ENGINE_ERROR", codes: []int{1002}})
}

var functionNames = strings.Fields(`abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling changes char coalesce cos cosh count
	date datetime degrees dense_rank exp first_value floor format glob group_concat hex ifnull iif instr json json_array json_extract
	json_object json_type json_valid julianday lag last_value lead length like ln log log10 log2 lower ltrim max min mod nth_value ntile
	nullif percent_rank pi pow power printf quote radians random rank replace round row_number rtrim sign sin sinh sqrt strftime substr
	sum tan tanh time total trim trunc typeof unicode unixepoch upper`)
