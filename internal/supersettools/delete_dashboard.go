package supersettools

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	pack "agentd/internal/bundle"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

type deleteDashboardArgs struct {
	EnvID        string `json:"env_id,omitempty" jsonschema:"description=Environment; default: the current one"`
	Dashboard    string `json:"dashboard" jsonschema:"minLength=1,maxLength=2000,description=Id\\, uuid\\, slug or address"`
	DeleteCharts bool   `json:"delete_charts,omitempty" jsonschema:"description=Also its charts that are used nowhere else"`
}

func deleteDashboard(d Deps) tool.Tool {
	t := define(d, "delete_dashboard", tool.Dangerous, []string{"can_read on Dashboard", "can_write on Dashboard"}, []string{"dashboard"},
		func(o op, in deleteDashboardArgs) (tool.Bound, error) {
			ref, err := o.ref("/dashboard", dashboardKind, in.Dashboard)
			if err != nil {
				return tool.Bound{}, err
			}
			return o.writing(&dashboardDeletion{deletion: deletion{o: o, to: d.Backups}, ref: ref, in: in},
				"Open the list of dashboards in Superset and look whether the dashboard is still there."), nil
		})
	t.Timeout = 2 * time.Minute // the export comes first
	return t
}

// A dashboardDeletion is one call of delete_dashboard.
type dashboardDeletion struct {
	deletion
	ref superset.Ref
	in  deleteDashboardArgs
}

// A doomed is a dashboard with all that its deletion touches.
type doomed struct {
	d       superset.Dashboard
	charts  []superset.ChartRow
	goes    []superset.ChartRow // charts that are deleted with it
	keeps   []superset.ChartRow // charts that would be, but may not
	reports []superset.Report
	blind   bool // whether reports hang on it is not known
	backup
}

func (x *dashboardDeletion) look(ctx context.Context, s *superset.Session) (doomed, error) {
	var v doomed
	var err error
	if v.d, err = s.Dashboard(ctx, x.ref); err != nil {
		return v, err
	}
	me, err := s.Me(ctx)
	if err != nil {
		return v, err
	}
	name := title(v.d.Title, dashboardKind, strconv.Itoa(v.d.ID))
	if err := mustOwn(me, "dashboard", name, v.d.Owners); err != nil {
		return v, err
	}
	page, err := s.Charts(ctx, superset.ChartFilter{Dashboard: v.d.ID}, 10*superset.PageCap)
	if err != nil {
		return v, err
	}
	v.charts = page.Rows
	if x.in.DeleteCharts {
		for _, c := range v.charts {
			switch {
			case len(c.Dashboards) > 1:
			case me.May("can_write on Chart") && me.MayChange(c.Owners):
				v.goes = append(v.goes, c)
			default:
				v.keeps = append(v.keeps, c)
			}
		}
	}
	v.reports, err = s.DashboardReports(ctx, v.d.ID)
	switch fault.KindOf(err) {
	case "":
	case fault.Missing, fault.Denied:
		v.blind = true
	default:
		return v, err
	}
	body, err := s.ExportDashboards(ctx, v.d.ID)
	v.backup, err = takeBackup(ctx, pack.Dashboard, body, err)
	return v, err
}

func (x *dashboardDeletion) preview(ctx context.Context, s *superset.Session) (tool.Preview, error) {
	v, err := x.look(ctx, s)
	if err != nil {
		return tool.Preview{}, err
	}
	name := title(v.d.Title, dashboardKind, strconv.Itoa(v.d.ID))
	defer v.close()
	p := tool.Preview{ConfirmPreview: chat.ConfirmPreview{
		Object: name, URL: s.PublicURL(superset.DashboardPath(v.d.ID, v.d.Slug)), ChangedOn: v.d.ChangedOn.String(), Owners: peopleNames(v.d.Owners),
		Diff:        []chat.Change{{Field: "dashboard", Before: object(name)}},
		BlastRadius: []chat.Dependent{},
		Notes:       []string{"This is permanent: Superset has no bin."},
	}}
	note := func(text string) { p.Notes = append(p.Notes, text) }
	for _, c := range v.goes {
		p.Diff = append(p.Diff, chat.Change{Field: fmt.Sprintf("charts/%d", c.ID), Before: object(c.Name)})
	}
	for _, c := range v.charts {
		d := chat.Dependent{Kind: "chart", ID: strconv.Itoa(c.ID), Title: c.Name, URL: s.PublicURL(superset.ChartPath(c.ID)), Note: "stays"}
		switch {
		case hasChart(v.goes, c.ID):
			d.Note = "is deleted too"
		case hasChart(v.keeps, c.ID):
			d.Note = "stays: the user may not delete it"
		case len(c.Dashboards) > 1:
			d.Note = "stays: it is on other dashboards"
		}
		p.BlastRadius = append(p.BlastRadius, d)
	}
	for _, r := range v.reports {
		p.BlastRadius = append(p.BlastRadius, chat.Dependent{Kind: "report", ID: strconv.Itoa(r.ID), Title: r.Name, Note: "Superset refuses the deletion while it exists"})
	}
	if v.blind {
		note("Whether alerts or reports hang on the dashboard is not known; if so, Superset refuses the deletion.")
	}
	note(x.promise(v.backup, ""))
	if v.d.ManagedExternally {
		note("The dashboard is managed by another system, which may make it anew.")
	}
	st := stateOf(v.d, v.charts)
	st.Extra = fmt.Sprint(chartIDs(v.goes), v.reports, v.without)
	p.Fingerprint = fingerprint(st)
	return p, nil
}

func hasChart(rows []superset.ChartRow, id int) bool {
	return slices.ContainsFunc(rows, func(c superset.ChartRow) bool { return c.ID == id })
}

func chartIDs(rows []superset.ChartRow) []int {
	out := []int{}
	for _, c := range rows {
		out = append(out, c.ID)
	}
	slices.Sort(out)
	return out
}

type deletionView struct {
	Deleted struct {
		Dashboard int   `json:"dashboard"`
		Charts    []int `json:"charts"`
	} `json:"deleted"`
	Backup string `json:"backup_artifact,omitempty"`
	Note   string `json:"note"`
}

func (x *dashboardDeletion) run(ctx context.Context, s *superset.Session) (tool.Result, error) {
	v, err := x.look(ctx, s)
	if err != nil {
		return tool.Result{}, err
	}
	name := title(v.d.Title, dashboardKind, strconv.Itoa(v.d.ID))
	defer v.close()
	r, err := x.secure(ctx, name, v.backup)
	if err != nil {
		return tool.Result{}, err
	}
	if err := s.DeleteDashboard(ctx, v.d.ID); err != nil {
		return tool.Result{}, err
	}
	_, err = s.Dashboard(ctx, superset.Ref{ID: v.d.ID})
	if err := gone("dashboard", err); err != nil {
		return tool.Result{}, err
	}
	var out deletionView
	out.Deleted.Dashboard, out.Deleted.Charts = v.d.ID, []int{}
	out.Note = "permanent: this Superset has no bin"
	if r.Artifact != nil {
		out.Backup = r.Artifact.ID
	}
	for _, c := range v.goes {
		if err := s.DeleteChart(ctx, c.ID); err != nil {
			r.Warnings = append(r.Warnings, fmt.Sprintf("The chart “%s” (id %d) was not surely deleted: %s", c.Name, c.ID, fault.Message(err)))
			continue
		}
		out.Deleted.Charts = append(out.Deleted.Charts, c.ID)
	}
	var kept []string
	for _, c := range v.keeps {
		kept = append(kept, c.Name)
	}
	if len(kept) > 0 {
		r.Warnings = append(r.Warnings, "These charts stay, since the user may not delete them: "+strings.Join(kept, ", ")+".")
	}
	r.Summary = "Deleted the dashboard “" + name + "”"
	if n := len(out.Deleted.Charts); n > 0 {
		r.Summary += " and " + count(n, "chart")
	}
	r.Summary += "."
	r.Data = object(out)
	return r, nil
}

func (x *dashboardDeletion) readBack(ctx context.Context, s *superset.Session, _ tool.Preview) (tool.Outcome, error) {
	_, err := s.Dashboard(ctx, x.ref)
	out, err := vanished("dashboard", err)
	if out.Outcome == chat.OutcomeApplied && x.in.DeleteCharts {
		out.Evidence += " Whether its charts were deleted too was not checked."
	}
	return out, err
}
