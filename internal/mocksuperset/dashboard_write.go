package mocksuperset

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var metadataSchema = schema{
	"native_filter_configuration": {kind: kindList, elem: &field{kind: kindDict}, null: true},
	"chart_configuration":         {kind: kindDict},
	"global_chart_configuration":  {kind: kindDict},
	"chart_customization_config":  {kind: kindList, elem: &field{kind: kindDict}, null: true},
	"timed_refresh_immune_slices": listOf(field{kind: kindInt}),
	"filter_scopes":               {kind: kindDict},
	"expanded_slices":             {kind: kindDict},
	"refresh_frequency":           {kind: kindInt},
	"default_filters":             {kind: kindText},
	"stagger_refresh":             {kind: kindBool},
	"stagger_time":                {kind: kindInt},
	"color_scheme":                {kind: kindText, null: true},
	"color_namespace":             {kind: kindText, null: true},
	"positions":                   {kind: kindDict, null: true},
	"label_colors":                {kind: kindDict},
	"shared_label_colors":         {kind: kindAny, check: colorList},
	"map_label_colors":            {kind: kindDict},
	"color_scheme_domain":         listOf(field{kind: kindText}),
	"cross_filters_enabled":       {kind: kindBool},
	"show_chart_timestamps":       {kind: kindBool},
	"import_time":                 {kind: kindInt},
	"remote_id":                   {kind: kindInt},
	"filter_bar_orientation":      {kind: kindText, null: true},
	"native_filter_migration":     {kind: kindDict},
}

func colorList(v any) []any {
	switch v := v.(type) {
	case obj:
		return nil
	case []any:
		for _, e := range v {
			if _, isText := e.(string); !isText {
				return []any{"Not a valid list"}
			}
		}
		return nil
	}
	return []any{"Not a valid list"}
}

// validMetadata is the check of json_metadata: JSON, and only keys that are known.
func validMetadata(v any) []any {
	text, _ := v.(string)
	if text == "" {
		return nil
	}
	parsed, err := parseJSON([]byte(text))
	if err != nil {
		return []any{"JSON not valid"}
	}
	o, isObject := parsed.(obj)
	if !isObject {
		return []any{obj{"_schema": []any{"Invalid input type."}}}
	}
	delete(o, "show_native_filters")
	if _, faults := metadataSchema.load(o); faults != nil {
		return []any{faults}
	}
	return nil
}

func dashboardSchema(put bool) schema {
	out := schema{
		"dashboard_title":       {kind: kindText, null: true, max: 500},
		"slug":                  {kind: kindText, null: true, min: 1, max: 255},
		"owners":                listOf(field{kind: kindInt}),
		"roles":                 listOf(field{kind: kindInt}),
		"position_json":         {kind: kindText, check: validJSON, null: put},
		"css":                   {kind: kindText, null: put},
		"theme_id":              {kind: kindInt, null: true},
		"json_metadata":         {kind: kindText, check: validMetadata, null: put},
		"published":             {kind: kindBool, null: put},
		"certified_by":          {kind: kindText, null: true},
		"certification_details": {kind: kindText, null: true},
		"is_managed_externally": {kind: kindBool, null: true},
		"external_url":          {kind: kindText, null: true},
		"uuid":                  {kind: kindUUID, null: true},
	}
	if put {
		out["tags"] = listOf(field{kind: kindInt, null: true})
		slug := out["slug"]
		slug.min = 0
		out["slug"] = slug
	}
	return out
}

var (
	dashboardPost = dashboardSchema(false)
	dashboardPut  = dashboardSchema(true)
	notInSlug     = regexp.MustCompile(`[^\p{L}\p{N}_\-]+`)
)

// normalSlug is what becomes of a slug: blanks to dashes, other signs go.
func normalSlug(text string) string {
	return notInSlug.ReplaceAllString(strings.ReplaceAll(strings.TrimSpace(text), " ", "-"), "")
}

// shown is the part of a body that a write repeats in its answer.
func shown(fields row) obj {
	out := obj{}
	for k, v := range fields {
		out[k] = v
	}
	return out
}

func (c *call) postDashboard() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := dashboardPost.load(body)
	if bad != nil {
		return message(400, bad)
	}
	if slug, isText := fields["slug"].(string); isText {
		fields["slug"] = normalSlug(slug)
	}
	faults := obj{}
	if slug := fields.str("slug"); slug != "" && c.st.find("dashboards", "slug", slug) != nil {
		faults["slug"] = []any{"Must be unique"}
	}
	owners, valid := c.computeOwners(intsOf(fields["owners"]))
	if !valid {
		faults["owners"] = []any{"Owners are invalid"}
	}
	roles := intsOf(fields["roles"])
	if !c.rolesExist(roles) {
		faults["roles"] = []any{"Some roles do not exist"}
	}
	if len(faults) > 0 {
		return message(422, faults)
	}
	if _, named := fields["owners"]; !named && len(owners) == 0 {
		owners = []int{c.userID()}
	}
	if u := fields.str("uuid"); u != "" && c.st.find("dashboards", "uuid", u) != nil {
		return message(422, "Dashboard could not be created.")
	}
	d := c.insertDashboard(fields, owners)
	c.write().relink("dashboard_roles", "dashboard_id", d.id(), "role_id", roles)
	return reply(201, obj{"id": d.id(), "result": shown(fields)})
}

func (c *call) rolesExist(roles []int) bool {
	return !slices.ContainsFunc(roles, func(id int) bool { return c.st.get("ab_role", id) == nil })
}

// insertDashboard adds a dashboard with what every new one has.
func (c *call) insertDashboard(fields row, owners []int) row {
	st, now := c.write(), c.now()
	d := row{"published": false, "uuid": c.s.newUUID(), "created_on": now, "changed_on": now,
		"created_by_fk": c.userID(), "changed_by_fk": c.userID(), "is_managed_externally": false}
	for k, v := range fields {
		if k != "owners" && k != "roles" && k != "tags" && !(k == "uuid" && v == nil) {
			d[k] = v
		}
	}
	d = st.insert("dashboards", d)
	st.relink("dashboard_user", "dashboard_id", d.id(), "user_id", owners)
	c.tagSystem("dashboard", d.id(), owners)
	return d
}

// dashboardToChange finds what a write is about: by number only, 404 when it is
// not seen, 403 when it is not owned.
func (c *call) dashboardToChange() (row, answer, bool) {
	id, isNumber := c.id("id")
	d := c.st.get("dashboards", id)
	if !isNumber || d == nil || !c.seesDashboard(d) {
		return nil, notFound, false
	}
	if !c.owns("dashboard_user", "dashboard_id", id) {
		return nil, forbidden, false
	}
	return d, answer{}, true
}

func (c *call) putDashboard() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := dashboardPut.load(body)
	if bad != nil {
		return message(400, bad)
	}
	d, a, good := c.dashboardToChange()
	if !good {
		return a
	}
	if slug := fields.str("slug"); slug != "" {
		fields["slug"] = normalSlug(slug)
	}
	owners, a, good := c.dashboardRules(d, fields)
	if !good {
		return a
	}
	if brokenLayout(d) {
		return fatal
	}
	if u := fields.str("uuid"); u != "" {
		if other := c.st.find("dashboards", "uuid", u); other != nil && other.id() != d.id() {
			return message(422, "Dashboard could not be updated.")
		}
	}
	if n, isNumber := fields["theme_id"].(int); isNumber && c.st.get("themes", n) == nil {
		return message(422, "Dashboard could not be updated.")
	}
	d = c.changeDashboard(d, fields, owners)
	return ok(obj{"id": d.id(), "last_modified_time": seconds(d.str("changed_on")), "result": shown(fields)})
}

// brokenLayout: a stored layout that is JSON but no tree from ROOT_ID down makes every PUT fail.
func brokenLayout(d row) bool {
	text := d.str("position_json")
	if text == "" {
		return false
	}
	v, err := parseJSON([]byte(text))
	layout, isObject := v.(obj)
	return err == nil && (!isObject || len(layout) > 0 && !soundNode(layout, "ROOT_ID", len(layout)))
}

// soundNode follows the children of a layout's node; depth ends circles.
func soundNode(layout obj, id string, depth int) bool {
	node, isNode := layout[id].(obj)
	if !isNode || node["type"] == nil || depth < 0 {
		return false
	}
	for _, k := range asList(node["children"]) {
		if name, isText := k.(string); !isText || !soundNode(layout, name, depth-1) {
			return false
		}
	}
	return true
}

// dashboardRules checks what only the state can say; all faults come at once.
func (c *call) dashboardRules(d, fields row) ([]int, answer, bool) {
	faults := obj{}
	if slug, isText := fields["slug"].(string); isText {
		for _, other := range c.st.where("dashboards", "slug", slug) {
			if other.id() != d.id() {
				faults["slug"] = []any{"Must be unique"}
			}
		}
	}
	owners := ids(c.st.linked("dashboard_user", "dashboard_id", d.id(), "user_id", "ab_user"))
	if asked, named := fields["owners"]; named {
		computed, valid := c.computeOwners(intsOf(asked))
		if !valid {
			faults["owners"] = []any{"Owners are invalid"}
		}
		owners = computed
	}
	if asked, named := fields["roles"]; named && !c.rolesExist(intsOf(asked)) {
		faults["roles"] = []any{"Some roles do not exist"}
	}
	for _, t := range intsOf(fields["tags"]) {
		if c.st.get("tag", t) == nil {
			faults["tags"] = []any{fmt.Sprintf("Tag ID %d not found", t)}
		}
	}
	if len(faults) > 0 {
		return nil, message(422, faults), false
	}
	return owners, answer{}, true
}

// changeDashboard writes the fields. changed_on moves only when a column of the
// dashboard itself becomes another.
func (c *call) changeDashboard(d, fields row, owners []int) row {
	st := c.write()
	changes := row{}
	for k, v := range fields {
		switch k {
		case "owners", "roles", "tags", "json_metadata":
		case "uuid":
			if v != nil {
				changes[k] = v
			}
		default:
			changes[k] = v
		}
	}
	if text, isText := fields["json_metadata"].(string); isText && text != "" {
		merge(changes, c.setMetadata(d, object(text)))
	} else if v, named := fields["json_metadata"]; named {
		changes["json_metadata"] = v
	}
	if _, named := fields["owners"]; named {
		st.relink("dashboard_user", "dashboard_id", d.id(), "user_id", owners)
		c.tagSystem("dashboard", d.id(), owners)
	}
	if v, named := fields["roles"]; named {
		st.relink("dashboard_roles", "dashboard_id", d.id(), "role_id", intsOf(v))
	}
	if v, named := fields["tags"]; named && c.s.features.tags {
		c.setCustomTags("dashboard", d.id(), intsOf(v))
	}
	return c.touch("dashboards", d, changes)
}

// touch writes changes to a row and, when one of them is a change, its date and author.
func (c *call) touch(table string, r, changes row) row {
	differs := false
	for k, v := range changes {
		if !same(r[k], v) {
			differs = true
		}
	}
	if !differs {
		return r
	}
	changes["changed_on"], changes["changed_by_fk"] = c.now(), c.userID()
	return c.write().update(table, r.id(), changes)
}

// same compares stored values: a boolean of the API is a number in the fixtures.
func same(a, b any) bool {
	if x, isBool := a.(bool); isBool {
		a = asInt(x)
	}
	if x, isBool := b.(bool); isBool {
		b = asInt(x)
	}
	return a == b
}

func (c *call) deleteDashboard() answer {
	id, isNumber := c.id("id")
	d := c.st.get("dashboards", id)
	if !isNumber || d == nil || !c.seesDashboard(d) {
		return notFound
	}
	if a, refused := c.refuseDelete([]row{d}); refused {
		return a
	}
	c.removeDashboard(d)
	return okMessage()
}

func (c *call) bulkDeleteDashboards() answer {
	wanted, a, good := c.bulkIDs()
	if !good {
		return a
	}
	var rows []row
	for _, id := range wanted {
		d := c.st.get("dashboards", id)
		if d == nil || !c.seesDashboard(d) {
			return notFound
		}
		rows = append(rows, d)
	}
	if a, refused := c.refuseDelete(rows); refused {
		return a
	}
	for _, d := range rows {
		c.removeDashboard(d)
	}
	if len(rows) == 1 {
		return message(200, "Deleted 1 dashboard")
	}
	return message(200, fmt.Sprintf("Deleted %d dashboards", len(rows)))
}

// refuseDelete looks for reports first, with the feature off too, then for ownership.
func (c *call) refuseDelete(rows []row) (answer, bool) {
	var names []string
	for _, d := range rows {
		for _, r := range c.st.where("report_schedule", "dashboard_id", d.id()) {
			names = append(names, r.str("name"))
		}
	}
	if len(names) > 0 {
		return message(422, "There are associated alerts or reports: "+strings.Join(names, ",")), true
	}
	for _, d := range rows {
		if !c.owns("dashboard_user", "dashboard_id", d.id()) {
			return forbidden, true
		}
	}
	return answer{}, false
}

func (c *call) removeDashboard(d row) {
	st := c.write()
	st.remove("dashboards", d.id())
	for _, link := range []string{"dashboard_slices", "dashboard_user", "dashboard_roles", "embedded_dashboards"} {
		st.removeWhere(link, "dashboard_id", d.id())
	}
	c.untag("dashboard", d.id(), func(row) bool { return false })
}
