package mocksuperset

import "strings"

var datasourceTypes = []string{"table", "dataset", "query", "saved_query", "view"}

func chartSchema(put bool) schema {
	out := schema{
		"slice_name":               {kind: kindText, required: !put, null: put, min: 1, max: 250},
		"description":              {kind: kindText, null: true},
		"viz_type":                 {kind: kindText, null: put, max: 250},
		"owners":                   listOf(field{kind: kindInt}),
		"params":                   {kind: kindText, null: true, check: validJSON},
		"query_context":            {kind: kindText, null: true},
		"query_context_generation": {kind: kindBool, null: true},
		"cache_timeout":            {kind: kindInt, null: true},
		"datasource_id":            {kind: kindInt, required: !put, null: put},
		"datasource_type":          {kind: kindText, required: !put, null: put, oneOf: datasourceTypes},
		"dashboards":               listOf(field{kind: kindInt}),
		"certified_by":             {kind: kindText, null: true},
		"certification_details":    {kind: kindText, null: true},
		"is_managed_externally":    {kind: kindBool, null: true},
		"external_url":             {kind: kindText, null: true},
		"uuid":                     {kind: kindUUID, null: true},
	}
	if put {
		name := out["slice_name"]
		name.min = 0
		out["slice_name"] = name
		out["tags"] = listOf(field{kind: kindInt})
	} else {
		out["datasource_name"] = field{kind: kindText, null: true}
		context := out["query_context"]
		context.check = validJSON
		out["query_context"] = context
	}
	return out
}

var (
	chartPost = chartSchema(false)
	chartPut  = chartSchema(true)
)

// datasetRefs are the columns of a chart that repeat what its dataset is.
func datasetRefs(ds row) row {
	return row{"datasource_id": ds.id(), "datasource_type": "table", "datasource_name": ds["table_name"], "perm": ds["perm"], "schema_perm": ds["schema_perm"]}
}

func (c *call) postChart() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := chartPost.load(body)
	if bad != nil {
		return message(400, bad)
	}
	faults := obj{}
	ds := c.st.get("tables", fields.int("datasource_id"))
	if ds == nil {
		faults["datasource_id"] = []any{"Datasource does not exist"}
	}
	boards := intsOf(fields["dashboards"])
	for _, id := range boards {
		if c.st.get("dashboards", id) == nil {
			faults["dashboards"] = []any{"Dashboards do not exist"}
		}
	}
	owners, valid := c.computeOwners(intsOf(fields["owners"]))
	if !valid {
		faults["owners"] = []any{"Owners are invalid"}
	}
	if faults["dashboards"] == nil {
		for _, id := range boards {
			if !c.owns("dashboard_user", "dashboard_id", id) {
				return message(403, "Changing one or more of these dashboards is forbidden")
			}
		}
	}
	if len(faults) > 0 {
		return message(422, faults)
	}
	if _, named := fields["owners"]; !named && len(owners) == 0 {
		owners = []int{c.userID()}
	}
	if u := fields.str("uuid"); u != "" && c.st.find("slices", "uuid", u) != nil {
		return message(422, "Chart could not be created.")
	}
	ch := c.insertChart(chartColumns(fields).with(datasetRefs(ds)), owners)
	for _, id := range boards {
		c.write().insert("dashboard_slices", row{"dashboard_id": id, "slice_id": ch.id()})
	}
	return reply(201, obj{"id": ch.id(), "result": shown(fields)})
}

func chartColumns(fields row) row {
	out := row{}
	for k, v := range fields {
		switch k {
		case "owners", "dashboards", "tags", "query_context_generation":
		case "uuid":
			if v != nil {
				out[k] = v
			}
		default:
			out[k] = v
		}
	}
	return out
}

// insertChart adds a chart with what every new one has.
func (c *call) insertChart(fields row, owners []int) row {
	st, now := c.write(), c.now()
	ch := st.insert("slices", row{"uuid": c.s.newUUID(), "created_on": now, "changed_on": now, "created_by_fk": c.userID(),
		"changed_by_fk": c.userID(), "last_saved_at": now, "last_saved_by_fk": c.userID(), "is_managed_externally": false}.with(fields))
	st.relink("slice_user", "slice_id", ch.id(), "user_id", owners)
	c.tagSystem("chart", ch.id(), owners)
	return ch
}

func (c *call) putChart() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := chartPut.load(body)
	if bad != nil {
		return message(400, bad)
	}
	id, isNumber := c.id("id")
	ch := c.st.get("slices", id)
	if !isNumber || ch == nil || !c.seesChart(ch) {
		return notFound
	}
	if !onlyQueryContext(fields) && !c.owns("slice_user", "slice_id", id) {
		return forbidden
	}
	if fields["datasource_id"] != nil && fields["datasource_type"] == nil {
		return fatal
	}
	owners, boards, a, good := c.chartRules(ch, fields)
	if !good {
		return a
	}
	changes := chartColumns(fields)
	if n, named := fields["datasource_id"].(int); named {
		merge(changes, datasetRefs(c.st.get("tables", n)))
	}
	st := c.write()
	if _, named := fields["owners"]; named {
		st.relink("slice_user", "slice_id", id, "user_id", owners)
		c.tagSystem("chart", id, owners)
	}
	if _, named := fields["dashboards"]; named {
		st.relink("dashboard_slices", "slice_id", id, "dashboard_id", boards)
	}
	if v, named := fields["tags"]; named && c.s.features.tags {
		c.setCustomTags("chart", id, intsOf(v))
	}
	changed := c.touch("slices", ch, changes)
	if _, named := fields["query_context"]; !named && changed["changed_on"] != ch["changed_on"] {
		st.update("slices", id, row{"last_saved_at": c.now(), "last_saved_by_fk": c.userID()})
	}
	return ok(obj{"id": id, "result": shown(fields)})
}

// onlyQueryContext: the saved query alone may be put by everybody who sees the chart.
func onlyQueryContext(fields row) bool {
	return len(fields) == 2 && fields["query_context"] != nil && fields.bool("query_context_generation")
}

func (c *call) chartRules(ch, fields row) (owners, boards []int, a answer, good bool) {
	faults := obj{}
	if n, named := fields["datasource_id"].(int); named && c.st.get("tables", n) == nil {
		faults["datasource_id"] = []any{"Datasource does not exist"}
	}
	boards = intsOf(fields["dashboards"])
	for _, id := range boards {
		if d := c.st.get("dashboards", id); d == nil || !c.seesDashboard(d) {
			faults["dashboards"] = []any{"Dashboards do not exist"}
		}
	}
	owners = intsOf(fields["owners"])
	if _, named := fields["owners"]; named {
		computed, valid := c.computeOwners(owners)
		if !valid {
			faults["owners"] = []any{"Owners are invalid"}
		}
		owners = computed
	}
	for _, t := range intsOf(fields["tags"]) {
		if c.st.get("tag", t) == nil {
			faults["tags"] = []any{"Tag ID " + itoa(t) + " not found"}
		}
	}
	if u := fields.str("uuid"); u != "" {
		if other := c.st.find("slices", "uuid", u); other != nil && other.id() != ch.id() {
			return nil, nil, message(422, "Chart could not be updated."), false
		}
	}
	if len(faults) > 0 {
		return nil, nil, message(422, faults), false
	}
	return owners, boards, answer{}, true
}

func (c *call) deleteCharts(wanted []int, bulk bool) answer {
	var rows []row
	for _, id := range wanted {
		ch := c.st.get("slices", id)
		if ch == nil || !c.seesChart(ch) {
			return notFound
		}
		rows = append(rows, ch)
	}
	var names []string
	for _, ch := range rows {
		for _, r := range c.st.where("report_schedule", "chart_id", ch.id()) {
			names = append(names, r.str("name"))
		}
	}
	if len(names) > 0 {
		return message(422, "There are associated alerts or reports: "+strings.Join(names, ","))
	}
	for _, ch := range rows {
		if !c.owns("slice_user", "slice_id", ch.id()) {
			return forbidden
		}
	}
	st := c.write()
	for _, ch := range rows {
		st.remove("slices", ch.id())
		st.removeWhere("dashboard_slices", "slice_id", ch.id())
		st.removeWhere("slice_user", "slice_id", ch.id())
		c.untag("chart", ch.id(), func(row) bool { return false })
	}
	if !bulk {
		return okMessage()
	}
	return message(200, deletedText(len(rows), "chart"))
}

func (c *call) deleteChart() answer {
	id, isNumber := c.id("id")
	if !isNumber {
		return notFound
	}
	return c.deleteCharts([]int{id}, false)
}

func (c *call) bulkDeleteCharts() answer {
	wanted, a, good := c.bulkIDs()
	if !good {
		return a
	}
	return c.deleteCharts(wanted, true)
}
