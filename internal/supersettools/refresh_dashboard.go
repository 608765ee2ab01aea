package supersettools

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

type refreshDashboardArgs struct {
	EnvID     string `json:"env_id,omitempty" jsonschema:"description=Environment; default: the current one"`
	Dashboard string `json:"dashboard" jsonschema:"minLength=1,maxLength=2000,description=Id\\, uuid\\, slug or address"`
	ChartIDs  []int  `json:"chart_ids,omitempty" jsonschema:"maxItems=100,description=Only these charts"`
	Parallel  int    `json:"max_parallel,omitempty" jsonschema:"minimum=1,maximum=4,description=Queries at once; default 2"`
}

func refreshDashboard(d Deps) tool.Tool {
	t := define(d, "refresh_dashboard", tool.Write, []string{"can_read on Dashboard", "can_read on Chart"}, []string{"dashboard"},
		func(o op, in refreshDashboardArgs) (tool.Bound, error) {
			ref, err := o.ref("/dashboard", dashboardKind, in.Dashboard)
			if err != nil {
				return tool.Bound{}, err
			}
			if in.Parallel == 0 {
				in.Parallel = 2
			}
			return o.writing(dashboardRefresh{ref, in}, "Open the dashboard in Superset: each chart's menu says when its data were read. Refreshing again does no harm."), nil
		})
	t.Timeout = 5 * time.Minute
	return t
}

// A dashboardRefresh is one call of refresh_dashboard. It changes Superset's cache and loads the databases, nothing else.
type dashboardRefresh struct {
	ref superset.Ref
	in  refreshDashboardArgs
}

func (x dashboardRefresh) preview(ctx context.Context, s *superset.Session) (tool.Preview, error) {
	d, rows, err := chartsOf(ctx, s, x.ref, x.in.ChartIDs)
	if err != nil {
		return tool.Preview{}, err
	}
	p := tool.Preview{
		ConfirmPreview: chat.ConfirmPreview{
			Object: title(d.Title, dashboardKind, strconv.Itoa(d.ID)), URL: s.PublicURL(superset.DashboardPath(d.ID, d.Slug)),
			Diff: []chat.Change{}, BlastRadius: []chat.Dependent{}, ChangedOn: d.ChangedOn.String(), Owners: peopleNames(d.Owners),
			Notes: []string{fmt.Sprintf("%s run their queries on the database now, %d at a time.", count(len(rows), "chart"), x.in.Parallel)},
		},
		Fingerprint: fingerprint(chartIDs(rows)),
	}
	for _, c := range rows {
		p.BlastRadius = append(p.BlastRadius, chat.Dependent{Kind: "chart", ID: strconv.Itoa(c.ID), Title: c.Name, URL: s.PublicURL(superset.ChartPath(c.ID)), Note: "is run anew"})
	}
	return p, nil
}

func (x dashboardRefresh) run(ctx context.Context, s *superset.Session) (tool.Result, error) {
	d, rows, err := chartsOf(ctx, s, x.ref, x.in.ChartIDs)
	if err != nil {
		return tool.Result{}, err
	}
	me, err := s.Me(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	// A warm-up counts in the dashboard's default filters, so it refreshes what its page shows; but it is for Admins.
	warm := me.May("can_warm_up_cache on Chart")
	out := make([]finding, len(rows))
	err = each(ctx, x.in.Parallel, rows, func(ctx context.Context, i int, c superset.ChartRow) error {
		f := finding{ID: c.ID, Name: c.Name, Status: chartOK}
		begin := time.Now()
		var err error
		if warm {
			err = s.WarmUp(ctx, c.ID, d.ID)
		} else {
			var run superset.ChartRun
			if run, err = s.RunChart(ctx, c.ID, true); err == nil {
				f.Rows = &run.Count
			}
		}
		f.Seconds = seconds(time.Since(begin))
		if err != nil && ctx.Err() != nil {
			return err
		}
		if err != nil {
			f.blame(err, c)
			if fault.KindOf(err) == fault.Unknown {
				f.Status, f.Cause, f.Evidence = chartUnknown, "", fault.Message(err)
			}
		}
		out[i] = f
		return nil
	})
	if err != nil {
		return tool.Result{}, err
	}
	counts := map[string]int{}
	for _, f := range out {
		counts[f.Status]++
	}
	n := int64(len(out))
	name := title(d.Title, dashboardKind, strconv.Itoa(d.ID))
	r := tool.Result{
		Summary: fmt.Sprintf("Refreshed %d of %s of “%s”.", counts[chartOK], count(len(out), "chart"), name),
		Data: object(struct {
			Dashboard placedDashboard `json:"dashboard"`
			Charts    []finding       `json:"charts"`
		}{placedDashboard{d.ID, name}, out}),
		Total: &n,
		Links: []chat.Link{{Title: name, URL: s.PublicURL(superset.DashboardPath(d.ID, d.Slug))}},
	}
	if bad := len(out) - counts[chartOK]; bad > 0 {
		r.Summary = strings.TrimSuffix(r.Summary, ".") + "; " + counted(counts) + "."
	}
	if !warm {
		r.Warnings = append(r.Warnings, "Only an Admin can refresh what the dashboard's default filters show; the charts were refreshed without them.")
	}
	return r, nil
}

func (dashboardRefresh) readBack(context.Context, *superset.Session, tool.Preview) (tool.Outcome, error) {
	return tool.Outcome{Outcome: chat.OutcomeStillUnknown, Evidence: "Superset does not tell for a whole dashboard when its data were read. Refreshing again does no harm."}, nil
}
