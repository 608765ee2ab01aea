package superset

import (
	"context"
	"net/http"
	"strconv"
)

// A ChartRow is a chart as lists show it. Dashboards names hidden drafts too.
type ChartRow struct {
	ID             int      `json:"id"`
	UUID           string   `json:"uuid"`
	Name           string   `json:"slice_name"`
	VizType        string   `json:"viz_type"`
	DatasetID      int      `json:"datasource_id"` // 0: its dataset was deleted
	DatasourceType string   `json:"datasource_type"`
	DatasetName    string   `json:"datasource_name_text"`
	URL            string   `json:"url"`
	ChangedOn      Time     `json:"changed_on_utc"`
	Owners         []Person `json:"owners"`
	Dashboards     []struct {
		ID    int    `json:"id"`
		Title string `json:"dashboard_title"`
	} `json:"dashboards"`
}

var chartColumns = names{"id", "uuid", "slice_name", "viz_type", "datasource_id", "datasource_type", "datasource_name_text", "url",
	"changed_on_utc", "owners.id", "owners.first_name", "owners.last_name", "dashboards.id", "dashboards.dashboard_title"}

// ChartFilter selects charts; what is not set does not filter.
type ChartFilter struct {
	IDs       []int
	UUIDs     []string
	Dashboard int // must exist: Superset drops a filter on a dashboard that does not
	Dataset   int
}

func (f ChartFilter) query() query[ChartRow] {
	q := query[ChartRow]{class: charts, columns: chartColumns, paging: Paging{By: "slice_name"}, id: func(c ChartRow) int { return c.ID }}
	add := func(o object, fit func(ChartRow) bool) {
		q.filters, q.fits = append(q.filters, o), append(q.fits, fit)
	}
	if f.IDs != nil {
		add(filter("id", "in", f.IDs), func(c ChartRow) bool { return hasID(f.IDs, c.ID) })
	}
	if f.UUIDs != nil {
		add(filter("uuid", "in", f.UUIDs), func(c ChartRow) bool { return hasUUID(f.UUIDs, c.UUID) })
	}
	if f.Dashboard != 0 {
		add(filter("dashboards", "rel_m_m", f.Dashboard), func(c ChartRow) bool { return c.On(f.Dashboard) })
	}
	if f.Dataset != 0 {
		add(filter("datasource_id", "eq", f.Dataset), func(c ChartRow) bool { return c.DatasetID == f.Dataset })
		add(filter("datasource_type", "eq", "table"), func(c ChartRow) bool { return c.DatasourceType == "table" })
	}
	return q
}

// Charts reads up to limit charts, ordered by name, page after page.
func (s *Session) Charts(ctx context.Context, f ChartFilter, limit int) (Page[ChartRow], error) {
	return all(ctx, s, f.query(), limit)
}

// On reports whether the chart is on a dashboard.
func (c ChartRow) On(dashboard int) bool {
	for _, d := range c.Dashboards {
		if d.ID == dashboard {
			return true
		}
	}
	return false
}

func hasUUID(all []string, uuid string) bool {
	for _, v := range all {
		if v == uuid {
			return true
		}
	}
	return false
}

// DeleteChart removes a chart for ever. Reports that hang on it are Conflict.
func (s *Session) DeleteChart(ctx context.Context, id int) error {
	return blocked(s.write(ctx, http.MethodDelete, "/api/v1/chart/"+strconv.Itoa(id), nil, nil))
}

// CountCharts is how many charts the user sees.
func (s *Session) CountCharts(ctx context.Context) (int, error) {
	q := ChartFilter{}.query()
	q.paging.Size = 1
	p, err := list(ctx, s, q)
	return p.Total, err
}
