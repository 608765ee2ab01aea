package supersettools

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"agentd/internal/chat"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

// A datasetPlan is what an update of a dataset would do.
type datasetPlan struct {
	before  superset.Dataset
	me      superset.Me
	patch   superset.DatasetPatch
	changes []chat.Change
	blast   []chat.Dependent
	notes   []string
}

func (u datasetUpdate) plan(ctx context.Context, s *superset.Session) (datasetPlan, error) {
	var p datasetPlan
	var err error
	if p.before, err = s.Dataset(ctx, u.ref); err != nil {
		return p, err
	}
	if err := sameTime("dataset", u.in.Expected, p.before.ChangedOn); err != nil {
		return p, err
	}
	if p.me, err = s.Me(ctx); err != nil {
		return p, err
	}
	w := u.in.Patch
	p.patch.AlwaysFilterByTime = p.before.AlwaysFilterByTime
	if err := p.settings(ctx, s, w); err != nil {
		return p, err
	}
	if err := p.metrics(w.Metrics); err != nil {
		return p, err
	}
	if err := p.columns(w.Columns); err != nil {
		return p, err
	}
	removalsFirst(p.changes)
	return p, p.spread(ctx, s)
}

func (p *datasetPlan) change(field string, before, after any) {
	c := chat.Change{Field: field}
	if before != nil && before != "" {
		c.Before = object(before)
	}
	if after != nil && after != "" {
		c.After = object(after)
	}
	p.changes = append(p.changes, c)
}

func (p *datasetPlan) note(text string) { p.notes = append(p.notes, text) }

func (p *datasetPlan) settings(ctx context.Context, s *superset.Session, w datasetPatch) error {
	b := p.before
	if w.Description != nil && *w.Description != b.Description {
		p.patch.Description = w.Description
		p.change("description", b.Description, *w.Description)
	}
	if w.SQL != nil && *w.SQL != b.SQL {
		if b.Kind != "virtual" {
			return invalid("/patch/sql", "belongs to virtual datasets only; “"+b.Name+"” is a table")
		}
		p.patch.SQL = w.SQL
		p.change("sql", b.SQL, *w.SQL)
		p.note("Superset does not try the SQL before it takes it; the columns are read anew afterwards.")
	}
	if v := w.CacheTimeout; v != nil && (b.CacheTimeout == nil || *v != *b.CacheTimeout) {
		p.patch.CacheTimeout = v
		c := chat.Change{Field: "cache_timeout", After: object(*v)}
		if b.CacheTimeout != nil {
			c.Before = object(*b.CacheTimeout)
		}
		p.changes = append(p.changes, c)
	}
	if v := w.MainDttm; v != nil && *v != b.MainDttm {
		if *v != "" && !slices.ContainsFunc(b.Columns, func(c superset.Column) bool { return c.Name == *v }) {
			return invalid("/patch/main_dttm_col", "must be a column of the dataset")
		}
		p.patch.MainDttm = v
		p.change("main_dttm_col", b.MainDttm, *v)
	}
	if v := w.OwnerIDs; v != nil && !sameIDs(*v, personIDs(b.Owners)) {
		mine := slices.ContainsFunc(b.Owners, func(o superset.Person) bool { return o.ID == p.me.ID })
		if mine && !p.me.Admin() && !slices.Contains(*v, p.me.ID) {
			return invalid("/patch/owner_ids", "must keep the user: Superset does not let an owner take himself off")
		}
		names, err := s.Owners(ctx, *v)
		if err != nil {
			return err
		}
		p.patch.Owners = v
		p.change("owners", peopleNames(b.Owners), labelNames(names))
		p.note("The owners change: owners may change and delete the dataset.")
	}
	if b.ManagedExternally {
		p.note("The dataset is managed by another system, which may overwrite the change.")
	}
	return nil
}

// metrics plans the whole list: what a PUT does not name by its id is deleted.
func (p *datasetPlan) metrics(want []metricPatch) error {
	if len(want) == 0 {
		return nil
	}
	list := []superset.MetricPatch{}
	moved := false
	for _, m := range p.before.Metrics {
		list = append(list, superset.MetricPatch{ID: m.ID, Name: m.Name, Expression: m.Expression})
	}
	for i, w := range want {
		at := slices.IndexFunc(list, func(m superset.MetricPatch) bool { return m.Name == w.Name })
		field := fmt.Sprintf("/patch/metrics/%d/metric_name", i)
		switch {
		case w.Op == "add" && at >= 0:
			return invalid(field, "is taken; use op update")
		case w.Op == "update" && at < 0:
			return invalid(field, "is no metric of the dataset")
		case w.Op == "delete" && at < 0:
			continue // it is gone already
		case w.Op == "delete":
			b := p.before.Metrics[slices.IndexFunc(p.before.Metrics, func(m superset.Metric) bool { return m.Name == w.Name })]
			list = slices.Delete(list, at, at+1)
			p.change("metrics/"+w.Name, b.Expression, nil)
		case w.Op == "add":
			list = append(list, superset.MetricPatch{Name: w.Name, Expression: *w.Expression, VerboseName: w.VerboseName, Format: w.Format})
			p.change("metrics/"+w.Name, nil, *w.Expression)
		default:
			b := p.before.Metrics[slices.IndexFunc(p.before.Metrics, func(m superset.Metric) bool { return m.Name == w.Name })]
			n := len(p.changes)
			if w.Expression != nil && *w.Expression != b.Expression {
				list[at].Expression = *w.Expression
				p.change("metrics/"+w.Name+"/expression", b.Expression, *w.Expression)
			}
			p.part("metrics/"+w.Name+"/verbose_name", b.VerboseName, w.VerboseName, &list[at].VerboseName)
			p.part("metrics/"+w.Name+"/d3format", b.Format, w.Format, &list[at].Format)
			if len(p.changes) == n {
				continue
			}
		}
		moved = true
	}
	if moved {
		p.patch.Metrics = &list
	}
	return nil
}

// part plans one text of a metric or column.
func (p *datasetPlan) part(field, before string, want *string, to **string) {
	if want != nil && *want != before {
		*to = want
		p.change(field, before, *want)
	}
}

// columns plans the whole list, like metrics.
func (p *datasetPlan) columns(want []columnPatch) error {
	if len(want) == 0 {
		return nil
	}
	list := []superset.ColumnPatch{}
	for _, c := range p.before.Columns {
		list = append(list, superset.ColumnPatch{ID: c.ID, Name: c.Name})
	}
	n := len(p.changes)
	for i, w := range want {
		at := slices.IndexFunc(p.before.Columns, func(c superset.Column) bool { return c.Name == w.Name })
		if at < 0 {
			if w.Expression == nil || *w.Expression == "" {
				return invalid(fmt.Sprintf("/patch/columns/%d/column_name", i), "is no column of the dataset; a new one is a calculated one and needs an expression")
			}
			list = append(list, superset.ColumnPatch{Name: w.Name, VerboseName: w.VerboseName, Description: w.Description, Expression: w.Expression,
				Time: w.Time, GroupBy: w.GroupBy, Filterable: w.Filterable})
			p.change("columns/"+w.Name, nil, *w.Expression)
			continue
		}
		b, f := p.before.Columns[at], "columns/"+w.Name
		if b.Expression == "" && w.Expression != nil && *w.Expression != "" {
			return invalid(fmt.Sprintf("/patch/columns/%d/expression", i), "cannot be given to a column of the table; add a calculated one under another name")
		}
		p.part(f+"/expression", b.Expression, w.Expression, &list[at].Expression)
		p.part(f+"/verbose_name", b.VerboseName, w.VerboseName, &list[at].VerboseName)
		p.part(f+"/description", b.Description, w.Description, &list[at].Description)
		for _, flag := range []struct {
			name   string
			before bool
			want   *bool
			to     **bool
		}{{"is_dttm", b.Time, w.Time, &list[at].Time}, {"groupby", b.GroupBy, w.GroupBy, &list[at].GroupBy}, {"filterable", b.Filterable, w.Filterable, &list[at].Filterable}} {
			if flag.want != nil && *flag.want != flag.before {
				*flag.to = flag.want
				p.change(f+"/"+flag.name, flag.before, *flag.want)
			}
		}
	}
	if len(p.changes) > n {
		p.patch.Columns = &list
	}
	return nil
}

// spread finds the charts that change with the dataset: all of them with its SQL, else those that use what changes.
func (p *datasetPlan) spread(ctx context.Context, s *superset.Session) error {
	if p.patch.SQL == nil && p.patch.Metrics == nil && p.patch.Columns == nil {
		return nil
	}
	page, err := s.Charts(ctx, superset.ChartFilter{Dataset: p.before.ID}, usageCap)
	if err != nil {
		return err
	}
	for _, c := range page.Rows {
		p.blast = append(p.blast, chat.Dependent{Kind: "chart", ID: strconv.Itoa(c.ID), Title: c.Name, URL: s.PublicURL(superset.ChartPath(c.ID)), Note: "uses the dataset"})
	}
	if page.Total > len(page.Rows) {
		p.note(fmt.Sprintf("%d charts use the dataset; %d are listed.", page.Total, len(page.Rows)))
	}
	return nil
}

func (p *datasetPlan) result(s *superset.Session, d superset.Dataset, summary string) tool.Result {
	link := s.PublicURL(superset.DatasetPath(d.ID))
	return tool.Result{
		Summary: summary,
		Data: object(struct {
			Changes []changeView  `json:"changes"`
			Dataset datasetName   `json:"dataset"`
			Changed superset.Time `json:"changed_on"`
			Charts  int           `json:"charts_affected"`
		}{changeViews(p.changes), datasetName{d.ID, d.Name}, d.ChangedOn, len(p.blast)}),
		Links: []chat.Link{{Title: d.Name, URL: link}}, Warnings: p.notes,
	}
}
