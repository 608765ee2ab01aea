package mocksuperset

// Stars are kept by user. They outlive what they are on.

// stars says how one kind of object is starred.
type stars struct {
	class string // as stored
	tag   string
	find  func(c *call, name string) row
	table string
	sees  func(*call, row) bool
}

var dashboardStars = stars{class: "Dashboard", tag: "dashboard", table: "dashboards",
	find: (*call).findDashboard, sees: (*call).seesDashboard}

var chartStars = stars{class: "slice", tag: "chart", table: "slices",
	find: (*call).findChart, sees: (*call).seesChart}

func (c *call) starRow(class string, id int) row {
	for _, f := range c.st.where("favstar", "obj_id", id) {
		if f.str("class_name") == class && f.int("user_id") == c.userID() {
			return f
		}
	}
	return nil
}

func (c *call) starred(class string, id int) bool { return c.starRow(class, id) != nil }

func (c *call) star(k stars, on bool) answer {
	o := k.find(c, c.vars["id"])
	if o == nil {
		return notFound
	}
	have := c.starRow(k.class, o.id())
	tag := "favorited_by:" + itoa(c.userID())
	switch {
	case on && have == nil:
		c.write().insert("favstar", row{"user_id": c.userID(), "class_name": k.class, "obj_id": o.id(), "dttm": c.now(), "uuid": c.s.newUUID()})
		c.tagAs(k.tag, o.id(), "favorited_by", tag)
	case !on && have != nil:
		c.write().remove("favstar", have.id())
		c.untag(k.tag, o.id(), func(t row) bool { return t.str("name") != tag })
	}
	return ok(obj{"result": "OK"})
}

func (c *call) starStatus(k stars) answer {
	wanted, a, good := c.bulkIDs()
	if !good {
		return a
	}
	seen, result := false, []any{}
	for _, id := range wanted {
		if o := c.st.get(k.table, id); o != nil && k.sees(c, o) {
			seen = true
		}
		result = append(result, obj{"id": id, "value": c.starred(k.class, id)})
	}
	if !seen {
		return notFound
	}
	return ok(obj{"result": result})
}
