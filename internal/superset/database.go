package superset

import (
	"context"
	"net/url"
	"strconv"

	"agentd/internal/fault"
)

// A Database is a connection as lists show it; never with its address.
type Database struct {
	ID       int    `json:"id"`
	UUID     string `json:"uuid"`
	Name     string `json:"database_name"`
	Backend  string `json:"backend"`
	AllowDML bool   `json:"allow_dml"`
	SQLLab   bool   `json:"expose_in_sqllab"`
}

// Databases lists the connections that the user sees.
func (s *Session) Databases(ctx context.Context) ([]Database, error) {
	p, err := all(ctx, s, query[Database]{
		class: databases, columns: names{"id", "uuid", "database_name", "backend", "allow_dml", "expose_in_sqllab"},
		paging: Paging{By: "database_name"}, id: func(d Database) int { return d.ID },
	}, 10*PageCap)
	return p.Rows, err
}

// A TableColumn is a column of a table as the database tells it.
type TableColumn struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	LongType string `json:"longType"`
}

// Table reads the columns of a table. One that does not exist or is hidden is Missing; some databases are asked in vain
// and answer with no columns, which is Missing too.
func (s *Session) Table(ctx context.Context, database int, catalog, schema, table string) ([]TableColumn, error) {
	q := url.Values{"name": {table}}
	if schema != "" {
		q.Set("schema", schema)
	}
	if catalog != "" {
		q.Set("catalog", catalog)
	}
	var got struct {
		Name    string        `json:"name"`
		Columns []TableColumn `json:"columns"`
	}
	if err := s.get(ctx, "/api/v1/database/"+strconv.Itoa(database)+"/table_metadata/", q.Encode(), &got); err != nil {
		return nil, err
	}
	if got.Name != table {
		return nil, mismatch("Superset answered for another table than the one that was asked for.")
	}
	if len(got.Columns) == 0 {
		return nil, fault.New(fault.Missing, "There is no table "+table+", or it is hidden from this user.")
	}
	return got.Columns, nil
}
