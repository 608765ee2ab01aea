package supersettools

import (
	"context"
	"fmt"
	"slices"
	"time"

	"agentd/internal/chat"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

type getDatasetArgs struct {
	EnvID   string   `json:"env_id,omitempty" jsonschema:"description=Environment; default: the current one"`
	Dataset string   `json:"dataset" jsonschema:"minLength=1,maxLength=2000,description=Id\\, uuid or address"`
	Include []string `json:"include,omitempty" jsonschema:"maxItems=4,enum=columns,enum=metrics,enum=usage,enum=sample,description=Default: columns\\, metrics"`
	Rows    int      `json:"rows,omitempty" jsonschema:"minimum=1,maximum=50,description=Of the sample; default 10"`
}

type datasetView struct {
	ID                int           `json:"id"`
	UUID              string        `json:"uuid"`
	Name              string        `json:"name"`
	Kind              string        `json:"kind"`
	Database          databaseView  `json:"database"`
	Catalog           string        `json:"catalog,omitempty"`
	Schema            string        `json:"schema,omitempty"`
	URL               string        `json:"url"`
	Description       string        `json:"description,omitempty"`
	SQL               string        `json:"sql,omitempty"`
	MainDttm          string        `json:"main_dttm_col,omitempty"`
	CacheTimeout      *int          `json:"cache_timeout,omitempty"`
	Owners            []personView  `json:"owners"`
	ChangedOn         superset.Time `json:"changed_on"`
	ChangedBy         string        `json:"changed_by,omitempty"`
	ManagedExternally bool          `json:"managed_externally,omitempty"`
	ColumnCount       int           `json:"column_count"`
	MetricCount       int           `json:"metric_count"`
	Columns           []columnView  `json:"columns,omitempty"`
	Metrics           []metricView  `json:"metrics,omitempty"`
	Usage             *usageView    `json:"usage,omitempty"`
	Sample            *sampleView   `json:"sample,omitempty"`
}

type databaseView struct {
	ID      int    `json:"id"`
	Name    string `json:"name"`
	Backend string `json:"backend,omitempty"`
}

type columnView struct {
	Name        string `json:"name"`
	Type        string `json:"type,omitempty"`
	Time        bool   `json:"is_dttm,omitempty"`
	VerboseName string `json:"verbose_name,omitempty"`
	Expression  string `json:"expression,omitempty"`
	Description string `json:"description,omitempty"`
}

type metricView struct {
	Name        string `json:"name"`
	Expression  string `json:"expression"`
	VerboseName string `json:"verbose_name,omitempty"`
	Format      string `json:"d3format,omitempty"`
	Warning     string `json:"warning,omitempty"`
	Description string `json:"description,omitempty"`
}

func getDataset(d Deps) tool.Tool {
	t := define(d, "get_dataset", tool.Read, []string{"can_read on Dataset"}, []string{"dataset"}, func(o op, in getDatasetArgs) (tool.Bound, error) {
		ref, err := o.ref("/dataset", datasetKind, in.Dataset)
		if err != nil {
			return tool.Bound{}, err
		}
		if len(in.Include) == 0 {
			in.Include = []string{"columns", "metrics"}
		}
		if in.Rows == 0 {
			in.Rows = 10
		}
		return o.reading(func(ctx context.Context, s *superset.Session) (tool.Result, error) { return in.run(ctx, s, ref) })
	})
	t.Timeout = time.Minute // usage looks at many dashboards
	return t
}

func (in getDatasetArgs) run(ctx context.Context, s *superset.Session, ref superset.Ref) (tool.Result, error) {
	d, err := s.Dataset(ctx, ref)
	if err != nil {
		return tool.Result{}, err
	}
	v, r := datasetHeader(s, d), tool.Result{}
	with := func(part string) bool { return slices.Contains(in.Include, part) }
	if with("columns") {
		for _, c := range d.Columns {
			v.Columns = append(v.Columns, columnView{c.Name, c.Type, c.Time, c.VerboseName, c.Expression, c.Description})
		}
	}
	if with("metrics") {
		for _, m := range d.Metrics {
			v.Metrics = append(v.Metrics, metricView{m.Name, m.Expression, m.VerboseName, m.Format, m.Warning, m.Description})
		}
	}
	if with("usage") {
		u, warnings, err := usage(ctx, s, d.ID)
		if err != nil {
			return tool.Result{}, err
		}
		v.Usage = &u
		r.Warnings = append(r.Warnings, warnings...)
	}
	if with("sample") {
		data, err := s.Samples(ctx, d.ID, in.Rows)
		if err != nil {
			return tool.Result{}, err
		}
		v.Sample = &sampleView{data.Columns, data.Rows}
	}
	r.Summary = fmt.Sprintf("Dataset “%s” (id %d, %s, database %s) with %s and %s.", d.Name, d.ID, d.Kind, d.Database.Name,
		count(len(d.Columns), "column"), count(len(d.Metrics), "metric"))
	r.Data = object(v)
	r.Links = []chat.Link{{Title: v.Name, URL: v.URL}}
	return r, nil
}

func datasetHeader(s *superset.Session, d superset.Dataset) datasetView {
	v := datasetView{
		ID: d.ID, UUID: d.UUID, Name: d.Name, Kind: d.Kind, Database: databaseView{d.Database.ID, d.Database.Name, d.Database.Backend},
		Catalog: d.Catalog, Schema: d.Schema, URL: s.PublicURL(superset.DatasetPath(d.ID)), Description: d.Description, SQL: d.SQL,
		MainDttm: d.MainDttm, CacheTimeout: d.CacheTimeout, Owners: personViews(d.Owners), ChangedOn: d.ChangedOn,
		ManagedExternally: d.ManagedExternally, ColumnCount: len(d.Columns), MetricCount: len(d.Metrics),
	}
	if d.ChangedBy != nil {
		v.ChangedBy = d.ChangedBy.Name()
	}
	return v
}
