package supersettools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

type checkDashboardArgs struct {
	EnvID     string `json:"env_id,omitempty" jsonschema:"description=Environment; default: the current one"`
	Dashboard string `json:"dashboard" jsonschema:"minLength=1,maxLength=2000,description=Id\\, uuid\\, slug or address"`
	Mode      string `json:"mode,omitempty" jsonschema:"enum=static,enum=execute,description=Default static"`
	ChartIDs  []int  `json:"chart_ids,omitempty" jsonschema:"maxItems=100,description=Only these charts"`
	TimeoutS  int    `json:"timeout_s,omitempty" jsonschema:"minimum=1,maximum=60,description=Seconds for one chart; default 20"`
}

// What a check says of a chart.
const (
	chartOK        = "ok"
	chartBroken    = "broken"
	chartEmpty     = "empty"
	chartSlow      = "slow"
	chartForbidden = "forbidden"
	chartUnknown   = "unknown" // Superset did not answer
)

// slowAfter is when a chart that works is called slow.
const slowAfter = 5 * time.Second

type checkView struct {
	Dashboard placedDashboard `json:"dashboard"`
	Mode      string          `json:"mode"`
	Counts    map[string]int  `json:"counts"`
	Charts    []finding       `json:"charts"`
}

type placedDashboard struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
}

// A finding is what is known of one chart.
type finding struct {
	ID       int     `json:"id"`
	Name     string  `json:"name"`
	Status   string  `json:"status"`
	Cause    string  `json:"cause,omitempty"` // missing_dataset, missing_column, missing_metric, no_query_context, db_error, timeout, permission
	Evidence string  `json:"evidence,omitempty"`
	Suggest  string  `json:"suggest,omitempty"`
	Dataset  any     `json:"dataset,omitempty"`
	Rows     *int    `json:"rows,omitempty"`
	Seconds  float64 `json:"seconds,omitempty"`
	CachedAt string  `json:"cached_at,omitempty"`
}

func checkDashboard(d Deps) tool.Tool {
	t := define(d, "check_dashboard", tool.Read, []string{"can_read on Dashboard", "can_read on Chart"}, []string{"dashboard"}, func(o op, in checkDashboardArgs) (tool.Bound, error) {
		ref, err := o.ref("/dashboard", dashboardKind, in.Dashboard)
		if err != nil {
			return tool.Bound{}, err
		}
		if in.Mode == "" {
			in.Mode = "static"
		}
		if in.TimeoutS == 0 {
			in.TimeoutS = 20
		}
		return o.reading(func(ctx context.Context, s *superset.Session) (tool.Result, error) { return in.run(ctx, s, ref) })
	})
	t.Timeout = 3 * time.Minute
	return t
}

func (in checkDashboardArgs) run(ctx context.Context, s *superset.Session, ref superset.Ref) (tool.Result, error) {
	d, rows, err := chartsOf(ctx, s, ref, in.ChartIDs)
	if err != nil {
		return tool.Result{}, err
	}
	out := checkView{Dashboard: placedDashboard{d.ID, title(d.Title, dashboardKind, superset.Ref{ID: d.ID}.String())}, Mode: in.Mode, Counts: map[string]int{}}
	if in.Mode == "execute" {
		out.Charts, err = execute(ctx, s, rows, time.Duration(in.TimeoutS)*time.Second)
	} else {
		out.Charts, err = static(ctx, s, rows)
	}
	if err != nil {
		return tool.Result{}, err
	}
	// What needs attention comes first.
	slices.SortStableFunc(out.Charts, func(a, b finding) int { return rank(a.Status) - rank(b.Status) })
	bad := 0
	for _, f := range out.Charts {
		out.Counts[f.Status]++
		if f.Status != chartOK {
			bad++
		}
	}
	n := int64(len(rows))
	r := tool.Result{Data: object(out), Total: &n, Links: []chat.Link{{Title: out.Dashboard.Title, URL: s.PublicURL(superset.DashboardPath(d.ID, d.Slug))}}}
	r.Summary = fmt.Sprintf("Checked %s of “%s”: all are well.", count(len(rows), "chart"), out.Dashboard.Title)
	if bad > 0 {
		r.Summary = fmt.Sprintf("Checked %s of “%s”: %d need attention (%s).", count(len(rows), "chart"), out.Dashboard.Title, bad, counted(out.Counts))
	}
	if in.Mode == "static" {
		r.Warnings = append(r.Warnings, "No query was run. Expressions and SQL that the database refuses are found with mode execute.")
	}
	if hidden := len(d.Charts) - len(rows); hidden > 0 && len(in.ChartIDs) == 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of the dashboard's charts are hidden from this user and were not checked.", hidden))
	}
	return r, nil
}

func counted(counts map[string]int) string {
	var parts []string
	for _, s := range []string{chartBroken, chartForbidden, chartUnknown, chartSlow, chartEmpty} {
		if n := counts[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return strings.Join(parts, ", ")
}

func rank(status string) int {
	return slices.Index([]string{chartBroken, chartForbidden, chartUnknown, chartSlow, chartEmpty, chartOK}, status)
}

// chartsOf reads a dashboard and its visible charts, all or the ones named.
func chartsOf(ctx context.Context, s *superset.Session, ref superset.Ref, only []int) (superset.Dashboard, []superset.ChartRow, error) {
	d, err := s.Dashboard(ctx, ref)
	if err != nil {
		return d, nil, err
	}
	page, err := s.Charts(ctx, superset.ChartFilter{Dashboard: d.ID}, 10*superset.PageCap)
	if err != nil || len(only) == 0 {
		return d, page.Rows, err
	}
	var rows []superset.ChartRow
	for i, id := range only {
		at := slices.IndexFunc(page.Rows, func(c superset.ChartRow) bool { return c.ID == id })
		if at < 0 {
			return d, nil, invalid(fmt.Sprintf("/chart_ids/%d", i), fmt.Sprintf("chart %d is not on this dashboard or is hidden from the user", id))
		}
		rows = append(rows, page.Rows[at])
	}
	return d, rows, nil
}

// execute runs every chart, two at a time.
func execute(ctx context.Context, s *superset.Session, rows []superset.ChartRow, limit time.Duration) ([]finding, error) {
	out := make([]finding, len(rows))
	err := each(ctx, 2, rows, func(ctx context.Context, i int, c superset.ChartRow) error {
		f := finding{ID: c.ID, Name: c.Name, Dataset: orNull(c.DatasetName), Status: chartOK}
		one, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		run, err := s.RunChart(one, c.ID, false)
		switch {
		case err != nil && ctx.Err() != nil:
			return err
		case err != nil:
			f.blame(err, c)
		default:
			f.Rows, f.Seconds, f.CachedAt = &run.Count, seconds(run.Took), run.CachedAt
			switch {
			case run.Count == 0:
				f.Status, f.Evidence = chartEmpty, "The query gives no rows."
			case run.Took > slowAfter:
				f.Status, f.Evidence = chartSlow, "The chart took "+run.Took.Round(100*time.Millisecond).String()+"."
			}
			if len(run.Rejected) > 0 {
				f.Evidence = strings.TrimSpace(f.Evidence + " Filters on these columns are ignored, since the dataset does not have them: " + strings.Join(run.Rejected, ", ") + ".")
			}
		}
		out[i] = f
		return nil
	})
	return out, err
}

func seconds(d time.Duration) float64 { return d.Round(10 * time.Millisecond).Seconds() }

// blame turns the failure of a chart into a cause.
func (f *finding) blame(err error, c superset.ChartRow) {
	text := fault.Message(err)
	f.Status, f.Cause, f.Evidence = chartBroken, "db_error", text
	switch k := fault.KindOf(err); {
	case k == fault.Missing && c.DatasetID == 0:
		f.Cause, f.Evidence = "missing_dataset", "The dataset of the chart was deleted."
		f.Suggest = "update_chart with another dataset_id"
	case k == fault.Missing, k == fault.Denied:
		f.Status, f.Cause = chartForbidden, "permission"
	case k == fault.Timeout:
		f.Status, f.Cause, f.Evidence = chartSlow, "timeout", "The chart did not answer in time."
	case k == fault.Transient, k == fault.Mismatch, k == fault.RateLimited, k == fault.Auth:
		f.Status, f.Cause = chartUnknown, ""
	case k == fault.Internal:
		f.Evidence = "Superset failed while it ran the chart; its database may be out of reach."
	case strings.Contains(text, "no query context"):
		f.Cause, f.Suggest = "no_query_context", "open the chart in Superset and save it once"
	case strings.Contains(text, "Metric '"), strings.Contains(text, "metric") && strings.Contains(text, "does not exist"):
		f.Cause, f.Suggest = "missing_metric", suggestDataset(c)
	case strings.Contains(text, "Columns missing in dataset"), strings.Contains(text, "no such column"), strings.Contains(text, "column") && strings.Contains(text, "does not exist"):
		f.Cause, f.Suggest = "missing_column", suggestDataset(c)
	}
}

func suggestDataset(c superset.ChartRow) string {
	return fmt.Sprintf("check_dataset with dataset %d", c.DatasetID)
}
