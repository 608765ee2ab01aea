package supersettools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agentd/internal/chat"
	"agentd/internal/superset"
)

// A chartPlan is what an update of a chart would do.
type chartPlan struct {
	before  superset.Chart
	row     superset.ChartRow
	me      superset.Me
	seen    []useView // dashboards that the user sees it on
	patch   superset.ChartPatch
	changes []chat.Change
	blast   []chat.Dependent
	notes   []string
}

func (p *chartPlan) name() string {
	return title(p.before.Name, chartKind, superset.Ref{ID: p.before.ID}.String())
}

func (u chartUpdate) plan(ctx context.Context, s *superset.Session) (chartPlan, error) {
	var p chartPlan
	var err error
	if p.before, err = s.Chart(ctx, u.ref); err != nil {
		return p, err
	}
	if p.row, err = s.ChartRow(ctx, superset.Ref{ID: p.before.ID}); err != nil {
		return p, err
	}
	if err := sameTime("chart", u.in.Expected, p.row.ChangedOn); err != nil {
		return p, err
	}
	if p.me, err = s.Me(ctx); err != nil {
		return p, err
	}
	if p.seen, err = seenOn(ctx, s, p.row); err != nil {
		return p, err
	}
	w := u.in.Patch
	p.text("name", p.before.Name, w.Name, &p.patch.Name)
	p.text("description", p.before.Description, w.Description, &p.patch.Description)
	if v := w.CacheTimeout; v != nil && (p.before.CacheTimeout == nil || *v != *p.before.CacheTimeout) {
		p.patch.CacheTimeout = v
		p.changes = append(p.changes, chat.Change{Field: "cache_timeout", Before: object(p.before.CacheTimeout), After: object(*v)})
	}
	if err := u.query(ctx, s, &p); err != nil {
		return p, err
	}
	if err := u.dashboards(ctx, s, &p); err != nil {
		return p, err
	}
	if p.before.Managed {
		p.notes = append(p.notes, "The chart is managed by another system, which may overwrite the change.")
	}
	removalsFirst(p.changes)
	for _, d := range p.seen {
		p.blast = append(p.blast, chat.Dependent{Kind: "dashboard", ID: superset.Ref{ID: d.ID}.String(), Title: d.Title,
			URL: s.PublicURL(superset.DashboardPath(d.ID, "")), Note: "shows the chart"})
	}
	if hidden := len(p.row.Dashboards) - len(p.seen); hidden > 0 {
		p.notes = append(p.notes, fmt.Sprintf("%s that the user cannot see shows the chart too.", count(hidden, "dashboard")))
	}
	return p, nil
}

func (p *chartPlan) text(field, before string, want *string, to **string) {
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

// query plans parameters and dataset, which live in params and once more in the saved query.
func (u chartUpdate) query(ctx context.Context, s *superset.Session, p *chartPlan) error {
	dataset := 0
	if w := u.in.Patch.DatasetID; w != nil && *w != p.before.DatasetID {
		dataset = *w
	}
	if dataset == 0 && u.params == nil {
		return nil
	}
	params, queryContext, err := patchChart(p.before.Params, p.before.QueryContext, u.params, dataset)
	if err != nil {
		return err
	}
	var old map[string]json.RawMessage
	_ = json.Unmarshal([]byte(p.before.Params), &old) // patchChart has read it
	keys := []string{}
	for k, v := range u.params {
		if string(old[k]) != string(v) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		c := chat.Change{Field: "params/" + k, Before: old[k]}
		if v := u.params[k]; string(v) != "null" {
			c.After = v
		}
		p.changes = append(p.changes, c)
	}
	if dataset > 0 {
		d, err := s.Dataset(ctx, superset.Ref{ID: dataset})
		if isMissing(err) {
			return invalid("/patch/dataset_id", fmt.Sprintf("dataset %d does not exist or is hidden from the user", dataset))
		} else if err != nil {
			return err
		}
		q, _ := parseQuery(queryContext)
		if columns, metrics := q.lacking(d); len(columns)+len(metrics) > 0 {
			return invalid("/patch/dataset_id", fmt.Sprintf("dataset %d lacks what the chart uses: %s", dataset, strings.Join(append(columns, metrics...), ", ")))
		}
		table := "table"
		p.patch.DatasetID, p.patch.DatasourceType = &dataset, &table
		c := chat.Change{Field: "dataset", After: object(d.Name)}
		if p.before.DatasetID > 0 {
			c.Before = object(p.before.DatasetName)
		}
		p.changes = append(p.changes, c)
	}
	if len(keys) > 0 || dataset > 0 {
		p.patch.Params = &params
		if queryContext != "" {
			p.patch.QueryContext = &queryContext
		}
	}
	return nil
}

// dashboards plans the membership. Superset does not ask who owns the dashboards of a PUT, so it is asked here.
func (u chartUpdate) dashboards(ctx context.Context, s *superset.Session, p *chartPlan) error {
	w := u.in.Patch.Dashboards
	if w == nil {
		return nil
	}
	var have, moved []int
	for _, d := range p.row.Dashboards {
		have = append(have, d.ID)
	}
	for _, id := range append(slices.Clone(have), *w...) {
		if slices.Contains(have, id) != slices.Contains(*w, id) && !slices.Contains(moved, id) {
			moved = append(moved, id)
		}
	}
	if len(moved) == 0 {
		return nil
	}
	page, err := s.Dashboards(ctx, superset.DashboardFilter{IDs: moved}, superset.Paging{})
	if err != nil {
		return err
	}
	for _, id := range moved {
		at := slices.IndexFunc(page.Rows, func(d superset.DashboardRow) bool { return d.ID == id })
		if at < 0 {
			return invalid("/patch/dashboards", fmt.Sprintf("dashboard %d does not exist or is hidden from the user, so it must stay as it is", id))
		}
		d := page.Rows[at]
		if err := mustOwn(p.me, "dashboard", d.Title, d.Owners); err != nil {
			return err
		}
		c := chat.Change{Field: fmt.Sprintf("dashboards/%d", id), Before: object(d.Title)}
		if slices.Contains(*w, id) {
			c = chat.Change{Field: c.Field, After: c.Before}
		}
		p.changes = append(p.changes, c)
	}
	p.patch.Dashboards = w
	return nil
}

// compare reads the chart and names what does not have the wanted value.
func (u chartUpdate) compare(ctx context.Context, s *superset.Session, id int) (after superset.Chart, left []string, err error) {
	if after, err = s.Chart(ctx, superset.Ref{ID: id}); err != nil {
		return after, nil, err
	}
	w := u.in.Patch
	check := func(field string, asked, ok bool) {
		if asked && !ok {
			left = append(left, field)
		}
	}
	check("name", w.Name != nil, w.Name == nil || *w.Name == after.Name)
	check("description", w.Description != nil, w.Description == nil || *w.Description == after.Description)
	check("cache_timeout", w.CacheTimeout != nil, w.CacheTimeout == nil || after.CacheTimeout != nil && *after.CacheTimeout == *w.CacheTimeout)
	check("dataset", w.DatasetID != nil, w.DatasetID == nil || *w.DatasetID == after.DatasetID)
	if u.params != nil {
		var have map[string]json.RawMessage
		ok := json.Unmarshal([]byte(after.Params), &have) == nil
		check("params", true, ok && sameJSON(object(merge(have, u.params)), object(have)))
	}
	if w.Dashboards != nil {
		row, err := s.ChartRow(ctx, superset.Ref{ID: id})
		if err != nil {
			return after, nil, err
		}
		var on []int
		for _, d := range row.Dashboards {
			on = append(on, d.ID)
		}
		check("dashboards", true, sameIDs(on, *w.Dashboards))
	}
	return after, left, nil
}

// sameJSON compares two texts of JSON whose members may stand in another order.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && string(object(x)) == string(object(y))
}
