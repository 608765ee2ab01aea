package supersettools

import (
	"context"
	"fmt"
	"strings"

	"agentd/internal/superset"
	"agentd/internal/tool"
)

type updateDashboardArgs struct {
	EnvID     string         `json:"env_id,omitempty" jsonschema:"description=Environment; default: the current one"`
	Dashboard string         `json:"dashboard" jsonschema:"minLength=1,maxLength=2000,description=Id\\, uuid\\, slug or address"`
	Patch     dashboardPatch `json:"patch" jsonschema:"description=Only what changes"`
	DryRun    bool           `json:"dry_run,omitempty" jsonschema:"description=Only show what would change"`
	Expected  string         `json:"expected_changed_on,omitempty" jsonschema:"maxLength=40,description=changed_on when it was read"`
}

type dashboardPatch struct {
	Title                *string `json:"title,omitempty" jsonschema:"minLength=1,maxLength=500,description=New title"`
	Slug                 *string `json:"slug,omitempty" jsonschema:"maxLength=255,description=New slug"`
	Published            *bool   `json:"published,omitempty" jsonschema:"description=false: draft"`
	OwnerIDs             *[]int  `json:"owner_ids,omitempty" jsonschema:"maxItems=50,description=All owners from now on"`
	RoleIDs              *[]int  `json:"role_ids,omitempty" jsonschema:"maxItems=50,description=All roles from now on"`
	CertifiedBy          *string `json:"certified_by,omitempty" jsonschema:"maxLength=500,description=Who vouches"`
	CertificationDetails *string `json:"certification_details,omitempty" jsonschema:"maxLength=5000,description=What for"`
	CSS                  *string `json:"css,omitempty" jsonschema:"maxLength=50000,description=Whole stylesheet"`
	RefreshSeconds       *int    `json:"refresh_seconds,omitempty" jsonschema:"minimum=0,maximum=86400,description=0: never"`
	RemoveChartIDs       []int   `json:"remove_chart_ids,omitempty" jsonschema:"maxItems=100,description=Charts to take off"`
	AddChartIDs          []int   `json:"add_chart_ids,omitempty" jsonschema:"maxItems=20,description=Charts to put on"`
}

func updateDashboard(d Deps) tool.Tool {
	return define(d, "update_dashboard", tool.Write, []string{"can_read on Dashboard", "can_write on Dashboard"}, []string{"dashboard"},
		func(o op, in updateDashboardArgs) (tool.Bound, error) {
			ref, err := o.ref("/dashboard", dashboardKind, in.Dashboard)
			if err != nil {
				return tool.Bound{}, err
			}
			if err := in.Patch.check(); err != nil {
				return tool.Bound{}, err
			}
			u := dashboardUpdate{o: o, ref: ref, in: in}
			if in.DryRun {
				return o.reading(u.dryRun)
			}
			return o.writing(u, "Open the dashboard in Superset and look whether its properties are the new ones."), nil
		})
}

// check refuses what Superset would take and people would regret.
func (p dashboardPatch) check() error {
	if p.Title == nil && p.Slug == nil && p.Published == nil && p.OwnerIDs == nil && p.RoleIDs == nil && p.CertifiedBy == nil &&
		p.CertificationDetails == nil && p.CSS == nil && p.RefreshSeconds == nil && len(p.RemoveChartIDs) == 0 && len(p.AddChartIDs) == 0 {
		return invalid("/patch", "must change something")
	}
	if p.Title != nil && strings.TrimSpace(*p.Title) == "" {
		return invalid("/patch/title", "must not be blank")
	}
	if s := p.Slug; s != nil && *s != "" {
		if !slugPattern.MatchString(*s) {
			return invalid("/patch/slug", "must be made of letters, digits, - and _")
		}
		if strings.Trim(*s, "0123456789") == "" {
			return invalid("/patch/slug", "must not be a number: Superset would take it for an id and never find it")
		}
	}
	for _, list := range []struct {
		at  string
		ids []int
	}{{"/patch/owner_ids", deref(p.OwnerIDs)}, {"/patch/role_ids", deref(p.RoleIDs)}, {"/patch/remove_chart_ids", p.RemoveChartIDs},
		{"/patch/add_chart_ids", append(append([]int{}, p.AddChartIDs...), p.RemoveChartIDs...)}} {
		seen := map[int]bool{}
		for _, id := range list.ids {
			if id <= 0 || seen[id] {
				return invalid(list.at, "must be positive ids, none of them twice")
			}
			seen[id] = true
		}
	}
	return nil
}

func deref[T any](p *[]T) []T {
	if p == nil {
		return nil
	}
	return *p
}

// movesCharts reports whether the layout changes.
func (p dashboardPatch) movesCharts() bool { return len(p.RemoveChartIDs)+len(p.AddChartIDs) > 0 }

// A dashboardUpdate is one call of update_dashboard.
type dashboardUpdate struct {
	o   op
	ref superset.Ref
	in  updateDashboardArgs
}

// plan reads the dashboard and works out what would change; nothing is written.
func (u dashboardUpdate) plan(ctx context.Context, s *superset.Session) (dashboardPlan, error) {
	p := dashboardPlan{in: u.in.Patch}
	var err error
	if p.before, err = s.Dashboard(ctx, u.ref); err != nil {
		return p, err
	}
	if err := sameTime("dashboard", u.in.Expected, p.before.ChangedOn); err != nil {
		return p, err
	}
	page, err := s.Charts(ctx, superset.ChartFilter{Dashboard: p.before.ID}, 10*superset.PageCap)
	if err != nil {
		return p, err
	}
	p.charts = page.Rows
	if len(p.in.AddChartIDs) > 0 {
		add, err := s.Charts(ctx, superset.ChartFilter{IDs: p.in.AddChartIDs}, len(p.in.AddChartIDs))
		if err != nil {
			return p, err
		}
		p.add = add.Rows
	}
	if p.me, err = s.Me(ctx); err != nil {
		return p, err
	}
	if p.in.OwnerIDs != nil {
		if p.owners, err = s.Owners(ctx, *p.in.OwnerIDs); err != nil {
			return p, err
		}
	}
	if p.in.RoleIDs != nil {
		if p.roles, err = s.Roles(ctx, *p.in.RoleIDs); err != nil {
			return p, err
		}
	}
	return p, p.work()
}

func (u dashboardUpdate) preview(ctx context.Context, s *superset.Session) (tool.Preview, error) {
	p, err := u.plan(ctx, s)
	if err != nil {
		return tool.Preview{}, err
	}
	if err := mustOwn(p.me, "dashboard", p.name(), p.before.Owners); err != nil {
		return tool.Preview{}, err
	}
	return p.preview(s), nil
}

func (u dashboardUpdate) dryRun(ctx context.Context, s *superset.Session) (tool.Result, error) {
	p, err := u.plan(ctx, s)
	if err != nil {
		return tool.Result{}, err
	}
	r := p.result(s, p.before, fmt.Sprintf("Nothing was written. “%s” would change in %s.", p.name(), count(len(p.changes), "field")))
	if !p.me.MayChange(p.before.Owners) {
		r.Warnings = append(r.Warnings, "The user is no owner of this dashboard, so Superset would refuse the change.")
	}
	return r, nil
}

func (u dashboardUpdate) run(ctx context.Context, s *superset.Session) (tool.Result, error) {
	p, err := u.plan(ctx, s)
	if err != nil {
		return tool.Result{}, err
	}
	if len(p.changes) == 0 {
		return p.result(s, p.before, "“"+p.name()+"” has these properties already; nothing was written."), nil
	}
	if err := s.UpdateDashboard(ctx, p.before.ID, p.patch); err != nil {
		return tool.Result{}, err
	}
	after, left, err := p.compare(ctx, s)
	if err != nil {
		return tool.Result{}, afterWrite(err)
	}
	if len(left) > 0 {
		return tool.Result{}, notTaken(left)
	}
	return p.result(s, after, fmt.Sprintf("Changed “%s”: %s.", p.name(), strings.Join(p.fields(), ", "))), nil
}

func (u dashboardUpdate) readBack(ctx context.Context, s *superset.Session, shown tool.Preview) (tool.Outcome, error) {
	d, err := s.Dashboard(ctx, u.ref)
	if err != nil {
		return tool.Outcome{}, err
	}
	p := dashboardPlan{in: u.in.Patch, before: d, changes: shown.Diff}
	after, left, err := p.compare(ctx, s)
	if err != nil {
		return tool.Outcome{}, err
	}
	r := p.result(s, after, "“"+p.name()+"” has the new properties.")
	return outcome("dashboard", left, shown.Diff, &r), nil
}
