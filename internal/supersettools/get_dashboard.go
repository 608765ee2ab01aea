package supersettools

import (
	"context"
	"fmt"
	"slices"

	"agentd/internal/chat"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

type getDashboardArgs struct {
	EnvID     string   `json:"env_id,omitempty" jsonschema:"description=Environment; default: the current one"`
	Dashboard string   `json:"dashboard" jsonschema:"minLength=1,maxLength=2000,description=Id\\, uuid\\, slug or address"`
	Include   []string `json:"include,omitempty" jsonschema:"maxItems=6,enum=charts,enum=datasets,enum=filters,enum=tabs,enum=reports,enum=layout,description=Default: charts\\, datasets\\, filters"`
}

// chartCap bounds the charts of one dashboard that are read: one page of Superset's, so that a look at a dashboard stays two requests.
const chartCap = superset.PageCap

type dashboardView struct {
	ID                   int           `json:"id"`
	UUID                 string        `json:"uuid"`
	Title                string        `json:"title"`
	Slug                 string        `json:"slug,omitempty"`
	URL                  string        `json:"url"`
	Published            bool          `json:"published"`
	CertifiedBy          string        `json:"certified_by,omitempty"`
	CertificationDetails string        `json:"certification_details,omitempty"`
	Owners               []personView  `json:"owners"`
	Roles                []string      `json:"roles,omitempty"`
	Tags                 []string      `json:"tags,omitempty"`
	ChangedOn            superset.Time `json:"changed_on"`
	ChangedBy            string        `json:"changed_by,omitempty"`
	RefreshSeconds       int           `json:"refresh_seconds,omitempty"`
	HasCSS               bool          `json:"has_css,omitempty"`
	ManagedExternally    bool          `json:"managed_externally,omitempty"`
	ChartCount           int           `json:"chart_count"`
	Charts               []chartView   `json:"charts,omitempty"`
	Datasets             []datasetUse  `json:"datasets,omitempty"`
	Filters              []filterView  `json:"filters,omitempty"`
	Tabs                 []string      `json:"tabs,omitempty"`
	Layout               []placedView  `json:"layout,omitempty"`
	Reports              []reportView  `json:"reports,omitempty"`
	Orphans              []placedView  `json:"orphans,omitempty"` // in the layout, but gone or hidden
	Unplaced             []int         `json:"unplaced,omitempty"`
}

type personView struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

type chartView struct {
	ID      int    `json:"id"`
	Name    string `json:"name"`
	VizType string `json:"viz_type"`
	Dataset any    `json:"dataset"` // name, or null where it was deleted
	Tab     string `json:"tab,omitempty"`
	UUID    string `json:"uuid"`
}

type datasetUse struct {
	ID      int      `json:"id"`
	Name    string   `json:"name,omitempty"`
	Charts  int      `json:"charts"`
	Filters []string `json:"filters,omitempty"`
}

type filterView struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Type      string `json:"type"`
	DatasetID int    `json:"dataset_id,omitempty"`
	Column    string `json:"column,omitempty"`
}

type placedView struct {
	ChartID int    `json:"chart_id"`
	Name    string `json:"name,omitempty"`
	Tab     string `json:"tab,omitempty"`
}

type reportView struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"`
}

func getDashboard(d Deps) tool.Tool {
	return define(d, "get_dashboard", tool.Read, []string{"can_read on Dashboard"}, []string{"dashboard"}, func(o op, in getDashboardArgs) (tool.Bound, error) {
		ref, err := o.ref("/dashboard", dashboardKind, in.Dashboard)
		if err != nil {
			return tool.Bound{}, err
		}
		if len(in.Include) == 0 {
			in.Include = []string{"charts", "datasets", "filters"}
		}
		return o.reading(func(ctx context.Context, s *superset.Session) (tool.Result, error) { return in.run(ctx, s, ref) })
	})
}

func (in getDashboardArgs) run(ctx context.Context, s *superset.Session, ref superset.Ref) (tool.Result, error) {
	d, err := s.Dashboard(ctx, ref)
	if err != nil {
		return tool.Result{}, err
	}
	v, r := header(s, d), tool.Result{}
	with := func(part string) bool { return slices.Contains(in.Include, part) }
	warn := func(text string) { r.Warnings = append(r.Warnings, text) }
	l, err := parseLayout(d.Layout)
	if err != nil {
		warn("The layout of this dashboard is damaged.")
	}
	m, err := parseMetadata(d.Metadata)
	if err != nil {
		warn("The metadata of this dashboard is damaged.")
	}
	v.RefreshSeconds = m.refresh()
	v.ChartCount = len(d.Charts)
	if with("charts") || with("datasets") || with("layout") {
		page, err := s.Charts(ctx, superset.ChartFilter{Dashboard: d.ID}, chartCap)
		if err != nil {
			return tool.Result{}, err
		}
		if page.Total > len(page.Rows) {
			r.Bounded = true
			warn(fmt.Sprintf("The dashboard has %d charts; %d of them are listed.", page.Total, len(page.Rows)))
		}
		if page.Total < len(d.Charts) {
			warn(fmt.Sprintf("%d of the dashboard's charts are hidden from this user.", len(d.Charts)-page.Total))
		}
		v.place(page.Rows, l, m, with)
	}
	if with("filters") {
		v.Filters = filterViews(m)
	}
	if with("tabs") {
		l.walk(func(_ string, c component, tab string) {
			if c.Type == "TAB" {
				v.Tabs = append(v.Tabs, tab)
			}
		})
	}
	if with("reports") {
		reports, err := s.DashboardReports(ctx, d.ID)
		switch {
		case isMissing(err):
			warn("Alerts and reports are switched off in this Superset; whether old ones hang on the dashboard is not known.")
		case err != nil:
			return tool.Result{}, err
		}
		for _, p := range reports {
			v.Reports = append(v.Reports, reportView(p))
		}
	}
	state := "draft"
	if d.Published {
		state = "published"
	}
	r.Summary = fmt.Sprintf("Dashboard “%s” (id %d, %s) with %s.", v.Title, d.ID, state, count(v.ChartCount, "chart"))
	r.Data = object(v)
	r.Links = []chat.Link{{Title: v.Title, URL: v.URL}}
	return r, nil
}

// header is what is known of a dashboard without its charts.
func header(s *superset.Session, d superset.Dashboard) dashboardView {
	v := dashboardView{
		ID: d.ID, UUID: d.UUID, Title: title(d.Title, dashboardKind, superset.Ref{ID: d.ID}.String()), Slug: d.Slug,
		URL: s.PublicURL(superset.DashboardPath(d.ID, d.Slug)), Published: d.Published, CertifiedBy: d.CertifiedBy,
		CertificationDetails: d.CertificationDetails, Owners: personViews(d.Owners), Roles: labelNames(d.Roles), Tags: labelNames(d.Tags),
		ChangedOn: d.ChangedOn, HasCSS: d.CSS != "", ManagedExternally: d.ManagedExternally,
	}
	if d.ChangedBy != nil {
		v.ChangedBy = d.ChangedBy.Name()
	}
	return v
}

func personViews(people []superset.Person) []personView {
	out := []personView{}
	for _, p := range people {
		out = append(out, personView{p.ID, p.Name()})
	}
	return out
}

// place fills in what is told about charts.
func (v *dashboardView) place(rows []superset.ChartRow, l layout, m metadata, with func(string) bool) {
	at := l.charts()
	tab := func(id int) string {
		for _, p := range at {
			if p.ID == id {
				return p.Tab
			}
		}
		return ""
	}
	known := map[int]string{}
	for _, c := range rows {
		known[c.ID] = c.Name
		if with("charts") {
			v.Charts = append(v.Charts, chartView{c.ID, c.Name, c.VizType, orNull(c.DatasetName), tab(c.ID), c.UUID})
		}
		if !slices.ContainsFunc(at, func(p placed) bool { return p.ID == c.ID }) {
			v.Unplaced = append(v.Unplaced, c.ID)
		}
	}
	for _, p := range at {
		name, ok := known[p.ID]
		if !ok {
			v.Orphans = append(v.Orphans, placedView{p.ID, p.Name, p.Tab})
			continue
		}
		if with("layout") {
			v.Layout = append(v.Layout, placedView{p.ID, name, p.Tab})
		}
	}
	if with("datasets") {
		v.Datasets = datasetUses(rows, m)
	}
}

// datasetUses lists the datasets of charts and filters, those of charts first.
func datasetUses(rows []superset.ChartRow, m metadata) []datasetUse {
	var out []datasetUse
	at := func(id int) *datasetUse {
		i := slices.IndexFunc(out, func(u datasetUse) bool { return u.ID == id })
		if i < 0 {
			out, i = append(out, datasetUse{ID: id}), len(out)
		}
		return &out[i]
	}
	for _, c := range rows {
		if c.DatasetID > 0 && c.DatasourceType == "table" {
			u := at(c.DatasetID)
			u.Name = c.DatasetName
			u.Charts++
		}
	}
	for _, f := range m.filters() {
		for _, t := range f.Targets {
			if t.DatasetID > 0 {
				u := at(t.DatasetID)
				u.Filters = append(u.Filters, f.Name)
			}
		}
	}
	return out
}

func filterViews(m metadata) []filterView {
	var out []filterView
	for _, f := range m.filters() {
		v := filterView{ID: f.ID, Name: f.Name, Type: f.Type}
		if len(f.Targets) > 0 {
			v.DatasetID, v.Column = f.Targets[0].DatasetID, f.Targets[0].Column.Name
		}
		out = append(out, v)
	}
	return out
}
