package supersettools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"agentd/internal/superset"
)

// A usageView says what would change or break with a dataset.
type usageView struct {
	Charts     []useView `json:"charts"`
	Dashboards []useView `json:"dashboards"`
}

type useView struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
	Via   string `json:"via,omitempty"` // chart, filter
}

type sampleView struct {
	Columns []string          `json:"columns"`
	Rows    []json.RawMessage `json:"rows"`
}

// usageCap bounds the charts of a dataset that are read.
const usageCap = 500

// usage finds the charts on a dataset and their dashboards. Charts and related_objects name drafts that the user may
// not see, so each dashboard is looked up among those that he may.
func usage(ctx context.Context, s *superset.Session, dataset int) (usageView, []string, error) {
	u := usageView{Charts: []useView{}, Dashboards: []useView{}}
	charts, err := s.Charts(ctx, superset.ChartFilter{Dataset: dataset}, usageCap)
	if err != nil {
		return u, nil, err
	}
	var warnings []string
	if charts.Total > len(charts.Rows) {
		warnings = append(warnings, fmt.Sprintf("%d charts use the dataset; %d of them were looked at.", charts.Total, len(charts.Rows)))
	}
	var ids []int
	for _, c := range charts.Rows {
		u.Charts = append(u.Charts, useView{ID: c.ID, Title: c.Name})
		for _, d := range c.Dashboards {
			if !slices.Contains(ids, d.ID) {
				ids = append(ids, d.ID)
			}
		}
	}
	// A request line has a limit, so the ids go in portions.
	for part := range slices.Chunk(ids, superset.PageCap) {
		page, err := s.Dashboards(ctx, superset.DashboardFilter{IDs: part}, superset.Paging{By: "dashboard_title"})
		if err != nil {
			return u, nil, err
		}
		for _, d := range page.Rows {
			u.Dashboards = append(u.Dashboards, useView{d.ID, title(d.Title, dashboardKind, superset.Ref{ID: d.ID}.String()), "chart"})
		}
	}
	filters, more, err := filterUses(ctx, s, dataset)
	if err != nil {
		return u, nil, err
	}
	u.Dashboards = append(u.Dashboards, filters...)
	if more > 0 {
		warnings = append(warnings, fmt.Sprintf("Native filters of %d dashboards were not looked at.", more))
	}
	return u, warnings, nil
}

// filterScan bounds the dashboards whose filters are looked at one by one.
const filterScan = 3 * superset.PageCap

// filterUses finds the dashboards that have a native filter on a dataset, which Superset itself does not count as use.
// more is how many were not looked at.
func filterUses(ctx context.Context, s *superset.Session, dataset int) (uses []useView, more int, err error) {
	page, err := s.DashboardsUpTo(ctx, superset.DashboardFilter{}, superset.Paging{By: "changed_on", Desc: true}, filterScan)
	if err != nil {
		return nil, 0, err
	}
	rows := page.Rows[:min(len(page.Rows), filterScan)]
	found := make([]string, len(rows))
	err = each(ctx, 4, rows, func(ctx context.Context, i int, d superset.DashboardRow) error {
		text, err := s.DashboardMetadata(ctx, d.ID)
		if isMissing(err) {
			return nil // it went meanwhile
		} else if err != nil {
			return err
		}
		m, _ := parseMetadata(text) // a damaged one has no filters
		for _, f := range m.filters() {
			for _, t := range f.Targets {
				if t.DatasetID == dataset {
					found[i] = f.Name
				}
			}
		}
		return nil
	})
	for i, name := range found {
		if name != "" {
			uses = append(uses, useView{rows[i].ID, title(rows[i].Title, dashboardKind, superset.Ref{ID: rows[i].ID}.String()), "filter " + name})
		}
	}
	return uses, page.Total - len(rows), err
}
