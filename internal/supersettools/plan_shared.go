package supersettools

import (
	"context"
	"fmt"
	"slices"

	pack "agentd/internal/bundle"
	"agentd/internal/superset"
)

// sharedCap is how many charts of one dataset or dashboard are looked at.
const sharedCap = 5 * superset.PageCap

// shared finds what changes in the target although nobody named it: dashboards that show the same charts, charts on the
// same datasets, charts that leave a dashboard.
func (p *plan) shared(ctx context.Context) error {
	var ours []int // dashboards of the plan
	for _, i := range p.items {
		if i.kind == pack.Dashboard && i.there != nil {
			ours = append(ours, i.there.id)
		}
	}
	for _, i := range p.items {
		var err error
		switch {
		case i.kind == pack.Dataset && i.action == actCreate:
			p.warn(fmt.Sprintf("The dataset “%s” is new in %s: no row-level rule covers it there yet.", i.title, p.target.ID))
		case i.kind == pack.Dataset && i.action == actUpdate:
			err = p.along(ctx, superset.ChartFilter{Dataset: i.there.id}, ours, "the dataset “"+i.title+"”")
		case i.kind == pack.Dashboard && i.there != nil && i.action == actUpdate:
			err = p.leaving(ctx, i)
		}
		if err != nil {
			return err
		}
	}
	var ids []int
	for _, i := range p.items {
		if i.kind == pack.Chart && i.action == actUpdate {
			ids = append(ids, i.there.id)
		}
	}
	for part := range slices.Chunk(ids, 100) {
		if err := p.along(ctx, superset.ChartFilter{IDs: part}, ours, "charts of this migration"); err != nil {
			return err
		}
	}
	return nil
}

// along notes the dashboards, but our own, that show any of some charts. Superset names drafts of others here, too:
// these are counted and not named.
func (p *plan) along(ctx context.Context, f superset.ChartFilter, ours []int, why string) error {
	page, err := p.dst.Charts(ctx, f, sharedCap)
	if err != nil {
		return err
	}
	var ids []int
	for _, c := range page.Rows {
		for _, d := range c.Dashboards {
			if !slices.Contains(ours, d.ID) && !slices.Contains(ids, d.ID) {
				ids = append(ids, d.ID)
			}
		}
	}
	hidden := len(ids)
	for part := range slices.Chunk(ids, 100) {
		rows, err := p.dst.DashboardsUpTo(ctx, superset.DashboardFilter{IDs: part}, superset.Paging{By: "dashboard_title"}, len(part))
		if err != nil {
			return err
		}
		hidden -= len(rows.Rows)
		for _, d := range rows.Rows {
			if !slices.ContainsFunc(p.affected, func(a affected) bool { return a.id == d.ID }) {
				p.affected = append(p.affected, affected{d.ID, d.Title, "shows " + why})
			}
		}
	}
	if hidden > 0 {
		p.warn(fmt.Sprintf("%s that the user does not see change too, since they show %s.", count(hidden, "other dashboard"), why))
	}
	return nil
}

// leaving names the charts that the target's dashboard has and the source's has not.
func (p *plan) leaving(ctx context.Context, i *item) error {
	page, err := p.dst.Charts(ctx, superset.ChartFilter{Dashboard: i.there.id}, sharedCap)
	if err != nil {
		return err
	}
	for _, c := range page.Rows {
		if !slices.Contains(i.object.Charts, c.UUID) {
			p.warn(fmt.Sprintf("The chart “%s” (%d) leaves the dashboard “%s” of %s; the chart itself stays.", c.Name, c.ID, i.title, p.target.ID))
		}
	}
	return nil
}
