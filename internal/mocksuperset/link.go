package mocksuperset

import "strconv"

// Links that can be handed out: what they stand for is kept under a random key.

func linkRoutes() []route {
	return []route{
		{method: "POST", path: "/api/v1/dashboard/<id>/permalink", perm: "can_write", view: "DashboardPermalinkRestApi", records: true, handle: (*call).postDashboardLink},
		{method: "GET", path: "/api/v1/dashboard/permalink/<key>", perm: "can_read", view: "DashboardPermalinkRestApi", handle: (*call).getDashboardLink},
		{method: "POST", path: "/api/v1/dashboard/<id>/filter_state", perm: "can_write", view: "DashboardFilterStateRestApi", cookie: true, records: true, handle: (*call).postFilterState},
		{method: "GET", path: "/api/v1/dashboard/<id>/filter_state/<key>", perm: "can_read", view: "DashboardFilterStateRestApi", handle: (*call).getFilterState},
		{method: "DELETE", path: "/api/v1/dashboard/<id>/filter_state/<key>", perm: "can_write", view: "DashboardFilterStateRestApi", cookie: true, records: true, handle: (*call).deleteFilterState},
		{method: "POST", path: "/api/v1/explore/permalink", perm: "can_write", view: "ExplorePermalinkRestApi", records: true, handle: (*call).postExploreLink},
		{method: "GET", path: "/api/v1/explore/permalink/<key>", perm: "can_read", view: "ExplorePermalinkRestApi", handle: (*call).getExploreLink},
		{method: "POST", path: "/api/v1/explore/form_data", perm: "can_write", view: "ExploreFormDataRestApi", records: true, handle: (*call).postFormData},
		{method: "GET", path: "/api/v1/explore/form_data/<key>", perm: "can_read", view: "ExploreFormDataRestApi", handle: (*call).getFormData},
		{method: "PUT", path: "/api/v1/explore/form_data/<key>", perm: "can_write", view: "ExploreFormDataRestApi", records: true, handle: (*call).putFormData},
		{method: "DELETE", path: "/api/v1/explore/form_data/<key>", perm: "can_write", view: "ExploreFormDataRestApi", records: true, handle: (*call).deleteFormData},
		{method: "POST", path: "/api/v1/sqllab/permalink", perm: "can_write", view: "SqlLabPermalinkRestApi", records: true, handle: (*call).postLabLink},
		{method: "GET", path: "/api/v1/sqllab/permalink/<key>", perm: "can_read", view: "SqlLabPermalinkRestApi", handle: (*call).getLabLink},
	}
}

const linkKeyLength = 11

// keep stores a value under a new key.
func (c *call) keep(kind string, value obj, more row) string {
	key := c.s.newKey(linkKeyLength)
	c.write().insert("key_value", row{"kind": kind, "key": key, "value": dumps(value), "user_id": c.userID()}.with(more))
	return key
}

func (c *call) kept(kind string) row {
	for _, r := range c.st.where("key_value", "key", c.vars["key"]) {
		if r.str("kind") == kind {
			return r
		}
	}
	return nil
}

var dashboardLinkSchema = schema{
	"dataMask":    {kind: kindDict, null: true},
	"activeTabs":  {kind: kindList, elem: &field{kind: kindText, null: true}, null: true},
	"urlParams":   {kind: kindList, elem: &field{kind: kindAny}, null: true, check: twoEach},
	"anchor":      {kind: kindText, null: true},
	"chartStates": {kind: kindDict, null: true},
}

func twoEach(v any) []any {
	for i, e := range asList(v) {
		if pair, isList := e.([]any); !isList || len(pair) != 2 {
			return []any{obj{strconv.Itoa(i): []any{"Length must be 2."}}}
		}
	}
	return nil
}

func (c *call) postDashboardLink() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	if _, bad := dashboardLinkSchema.load(body); bad != nil {
		return message(400, pyRepr(bad))
	}
	d := c.findDashboard(c.vars["id"])
	if d == nil {
		return message(404, "Dashboard not found.")
	}
	key := c.keep("dashboard", obj{"dashboardId": d["uuid"], "state": body}, nil)
	return reply(201, obj{"key": key, "url": c.address() + "/superset/dashboard/p/" + key + "/"})
}

func (c *call) getDashboardLink() answer {
	r := c.kept("dashboard")
	if r == nil {
		return fatal
	}
	value := object(r.str("value"))
	d := c.st.find("dashboards", "uuid", value["dashboardId"])
	if d == nil {
		return message(404, "Dashboard not found.")
	}
	if !c.seesDashboard(d) {
		return message(403, "You don't have access to this dashboard.")
	}
	return ok(value)
}

func (c *call) postFilterState() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := schema{"value": {kind: kindText, required: true, check: validJSON}}.load(body)
	if bad != nil {
		return message(400, bad)
	}
	d := c.findDashboard(c.vars["id"])
	if d == nil {
		return message(404, "Resource was not found.")
	}
	return reply(201, obj{"key": c.keep("filter_state", obj{"value": fields["value"]}, row{"dashboard_id": d.id()})})
}

func (c *call) getFilterState() answer {
	r := c.kept("filter_state")
	d := c.findDashboard(c.vars["id"])
	if r == nil || d == nil || r.int("dashboard_id") != d.id() {
		return notFound
	}
	return ok(object(r.str("value")))
}

func (c *call) deleteFilterState() answer {
	r := c.kept("filter_state")
	if r == nil {
		return notFound
	}
	if r.int("user_id") != c.userID() {
		return message(403, "You don't have permission to modify the value.")
	}
	c.write().remove("key_value", r.id())
	return message(200, "Deleted successfully")
}

func (c *call) postExploreLink() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := schema{"formData": {kind: kindDict, required: true}, "urlParams": {kind: kindList, elem: &field{kind: kindAny}, null: true}}.load(body)
	if bad != nil {
		return message(400, bad)
	}
	form, _ := fields["formData"].(obj)
	source := textOr(form["datasource"], "")
	if source == "" {
		return fatal
	}
	id := datasourceID(source)
	ds := c.st.get("tables", id)
	switch {
	case ds == nil:
		return message(404, "Dataset does not exist")
	case !c.readsDataset(ds):
		return message(403, "You don't have access to this dataset.")
	}
	value := obj{"chartId": form["slice_id"], "datasource": source, "datasourceId": id, "datasourceType": "table", "state": body}
	key := c.keep("explore", value, nil)
	return reply(201, obj{"key": key, "url": c.address() + "/superset/explore/p/" + key + "/"})
}

// datasourceID is the number in "5__table".
func datasourceID(source string) int {
	for i := range source {
		if source[i] < '0' || source[i] > '9' {
			return atoi(source[:i])
		}
	}
	return atoi(source)
}

func (c *call) getExploreLink() answer {
	r := c.kept("explore")
	if r == nil {
		return fatal
	}
	value := object(r.str("value"))
	if ds := c.st.get("tables", asInt(value["datasourceId"])); ds == nil || !c.readsDataset(ds) {
		return message(403, "You don't have access to this dataset.")
	}
	return ok(value)
}

var formDataSchema = schema{
	"datasource_id": {kind: kindInt, required: true}, "datasource_type": {kind: kindText, required: true, oneOf: datasourceTypes},
	"chart_id": {kind: kindInt}, "form_data": {kind: kindText, required: true},
}

// formDataBody reads a body about an unsaved chart and asks whether its data may be read.
func (c *call) formDataBody() (row, answer, bool) {
	body, a, good := c.jsonBody()
	if !good {
		return nil, a, false
	}
	fields, bad := formDataSchema.load(body)
	if bad != nil {
		return nil, message(400, bad), false
	}
	if fault := validJSON(fields["form_data"]); fault != nil {
		return nil, message(400, fault), false
	}
	ds := c.st.get("tables", fields.int("datasource_id"))
	switch {
	case ds == nil:
		return nil, message(404, "Resource was not found."), false
	case !c.readsDataset(ds):
		return nil, message(403, "You don't have permission to modify the value."), false
	}
	return fields, answer{}, true
}

func (c *call) postFormData() answer {
	fields, a, good := c.formDataBody()
	if !good {
		return a
	}
	return reply(201, obj{"key": c.keep("form_data", obj{"form_data": fields["form_data"]}, row{"dataset_id": fields["datasource_id"]})})
}

func (c *call) getFormData() answer {
	r := c.kept("form_data")
	if r == nil {
		return notFound
	}
	if ds := c.st.get("tables", r.int("dataset_id")); ds == nil || !c.readsDataset(ds) {
		return message(403, "You don't have permission to access the value.")
	}
	return ok(object(r.str("value")))
}

// putFormData keeps the new text under a new key; the old one stays. A key that is not there comes back as it is.
func (c *call) putFormData() answer {
	fields, a, good := c.formDataBody()
	if !good {
		return a
	}
	r := c.kept("form_data")
	if r == nil {
		return ok(obj{"key": c.vars["key"]})
	}
	if r.int("user_id") != c.userID() {
		return message(403, "You don't have permission to modify the value.")
	}
	return ok(obj{"key": c.keep("form_data", obj{"form_data": fields["form_data"]}, row{"dataset_id": fields["datasource_id"]})})
}

func (c *call) deleteFormData() answer {
	r := c.kept("form_data")
	if r == nil {
		return notFound
	}
	if r.int("user_id") != c.userID() {
		return message(403, "You don't have permission to modify the value.")
	}
	c.write().remove("key_value", r.id())
	return message(200, "Deleted successfully")
}

var labLinkSchema = schema{
	"dbId": {kind: kindInt, required: true}, "name": {kind: kindText, required: true, null: true}, "sql": {kind: kindText, required: true},
	"schema": {kind: kindText, null: true}, "catalog": {kind: kindText, null: true}, "autorun": {kind: kindBool}, "templateParams": {kind: kindText, null: true},
}

func (c *call) postLabLink() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	if _, bad := labLinkSchema.load(body); bad != nil {
		return message(400, bad)
	}
	key := c.keep("sqllab", body, nil)
	return reply(201, obj{"key": key, "url": c.address() + "/sqllab/p/" + key + "/"})
}

func (c *call) getLabLink() answer {
	r := c.kept("sqllab")
	if r == nil {
		return fatal
	}
	return ok(object(r.str("value")))
}
