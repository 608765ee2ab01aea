package supersettools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"agentd/internal/fault"
	"agentd/internal/superset"
)

// A source is a dataset as far as a check could learn of it.
type source struct {
	d    superset.Dataset
	err  error
	gone []string // columns that its table no longer has
	note string   // the table could not be compared, and why
}

// static compares what each chart asks for with what its dataset and table have. Superset's own dry query sees neither
// unknown columns nor missing tables, so they are compared here.
func static(ctx context.Context, s *superset.Session, rows []superset.ChartRow) ([]finding, error) {
	var ids []int
	for _, c := range rows {
		if c.DatasetID > 0 && c.DatasourceType == "table" && !slices.Contains(ids, c.DatasetID) {
			ids = append(ids, c.DatasetID)
		}
	}
	read := make([]source, len(ids))
	if err := each(ctx, 4, ids, func(ctx context.Context, i, id int) error {
		read[i] = readSource(ctx, s, id)
		return ctx.Err()
	}); err != nil {
		return nil, err
	}
	sources := map[int]source{}
	for i, id := range ids {
		sources[id] = read[i]
	}
	out := make([]finding, len(rows))
	err := each(ctx, 4, rows, func(ctx context.Context, i int, c superset.ChartRow) error {
		out[i] = look(ctx, s, c, sources)
		return ctx.Err()
	})
	return out, err
}

// readSource reads a dataset and compares its columns with the table.
func readSource(ctx context.Context, s *superset.Session, id int) source {
	var v source
	if v.d, v.err = s.Dataset(ctx, superset.Ref{ID: id}); v.err != nil || v.d.Kind != "physical" {
		return v
	}
	table, err := s.Table(ctx, v.d.Database.ID, v.d.Catalog, v.d.Schema, v.d.Name)
	switch {
	case isMissing(err):
		v.note = "The table " + v.d.Name + " does not exist or is hidden from the user."
	case err != nil:
		v.note = "The table " + v.d.Name + " could not be looked at: " + fault.Message(err)
	}
	if err == nil {
		for _, c := range v.d.Columns {
			if c.Expression == "" && !slices.ContainsFunc(table, func(t superset.TableColumn) bool { return strings.EqualFold(t.Name, c.Name) }) {
				v.gone = append(v.gone, c.Name)
			}
		}
	}
	return v
}

// look finds what is wrong with one chart without running it.
func look(ctx context.Context, s *superset.Session, c superset.ChartRow, sources map[int]source) finding {
	f := finding{ID: c.ID, Name: c.Name, Dataset: orNull(c.DatasetName), Status: chartOK}
	if c.DatasetID == 0 {
		f.blame(fault.New(fault.Missing, ""), c)
		return f
	}
	from, known := sources[c.DatasetID]
	if known && from.err != nil {
		f.Status, f.Cause, f.Evidence = chartUnknown, "", "Its dataset could not be read: "+fault.Message(from.err)
		if k := fault.KindOf(from.err); k == fault.Missing || k == fault.Denied {
			f.Status, f.Cause, f.Evidence = chartForbidden, "permission", "Its dataset is hidden from the user."
		}
		return f
	}
	chart, err := s.Chart(ctx, superset.Ref{ID: c.ID})
	if err != nil {
		f.blame(err, c)
		return f
	}
	q, ok := parseQuery(chart.QueryContext)
	if !ok {
		f.blame(fault.New(fault.Invalid, "There is no query context saved with the chart."), c)
		f.Cause, f.Suggest = "no_query_context", "open the chart in Superset and save it once"
		return f
	}
	if columns, metrics := q.lacking(from.d); known && len(columns)+len(metrics) > 0 {
		f.Status, f.Suggest = chartBroken, suggestDataset(c)
		if len(columns) > 0 {
			f.Cause, f.Evidence = "missing_column", "The dataset has no column "+strings.Join(columns, ", ")+"."
		} else {
			f.Cause, f.Evidence = "missing_metric", "The dataset has no metric "+strings.Join(metrics, ", ")+"."
		}
		return f
	}
	for _, column := range from.gone {
		if q.mentions(column, from.d) {
			f.Status, f.Cause, f.Suggest = chartBroken, "missing_column", suggestDataset(c)
			f.Evidence = fmt.Sprintf("The table %s has no column %s any more.", from.d.Name, column)
			return f
		}
	}
	if from.note != "" && strings.Contains(from.note, "does not exist") {
		f.Status, f.Cause, f.Evidence = chartBroken, "db_error", from.note
		return f
	}
	if _, err := s.ChartSQL(ctx, c.ID); err != nil {
		f.blame(err, c)
		return f
	}
	f.Evidence = from.note
	if names := q.disagrees(chart.Params); len(names) > 0 {
		f.Evidence = "Its parameters name " + strings.Join(names, ", ") + ", which the saved query does not ask for: alerts and thumbnails show something else than its page."
		f.Suggest = "open the chart in Superset and save it once"
	}
	if q.DatasetID != 0 && q.DatasetID != c.DatasetID {
		f.Status, f.Cause = chartBroken, "no_query_context"
		f.Evidence = fmt.Sprintf("The saved query still runs on dataset %d, not on the chart's dataset %d.", q.DatasetID, c.DatasetID)
		f.Suggest = "open the chart in Superset and save it once"
	}
	return f
}
