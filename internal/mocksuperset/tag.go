package mocksuperset

import (
	"slices"
	"strconv"
	"strings"
)

func tagRoutes() []route {
	const view = "Tag"
	return []route{
		{method: "GET", path: "/api/v1/tag/", perm: "can_read", view: view, handle: func(c *call) answer { return c.list(tagListing) }},
		{method: "GET", path: "/api/v1/tag/<int:id>", perm: "can_read", view: view, handle: (*call).getTag},
		{method: "GET", path: "/api/v1/tag/get_objects/", perm: "can_read", view: view, handle: (*call).tagObjects},
		{method: "POST", path: "/api/v1/tag/", perm: "can_write", view: view, changes: true, handle: (*call).postTag},
		{method: "PUT", path: "/api/v1/tag/<int:id>", perm: "can_write", view: view, changes: true, handle: (*call).putTag},
		{method: "DELETE", path: "/api/v1/tag/<int:id>", perm: "can_write", view: view, changes: true, handle: (*call).deleteTag},
		{method: "DELETE", path: "/api/v1/tag/", perm: "can_write", view: view, changes: true, handle: (*call).bulkDeleteTags},
		{method: "POST", path: "/api/v1/tag/<int:kind>/<int:object>/", perm: "can_write", view: view, changes: true, handle: (*call).tagObject},
		{method: "DELETE", path: "/api/v1/tag/<int:kind>/<int:object>/<name>/", perm: "can_write", view: view, changes: true, handle: (*call).untagObject},
	}
}

// tagKinds are the numbers of kinds in paths.
var tagKinds = map[string]string{"1": "query", "2": "chart", "3": "dashboard", "4": "dataset"}

var tagListing = &listing{
	table: "tag", title: "Tag",
	columns: []string{"id", "name", "type", "description", "changed_by.first_name", "changed_by.last_name", "changed_on_delta_humanized",
		"created_on_delta_humanized", "created_by.first_name", "created_by.last_name"},
	order: []string{"id", "name", "type", "description", "changed_by.first_name", "changed_by.last_name", "changed_on_delta_humanized",
		"created_on_delta_humanized", "created_by.first_name", "created_by.last_name"},
	search:  map[string]searchKind{"id": searchNumber, "name": searchText, "description": searchText, "created_by": searchOne, "changed_by": searchOne},
	special: map[string]specialFilter{"type:custom_tag": func(_ *call, r row, v any) bool { return (r.str("type") == "custom") == truthy(v) }},
	row: func(c *call, t row) obj {
		out := t.pick("id", "name", "description")
		out["type"] = tagTypes[t.str("type")]
		return merge(out, c.changedFields(t))
	},
}

var tagSchema = schema{
	"name": {kind: kindText, min: 1}, "description": {kind: kindText, null: true},
	"objects_to_tag": listOf(field{kind: kindAny}),
}

func (c *call) getTag() answer {
	id, _ := c.id("id")
	t := c.st.get("tag", id)
	if t == nil {
		return notFound
	}
	return ok(obj{"id": id, "result": tagListing.row(c, t)})
}

func (c *call) tagFields() (row, answer, bool) {
	body, a, good := c.jsonBody()
	if !good {
		return nil, a, false
	}
	fields, bad := tagSchema.load(body)
	if bad != nil {
		return nil, message(400, bad), false
	}
	if fields["name"] == nil {
		return nil, fatal, false
	}
	return fields, answer{}, true
}

// setTagObjects puts a tag on exactly the objects of the list.
func (c *call) setTagObjects(tag row, list []any) bool {
	st := c.write()
	st.removeWhere("tagged_object", "tag_id", tag.id())
	for _, e := range list {
		pair, _ := e.([]any)
		if len(pair) != 2 {
			return false
		}
		kind, _ := pair[0].(string)
		c.tagAs(kind, asInt(pair[1]), tag.str("type"), tag.str("name"))
	}
	return true
}

// postTag makes a tag, or changes the one of that name, which then is on the objects of the list alone.
func (c *call) postTag() answer {
	fields, a, good := c.tagFields()
	if !good {
		return a
	}
	t := c.customTag(fields.str("name"))
	c.write().update("tag", t.id(), row{"description": textOr(fields["description"], "")})
	if !c.setTagObjects(t, asList(fields["objects_to_tag"])) {
		return fatal
	}
	return reply(201, obj{})
}

func (c *call) customTag(name string) row {
	st, now := c.write(), c.now()
	if t := st.find("tag", "name", name); t != nil {
		return t
	}
	return st.insert("tag", row{"name": name, "type": "custom", "description": nil, "created_on": now, "changed_on": now,
		"created_by_fk": c.userID(), "changed_by_fk": c.userID()})
}

func (c *call) putTag() answer {
	fields, a, good := c.tagFields()
	if !good {
		return a
	}
	id, _ := c.id("id")
	t := c.st.get("tag", id)
	if t == nil {
		return fatal
	}
	changes := row{"name": fields["name"]}
	if v, named := fields["description"]; named {
		changes["description"] = v
	}
	t = c.touch("tag", t, changes)
	if list, named := fields["objects_to_tag"]; named && !c.setTagObjects(t, asList(list)) {
		return fatal
	}
	return ok(obj{"id": id, "result": shown(fields)})
}

func (c *call) dropTag(t row) {
	c.write().remove("tag", t.id())
	c.write().removeWhere("tagged_object", "tag_id", t.id())
}

func (c *call) deleteTag() answer {
	id, _ := c.id("id")
	t := c.st.get("tag", id)
	if t == nil {
		return notFound
	}
	c.dropTag(t)
	return okMessage()
}

func (c *call) bulkDeleteTags() answer {
	v, a, good := c.argument()
	if !good {
		return a
	}
	list, isList := v.([]any)
	if !isList {
		return badSchema(v, "array")
	}
	var tags []row
	var missing []any
	for _, e := range list {
		name, isText := e.(string)
		if !isText {
			return badSchema(e, "string")
		}
		if t := c.st.find("tag", "name", name); t != nil {
			tags = append(tags, t)
		} else {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return message(422, "Invalid tag parameters: "+pyRepr(list)+". Tag parameters are invalid.")
	}
	for _, t := range tags {
		c.dropTag(t)
	}
	return message(200, deletedText(len(tags), "tag"))
}

func (c *call) tagObject() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	properties, _ := body["properties"].(obj)
	names, named := properties["tags"].([]any)
	if !named {
		return message(400, "Missing required field 'tags' in 'properties'")
	}
	kind, known := tagKinds[c.vars["kind"]]
	if !known {
		return message(422, "Invalid tag")
	}
	id, _ := c.id("object")
	for _, n := range names {
		name, isText := n.(string)
		if !isText {
			return fatal
		}
		t := c.customTag(name)
		c.tagAs(kind, id, t.str("type"), name)
	}
	return reply(201, obj{})
}

func (c *call) untagObject() answer {
	kind := tagKinds[c.vars["kind"]]
	id, _ := c.id("object")
	t := c.st.find("tag", "name", c.vars["name"])
	if t == nil || !c.taggedWith(kind, id, t.id()) {
		return message(422, "Could not process entity")
	}
	c.untag(kind, id, func(other row) bool { return other.id() != t.id() })
	return okMessage()
}

func (c *call) tagObjects() answer {
	q := c.query()
	wanted := strings.Split(q.Get("tags"), ",")
	if ids := q.Get("tagIds"); ids != "" {
		for _, id := range strings.Split(ids, ",") {
			if n, err := strconv.Atoi(id); err == nil {
				if t := c.st.get("tag", n); t != nil {
					wanted = append(wanted, t.str("name"))
				}
			}
		}
	}
	kinds := strings.Split(q.Get("types"), ",")
	result, done := []any{}, map[string]bool{}
	for link := range c.st.table("tagged_object").all() {
		t := c.st.get("tag", link.int("tag_id"))
		kind := link.str("object_type")
		if t == nil || t.str("name") == "" || !slices.Contains(wanted, t.str("name")) || (q.Get("types") != "" && !slices.Contains(kinds, kind)) {
			continue
		}
		key := kind + itoa(link.int("object_id"))
		if o := c.taggedObject(kind, link.int("object_id")); o != nil && !done[key] {
			done[key] = true
			result = append(result, o)
		}
	}
	return ok(obj{"result": result})
}

func (c *call) taggedObject(kind string, id int) obj {
	var r row
	var name, url, link, column string
	sees := false
	switch kind {
	case "dashboard":
		if r = c.st.get("dashboards", id); r != nil {
			name, url, link, column, sees = r.str("dashboard_title"), dashboardURL(r), "dashboard_user", "dashboard_id", c.seesDashboard(r)
		}
	case "chart":
		if r = c.st.get("slices", id); r != nil {
			name, url, link, column, sees = r.str("slice_name"), "/explore/?slice_id="+itoa(id), "slice_user", "slice_id", c.seesChart(r)
		}
	}
	if r == nil || !sees {
		return nil
	}
	tags := []any{}
	for _, t := range c.st.tagRows(kind, id) {
		tags = append(tags, obj{"id": t.id(), "name": t["name"], "type": "TagType." + t.str("type")})
	}
	return obj{"id": id, "type": kind, "name": name, "url": url, "changed_on": isoDate(r.str("changed_on")), "created_by": obj{},
		"creator": c.personName(r["created_by_fk"]), "tags": tags, "owners": c.owners(link, column, id, "first_name", "id", "last_name", "username")}
}
