package mocksuperset

import "strings"

// What a user sees. Rows that are not seen do not exist for them: 404, not 403.

func (c *call) allData() bool {
	return c.may("all_datasource_access", "all_datasource_access") || c.may("all_database_access", "all_database_access")
}

// readsDataset says whether the user may read the data of a dataset: by the
// dataset itself, its schema, or its database.
func (c *call) readsDataset(ds row) bool {
	if c.allData() {
		return true
	}
	if c.may("datasource_access", ds.str("perm")) {
		return true
	}
	if p := ds.str("schema_perm"); p != "" && c.may("schema_access", p) {
		return true
	}
	db := c.st.get("dbs", ds.int("database_id"))
	return db != nil && c.may("database_access", databasePerm(db))
}

func databasePerm(db row) string {
	return "[" + db.str("database_name") + "].(id:" + itoa(db.id()) + ")"
}

func datasetPerm(db, ds row) string {
	return "[" + db.str("database_name") + "].[" + ds.str("table_name") + "](id:" + itoa(ds.id()) + ")"
}

func (c *call) seesDatabase(db row) bool {
	if c.may("all_database_access", "all_database_access") || c.allData() {
		return true
	}
	if c.may("database_access", databasePerm(db)) {
		return true
	}
	prefix := "[" + db.str("database_name") + "].["
	for held := range c.perms {
		kind, view, _ := strings.Cut(held, " ")
		if (kind == "datasource_access" || kind == "schema_access") && strings.HasPrefix(view, prefix) {
			return true
		}
	}
	return false
}

// readsDatabase is the whole of a database, not only one dataset in it.
func (c *call) readsDatabase(db row) bool {
	return c.may("all_database_access", "all_database_access") || c.allData() || c.may("database_access", databasePerm(db))
}

func (c *call) seesDataset(ds row) bool { return c.readsDataset(ds) }

// seesChart: who may read all data sees charts of deleted datasets too, others see charts whose data they may read.
func (c *call) seesChart(ch row) bool {
	if c.allData() {
		return true
	}
	ds := c.st.get("tables", ch.int("datasource_id"))
	return ds != nil && c.readsDataset(ds)
}

// seesDashboard: admins all, others their own and the published ones that have a chart whose data they may read.
func (c *call) seesDashboard(d row) bool {
	if c.owns("dashboard_user", "dashboard_id", d.id()) {
		return true
	}
	if !d.bool("published") {
		return false
	}
	for _, ch := range c.st.linked("dashboard_slices", "dashboard_id", d.id(), "slice_id", "slices") {
		if ds := c.st.get("tables", ch.int("datasource_id")); ds != nil && c.readsDataset(ds) {
			return true
		}
	}
	return false
}

// person is a user as objects name one: null for nobody.
func (c *call) person(id any) any {
	n, ok := id.(int)
	if !ok {
		return nil
	}
	u := c.st.get("ab_user", n)
	if u == nil {
		return nil
	}
	return u.pick("first_name", "id", "last_name")
}

func (c *call) personName(id any) any {
	n, ok := id.(int)
	if !ok {
		return ""
	}
	u := c.st.get("ab_user", n)
	if u == nil {
		return ""
	}
	return u.str("first_name") + " " + u.str("last_name")
}

func (c *call) owners(link, column string, id int, fields ...string) []any {
	out := []any{}
	for _, u := range c.st.linked(link, column, id, "user_id", "ab_user") {
		out = append(out, u.pick(fields...))
	}
	return out
}

// computeOwners gives the owners of an object: whoever is no admin stays one of
// them. False when a user does not exist.
func (c *call) computeOwners(asked []int) ([]int, bool) {
	var out []int
	if !c.isAdmin() && !containsInt(asked, c.userID()) {
		out = append(out, c.userID())
	}
	for _, id := range asked {
		if c.st.get("ab_user", id) == nil {
			return nil, false
		}
		out = append(out, id)
	}
	return out, true
}

func containsInt(list []int, n int) bool {
	for _, v := range list {
		if v == n {
			return true
		}
	}
	return false
}
