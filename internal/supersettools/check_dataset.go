package supersettools

import (
	"context"
	"fmt"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

type checkDatasetArgs struct {
	EnvID   string `json:"env_id,omitempty" jsonschema:"description=Environment; default: the current one"`
	Dataset string `json:"dataset" jsonschema:"minLength=1,maxLength=2000,description=Id\\, uuid or address"`
}

// expressionCap bounds how many expressions of a dataset are tried one by one.
const expressionCap = 50

type datasetCheck struct {
	Dataset     datasetName    `json:"dataset"`
	Kind        string         `json:"kind"`
	Drift       drift          `json:"drift"`
	Expressions []brokenSQL    `json:"broken_expressions"`
	Charts      []chartHit     `json:"charts_hit"`
	Counts      datasetNumbers `json:"counts"`
}

type datasetNumbers struct {
	Columns int `json:"columns"`
	Metrics int `json:"metrics"`
	Charts  int `json:"charts"`
}

type brokenSQL struct {
	Kind       string `json:"kind"` // metric, column
	Name       string `json:"name"`
	Expression string `json:"expression"`
	Error      string `json:"error"`
}

// A chartHit is a chart that asks for a column that is gone.
type chartHit struct {
	ID      int      `json:"id"`
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
}

func checkDataset(d Deps) tool.Tool {
	t := define(d, "check_dataset", tool.Read, []string{"can_read on Dataset", "can_read on Database"}, []string{"dataset"}, func(o op, in checkDatasetArgs) (tool.Bound, error) {
		ref, err := o.ref("/dataset", datasetKind, in.Dataset)
		if err != nil {
			return tool.Bound{}, err
		}
		return o.reading(func(ctx context.Context, s *superset.Session) (tool.Result, error) {
			return runCheckDataset(ctx, s, ref)
		})
	})
	t.Timeout = 2 * time.Minute
	return t
}

func runCheckDataset(ctx context.Context, s *superset.Session, ref superset.Ref) (tool.Result, error) {
	d, err := s.Dataset(ctx, ref)
	if err != nil {
		return tool.Result{}, err
	}
	v := datasetCheck{Dataset: datasetName{d.ID, d.Name}, Kind: d.Kind, Expressions: []brokenSQL{}, Charts: []chartHit{}}
	v.Counts.Columns, v.Counts.Metrics = len(d.Columns), len(d.Metrics)
	if v.Drift, err = driftOf(ctx, s, d); err != nil {
		return tool.Result{}, err
	}
	r := tool.Result{Links: []chat.Link{{Title: d.Name, URL: s.PublicURL(superset.DatasetPath(d.ID))}}}
	if v.Drift.Unknown == "" {
		if v.Expressions, err = broken(ctx, s, d); err != nil {
			return tool.Result{}, err
		}
		if len(d.Metrics)+len(d.Columns) > expressionCap {
			r.Warnings = append(r.Warnings, fmt.Sprintf("At most %d expressions are tried.", expressionCap))
		}
	}
	page, err := s.Charts(ctx, superset.ChartFilter{Dataset: d.ID}, usageCap)
	if err != nil {
		return tool.Result{}, err
	}
	v.Counts.Charts = page.Total
	if len(v.Drift.Removed) > 0 {
		if v.Charts, err = hit(ctx, s, d, page.Rows, v.Drift.Removed); err != nil {
			return tool.Result{}, err
		}
	}
	r.Data = object(v)
	switch {
	case v.Drift.Unknown != "":
		r.Summary = "The dataset “" + d.Name + "” could not be compared with its database: " + v.Drift.Unknown
	case v.Drift.none() && len(v.Expressions) == 0:
		r.Summary = "The dataset “" + d.Name + "” fits its database, and its expressions work."
	default:
		r.Summary = fmt.Sprintf("The dataset “%s” needs attention. Columns added: %d, removed: %d, of another type: %d. Broken expressions: %d. Hit by removed columns: %s.", d.Name,
			len(v.Drift.Added), len(v.Drift.Removed), len(v.Drift.Types), len(v.Expressions), count(len(v.Charts), "chart"))
	}
	return r, nil
}

// broken tries the expressions of a dataset, all at once, and one by one when that fails.
func broken(ctx context.Context, s *superset.Session, d superset.Dataset) ([]brokenSQL, error) {
	out := []brokenSQL{}
	var list []brokenSQL
	var columns, metrics []string
	for _, m := range d.Metrics {
		list, metrics = append(list, brokenSQL{Kind: "metric", Name: m.Name, Expression: m.Expression}), append(metrics, m.Name)
	}
	for _, c := range d.Columns {
		if c.Expression != "" {
			list, columns = append(list, brokenSQL{Kind: "column", Name: c.Name, Expression: c.Expression}), append(columns, c.Name)
		}
	}
	if len(list) == 0 {
		return out, nil
	}
	if _, err := s.Try(ctx, d.ID, columns, metrics); err == nil {
		return out, nil
	} else if ctx.Err() != nil {
		return out, err
	}
	list = list[:min(len(list), expressionCap)]
	err := each(ctx, 3, list, func(ctx context.Context, i int, b brokenSQL) error {
		columns, metrics := []string{b.Name}, []string(nil)
		if b.Kind == "metric" {
			columns, metrics = nil, []string{b.Name}
		}
		_, err := s.Try(ctx, d.ID, columns, metrics)
		switch fault.KindOf(err) {
		case "":
		case fault.Invalid:
			list[i].Error = fault.Message(err)
		case fault.Internal:
			list[i].Error = "Superset failed while it ran the expression."
		default:
			return err
		}
		return nil
	})
	for _, b := range list {
		if b.Error != "" {
			out = append(out, b)
		}
	}
	return out, err
}

// hit finds the charts that ask for columns that are gone.
func hit(ctx context.Context, s *superset.Session, d superset.Dataset, rows []superset.ChartRow, gone []string) ([]chartHit, error) {
	found := make([]chartHit, len(rows))
	err := each(ctx, 4, rows, func(ctx context.Context, i int, c superset.ChartRow) error {
		chart, err := s.Chart(ctx, superset.Ref{ID: c.ID})
		if isMissing(err) {
			return nil
		} else if err != nil {
			return err
		}
		q, _ := parseQuery(chart.QueryContext)
		found[i] = chartHit{ID: c.ID, Name: c.Name}
		for _, column := range gone {
			if q.mentions(column, d) {
				found[i].Columns = append(found[i].Columns, column)
			}
		}
		return nil
	})
	out := []chartHit{}
	for _, f := range found {
		if len(f.Columns) > 0 {
			out = append(out, f)
		}
	}
	return out, err
}
