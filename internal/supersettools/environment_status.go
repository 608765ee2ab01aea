package supersettools

import (
	"context"
	"fmt"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

type environmentStatusArgs struct {
	EnvID string `json:"env_id,omitempty" jsonschema:"description=Environment; default: the current one"`
}

// staleAfter is when an unpublished dashboard counts as forgotten.
const staleAfter = 180 * 24 * time.Hour

type statusView struct {
	ID        string          `json:"env_id"`
	Title     string          `json:"title"`
	Class     string          `json:"class"`
	Up        bool            `json:"up"`
	Version   string          `json:"version,omitempty"`
	User      string          `json:"superset_user,omitempty"`
	Roles     []string        `json:"roles,omitempty"`
	Counts    map[string]*int `json:"counts,omitempty"` // null: the user may not list them
	Databases []databaseState `json:"databases,omitempty"`
	Failing   *[]reportView   `json:"failing_reports,omitempty"` // absent: not known
	Drafts    []staleView     `json:"old_drafts,omitempty"`
	DraftsAll int             `json:"old_drafts_total"`
}

type databaseState struct {
	ID       int    `json:"id"`
	Name     string `json:"name"`
	Backend  string `json:"backend"`
	AllowDML bool   `json:"allow_dml"`
	SQLLab   bool   `json:"expose_in_sqllab"`
}

type staleView struct {
	ID      int           `json:"id"`
	Title   string        `json:"title"`
	Changed superset.Time `json:"changed"`
	Owners  []string      `json:"owners"`
	URL     string        `json:"url"`
}

func environmentStatus(d Deps) tool.Tool {
	t := define(d, "environment_status", tool.Read, []string{"can_read on Dashboard"}, nil, func(o op, _ environmentStatusArgs) (tool.Bound, error) {
		return tool.Bound{Risk: tool.Read, Run: o.status}, nil
	})
	t.Timeout = time.Minute
	return t
}

// status asks part by part; a part that the user may not see is left out and said so.
func (o op) status(ctx context.Context) (tool.Result, error) {
	s, err := o.session()
	if err != nil {
		return tool.Result{}, err
	}
	v := statusView{ID: o.env.ID, Title: o.env.Title, Class: o.env.Class, Counts: map[string]*int{}}
	r := tool.Result{Links: []chat.Link{{Title: o.env.Title, URL: s.PublicURL("/superset/welcome/")}}}
	warn := func(text string) { r.Warnings = append(r.Warnings, text) }
	switch v.Version, err = s.Version(ctx); fault.KindOf(err) {
	case "":
		v.Up = true
	case fault.Timeout, fault.Canceled:
		return tool.Result{}, err
	default:
		// That it is not there is the answer, not a failure.
		r.Summary = "Superset of “" + o.env.Title + "” does not answer: " + fault.Message(err)
		r.Data = object(v)
		return r, nil
	}
	me, err := s.Me(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	v.User, v.Roles = me.User, me.Roles
	one := superset.Paging{Size: 1}
	for _, part := range []struct {
		name  string
		count func() (int, error)
	}{
		{"dashboards", func() (int, error) { p, err := s.Dashboards(ctx, superset.DashboardFilter{}, one); return p.Total, err }},
		{"charts", func() (int, error) { return s.CountCharts(ctx) }},
		{"datasets", func() (int, error) { p, err := s.Datasets(ctx, superset.DatasetFilter{}, one); return p.Total, err }},
	} {
		n, err := part.count()
		switch fault.KindOf(err) {
		case "":
			v.Counts[part.name] = &n
		case fault.Denied:
			v.Counts[part.name] = nil
			warn("The user may not list " + part.name + ".")
		default:
			return tool.Result{}, err
		}
	}
	if err := o.statusDatabases(ctx, s, &v, warn); err != nil {
		return tool.Result{}, err
	}
	if err := o.statusReports(ctx, s, &v, warn); err != nil {
		return tool.Result{}, err
	}
	if err := o.statusDrafts(ctx, s, &v, time.Now()); err != nil {
		return tool.Result{}, err
	}
	r.Data = object(v)
	r.Summary = fmt.Sprintf("Superset %s of “%s” answers", v.Version, o.env.Title)
	if n := v.Counts["dashboards"]; n != nil {
		r.Summary += fmt.Sprintf(": %s, %d of them drafts that nobody changed for half a year", count(*n, "dashboard"), v.DraftsAll)
	}
	if v.Failing != nil && len(*v.Failing) > 0 {
		r.Summary += fmt.Sprintf("; %s failing", count(len(*v.Failing), "report"))
	}
	r.Summary += "."
	return r, nil
}

func (op) statusDatabases(ctx context.Context, s *superset.Session, v *statusView, warn func(string)) error {
	all, err := s.Databases(ctx)
	if fault.KindOf(err) == fault.Denied {
		warn("The user may not list databases.")
		return nil
	}
	for _, d := range all {
		v.Databases = append(v.Databases, databaseState{d.ID, d.Name, d.Backend, d.AllowDML, d.SQLLab})
	}
	return err
}

func (op) statusReports(ctx context.Context, s *superset.Session, v *statusView, warn func(string)) error {
	failing, err := s.FailingReports(ctx)
	switch fault.KindOf(err) {
	case "":
		list := []reportView{}
		for _, p := range failing {
			list = append(list, reportView(p))
		}
		v.Failing = &list
	case fault.Missing:
		warn("Alerts and reports are switched off.")
	case fault.Denied:
		warn("The user may not list alerts and reports.")
	default:
		return err
	}
	return nil
}

// statusDrafts lists the oldest drafts. They come ordered by age, so what is too young ends the list.
func (op) statusDrafts(ctx context.Context, s *superset.Session, v *statusView, now time.Time) error {
	no := false
	page, err := s.Dashboards(ctx, superset.DashboardFilter{Published: &no}, superset.Paging{By: "changed_on"})
	if fault.KindOf(err) == fault.Denied {
		return nil
	}
	if err != nil {
		return err
	}
	for _, d := range page.Rows {
		if now.Sub(d.ChangedOn.Time) < staleAfter {
			break
		}
		v.DraftsAll++
		if len(v.Drafts) < 20 {
			v.Drafts = append(v.Drafts, staleView{d.ID, title(d.Title, dashboardKind, superset.Ref{ID: d.ID}.String()), d.ChangedOn, peopleNames(d.Owners),
				s.PublicURL(superset.DashboardPath(d.ID, d.Slug))})
		}
	}
	return nil
}
