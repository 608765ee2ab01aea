package supersettools

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

type refreshDatasetArgs struct {
	EnvID   string `json:"env_id,omitempty" jsonschema:"description=Environment; default: the current one"`
	Dataset string `json:"dataset" jsonschema:"minLength=1,maxLength=2000,description=Id\\, uuid or address"`
	DryRun  bool   `json:"dry_run,omitempty" jsonschema:"description=Only show what would change"`
}

func refreshDataset(d Deps) tool.Tool {
	t := define(d, "refresh_dataset", tool.Write, []string{"can_read on Dataset", "can_write on Dataset"}, []string{"dataset"},
		func(o op, in refreshDatasetArgs) (tool.Bound, error) {
			ref, err := o.ref("/dataset", datasetKind, in.Dataset)
			if err != nil {
				return tool.Bound{}, err
			}
			x := datasetRefresh{ref}
			if in.DryRun {
				return o.reading(x.dryRun)
			}
			return o.writing(x, "Open the dataset in Superset and look whether its columns are those of the table."), nil
		})
	t.Timeout = 2 * time.Minute
	return t
}

// A datasetRefresh is one call of refresh_dataset.
type datasetRefresh struct{ ref superset.Ref }

// A refreshPlan is what a refresh would find. changed_on does not move with a refresh, so columns are compared.
type refreshPlan struct {
	d     superset.Dataset
	me    superset.Me
	drift drift
	hit   []chartHit
}

func (x datasetRefresh) plan(ctx context.Context, s *superset.Session) (refreshPlan, error) {
	var p refreshPlan
	var err error
	if p.d, err = s.Dataset(ctx, x.ref); err != nil {
		return p, err
	}
	if p.me, err = s.Me(ctx); err != nil {
		return p, err
	}
	if p.drift, err = driftOf(ctx, s, p.d); err != nil {
		return p, err
	}
	if p.drift.Unknown != "" {
		return p, &fault.Error{Kind: fault.Conflict, Code: "source", Msg: "The columns cannot be read anew: " + p.drift.Unknown}
	}
	if len(p.drift.Removed) > 0 {
		page, err := s.Charts(ctx, superset.ChartFilter{Dataset: p.d.ID}, usageCap)
		if err != nil {
			return p, err
		}
		if p.hit, err = hit(ctx, s, p.d, page.Rows, p.drift.Removed); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p refreshPlan) changes() []chat.Change {
	out := []chat.Change{}
	for _, c := range p.drift.Removed {
		out = append(out, chat.Change{Field: "columns/" + c, Before: object(c)})
	}
	for _, c := range p.drift.Types {
		out = append(out, chat.Change{Field: "columns/" + c.Column + "/type", Before: object(c.Before), After: object(c.After)})
	}
	for _, c := range p.drift.Added {
		out = append(out, chat.Change{Field: "columns/" + c, After: object(c)})
	}
	return out
}

func (x datasetRefresh) preview(ctx context.Context, s *superset.Session) (tool.Preview, error) {
	p, err := x.plan(ctx, s)
	if err != nil {
		return tool.Preview{}, err
	}
	if err := mustOwn(p.me, "dataset", p.d.Name, p.d.Owners); err != nil {
		return tool.Preview{}, err
	}
	v := tool.Preview{
		ConfirmPreview: chat.ConfirmPreview{
			Object: p.d.Name, URL: s.PublicURL(superset.DatasetPath(p.d.ID)), Diff: p.changes(), BlastRadius: []chat.Dependent{},
			ChangedOn: p.d.ChangedOn.String(), Owners: peopleNames(p.d.Owners), Notes: []string{"Superset puts the metric count back, should it have been deleted."},
		},
		Fingerprint: fingerprint(struct {
			Dataset superset.Dataset
			Drift   drift
		}{p.d, p.drift}),
	}
	if p.drift.NewUnknown {
		v.Notes = append(v.Notes, "Which columns come is known only afterwards.")
	}
	for _, c := range p.hit {
		v.BlastRadius = append(v.BlastRadius, chat.Dependent{Kind: "chart", ID: strconv.Itoa(c.ID), Title: c.Name,
			URL: s.PublicURL(superset.ChartPath(c.ID)), Note: fmt.Sprint("uses ", c.Columns, ", which its table no longer has")})
	}
	return v, nil
}

func (x datasetRefresh) dryRun(ctx context.Context, s *superset.Session) (tool.Result, error) {
	p, err := x.plan(ctx, s)
	if err != nil {
		return tool.Result{}, err
	}
	r := p.result(s, p.d, fmt.Sprintf("Nothing was written. A refresh of “%s” would change its columns: %d come, %d go, %d change their type.", p.d.Name,
		len(p.drift.Added), len(p.drift.Removed), len(p.drift.Types)))
	if !p.me.MayChange(p.d.Owners) {
		r.Warnings = append(r.Warnings, "The user is no owner of this dataset, so Superset would refuse the change.")
	}
	return r, nil
}

func (x datasetRefresh) run(ctx context.Context, s *superset.Session) (tool.Result, error) {
	p, err := x.plan(ctx, s)
	if err != nil {
		return tool.Result{}, err
	}
	if err := s.RefreshDataset(ctx, p.d.ID); err != nil {
		return tool.Result{}, err
	}
	after, left, err := x.compare(ctx, s, p.d.ID, p.changes())
	if err != nil {
		return tool.Result{}, afterWrite(err)
	}
	if len(left) > 0 {
		return tool.Result{}, notTaken(left)
	}
	if p.drift.NewUnknown {
		for _, c := range after.Columns {
			if !slices.ContainsFunc(p.d.Columns, func(b superset.Column) bool { return b.Name == c.Name }) {
				p.drift.Added = append(p.drift.Added, c.Name)
			}
		}
		p.drift.NewUnknown = false
	}
	return p.result(s, after, fmt.Sprintf("Refreshed the columns of “%s”: %d came, %d went, %d changed their type.", p.d.Name,
		len(p.drift.Added), len(p.drift.Removed), len(p.drift.Types))), nil
}

// compare reads the dataset and names the changes that did not happen.
func (datasetRefresh) compare(ctx context.Context, s *superset.Session, id int, changes []chat.Change) (superset.Dataset, []string, error) {
	d, err := s.Dataset(ctx, superset.Ref{ID: id})
	if err != nil {
		return d, nil, err
	}
	now, err := driftOf(ctx, s, d)
	if err != nil {
		return d, nil, err
	}
	var left []string
	for _, c := range (refreshPlan{drift: now}).changes() {
		for _, was := range changes {
			if was.Field == c.Field {
				left = append(left, c.Field)
			}
		}
	}
	return d, left, nil
}

// readBack compares columns: a refresh is all or nothing, and after it nothing differs.
func (x datasetRefresh) readBack(ctx context.Context, s *superset.Session, _ tool.Preview) (tool.Outcome, error) {
	d, err := s.Dataset(ctx, x.ref)
	if err != nil {
		return tool.Outcome{}, err
	}
	now, err := driftOf(ctx, s, d)
	switch {
	case err != nil:
		return tool.Outcome{}, err
	case now.Unknown != "":
		return tool.Outcome{Outcome: chat.OutcomeStillUnknown, Evidence: "The columns could not be compared: " + now.Unknown}, nil
	case !now.none():
		return tool.Outcome{Outcome: chat.OutcomeNotApplied, Evidence: "The dataset was read and still differs from its table."}, nil
	}
	r := refreshPlan{d: d, drift: now}.result(s, d, "“"+d.Name+"” has the columns of its table.")
	return tool.Outcome{Outcome: chat.OutcomeApplied, Evidence: "The dataset was read and has the columns of its table.", Result: &r}, nil
}

func (p refreshPlan) result(s *superset.Session, d superset.Dataset, summary string) tool.Result {
	link := s.PublicURL(superset.DatasetPath(d.ID))
	return tool.Result{
		Summary: summary,
		Data: object(struct {
			Dataset datasetName `json:"dataset"`
			Columns int         `json:"column_count"`
			Drift   drift       `json:"drift"`
			Hit     []chartHit  `json:"charts_hit"`
		}{datasetName{d.ID, d.Name}, len(d.Columns), p.drift, orEmpty(p.hit)}),
		Links: []chat.Link{{Title: d.Name, URL: link}},
	}
}
