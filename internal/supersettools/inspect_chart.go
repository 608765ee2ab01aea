package supersettools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

type inspectChartArgs struct {
	EnvID   string   `json:"env_id,omitempty" jsonschema:"description=Environment; default: the current one"`
	Chart   string   `json:"chart" jsonschema:"minLength=1,maxLength=2000,description=Id\\, uuid or address"`
	Include []string `json:"include,omitempty" jsonschema:"maxItems=3,enum=config,enum=sql,enum=data,description=Default: config\\, sql"`
	Rows    int      `json:"rows,omitempty" jsonschema:"minimum=1,maximum=50,description=Of the data; default 10"`
}

type chartDetail struct {
	ID           int             `json:"id"`
	UUID         string          `json:"uuid"`
	Name         string          `json:"name"`
	URL          string          `json:"url"`
	Description  string          `json:"description,omitempty"`
	VizType      string          `json:"viz_type"`
	Dataset      *datasetName    `json:"dataset"` // null: it was deleted
	Owners       []personView    `json:"owners"`
	ChangedOn    superset.Time   `json:"changed_on"`
	CacheTimeout *int            `json:"cache_timeout,omitempty"`
	Managed      bool            `json:"managed_externally,omitempty"`
	Metrics      []string        `json:"metrics,omitempty"`
	Columns      []string        `json:"columns,omitempty"`
	Expressions  []string        `json:"sql_expressions,omitempty"`
	Filters      []queryFilter   `json:"filters,omitempty"`
	TimeRange    string          `json:"time_range,omitempty"`
	Params       json.RawMessage `json:"params,omitempty"`
	SQL          string          `json:"sql,omitempty"`
	Rows         *int            `json:"row_count,omitempty"`
	Seconds      float64         `json:"seconds,omitempty"`
	CachedAt     string          `json:"cached_at,omitempty"`
	Data         *sampleView     `json:"data,omitempty"`
	Dashboards   []useView       `json:"dashboards"`
}

type datasetName struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

func inspectChart(d Deps) tool.Tool {
	t := define(d, "inspect_chart", tool.Read, []string{"can_read on Chart"}, []string{"chart"}, func(o op, in inspectChartArgs) (tool.Bound, error) {
		ref, err := o.ref("/chart", chartKind, in.Chart)
		if err != nil {
			return tool.Bound{}, err
		}
		if len(in.Include) == 0 {
			in.Include = []string{"config", "sql"}
		}
		if in.Rows == 0 {
			in.Rows = 10
		}
		return o.reading(func(ctx context.Context, s *superset.Session) (tool.Result, error) { return in.run(ctx, s, ref) })
	})
	t.Timeout = time.Minute
	return t
}

func (in inspectChartArgs) run(ctx context.Context, s *superset.Session, ref superset.Ref) (tool.Result, error) {
	c, err := s.Chart(ctx, ref)
	if err != nil {
		return tool.Result{}, err
	}
	row, err := s.ChartRow(ctx, superset.Ref{ID: c.ID})
	if err != nil {
		return tool.Result{}, err
	}
	v, r := chartHeader(s, c, row), tool.Result{}
	if v.Dashboards, err = seenOn(ctx, s, row); err != nil {
		return tool.Result{}, err
	}
	warn := func(text string) { r.Warnings = append(r.Warnings, text) }
	if v.Dataset == nil {
		warn("The dataset of the chart was deleted.")
	}
	q, ok := parseQuery(c.QueryContext)
	if slices.Contains(in.Include, "config") {
		v.Metrics, v.Columns, v.Expressions, v.Filters, v.TimeRange = q.Metrics, q.Columns, q.SQL, q.Filters, q.Range
		if json.Valid([]byte(c.Params)) {
			v.Params = json.RawMessage(c.Params)
		}
		if !ok {
			warn("No query context is saved with the chart, so it cannot be run from outside its page.")
		} else if names := q.disagrees(c.Params); len(names) > 0 {
			warn("The parameters and the saved query disagree.")
		}
	}
	if slices.Contains(in.Include, "sql") {
		switch v.SQL, err = s.ChartSQL(ctx, c.ID); fault.KindOf(err) {
		case "":
		case fault.Invalid, fault.Missing:
			warn("There is no SQL: " + fault.Message(err))
		default:
			return tool.Result{}, err
		}
	}
	if slices.Contains(in.Include, "data") {
		run, err := s.RunChart(ctx, c.ID, false)
		switch fault.KindOf(err) {
		case "":
			v.Rows, v.Seconds, v.CachedAt = &run.Count, seconds(run.Took), run.CachedAt
			v.Data = &sampleView{run.Columns, run.Rows[:min(in.Rows, len(run.Rows))]}
			n := int64(run.Count)
			r.Total, r.Bounded = &n, run.Count > in.Rows
		case fault.Invalid, fault.Missing, fault.Denied:
			warn("The chart could not be run: " + fault.Message(err))
		default:
			return tool.Result{}, err
		}
	}
	on := "a deleted dataset"
	if v.Dataset != nil {
		on = "dataset “" + v.Dataset.Name + "”"
	}
	r.Summary = fmt.Sprintf("Chart “%s” (id %d, %s) on %s, shown on %s.", v.Name, v.ID, v.VizType, on, count(len(v.Dashboards), "dashboard"))
	r.Data = object(v)
	r.Links = []chat.Link{{Title: v.Name, URL: v.URL}}
	return r, nil
}

func chartHeader(s *superset.Session, c superset.Chart, row superset.ChartRow) chartDetail {
	v := chartDetail{
		ID: c.ID, UUID: row.UUID, Name: title(c.Name, chartKind, superset.Ref{ID: c.ID}.String()), URL: s.PublicURL(superset.ChartPath(c.ID)),
		Description: c.Description, VizType: c.VizType, Owners: personViews(row.Owners), ChangedOn: row.ChangedOn, CacheTimeout: c.CacheTimeout,
		Managed: c.Managed, Dashboards: []useView{},
	}
	if c.DatasetID > 0 {
		v.Dataset = &datasetName{c.DatasetID, c.DatasetName}
	}
	return v
}

// seenOn lists the dashboards of a chart that the user may see; the chart itself names hidden ones too.
func seenOn(ctx context.Context, s *superset.Session, c superset.ChartRow) ([]useView, error) {
	out := []useView{}
	var ids []int
	for _, d := range c.Dashboards {
		ids = append(ids, d.ID)
	}
	for part := range slices.Chunk(ids, superset.PageCap) {
		page, err := s.Dashboards(ctx, superset.DashboardFilter{IDs: part}, superset.Paging{By: "dashboard_title"})
		if err != nil {
			return nil, err
		}
		for _, d := range page.Rows {
			out = append(out, useView{ID: d.ID, Title: title(d.Title, dashboardKind, superset.Ref{ID: d.ID}.String())})
		}
	}
	return out, nil
}
