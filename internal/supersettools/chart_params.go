package supersettools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agentd/internal/fault"
)

// Members of a chart's parameters that decide its query and that are carried over into the saved query. Other members
// that decide it are refused: only the chart's own page can build the query from them. The rest is appearance.
var carried = []string{"metric", "metrics", "groupby", "row_limit", "time_range", "order_desc", "adhoc_filters"}

var refused = []string{
	"viz_type", "datasource", "x_axis", "granularity_sqla", "time_grain_sqla", "all_columns", "order_by_cols", "orderby", "query_mode", "series",
	"entity", "x", "y", "size", "source", "target", "columns", "groupbyRows", "groupbyColumns", "limit", "series_limit", "series_limit_metric",
	"timeseries_limit_metric", "percent_metrics", "secondary_metric", "metrics_b", "groupby_b", "adhoc_filters_b", "time_compare", "comparison_type",
	"rolling_type", "rolling_periods", "min_periods", "resample_rule", "resample_method", "contributionMode", "forecastEnabled", "server_pagination",
	"sort_by_metric", "extra_form_data", "annotation_layers", "tooltip_columns", "tooltip_metrics", "temporal_columns_lookup",
}

// merge applies a merge patch (RFC 7396) to JSON objects. Null removes a member.
func merge(base, patch map[string]json.RawMessage) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for k, v := range base {
		out[k] = v
	}
	for k, v := range patch {
		var inner map[string]json.RawMessage
		switch {
		case string(v) == "null":
			delete(out, k)
		case json.Unmarshal(v, &inner) == nil && inner != nil:
			var old map[string]json.RawMessage
			if json.Unmarshal(out[k], &old) != nil {
				old = nil
			}
			out[k] = object(merge(old, inner))
		default:
			out[k] = v
		}
	}
	return out
}

// patchChart carries a merge patch of parameters, and another dataset, into params and query_context. dataset 0 keeps it.
func patchChart(params, queryContext string, patch map[string]json.RawMessage, dataset int) (newParams, newContext string, err error) {
	var p, qc map[string]json.RawMessage
	if json.Unmarshal([]byte(params), &p) != nil || p == nil {
		return "", "", fault.New(fault.Invalid, "The parameters of this chart are damaged, so they cannot be changed.")
	}
	changed := []string{}
	for k, v := range patch {
		if string(p[k]) == string(v) {
			continue
		}
		if slices.Contains(refused, k) {
			return "", "", invalid("/patch/params", k+" changes the chart's query in a way that only its own page in Superset can")
		}
		changed = append(changed, k)
	}
	p = merge(p, patch)
	if dataset > 0 {
		p["datasource"] = object(fmt.Sprintf("%d__table", dataset))
	}
	newParams = string(object(p))
	if queryContext == "" {
		if dataset > 0 || slices.ContainsFunc(changed, func(k string) bool { return slices.Contains(carried, k) }) {
			return "", "", fault.New(fault.Invalid, "This chart has no saved query, so its query cannot be changed from outside. Open it in Superset and save it once.")
		}
		return newParams, "", nil
	}
	if json.Unmarshal([]byte(queryContext), &qc) != nil || qc == nil {
		return "", "", fault.New(fault.Invalid, "The saved query of this chart is damaged. Open it in Superset and save it once.")
	}
	var form map[string]json.RawMessage
	if json.Unmarshal(qc["form_data"], &form) == nil && form != nil {
		form = merge(form, patch)
		if dataset > 0 {
			form["datasource"] = p["datasource"]
		}
		qc["form_data"] = object(form)
	}
	if dataset > 0 {
		qc["datasource"] = json.RawMessage(fmt.Sprintf(`{"id":%d,"type":"table"}`, dataset))
	}
	var queries []map[string]json.RawMessage
	if json.Unmarshal(qc["queries"], &queries) != nil {
		return "", "", fault.New(fault.Invalid, "The saved query of this chart is damaged. Open it in Superset and save it once.")
	}
	for _, k := range changed {
		if !slices.Contains(carried, k) {
			continue
		}
		if len(queries) != 1 {
			return "", "", invalid("/patch/params", k+" changes the chart's query, and a chart with several queries can only be changed in its own page")
		}
		if err := carry(queries[0], k, p, string(p["x_axis"])); err != nil {
			return "", "", err
		}
	}
	qc["queries"] = object(queries)
	return newParams, string(object(qc)), nil
}

// carry writes one parameter into the query.
func carry(q map[string]json.RawMessage, key string, p map[string]json.RawMessage, xAxis string) error {
	has := len(p[key]) > 0
	switch key {
	case "metric":
		q["metrics"] = json.RawMessage(`[]`)
		if has {
			q["metrics"] = object([]json.RawMessage{p[key]})
		}
		q["orderby"] = json.RawMessage(`[]`)
		if has && string(p["sort_by_metric"]) == "true" {
			q["orderby"] = object([]any{[]any{p[key], false}})
		}
	case "metrics":
		q["metrics"] = json.RawMessage(`[]`)
		if has {
			q["metrics"] = p[key]
		}
	case "groupby":
		if strings.Trim(xAxis, `"`) != "" && xAxis != "null" {
			return invalid("/patch/params", "groupby of a chart with a time axis can only be changed in its own page")
		}
		q["columns"] = json.RawMessage(`[]`)
		if has {
			q["columns"] = p[key]
		}
	case "adhoc_filters":
		return carryFilters(q, p[key])
	default: // row_limit, time_range, order_desc have one name in both
		if has {
			q[key] = p[key]
		} else {
			delete(q, key)
		}
	}
	return nil
}

// carryFilters turns the parameters' filters into the query's.
func carryFilters(q map[string]json.RawMessage, raw json.RawMessage) error {
	type simple struct {
		Type       string          `json:"expressionType"`
		Clause     string          `json:"clause"`
		Subject    string          `json:"subject"`
		Operator   string          `json:"operator"`
		Comparator json.RawMessage `json:"comparator"`
		SQL        string          `json:"sqlExpression"`
	}
	var list []simple
	if len(raw) > 0 && json.Unmarshal(raw, &list) != nil {
		return invalid("/patch/params", "adhoc_filters must be a list of filters")
	}
	filters, where := []queryFilter{}, []string{}
	for _, f := range list {
		switch {
		case strings.EqualFold(f.Clause, "HAVING"):
			return invalid("/patch/params", "filters on aggregates can only be changed in the chart's own page")
		case f.Type == "SQL":
			where = append(where, "("+f.SQL+")")
		case f.Subject == "" || f.Operator == "":
			return invalid("/patch/params", "each of adhoc_filters needs expressionType, subject, operator and comparator")
		default:
			filters = append(filters, queryFilter{Col: object(f.Subject), Op: f.Operator, Val: f.Comparator})
		}
	}
	var extras map[string]json.RawMessage
	if json.Unmarshal(q["extras"], &extras) != nil || extras == nil {
		extras = map[string]json.RawMessage{}
	}
	extras["where"] = object(strings.Join(where, " AND "))
	q["filters"], q["extras"] = object(filters), object(extras)
	return nil
}
