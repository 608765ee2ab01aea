package mocksuperset

var copySchema = schema{
	"dashboard_title":  {kind: kindText, null: true, max: 500},
	"css":              {kind: kindText},
	"json_metadata":    {kind: kindText, required: true, check: validMetadata},
	"duplicate_slices": {kind: kindBool},
}

// copyDashboard makes a draft of the caller's with the charts that positions
// names, or with copies of them.
func (c *call) copyDashboard() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := copySchema.load(body)
	if bad != nil {
		return message(400, bad)
	}
	source := c.findDashboard(c.vars["id"])
	if source == nil {
		return notFound
	}
	if _, named := fields["dashboard_title"]; !named {
		return fatal
	}
	data := object(fields.str("json_metadata"))
	positions, hasPositions := data["positions"].(obj)
	if fields.bool("duplicate_slices") {
		if !hasPositions {
			return fatal
		}
		c.duplicateCharts(source, positions)
	}
	d := c.insertDashboard(row{"dashboard_title": fields["dashboard_title"], "css": fields["css"],
		"json_metadata": source["json_metadata"]}, []int{c.userID()})
	changes := c.setMetadata(d, data)
	d = c.write().update("dashboards", d.id(), changes)
	return ok(obj{"result": obj{"id": d.id(), "last_modified_time": seconds(d.str("changed_on"))}})
}

// duplicateCharts copies the charts of a dashboard and points the layout at the copies.
func (c *call) duplicateCharts(source row, positions obj) {
	st, now := c.write(), c.now()
	renamed := map[int]int{}
	for _, ch := range c.charts(source.id()) {
		twin := st.insert("slices", ch.with(row{"uuid": c.s.newUUID(), "created_on": now, "changed_on": now,
			"created_by_fk": c.userID(), "changed_by_fk": c.userID()}))
		st.relink("slice_user", "slice_id", twin.id(), "user_id", []int{c.userID()})
		c.tagSystem("chart", twin.id(), []int{c.userID()})
		renamed[ch.id()] = twin.id()
	}
	for _, node := range positions {
		o, _ := node.(obj)
		meta, _ := o["meta"].(obj)
		if id := asInt(meta["chartId"]); renamed[id] != 0 {
			meta["chartId"] = renamed[id]
		}
	}
}
