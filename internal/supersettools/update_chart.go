package supersettools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

type updateChartArgs struct {
	EnvID    string     `json:"env_id,omitempty" jsonschema:"description=Environment; default: the current one"`
	Chart    string     `json:"chart" jsonschema:"minLength=1,maxLength=2000,description=Id\\, uuid or address"`
	Patch    chartPatch `json:"patch" jsonschema:"description=Only what changes"`
	DryRun   bool       `json:"dry_run,omitempty" jsonschema:"description=Only show what would change"`
	Expected string     `json:"expected_changed_on,omitempty" jsonschema:"maxLength=40,description=changed_on when it was read"`
}

type chartPatch struct {
	Name         *string `json:"name,omitempty" jsonschema:"minLength=1,maxLength=250,description=New name"`
	Description  *string `json:"description,omitempty" jsonschema:"maxLength=10000,description=New description"`
	CacheTimeout *int    `json:"cache_timeout,omitempty" jsonschema:"minimum=-1,description=Seconds; -1: no cache"`
	DatasetID    *int    `json:"dataset_id,omitempty" jsonschema:"minimum=1,description=Other dataset with the same columns"`
	Params       *string `json:"params,omitempty" jsonschema:"maxLength=100000,description=JSON merge patch of the parameters\\, as text"`
	Dashboards   *[]int  `json:"dashboards,omitempty" jsonschema:"maxItems=50,description=Ids of all dashboards that show it from now on"`
}

func updateChart(d Deps) tool.Tool {
	return define(d, "update_chart", tool.Write, []string{"can_read on Chart", "can_write on Chart"}, []string{"chart"},
		func(o op, in updateChartArgs) (tool.Bound, error) {
			ref, err := o.ref("/chart", chartKind, in.Chart)
			if err != nil {
				return tool.Bound{}, err
			}
			u := chartUpdate{o: o, ref: ref, in: in}
			if u.params, err = in.Patch.check(); err != nil {
				return tool.Bound{}, err
			}
			if in.DryRun {
				return o.reading(u.dryRun)
			}
			return o.writing(u, "Open the chart in Superset and look whether it is the new one."), nil
		})
}

// check refuses an empty patch and reads the parameters.
func (p chartPatch) check() (map[string]json.RawMessage, error) {
	if p == (chartPatch{}) {
		return nil, invalid("/patch", "must change something")
	}
	if p.Name != nil && strings.TrimSpace(*p.Name) == "" {
		return nil, invalid("/patch/name", "must not be blank")
	}
	seen := map[int]bool{}
	for _, id := range deref(p.Dashboards) {
		if id <= 0 || seen[id] {
			return nil, invalid("/patch/dashboards", "must be positive ids, none of them twice")
		}
		seen[id] = true
	}
	if p.Params == nil {
		return nil, nil
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(*p.Params), &m); err != nil || len(m) == 0 {
		return nil, invalid("/patch/params", "must be a JSON object as text, with the parameters that change")
	}
	return m, nil
}

// A chartUpdate is one call of update_chart.
type chartUpdate struct {
	o      op
	ref    superset.Ref
	in     updateChartArgs
	params map[string]json.RawMessage
}

func (u chartUpdate) preview(ctx context.Context, s *superset.Session) (tool.Preview, error) {
	p, err := u.plan(ctx, s)
	if err != nil {
		return tool.Preview{}, err
	}
	if err := mustOwn(p.me, "chart", p.name(), p.row.Owners); err != nil {
		return tool.Preview{}, err
	}
	var on []int
	for _, d := range p.row.Dashboards {
		on = append(on, d.ID)
	}
	return tool.Preview{
		ConfirmPreview: chat.ConfirmPreview{
			Object: p.name(), URL: s.PublicURL(superset.ChartPath(p.before.ID)), Diff: orEmpty(p.changes), BlastRadius: orEmpty(p.blast),
			ChangedOn: p.row.ChangedOn.String(), Owners: peopleNames(p.row.Owners), Notes: p.notes,
		},
		Fingerprint: fingerprint(struct {
			Chart     superset.Chart
			ChangedOn string
			Owners    []int
			On        []int
		}{p.before, p.row.ChangedOn.String(), personIDs(p.row.Owners), on}),
	}, nil
}

func (u chartUpdate) dryRun(ctx context.Context, s *superset.Session) (tool.Result, error) {
	p, err := u.plan(ctx, s)
	if err != nil {
		return tool.Result{}, err
	}
	r := p.result(s, p.before, fmt.Sprintf("Nothing was written. “%s” would change in %s.", p.name(), count(len(p.changes), "field")))
	if !p.me.MayChange(p.row.Owners) {
		r.Warnings = append(r.Warnings, "The user is no owner of this chart, so Superset would refuse the change.")
	}
	return r, nil
}

func (u chartUpdate) run(ctx context.Context, s *superset.Session) (tool.Result, error) {
	p, err := u.plan(ctx, s)
	if err != nil {
		return tool.Result{}, err
	}
	if len(p.changes) == 0 {
		return p.result(s, p.before, "“"+p.name()+"” is like this already; nothing was written."), nil
	}
	if err := s.UpdateChart(ctx, p.before.ID, p.patch); err != nil {
		return tool.Result{}, err
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
	r := p.result(s, after, fmt.Sprintf("Changed the chart “%s”: %s.", p.name(), strings.Join(fields, ", ")))
	if p.patch.Params != nil {
		if _, err := s.ChartSQL(ctx, p.before.ID); err != nil {
			r.Warnings = append(r.Warnings, "The chart was changed, and its query can no longer be built: "+fault.Message(err))
		}
	}
	return r, nil
}

func (u chartUpdate) readBack(ctx context.Context, s *superset.Session, shown tool.Preview) (tool.Outcome, error) {
	c, err := s.Chart(ctx, u.ref)
	if err != nil {
		return tool.Outcome{}, err
	}
	after, left, err := u.compare(ctx, s, c.ID)
	if err != nil {
		return tool.Outcome{}, err
	}
	p := chartPlan{before: c, changes: shown.Diff}
	r := p.result(s, after, "“"+p.name()+"” has the new properties.")
	return outcome("chart", left, shown.Diff, &r), nil
}

func (p *chartPlan) result(s *superset.Session, c superset.Chart, summary string) tool.Result {
	name := title(c.Name, chartKind, superset.Ref{ID: c.ID}.String())
	link := s.PublicURL(superset.ChartPath(c.ID))
	return tool.Result{
		Summary: summary,
		Data: object(struct {
			Changes []changeView `json:"changes"`
			Chart   struct {
				ID   int    `json:"id"`
				Name string `json:"name"`
				URL  string `json:"url"`
			} `json:"chart"`
		}{changeViews(p.changes), struct {
			ID   int    `json:"id"`
			Name string `json:"name"`
			URL  string `json:"url"`
		}{c.ID, name, link}}),
		Links: []chat.Link{{Title: name, URL: link}}, Warnings: p.notes,
	}
}
