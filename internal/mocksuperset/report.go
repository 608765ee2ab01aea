package mocksuperset

func reportRoutes() []route {
	const view = "ReportSchedule"
	return []route{
		{method: "GET", path: "/api/v1/report/", perm: "can_read", view: view, handle: func(c *call) answer { return c.list(reportListing) }},
		{method: "GET", path: "/api/v1/report/_info", perm: "can_read", view: view, handle: func(c *call) answer { return c.info(reportListing, view) }},
		{method: "GET", path: "/api/v1/report/<id>", perm: "can_read", view: view, handle: (*call).getReport},
	}
}

// reportListing are reports and alerts. Who is no admin sees their own.
var reportListing = &listing{
	table: "report_schedule", title: "Report Schedule",
	columns: []string{
		"active", "changed_by.first_name", "changed_by.last_name", "changed_on", "changed_on_delta_humanized", "chart_id",
		"created_by.first_name", "created_by.last_name", "created_on", "creation_method", "crontab", "crontab_humanized",
		"dashboard_id", "description", "extra", "id", "last_eval_dttm", "last_state", "name", "owners.first_name",
		"owners.id", "owners.last_name", "recipients.id", "recipients.type", "timezone", "type",
	},
	order: []string{"active", "description", "created_by.first_name", "changed_by.first_name", "changed_by.last_name",
		"changed_on", "changed_on_delta_humanized", "created_on", "crontab", "description", "last_eval_dttm", "name", "type", "crontab_humanized"},
	search: map[string]searchKind{
		"active": searchBool, "chart_id": searchNumber, "created_by": searchOne, "changed_by": searchOne, "creation_method": searchText,
		"dashboard_id": searchNumber, "id": searchNumber, "last_state": searchText, "name": searchText, "owners": searchMany, "type": searchText,
	},
	related: map[string]relation{"owners": {"report_schedule_user", "report_schedule_id", "user_id", "ab_user"}},
	sees: func(c *call, r row) bool {
		return c.allData() || c.owns("report_schedule_user", "report_schedule_id", r.id())
	},
	row: func(c *call, r row) obj {
		out := r.pick("chart_id", "creation_method", "crontab", "dashboard_id", "description", "id", "last_state", "name", "timezone", "type")
		merge(out, c.changedFields(r))
		out["active"], out["extra"] = r.bool("active"), object(r.str("extra_json"))
		out["changed_on"], out["created_on"] = isoDate(r.str("changed_on")), isoDate(r.str("created_on"))
		out["last_eval_dttm"], out["crontab_humanized"] = isoDate(r.str("last_eval_dttm")), r["crontab"]
		out["owners"] = c.owners("report_schedule_user", "report_schedule_id", r.id(), "id", "first_name", "last_name")
		recipients := []any{}
		for _, p := range c.st.where("report_recipient", "report_schedule_id", r.id()) {
			recipients = append(recipients, p.pick("id", "type"))
		}
		out["recipients"] = recipients
		return out
	},
}

func (c *call) getReport() answer {
	id, isNumber := c.id("id")
	r := c.st.get("report_schedule", id)
	if !isNumber || r == nil || !reportListing.sees(c, r) {
		return notFound
	}
	out := reportListing.row(c, r)
	for _, name := range []string{"log_retention", "grace_period", "working_timeout", "sql", "validator_type", "report_format", "email_subject", "context_markdown", "custom_width"} {
		out[name] = r[name]
	}
	out["validator_config_json"], out["force_screenshot"] = r["validator_config_json"], r.bool("force_screenshot")
	for column, table := range map[string]string{"chart": "slices", "dashboard": "dashboards", "database": "dbs"} {
		out[column] = nil
		if o := c.st.get(table, r.int(column+"_id")); o != nil {
			switch column {
			case "chart":
				out[column] = o.pick("id", "slice_name", "viz_type")
			case "dashboard":
				out[column] = o.pick("id", "dashboard_title")
			default:
				out[column] = o.pick("id", "database_name")
			}
		}
		delete(out, column+"_id")
	}
	recipients := []any{}
	for _, p := range c.st.where("report_recipient", "report_schedule_id", r.id()) {
		recipients = append(recipients, p.pick("id", "type", "recipient_config_json"))
	}
	out["recipients"] = recipients
	for _, name := range []string{"changed_by", "changed_by_name", "changed_on", "changed_on_delta_humanized", "created_by", "created_on", "created_on_delta_humanized"} {
		delete(out, name)
	}
	return ok(obj{"id": r.id(), "result": out})
}
