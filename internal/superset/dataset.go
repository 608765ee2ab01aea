package superset

import (
	"context"
	"net/url"
)

// A DatasetRow is a dataset as lists show it.
type DatasetRow struct {
	ID       int    `json:"id"`
	UUID     string `json:"uuid"`
	Name     string `json:"table_name"`
	Schema   string `json:"schema"`
	Catalog  string `json:"catalog"`
	Kind     string `json:"kind"` // physical, virtual
	Database struct {
		ID   int    `json:"id"`
		Name string `json:"database_name"`
	} `json:"database"`
	Owners      []Person `json:"owners"`
	Description string   `json:"description"`
	ChangedOn   Time     `json:"changed_on_utc"`
	ExploreURL  string   `json:"explore_url"`
}

var datasetColumns = names{"id", "uuid", "table_name", "schema", "catalog", "kind", "database.id", "database.database_name",
	"owners.id", "owners.first_name", "owners.last_name", "description", "changed_on_utc", "explore_url"}

// DatasetFilter selects datasets; what is not set does not filter.
type DatasetFilter struct {
	Text     string // part of the name; % and _ are wildcards
	IDs      []int
	Name     string // the whole name
	Schema   string
	Database int
	OwnerID  int
	Kind     string // physical, virtual
}

func (f DatasetFilter) query(p Paging) query[DatasetRow] {
	q := query[DatasetRow]{class: datasets, columns: datasetColumns, paging: p, id: func(d DatasetRow) int { return d.ID }}
	add := func(o object, fit func(DatasetRow) bool) {
		q.filters, q.fits = append(q.filters, o), append(q.fits, fit)
	}
	if f.Text != "" {
		add(filter("table_name", "ct", f.Text), func(d DatasetRow) bool { return contains(d.Name, f.Text) })
	}
	if f.IDs != nil {
		add(filter("id", "in", f.IDs), func(d DatasetRow) bool { return hasID(f.IDs, d.ID) })
	}
	if f.Name != "" {
		add(filter("table_name", "eq", f.Name), func(d DatasetRow) bool { return d.Name == f.Name })
	}
	if f.Schema != "" {
		add(filter("schema", "eq", f.Schema), func(d DatasetRow) bool { return d.Schema == f.Schema })
	}
	if f.Database != 0 {
		add(filter("database", "rel_o_m", f.Database), func(d DatasetRow) bool { return d.Database.ID == f.Database })
	}
	if f.OwnerID != 0 {
		add(filter("owners", "rel_m_m", f.OwnerID), func(d DatasetRow) bool { return owned(d.Owners, f.OwnerID) })
	}
	if f.Kind != "" {
		add(filter("sql", "dataset_is_null_or_empty", f.Kind == "physical"), func(d DatasetRow) bool { return d.Kind == f.Kind })
	}
	return q
}

// Datasets reads one page.
func (s *Session) Datasets(ctx context.Context, f DatasetFilter, p Paging) (Page[DatasetRow], error) {
	return list(ctx, s, f.query(p))
}

// A Dataset is one dataset, whole.
type Dataset struct {
	ID       int    `json:"id"`
	UUID     string `json:"uuid"`
	Name     string `json:"table_name"`
	Schema   string `json:"schema"`
	Catalog  string `json:"catalog"`
	Kind     string `json:"kind"`
	SQL      string `json:"sql"`
	Database struct {
		ID      int    `json:"id"`
		UUID    string `json:"uuid"`
		Name    string `json:"database_name"`
		Backend string `json:"backend"`
	} `json:"database"`
	Description        string   `json:"description"`
	MainDttm           string   `json:"main_dttm_col"`
	CacheTimeout       *int     `json:"cache_timeout"`
	TemplateParams     string   `json:"template_params"`
	AlwaysFilterByTime bool     `json:"always_filter_main_dttm"`
	ManagedExternally  bool     `json:"is_managed_externally"`
	ChangedOn          Time     `json:"changed_on"`
	ChangedBy          *Person  `json:"changed_by"`
	Owners             []Person `json:"owners"`
	Columns            []Column `json:"columns"`
	Metrics            []Metric `json:"metrics"`
}

// A Column of a dataset; one with an Expression is calculated.
type Column struct {
	ID          int    `json:"id"`
	UUID        string `json:"uuid"`
	Name        string `json:"column_name"`
	VerboseName string `json:"verbose_name"`
	Description string `json:"description"`
	Type        string `json:"type"`
	Expression  string `json:"expression"`
	Time        bool   `json:"is_dttm"`
	Active      bool   `json:"is_active"`
	GroupBy     bool   `json:"groupby"`
	Filterable  bool   `json:"filterable"`
}

// A Metric of a dataset.
type Metric struct {
	ID          int    `json:"id"`
	UUID        string `json:"uuid"`
	Name        string `json:"metric_name"`
	VerboseName string `json:"verbose_name"`
	Description string `json:"description"`
	Expression  string `json:"expression"`
	Format      string `json:"d3format"`
	Warning     string `json:"warning_text"`
}

// datasetParts is what is read of a dataset. Without it Superset also builds a sample statement, for which it asks the
// database, so that a dataset whose database is out of reach could not be read at all.
var datasetParts = names{"id", "uuid", "table_name", "schema", "catalog", "kind", "sql", "database.id", "database.uuid", "database.database_name",
	"database.backend", "description", "main_dttm_col", "cache_timeout", "template_params", "always_filter_main_dttm", "is_managed_externally",
	"changed_on", "changed_by.first_name", "changed_by.last_name", "owners.id", "owners.first_name", "owners.last_name",
	"columns.id", "columns.uuid", "columns.column_name", "columns.verbose_name", "columns.description", "columns.type", "columns.expression",
	"columns.is_dttm", "columns.is_active", "columns.groupby", "columns.filterable",
	"metrics.id", "metrics.uuid", "metrics.metric_name", "metrics.verbose_name", "metrics.description", "metrics.expression", "metrics.d3format",
	"metrics.warning_text"}

// Dataset reads one dataset by id or uuid. A hidden one is Missing.
func (s *Session) Dataset(ctx context.Context, ref Ref) (Dataset, error) {
	ref, err := s.resolve(ctx, datasets, ref)
	if err != nil {
		return Dataset{}, err
	}
	var got struct {
		Result Dataset `json:"result"`
	}
	if err := s.get(ctx, "/api/v1/dataset/"+escape(ref.String()), "q="+rison(object{{"columns", datasetParts}}), &got); err != nil {
		return Dataset{}, err
	}
	if d := got.Result; !ref.is(d.ID, d.UUID, "") {
		return Dataset{}, mismatch("Superset answered with another dataset than the one that was asked for.")
	}
	return got.Result, nil
}

// DatasetPath is the page that explores a dataset.
func DatasetPath(id int) string {
	return "/explore/?" + url.Values{"datasource_type": {"table"}, "datasource_id": {Ref{ID: id}.String()}}.Encode()
}

// ChartPath is the page of a chart.
func ChartPath(id int) string { return "/explore/?slice_id=" + Ref{ID: id}.String() }
