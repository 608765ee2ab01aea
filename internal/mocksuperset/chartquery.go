package mocksuperset

import (
	"fmt"
	"slices"
	"strings"
)

// A query of chart data goes three ways: it is checked here, compiled in
// chartsql.go and run in chartrun.go.

var resultTypes = []string{"columns", "full", "query", "results", "samples", "timegrains", "post_processed", "drill_detail"}

var filterOps = []string{"==", "!=", ">", "<", ">=", "<=", "LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE", "IS NULL", "IS NOT NULL",
	"IN", "NOT IN", "IS TRUE", "IS FALSE", "TEMPORAL_RANGE"}

var postOperations = []string{"aggregate", "boxplot", "compare", "contribution", "cum", "diff", "escape_separator", "flatten",
	"geodetic_parse", "geohash_decode", "geohash_encode", "histogram", "pivot", "prophet", "rank", "rename", "resample", "rolling",
	"select", "sort", "unescape_separator"}

var contextKeys = []string{"datasource", "queries", "custom_cache_timeout", "force", "result_type", "result_format", "form_data"}

func badContext(repr string) answer { return message(400, "Request is incorrect: "+repr) }

func oneOfRepr(list []string) string {
	return pyRepr([]any{"Must be one of: " + strings.Join(list, ", ") + "."})
}

// contextFault checks the form of a query context and says what is wrong with it as the real one shows it.
func contextFault(body obj) string {
	for _, k := range sortedKeys(body) {
		if !slices.Contains(contextKeys, k) {
			return pyRepr(obj{k: []any{"Unknown field."}})
		}
	}
	if t, named := body["result_type"]; named && t != nil && !slices.Contains(resultTypes, textOr(t, "")) {
		return "{'result_type': " + oneOfRepr(resultTypes) + "}"
	}
	if f, named := body["result_format"]; named && f != nil && !slices.Contains([]string{"json", "csv", "xlsx"}, textOr(f, "")) {
		return "{'result_format': " + oneOfRepr([]string{"csv", "json", "xlsx"}) + "}"
	}
	for i, q := range asList(body["queries"]) {
		o, isObject := q.(obj)
		if !isObject {
			return fmt.Sprintf("{'queries': {%d: {'_schema': ['Invalid input type.']}}}", i)
		}
		for j, f := range asList(o["filters"]) {
			filter, _ := f.(obj)
			op, named := filter["op"]
			if !named {
				return fmt.Sprintf("{'queries': {%d: {'filters': {%d: {'op': ['Missing data for required field.']}}}}}", i, j)
			}
			if !slices.Contains(filterOps, strings.ToUpper(textOr(op, ""))) {
				return fmt.Sprintf("{'queries': {%d: {'filters': {%d: {'op': %s}}}}}", i, j, oneOfRepr(filterOps))
			}
		}
		for j, p := range asList(o["post_processing"]) {
			step, _ := p.(obj)
			if p != nil && !slices.Contains(postOperations, textOr(step["operation"], "")) {
				return fmt.Sprintf("{'queries': {%d: {'post_processing': {%d: {'operation': %s}}}}}", i, j, oneOfRepr(postOperations))
			}
		}
		if field, fault := queryFieldFault(o); fault != "" {
			return fmt.Sprintf("{'queries': {%d: {'%s': ['%s']}}}", i, field, fault)
		}
	}
	return ""
}

// queryFieldFault looks at the kinds of the plain fields of one query.
func queryFieldFault(q obj) (field, fault string) {
	for _, f := range []string{"columns", "filters", "groupby", "metrics", "orderby", "post_processing"} {
		if _, isList := q[f].([]any); q[f] != nil && !isList {
			return f, "Not a valid list."
		}
	}
	for _, f := range []string{"row_limit", "row_offset"} {
		n, wrong := toInt(q[f])
		if q[f] != nil && wrong != nil {
			return f, "Not a valid integer."
		}
		if i, isInt := n.(int); isInt && i < 0 {
			return f, "`" + f + "` must be greater than or equal to 0"
		}
	}
	return "", ""
}

func (c *call) postChartData() answer {
	if !c.sendsJSON() {
		return message(400, "Request is not JSON")
	}
	v, err := parseJSON(c.body)
	body, isObject := v.(obj)
	if err != nil {
		return message(400, badJSON)
	}
	if !isObject {
		return fatal
	}
	return c.runContext(body)
}

// chartData runs the query that a chart has saved.
func (c *call) chartData() answer {
	ch := c.findChart(c.vars["id"])
	if ch == nil {
		return notFound
	}
	v, err := parseJSON([]byte(ch.str("query_context")))
	context, isObject := v.(obj)
	if err != nil || !isObject {
		return message(400, "Chart has no query context saved. Please save the chart again.")
	}
	q := c.query()
	body := obj{}
	for _, k := range contextKeys {
		if v, there := context[k]; there {
			body[k] = v
		}
	}
	body["result_format"], body["result_type"] = "json", "full"
	if f := q.Get("format"); f != "" {
		body["result_format"] = f
	}
	if t := q.Get("type"); t != "" {
		body["result_type"] = t
	}
	body["force"] = q.Get("force") == "true"
	return c.runContext(body)
}

// securityRefusal names the dataset whose data the caller may not read.
func securityRefusal(ds row) answer {
	return problems(403, problem{
		message: fmt.Sprintf("This endpoint requires the datasource %d, database or `all_datasource_access` permission", ds.id()),
		kind:    "DATASOURCE_SECURITY_ACCESS_ERROR", level: "warning",
		extra: obj{"link": "", "datasource": ds.id(), "datasource_name": datasetTitle(ds)}})
}

// runContext runs all queries of a context. One that fails takes all with it.
func (c *call) runContext(body obj) answer {
	if fault := contextFault(body); fault != "" {
		return badContext(fault)
	}
	source, named := body["datasource"].(obj)
	if !named {
		return c.refusal(backend(500, "QueryContextFactory.create() missing 1 required keyword-only argument: 'datasource'"))
	}
	if body["queries"] == nil {
		return c.refusal(backend(500, "QueryContextFactory.create() missing 1 required keyword-only argument: 'queries'"))
	}
	id, _ := toInt(source["id"])
	n, _ := id.(int)
	ds := c.st.get("tables", n)
	if ds == nil {
		return notFound
	}
	if !c.readsDataset(ds) {
		return securityRefusal(ds)
	}
	format := textOr(body["result_format"], "json")
	if format != "json" && !c.may("can_csv", "Superset") {
		return forbidden
	}
	kind := textOr(body["result_type"], "full")
	run := &chartRun{c: c, ds: ds, kind: kind, format: format}
	results := []any{}
	for _, q := range asList(body["queries"]) {
		o := q.(obj)
		if t, own := o["result_type"].(string); own {
			run.kind = t
		}
		result, fault := run.one(o)
		if fault != nil {
			return c.chartFault(fault)
		}
		results = append(results, result)
	}
	if format == "csv" {
		return run.csv(results)
	}
	return ok(obj{"result": results})
}

// chartError is a query that cannot be answered, in the shape that the real one gives it.
type chartError struct {
	text   string // 400 with message
	answer *answer
}

func (e *chartError) Error() string { return e.text }

func queryFault(text string) *chartError { return &chartError{text: "Error: " + text} }

func faultAnswered(a answer) *chartError { return &chartError{text: "refused", answer: &a} }

func (c *call) chartFault(e *chartError) answer {
	if e.answer != nil {
		return *e.answer
	}
	return message(400, e.text)
}

var warmSchema = schema{
	"chart_id": {kind: kindInt, required: true}, "dashboard_id": {kind: kindInt}, "extra_filters": {kind: kindText},
}

func (c *call) warmChart() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := warmSchema.load(body)
	if bad != nil {
		return message(400, bad)
	}
	ch := c.st.get("slices", fields.int("chart_id"))
	if ch == nil {
		return message(404, "Chart not found")
	}
	return ok(obj{"result": []any{c.warm(ch)}})
}

// warm runs the saved query of a chart; what goes wrong is told with 200.
func (c *call) warm(ch row) obj {
	out := obj{"chart_id": ch.id(), "viz_error": nil, "viz_status": nil}
	v, err := parseJSON([]byte(ch.str("query_context")))
	context, isObject := v.(obj)
	if err != nil || !isObject {
		out["viz_error"] = "Chart's query context does not exist"
		return out
	}
	body := obj{"datasource": context["datasource"], "queries": context["queries"], "result_type": "full"}
	if a := c.runContext(body); a.status != 200 {
		out["viz_status"] = "failed"
		out["viz_error"] = textOr(object(string(a.body))["message"], "Unknown error")
		return out
	}
	out["viz_status"] = "success"
	return out
}

var warmDatasetSchema = schema{
	"db_name": {kind: kindText, required: true}, "table_name": {kind: kindText, required: true},
	"dashboard_id": {kind: kindInt}, "extra_filters": {kind: kindText},
}

func (c *call) warmDataset() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, bad := warmDatasetSchema.load(body)
	if bad != nil {
		return message(400, bad)
	}
	db := c.st.find("dbs", "database_name", fields["db_name"])
	var found []row
	for _, ds := range c.st.where("tables", "table_name", fields["table_name"]) {
		if db != nil && ds.int("database_id") == db.id() {
			found = append(found, ds)
		}
	}
	switch len(found) {
	case 0:
		return message(404, "The provided table was not found in the provided database")
	case 1:
	default:
		return fatal
	}
	result := []any{}
	for _, ch := range c.st.where("slices", "datasource_id", found[0].id()) {
		result = append(result, c.warm(ch))
	}
	return ok(obj{"result": result})
}

// oldSamples are the rows of a dataset for the page of the explorer; it knows sessions only.
func (c *call) oldSamples() answer {
	q := c.query()
	ds := c.st.get("tables", atoi(q.Get("datasource_id")))
	if ds == nil {
		return reply(404, obj{"error": "Datasource does not exist"})
	}
	if !c.readsDataset(ds) {
		return securityRefusal(ds)
	}
	perPage, page := min(max(atoi(q.Get("per_page")), 1), 1000), max(atoi(q.Get("page")), 1)
	if q.Get("per_page") == "" {
		perPage = 1000
	}
	run := &chartRun{c: c, ds: ds, kind: "results", format: "json"}
	names := []any{}
	for _, col := range c.columns(ds) {
		names = append(names, col["column_name"])
	}
	result, fault := run.one(obj{"columns": names, "row_limit": perPage, "row_offset": (page - 1) * perPage})
	if fault != nil {
		return c.chartFault(fault)
	}
	total, fault := run.one(obj{"metrics": []any{obj{"expressionType": "SQL", "sqlExpression": "COUNT(*)", "label": "n"}}})
	if fault != nil {
		return c.chartFault(fault)
	}
	rows := total["data"].([]any)[0].(ordered)
	return ok(obj{"result": merge(result, obj{"page": page, "per_page": perPage, "total_count": rows[0].value})})
}
