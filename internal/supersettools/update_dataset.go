package supersettools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

type updateDatasetArgs struct {
	EnvID    string       `json:"env_id,omitempty" jsonschema:"description=Environment; default: the current one"`
	Dataset  string       `json:"dataset" jsonschema:"minLength=1,maxLength=2000,description=Id\\, uuid or address"`
	Patch    datasetPatch `json:"patch" jsonschema:"description=Only what changes"`
	DryRun   bool         `json:"dry_run,omitempty" jsonschema:"description=Only show what would change"`
	Expected string       `json:"expected_changed_on,omitempty" jsonschema:"maxLength=40,description=changed_on when it was read"`
}

type datasetPatch struct {
	Description  *string       `json:"description,omitempty" jsonschema:"maxLength=10000,description=New description"`
	SQL          *string       `json:"sql,omitempty" jsonschema:"minLength=1,maxLength=100000,description=Of a virtual dataset; its columns are read anew"`
	CacheTimeout *int          `json:"cache_timeout,omitempty" jsonschema:"minimum=-1,description=Seconds; -1: no cache"`
	MainDttm     *string       `json:"main_dttm_col,omitempty" jsonschema:"maxLength=250,description=Time column"`
	OwnerIDs     *[]int        `json:"owner_ids,omitempty" jsonschema:"maxItems=50,description=All owners from now on"`
	Metrics      []metricPatch `json:"metrics,omitempty" jsonschema:"maxItems=50,description=Metrics to add\\, update or delete"`
	Columns      []columnPatch `json:"columns,omitempty" jsonschema:"maxItems=100,description=Columns to change"`
}

type metricPatch struct {
	Op          string  `json:"op" jsonschema:"enum=add,enum=update,enum=delete,description=What to do"`
	Name        string  `json:"metric_name" jsonschema:"minLength=1,maxLength=255,description=Name"`
	Expression  *string `json:"expression,omitempty" jsonschema:"minLength=1,maxLength=10000,description=SQL"`
	VerboseName *string `json:"verbose_name,omitempty" jsonschema:"maxLength=1024,description=Name that people see"`
	Format      *string `json:"d3format,omitempty" jsonschema:"maxLength=128,description=Number format"`
}

type columnPatch struct {
	Name        string  `json:"column_name" jsonschema:"minLength=1,maxLength=255,description=Name; a new one is a calculated column"`
	VerboseName *string `json:"verbose_name,omitempty" jsonschema:"maxLength=1024,description=Name that people see"`
	Description *string `json:"description,omitempty" jsonschema:"maxLength=10000,description=New description"`
	Time        *bool   `json:"is_dttm,omitempty" jsonschema:"description=It is a time"`
	GroupBy     *bool   `json:"groupby,omitempty" jsonschema:"description=It can be a dimension"`
	Filterable  *bool   `json:"filterable,omitempty" jsonschema:"description=It can be filtered"`
	Expression  *string `json:"expression,omitempty" jsonschema:"maxLength=10000,description=SQL of a calculated column"`
}

func updateDataset(d Deps) tool.Tool {
	return define(d, "update_dataset", tool.Write, []string{"can_read on Dataset", "can_write on Dataset"}, []string{"dataset"},
		func(o op, in updateDatasetArgs) (tool.Bound, error) {
			ref, err := o.ref("/dataset", datasetKind, in.Dataset)
			if err != nil {
				return tool.Bound{}, err
			}
			if err := in.Patch.check(); err != nil {
				return tool.Bound{}, err
			}
			u := datasetUpdate{ref: ref, in: in}
			if in.DryRun {
				return o.reading(u.dryRun)
			}
			return o.writing(u, "Open the dataset in Superset and look whether its settings, metrics and columns are the new ones."), nil
		})
}

func (p datasetPatch) check() error {
	if p.Description == nil && p.SQL == nil && p.CacheTimeout == nil && p.MainDttm == nil && p.OwnerIDs == nil && len(p.Metrics)+len(p.Columns) == 0 {
		return invalid("/patch", "must change something")
	}
	seen := map[string]bool{}
	for i, m := range p.Metrics {
		at := fmt.Sprintf("/patch/metrics/%d", i)
		switch {
		case seen[m.Name]:
			return invalid(at, "names a metric a second time")
		case m.Op == "add" && m.Expression == nil:
			return invalid(at+"/expression", "is needed to add a metric")
		case m.Op == "delete" && (m.Expression != nil || m.VerboseName != nil || m.Format != nil):
			return invalid(at, "deletes a metric and changes it at the same time")
		case m.Op == "update" && m.Expression == nil && m.VerboseName == nil && m.Format == nil:
			return invalid(at, "must change something")
		}
		seen[m.Name] = true
	}
	clear(seen)
	for i, c := range p.Columns {
		if seen[c.Name] {
			return invalid(fmt.Sprintf("/patch/columns/%d", i), "names a column a second time")
		}
		seen[c.Name] = true
	}
	return nil
}

// A datasetUpdate is one call of update_dataset.
type datasetUpdate struct {
	ref superset.Ref
	in  updateDatasetArgs
}

func (u datasetUpdate) preview(ctx context.Context, s *superset.Session) (tool.Preview, error) {
	p, err := u.plan(ctx, s)
	if err != nil {
		return tool.Preview{}, err
	}
	if err := mustOwn(p.me, "dataset", p.before.Name, p.before.Owners); err != nil {
		return tool.Preview{}, err
	}
	return tool.Preview{
		ConfirmPreview: chat.ConfirmPreview{
			Object: p.before.Name, URL: s.PublicURL(superset.DatasetPath(p.before.ID)), Diff: orEmpty(p.changes), BlastRadius: orEmpty(p.blast),
			ChangedOn: p.before.ChangedOn.String(), Owners: peopleNames(p.before.Owners), Notes: p.notes,
		},
		Fingerprint: fingerprint(p.before),
	}, nil
}

func (u datasetUpdate) dryRun(ctx context.Context, s *superset.Session) (tool.Result, error) {
	p, err := u.plan(ctx, s)
	if err != nil {
		return tool.Result{}, err
	}
	r := p.result(s, p.before, fmt.Sprintf("Nothing was written. “%s” would change in %s.", p.before.Name, count(len(p.changes), "field")))
	if !p.me.MayChange(p.before.Owners) {
		r.Warnings = append(r.Warnings, "The user is no owner of this dataset, so Superset would refuse the change.")
	}
	return r, nil
}

func (u datasetUpdate) run(ctx context.Context, s *superset.Session) (tool.Result, error) {
	p, err := u.plan(ctx, s)
	if err != nil {
		return tool.Result{}, err
	}
	if len(p.changes) == 0 {
		return p.result(s, p.before, "“"+p.before.Name+"” is like this already; nothing was written."), nil
	}
	if err := s.UpdateDataset(ctx, p.before.ID, p.patch); err != nil {
		return tool.Result{}, err
	}
	var warnings []string
	if p.patch.SQL != nil {
		// New SQL leaves the columns as they were. A refresh reads them and keeps calculated ones and verbose names.
		if err := s.RefreshDataset(ctx, p.before.ID); err != nil {
			warnings = append(warnings, "The new SQL was written, but its columns could not be read; it may fail. "+fault.Message(err))
		}
	}
	after, left, err := u.compare(ctx, s, p.before.ID)
	if err != nil {
		return tool.Result{}, afterWrite(err)
	}
	if len(left) > 0 {
		return tool.Result{}, notTaken(left)
	}
	var fields []string
	for _, c := range p.changes {
		fields = append(fields, c.Field)
	}
	r := p.result(s, after, fmt.Sprintf("Changed the dataset “%s”: %s.", after.Name, strings.Join(fields, ", ")))
	r.Warnings = append(r.Warnings, warnings...)
	r.Warnings = append(r.Warnings, u.try(ctx, s, p.before.ID)...)
	return r, nil
}

// try runs the expressions that were written, which Superset takes unseen.
func (u datasetUpdate) try(ctx context.Context, s *superset.Session, id int) []string {
	var out []string
	say := func(name string, err error) {
		if k := fault.KindOf(err); k == fault.Invalid || k == fault.Internal {
			out = append(out, name+" was written, but the database refuses it: "+fault.Message(err))
		}
	}
	for _, m := range u.in.Patch.Metrics {
		if m.Op != "delete" && m.Expression != nil {
			_, err := s.Try(ctx, id, nil, []string{m.Name})
			say("The metric "+m.Name, err)
		}
	}
	for _, c := range u.in.Patch.Columns {
		if c.Expression != nil && *c.Expression != "" {
			_, err := s.Try(ctx, id, []string{c.Name}, nil)
			say("The column "+c.Name, err)
		}
	}
	return out
}

func (u datasetUpdate) readBack(ctx context.Context, s *superset.Session, shown tool.Preview) (tool.Outcome, error) {
	d, err := s.Dataset(ctx, u.ref)
	if err != nil {
		return tool.Outcome{}, err
	}
	after, left, err := u.compare(ctx, s, d.ID)
	if err != nil {
		return tool.Outcome{}, err
	}
	p := datasetPlan{before: d, changes: shown.Diff}
	r := p.result(s, after, "“"+after.Name+"” has the new settings.")
	return outcome("dataset", left, shown.Diff, &r), nil
}

// compare reads the dataset and names what does not have the wanted value.
func (u datasetUpdate) compare(ctx context.Context, s *superset.Session, id int) (superset.Dataset, []string, error) {
	d, err := s.Dataset(ctx, superset.Ref{ID: id})
	if err != nil {
		return d, nil, err
	}
	var left []string
	check := func(field string, asked, ok bool) {
		if asked && !ok {
			left = append(left, field)
		}
	}
	w := u.in.Patch
	same := func(want *string, have string) bool { return want == nil || *want == have }
	is := func(want *bool, have bool) bool { return want == nil || *want == have }
	check("description", w.Description != nil, same(w.Description, d.Description))
	check("sql", w.SQL != nil, same(w.SQL, d.SQL))
	check("main_dttm_col", w.MainDttm != nil, same(w.MainDttm, d.MainDttm))
	check("cache_timeout", w.CacheTimeout != nil, w.CacheTimeout == nil || d.CacheTimeout != nil && *d.CacheTimeout == *w.CacheTimeout)
	check("owners", w.OwnerIDs != nil, sameIDs(deref(w.OwnerIDs), personIDs(d.Owners)))
	for _, m := range w.Metrics {
		at := slices.IndexFunc(d.Metrics, func(v superset.Metric) bool { return v.Name == m.Name })
		ok := m.Op == "delete" && at < 0
		if m.Op != "delete" && at >= 0 {
			v := d.Metrics[at]
			ok = same(m.Expression, v.Expression) && same(m.VerboseName, v.VerboseName) && same(m.Format, v.Format)
		}
		check("metrics/"+m.Name, true, ok)
	}
	for _, c := range w.Columns {
		at := slices.IndexFunc(d.Columns, func(v superset.Column) bool { return v.Name == c.Name })
		ok := false
		if at >= 0 {
			v := d.Columns[at]
			ok = same(c.VerboseName, v.VerboseName) && same(c.Description, v.Description) && same(c.Expression, v.Expression) &&
				is(c.Time, v.Time) && is(c.GroupBy, v.GroupBy) && is(c.Filterable, v.Filterable)
		}
		check("columns/"+c.Name, true, ok)
	}
	return d, left, nil
}
