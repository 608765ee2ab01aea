package mocksuperset

import (
	"errors"
	"net/url"
	"strings"
)

// importer writes the files of one bundle. The rules are those of Superset, its
// traps included: an object is looked for by any of its unique keys, not only by
// its uuid, and then takes all fields of the file.
type importer struct {
	c         *call
	kind      importKind
	files     []*bundleFile
	overwrite bool
	sparse    bool
	passwords map[string]string
	kept      *state // what stays although the import fails
}

// errImport is a refusal that tells its reason.
type errImport struct{ text string }

func (e *errImport) Error() string { return e.text }

// errUnknown is any failure whose reason the real one does not tell.
var errUnknown = errors.New("unknown reason")

func (m *importer) of(kind string) []*bundleFile {
	var out []*bundleFile
	for _, f := range m.files {
		if f.kind == kind && f.body != nil {
			out = append(out, f)
		}
	}
	return out
}

func uuidOf(body obj) string { return strings.ToLower(textOr(body["uuid"], "")) }

// has says whether the importer may write a kind of object.
func (m *importer) may(view string) bool { return m.c.may("can_write", view) }

// upsert finds the row that a file means, by uuid or by another unique key,
// writes the fields, or adds a new row. Two rows that fit are an error.
func (m *importer) upsert(table string, fields row, same func(row) bool) (r row, fresh bool, err error) {
	st := m.c.write()
	var found []row
	for r := range st.table(table).all() {
		if r["uuid"] == fields["uuid"] || same(r) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return nil, true, nil
	case 1:
		fields["changed_on"], fields["changed_by_fk"] = m.c.now(), m.c.userID()
		return st.update(table, found[0].id(), fields), false, nil
	}
	return nil, false, errTwo
}

var errTwo = errors.New("two rows fit")

func (m *importer) database(f *bundleFile, overwrite bool) (row, error) {
	id := uuidOf(f.body)
	have, can := m.c.st.find("dbs", "uuid", id), m.may("Database")
	if have != nil && (!overwrite || !can) {
		return have, nil
	}
	if have == nil && !can {
		return nil, &errImport{"Database doesn't exist and user doesn't have permission to create databases"}
	}
	extra, hasExtra := f.body["extra"].(obj)
	if !hasExtra {
		return nil, errUnknown
	}
	fields := row{"uuid": id, "extra": dumps(extra), "sqlalchemy_uri": m.address(f.body), "allow_file_upload": true}
	for _, name := range []string{"database_name", "cache_timeout", "expose_in_sqllab", "allow_run_async", "allow_ctas", "allow_cvas", "allow_dml",
		"allow_file_upload", "impersonate_user", "configuration_method", "is_managed_externally", "external_url", "masked_encrypted_extra"} {
		if v, there := f.body[name]; there {
			fields[name] = v
		}
	}
	if v, there := f.body["allow_csv_upload"]; there {
		fields["allow_file_upload"] = v
	}
	db, fresh, err := m.upsert("dbs", fields, func(r row) bool { return r["database_name"] == fields["database_name"] })
	if err != nil {
		return nil, errUnknown
	}
	if fresh {
		db = m.c.insertDatabase(fields)
		if _, err := m.c.s.data.database(db.str("sqlalchemy_uri")); err == nil {
			// Adding the permissions of a connection that can be reached commits.
			m.kept = m.c.st.fork()
		}
	}
	return db, nil
}

// address puts the password that was sent into the address.
func (m *importer) address(body obj) string {
	uri := textOr(body["sqlalchemy_uri"], "")
	password, given := body["password"].(string)
	if !given || !strings.Contains(uri, ":"+masked+"@") {
		return uri
	}
	return strings.Replace(uri, ":"+masked+"@", ":"+url.QueryEscape(password)+"@", 1)
}

// storedPassword is the password in a stored address, nil when there is none.
func storedPassword(db row) any {
	u, err := url.Parse(db.str("sqlalchemy_uri"))
	if err != nil || u.User == nil {
		return nil
	}
	if p, has := u.User.Password(); has {
		return p
	}
	return nil
}

func jsonText(v any) any {
	if v == nil {
		return nil
	}
	if text, isText := v.(string); isText {
		return text
	}
	return dumps(v)
}

func (m *importer) dataset(f *bundleFile, db row, overwrite bool) (row, error) {
	id := uuidOf(f.body)
	have, can := m.c.st.find("tables", "uuid", id), m.may("Dataset")
	if have != nil {
		if overwrite && can && !m.c.owns("sqlatable_user", "table_id", have.id()) {
			return nil, &errImport{"A dataset already exists and user doesn't have permissions to overwrite it"}
		}
		if !overwrite || !can {
			return have, nil
		}
	} else if !can {
		return nil, &errImport{"Dataset doesn't exist and user doesn't have permission to create datasets"}
	}
	fields := row{"uuid": id, "database_id": db.id()}
	for _, name := range []string{"table_name", "main_dttm_col", "currency_code_column", "description", "default_endpoint", "offset", "cache_timeout",
		"catalog", "schema", "sql", "filter_select_enabled", "fetch_values_predicate", "normalize_columns", "always_filter_main_dttm", "folders",
		"is_managed_externally", "external_url"} {
		if v, there := f.body[name]; there {
			fields[name] = v
		}
	}
	for _, name := range []string{"params", "template_params", "extra"} {
		if v, there := f.body[name]; there {
			fields[name] = jsonText(v)
		}
	}
	st := m.c.write()
	ds, fresh, err := m.upsertDataset(fields)
	switch {
	case errors.Is(err, errTwo):
		return have, nil
	case err != nil:
		return nil, err
	case fresh:
		ds = m.c.insertDataset(db, fields, []int{m.c.userID()})
	default:
		ds = st.update("tables", ds.id(), m.c.datasetPerms(db, ds))
	}
	for table, name := range map[string]string{"table_columns": "column", "sql_metrics": "metric"} {
		m.parts(table, name+"_name", ds, asList(f.body[name+"s"]), overwrite && !fresh)
	}
	m.own("sqlatable_user", "table_id", "dataset", ds.id())
	return ds, nil
}

// upsertDataset looks within one database: by uuid, or by the table. A field
// that the file leaves out or empty does not count, so a missing schema fits any.
func (m *importer) upsertDataset(fields row) (row, bool, error) {
	st := m.c.write()
	var found []row
	for r := range st.table("tables").all() {
		if r.int("database_id") != fields.int("database_id") {
			continue
		}
		table := true
		for _, k := range []string{"catalog", "schema", "table_name"} {
			if fields[k] != nil && r[k] != fields[k] {
				table = false
			}
		}
		if table || r["uuid"] == fields["uuid"] {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		if st.find("tables", "uuid", fields["uuid"]) != nil {
			return nil, false, errUnknown
		}
		return nil, true, nil
	case 1:
		fields["changed_on"], fields["changed_by_fk"] = m.c.now(), m.c.userID()
		return st.update("tables", found[0].id(), fields), false, nil
	}
	return nil, false, errTwo
}

// parts writes columns or metrics by their names; with sync those that the file does not name are deleted.
func (m *importer) parts(table, name string, ds row, list []any, sync bool) {
	st, now := m.c.write(), m.c.now()
	kept := map[int]bool{}
	for _, e := range list {
		o, isObject := e.(obj)
		if !isObject {
			continue
		}
		fields := row{"changed_on": now, "changed_by_fk": m.c.userID()}
		for k, v := range o {
			if k == "extra" || k == "currency" {
				v = jsonText(v)
			}
			fields[k] = v
		}
		var have row
		for _, r := range st.where(table, "table_id", ds.id()) {
			if r[name] == o[name] {
				have = r
			}
		}
		if have != nil {
			st.update(table, have.id(), fields)
		} else {
			have = st.insert(table, row{"table_id": ds.id(), "uuid": m.c.s.newUUID(), "created_on": now, "created_by_fk": m.c.userID(), "is_active": true}.with(fields))
		}
		kept[have.id()] = true
	}
	if !sync {
		return
	}
	for _, r := range st.where(table, "table_id", ds.id()) {
		if !kept[r.id()] {
			st.remove(table, r.id())
		}
	}
}

// own adds the importer to the owners of what was written.
func (m *importer) own(link, column, kind string, id int) {
	owners := []int{}
	for _, l := range m.c.st.where(link, column, id) {
		owners = append(owners, l.int("user_id"))
	}
	if !containsInt(owners, m.c.userID()) {
		owners = append(owners, m.c.userID())
		m.c.write().relink(link, column, id, "user_id", owners)
	}
	m.c.tagSystem(kind, id, owners)
}

// tags makes the tags of an object those of the file, the automatic ones included.
func (m *importer) tags(f *bundleFile, kind string, id int) {
	list, named := f.body["tags"].([]any)
	if !named || !m.c.s.features.tags {
		return
	}
	descriptions := map[string]any{}
	for _, other := range m.files {
		if other.name == "tags.yaml" {
			v, err := readYAML(other.text)
			o, _ := v.(obj)
			for _, t := range asList(o["tags"]) {
				if tag, isObject := t.(obj); err == nil && isObject {
					descriptions[textOr(tag["tag_name"], "")] = tag["description"]
				}
			}
		}
	}
	wanted := map[string]bool{}
	for _, n := range list {
		name := textOr(n, "")
		wanted[name] = true
		fresh := m.c.st.find("tag", "name", name) == nil
		t := m.c.customTag(name)
		if fresh {
			m.c.write().update("tag", t.id(), row{"description": descriptions[name]})
		}
		m.c.tagAs(kind, id, t.str("type"), name)
	}
	m.c.untag(kind, id, func(t row) bool { return wanted[t.str("name")] })
}
