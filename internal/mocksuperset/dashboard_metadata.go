package mocksuperset

import (
	"slices"
	"strconv"
)

// setMetadata takes new json_metadata apart: positions become the layout and
// the list of charts, what is left out becomes its default. The result are the
// columns to write.
func (c *call) setMetadata(d row, data obj) row {
	changes := row{}
	md := obj{}
	for k, v := range data {
		md[k] = v
	}
	if positions, isObject := data["positions"].(obj); isObject {
		ids := chartIDs(positions)
		uuids := map[int]any{}
		var known []int
		for _, id := range ids {
			if ch := c.st.get("slices", id); ch != nil {
				known = append(known, id)
				uuids[id] = ch.str("uuid")
			}
		}
		slices.Sort(known)
		c.write().relink("dashboard_slices", "dashboard_id", d.id(), "slice_id", slices.Compact(known))
		for _, node := range positions {
			if o, isNode := node.(obj); isNode && o["type"] == "CHART" {
				meta, _ := o["meta"].(obj)
				if id := asInt(meta["chartId"]); id != 0 {
					meta["uuid"] = uuids[id]
				}
			}
		}
		changes["position_json"] = dumps(positions)
		defaults, applicable := object(textOr(data["default_filters"], "{}")), obj{}
		for key, v := range defaults {
			if n, err := strconv.Atoi(key); err == nil && slices.Contains(ids, n) {
				applicable[key] = v
			}
		}
		md["default_filters"] = dumps(applicable)
		delete(md, "positions")
		if scopes, there := data["filter_scopes"].(obj); there {
			kept := obj{}
			for key, v := range scopes {
				if n, err := strconv.Atoi(key); err == nil && slices.Contains(ids, n) {
					kept[key] = v
				}
			}
			delete(md, "filter_scopes")
			if len(kept) > 0 {
				md["filter_scopes"] = kept
			}
		}
	} else {
		delete(md, "filter_scopes")
	}
	if data["color_namespace"] == nil {
		delete(md, "color_namespace")
	}
	defaults := obj{
		"timed_refresh_immune_slices": []any{}, "expanded_slices": obj{}, "refresh_frequency": 0, "color_scheme": "",
		"label_colors": obj{}, "shared_label_colors": []any{}, "map_label_colors": obj{}, "color_scheme_domain": []any{},
		"cross_filters_enabled": true,
	}
	for k, v := range defaults {
		if _, there := md[k]; !there {
			md[k] = v
		}
	}
	changes["json_metadata"] = dumps(md)
	return changes
}

func textOr(v any, otherwise string) string {
	if text, isText := v.(string); isText {
		return text
	}
	return otherwise
}

// chartIDs are the ids of all charts that a layout names.
func chartIDs(layout obj) []int {
	var out []int
	for _, node := range layout {
		o, isNode := node.(obj)
		if !isNode {
			continue
		}
		meta, _ := o["meta"].(obj)
		if id := asInt(meta["chartId"]); id != 0 {
			out = append(out, id)
		}
	}
	return out
}

var filtersSchema = schema{
	"deleted":   listOf(field{kind: kindText}),
	"modified":  listOf(field{kind: kindAny}),
	"reordered": listOf(field{kind: kindText}),
}

// putDashboardFilters changes native filters alone. A new order that names only some deletes the others.
func (c *call) putDashboardFilters() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := filtersSchema.load(body)
	if bad != nil {
		return message(400, bad)
	}
	d, a, good := c.dashboardToChange()
	if !good {
		return a
	}
	md := object(d.str("json_metadata"))
	list, _ := md["native_filter_configuration"].([]any)
	idOf := func(f any) any {
		o, _ := f.(obj)
		return o["id"]
	}
	deleted, _ := fields["deleted"].([]any)
	out := slices.DeleteFunc(slices.Clone(list), func(f any) bool { return slices.Contains(deleted, idOf(f)) })
	modified, _ := fields["modified"].([]any)
	for _, m := range modified {
		if at := slices.IndexFunc(out, func(f any) bool { return idOf(f) == idOf(m) }); at >= 0 {
			out[at] = m
		} else {
			out = append(out, m)
		}
	}
	if order, _ := fields["reordered"].([]any); len(order) > 0 {
		sorted := []any{}
		for _, id := range order {
			if at := slices.IndexFunc(out, func(f any) bool { return idOf(f) == id }); at >= 0 {
				sorted = append(sorted, out[at])
			}
		}
		out = sorted
	}
	if out == nil {
		out = []any{}
	}
	md["native_filter_configuration"] = out
	c.touch("dashboards", d, row{"json_metadata": dumps(md)})
	return ok(obj{"result": out})
}

var colorsSchema = schema{
	"color_namespace":     {kind: kindText, null: true},
	"color_scheme":        {kind: kindText, null: true},
	"map_label_colors":    {kind: kindDict},
	"shared_label_colors": {kind: kindAny, check: colorList},
	"label_colors":        {kind: kindDict},
	"color_scheme_domain": listOf(field{kind: kindText}),
}

func (c *call) putDashboardColors() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := colorsSchema.load(body)
	if bad != nil {
		return message(400, bad)
	}
	d, a, good := c.dashboardToChange()
	if !good {
		return a
	}
	md := object(d.str("json_metadata"))
	for k, v := range fields {
		md[k] = v
	}
	changes := row{"json_metadata": dumps(md)}
	if c.query().Get("mark_updated") == "false" {
		c.write().update("dashboards", d.id(), changes)
	} else {
		c.touch("dashboards", d, changes)
	}
	return ok(obj{})
}
