package supersettools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	"agentd/internal/chat"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

// A dashboardPlan is what an update of a dashboard would do.
type dashboardPlan struct {
	in     dashboardPatch
	before superset.Dashboard
	charts []superset.ChartRow // on the dashboard and visible
	add    []superset.ChartRow
	owners []superset.Label // wanted, with their names
	roles  []superset.Label
	me     superset.Me

	patch   superset.DashboardPatch
	changes []chat.Change
	blast   []chat.Dependent
	notes   []string
}

func (p *dashboardPlan) name() string {
	return title(p.before.Title, dashboardKind, superset.Ref{ID: p.before.ID}.String())
}

// work turns the wish into a patch for Superset, a diff and notes. What is there already is not sent.
func (p *dashboardPlan) work() error {
	b := p.before
	p.text("title", b.Title, p.in.Title, &p.patch.Title)
	p.text("slug", b.Slug, p.in.Slug, &p.patch.Slug)
	p.text("certified_by", b.CertifiedBy, p.in.CertifiedBy, &p.patch.CertifiedBy)
	p.text("certification_details", b.CertificationDetails, p.in.CertificationDetails, &p.patch.CertificationDetails)
	p.text("css", b.CSS, p.in.CSS, &p.patch.CSS)
	if v := p.in.Published; v != nil && *v != b.Published {
		p.patch.Published = v
		p.change("published", b.Published, *v)
		if *v {
			p.note("The dashboard becomes visible to everybody who may see its data.")
		} else {
			p.note("The dashboard becomes a draft: others no longer see it.")
		}
	}
	if p.patch.Slug != nil && b.Slug != "" {
		p.note("Links with the old slug stop working.")
	}
	if b.ManagedExternally {
		p.note("The dashboard is managed by another system, which may overwrite the change.")
	}
	if err := p.people(); err != nil {
		return err
	}
	if err := p.inside(); err != nil {
		return err
	}
	removalsFirst(p.changes)
	return nil
}

func (p *dashboardPlan) text(field, before string, want *string, to **string) {
	if want == nil || *want == before {
		return
	}
	*to = want
	c := chat.Change{Field: field}
	if before != "" {
		c.Before = object(before)
	}
	if *want != "" {
		c.After = object(*want)
	}
	p.changes = append(p.changes, c)
}

func (p *dashboardPlan) change(field string, before, after any) {
	p.changes = append(p.changes, chat.Change{Field: field, Before: object(before), After: object(after)})
}

func (p *dashboardPlan) note(text string) { p.notes = append(p.notes, text) }

// people plans owners and roles.
func (p *dashboardPlan) people() error {
	if w := p.in.OwnerIDs; w != nil && !sameIDs(*w, personIDs(p.before.Owners)) {
		mine := slices.ContainsFunc(p.before.Owners, func(o superset.Person) bool { return o.ID == p.me.ID })
		if mine && !p.me.Admin() && !slices.Contains(*w, p.me.ID) {
			return invalid("/patch/owner_ids", "must keep the user: Superset does not let an owner take himself off")
		}
		p.patch.Owners = w
		p.change("owners", peopleNames(p.before.Owners), labelNames(p.owners))
		p.note("The owners change: owners may change and delete the dashboard.")
	}
	if w := p.in.RoleIDs; w != nil && !sameIDs(*w, labelIDs(p.before.Roles)) {
		p.patch.Roles = w
		p.change("roles", labelNames(p.before.Roles), labelNames(p.roles))
		p.note("The roles change: where access by role is on, they decide who sees the dashboard.")
	}
	return nil
}

// inside plans what stands in json_metadata: the refresh time, and the charts by its member positions.
func (p *dashboardPlan) inside() error {
	m, err := parseMetadata(p.before.Metadata)
	if err != nil {
		if p.in.RefreshSeconds == nil && !p.in.movesCharts() {
			return nil
		}
		return err
	}
	changed := false
	if w := p.in.RefreshSeconds; w != nil && *w != m.refresh() {
		p.change("refresh_seconds", m.refresh(), *w)
		m["refresh_frequency"] = object(*w)
		changed = true
	}
	if p.in.movesCharts() {
		l, err := parseLayout(p.before.Layout)
		if err != nil {
			return err
		}
		moved, err := p.moveCharts(l, m)
		if err != nil {
			return err
		}
		if moved {
			m["positions"] = object(l)
			changed = true
		}
	}
	if changed {
		text := string(object(m))
		p.patch.Metadata = &text
	}
	return nil
}

func (p *dashboardPlan) moveCharts(l layout, m metadata) (moved bool, err error) {
	on := func(id int) (superset.ChartRow, bool) {
		i := slices.IndexFunc(p.charts, func(c superset.ChartRow) bool { return c.ID == id })
		if i < 0 {
			return superset.ChartRow{}, false
		}
		return p.charts[i], true
	}
	inLayout := func(id int) bool { return slices.ContainsFunc(l.charts(), func(c placed) bool { return c.ID == id }) }
	for _, id := range p.in.RemoveChartIDs {
		c, there := on(id)
		if !there && !inLayout(id) {
			continue // it is gone already
		}
		if err := l.remove(id); err != nil {
			return false, err
		}
		m.forget(id)
		moved = true
		name := title(c.Name, chartKind, superset.Ref{ID: id}.String())
		p.changes = append(p.changes, chat.Change{Field: fmt.Sprintf("charts/%d", id), Before: object(name)})
		p.blast = append(p.blast, chat.Dependent{Kind: "chart", ID: superset.Ref{ID: id}.String(), Title: name, Note: "is taken off the dashboard and stays as a chart"})
	}
	for i, id := range p.in.AddChartIDs {
		at := slices.IndexFunc(p.add, func(c superset.ChartRow) bool { return c.ID == id })
		if at < 0 {
			return false, invalid(fmt.Sprintf("/patch/add_chart_ids/%d", i), fmt.Sprintf("chart %d does not exist or is hidden from the user", id))
		}
		c := p.add[at]
		if _, there := on(id); there && inLayout(id) {
			continue
		}
		if err := l.add(c.ID, c.UUID, c.Name); err != nil {
			return false, err
		}
		moved = true
		p.changes = append(p.changes, chat.Change{Field: fmt.Sprintf("charts/%d", id), After: object(c.Name)})
	}
	return moved, nil
}

// A dashboardState is what must still be true when a card is approved.
type dashboardState struct {
	Title, Slug, CertifiedBy, CertificationDetails, CSS string
	Published                                           bool
	Owners, Roles, Tags, Charts                         []int
	ChangedOn, Metadata, Layout                         string
	Extra                                               string
}

func stateOf(d superset.Dashboard, rows []superset.ChartRow) dashboardState {
	ids := []int{}
	for _, c := range rows {
		ids = append(ids, c.ID)
	}
	sort.Ints(ids)
	return dashboardState{
		Title: d.Title, Slug: d.Slug, CertifiedBy: d.CertifiedBy, CertificationDetails: d.CertificationDetails, CSS: d.CSS, Published: d.Published,
		Owners: personIDs(d.Owners), Roles: labelIDs(d.Roles), Tags: labelIDs(d.Tags), Charts: ids,
		ChangedOn: d.ChangedOn.String(), Metadata: d.Metadata, Layout: d.Layout,
	}
}

func (p *dashboardPlan) preview(s *superset.Session) tool.Preview {
	return tool.Preview{
		ConfirmPreview: chat.ConfirmPreview{
			Object: p.name(), URL: s.PublicURL(superset.DashboardPath(p.before.ID, p.before.Slug)),
			Diff: orEmpty(p.changes), BlastRadius: orEmpty(p.blast), ChangedOn: p.before.ChangedOn.String(),
			Owners: peopleNames(p.before.Owners), Notes: p.notes,
		},
		Fingerprint: fingerprint(stateOf(p.before, p.charts)),
	}
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// compare reads the dashboard and names what does not have the wanted value.
func (p *dashboardPlan) compare(ctx context.Context, s *superset.Session) (after superset.Dashboard, left []string, err error) {
	if after, err = s.Dashboard(ctx, superset.Ref{ID: p.before.ID}); err != nil {
		return after, nil, err
	}
	check := func(field string, asked, ok bool) {
		if asked && !ok {
			left = append(left, field)
		}
	}
	same := func(want *string, have string) bool { return want == nil || *want == have }
	w := p.in
	check("title", w.Title != nil, same(w.Title, after.Title))
	check("slug", w.Slug != nil, same(w.Slug, after.Slug))
	check("published", w.Published != nil, w.Published == nil || *w.Published == after.Published)
	check("certified_by", w.CertifiedBy != nil, same(w.CertifiedBy, after.CertifiedBy))
	check("certification_details", w.CertificationDetails != nil, same(w.CertificationDetails, after.CertificationDetails))
	check("css", w.CSS != nil, same(w.CSS, after.CSS))
	check("owners", w.OwnerIDs != nil, sameIDs(deref(w.OwnerIDs), personIDs(after.Owners)))
	check("roles", w.RoleIDs != nil, sameIDs(deref(w.RoleIDs), labelIDs(after.Roles)))
	if w.RefreshSeconds != nil {
		m, err := parseMetadata(after.Metadata)
		check("refresh_seconds", true, err == nil && m.refresh() == *w.RefreshSeconds)
	}
	if w.movesCharts() {
		page, err := s.Charts(ctx, superset.ChartFilter{Dashboard: after.ID}, 10*superset.PageCap)
		if err != nil {
			return after, nil, err
		}
		on := func(id int) bool {
			return slices.ContainsFunc(page.Rows, func(c superset.ChartRow) bool { return c.ID == id })
		}
		for _, id := range w.RemoveChartIDs {
			check(fmt.Sprintf("charts/%d", id), true, !on(id))
		}
		for _, id := range w.AddChartIDs {
			check(fmt.Sprintf("charts/%d", id), true, on(id))
		}
	}
	return after, left, nil
}

func (p *dashboardPlan) fields() []string {
	var out []string
	for _, c := range p.changes {
		out = append(out, c.Field)
	}
	return out
}

func (p *dashboardPlan) result(s *superset.Session, d superset.Dashboard, summary string) tool.Result {
	v := header(s, d)
	return tool.Result{
		Summary: summary,
		Data: object(struct {
			Changes   []changeView  `json:"changes"`
			Dashboard dashboardView `json:"dashboard"`
		}{changeViews(p.changes), v}),
		Links:    []chat.Link{{Title: v.Title, URL: v.URL}},
		Warnings: p.notes,
	}
}

type changeView struct {
	Field  string          `json:"field"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

func changeViews(changes []chat.Change) []changeView {
	out := []changeView{}
	for _, c := range changes {
		v := changeView{c.Field, c.Before, c.After}
		if len(v.Before) == 0 {
			v.Before = json.RawMessage("null")
		}
		if len(v.After) == 0 {
			v.After = json.RawMessage("null")
		}
		out = append(out, v)
	}
	return out
}

func sameIDs(a, b []int) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	sort.Ints(a)
	sort.Ints(b)
	return slices.Equal(a, b)
}
