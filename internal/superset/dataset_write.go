package superset

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
)

// A DatasetPatch is what a PUT of a dataset sends; what is nil is kept, but for columns and metrics: a list that is sent
// replaces the old one, and what it does not name is deleted.
type DatasetPatch struct {
	Description  *string        `json:"description,omitempty"`
	SQL          *string        `json:"sql,omitempty"`
	CacheTimeout *int           `json:"cache_timeout,omitempty"`
	MainDttm     *string        `json:"main_dttm_col,omitempty"`
	Owners       *[]int         `json:"owners,omitempty"`
	Columns      *[]ColumnPatch `json:"columns,omitempty"`
	Metrics      *[]MetricPatch `json:"metrics,omitempty"`

	// AlwaysFilterByTime is always sent: left out, it becomes false.
	AlwaysFilterByTime bool `json:"always_filter_main_dttm"`
}

// A ColumnPatch names a column by its id; what is nil is kept.
type ColumnPatch struct {
	ID          int     `json:"id,omitempty"`
	Name        string  `json:"column_name"`
	VerboseName *string `json:"verbose_name,omitempty"`
	Description *string `json:"description,omitempty"`
	Expression  *string `json:"expression,omitempty"`
	Time        *bool   `json:"is_dttm,omitempty"`
	GroupBy     *bool   `json:"groupby,omitempty"`
	Filterable  *bool   `json:"filterable,omitempty"`
}

// A MetricPatch names a metric by its id, or makes one where it has none; what is nil is kept. Name and Expression are
// always needed.
type MetricPatch struct {
	ID          int     `json:"id,omitempty"`
	Name        string  `json:"metric_name"`
	Expression  string  `json:"expression"`
	VerboseName *string `json:"verbose_name,omitempty"`
	Format      *string `json:"d3format,omitempty"`
}

// UpdateDataset changes a dataset. Superset checks neither SQL nor expressions. Read the dataset back.
func (s *Session) UpdateDataset(ctx context.Context, id int, p DatasetPatch) error {
	return s.write(ctx, http.MethodPut, "/api/v1/dataset/"+strconv.Itoa(id), p, nil)
}

// RefreshDataset reads the columns anew from the table or the SQL; verbose names and calculated columns stay.
func (s *Session) RefreshDataset(ctx context.Context, id int) error {
	return s.write(ctx, http.MethodPut, "/api/v1/dataset/"+strconv.Itoa(id)+"/refresh", nil, nil)
}

// A NewDataset is a table, or SQL under a name. Schema is always sent: without it a table gets a second dataset.
type NewDataset struct {
	Database int     `json:"database"`
	Catalog  *string `json:"catalog,omitempty"`
	Schema   *string `json:"schema"`
	Name     string  `json:"table_name"`
	SQL      *string `json:"sql,omitempty"`
}

// CreateDataset makes a dataset and returns its id. One that exists is Invalid; SQL that fails is Internal.
func (s *Session) CreateDataset(ctx context.Context, n NewDataset) (int, error) {
	return s.created(ctx, "/api/v1/dataset/", n)
}

// DuplicateDataset copies a virtual dataset and returns the id of the copy. Every refusal is Invalid, without a reason.
func (s *Session) DuplicateDataset(ctx context.Context, id int, name string) (int, error) {
	return s.created(ctx, "/api/v1/dataset/duplicate", struct {
		ID   int    `json:"base_model_id"`
		Name string `json:"table_name"`
	}{id, name})
}

func (s *Session) created(ctx context.Context, path string, body any) (int, error) {
	var got struct {
		ID     int             `json:"id"`
		Result json.RawMessage `json:"result"`
	}
	if err := s.write(ctx, http.MethodPost, path, body, &got); err != nil {
		return 0, err
	}
	if got.ID <= 0 {
		return 0, call{write: true}.strange("Superset's answer does not say what was made.", nil)
	}
	return got.ID, nil
}

// DeleteDataset removes a dataset for ever; charts on it stay and break.
func (s *Session) DeleteDataset(ctx context.Context, id int) error {
	return s.write(ctx, http.MethodDelete, "/api/v1/dataset/"+strconv.Itoa(id), nil, nil)
}

// ExportDatasets streams the zip of the datasets with their connections. The caller closes it.
func (s *Session) ExportDatasets(ctx context.Context, ids ...int) (io.ReadCloser, error) {
	return s.export(ctx, datasets, ids)
}

// ExportCharts streams the zip of the charts with their datasets and connections. The caller closes it.
func (s *Session) ExportCharts(ctx context.Context, ids ...int) (io.ReadCloser, error) {
	return s.export(ctx, charts, ids)
}
