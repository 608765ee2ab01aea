package superset

import "context"

// A Report is an alert or report that hangs on something.
type Report struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"`
}

// DashboardReports lists the alerts and reports of a dashboard. Missing means that the feature is off: old ones may be there all the same.
func (s *Session) DashboardReports(ctx context.Context, dashboard int) ([]Report, error) {
	type row struct {
		Report
		Dashboard *struct {
			ID int `json:"id"`
		} `json:"dashboard"`
	}
	p, err := all(ctx, s, query[row]{
		class: reports, columns: names{"id", "name", "type", "dashboard.id"},
		filters: []object{filter("dashboard_id", "eq", dashboard)},
		id:      func(r row) int { return r.ID },
		fits:    []func(row) bool{func(r row) bool { return r.Dashboard == nil || r.Dashboard.ID == dashboard }},
	}, PageCap)
	var out []Report
	for _, r := range p.Rows {
		out = append(out, r.Report)
	}
	return out, err
}

// FailingReports lists the alerts and reports whose last run failed. Missing means that the feature is off.
func (s *Session) FailingReports(ctx context.Context) ([]Report, error) {
	type row struct {
		Report
		State string `json:"last_state"`
	}
	p, err := all(ctx, s, query[row]{
		class: reports, columns: names{"id", "name", "type", "last_state"}, filters: []object{filter("last_state", "eq", "Error")},
		id: func(r row) int { return r.ID }, fits: []func(row) bool{func(r row) bool { return r.State == "Error" }},
	}, PageCap)
	var out []Report
	for _, r := range p.Rows {
		out = append(out, r.Report)
	}
	return out, err
}
