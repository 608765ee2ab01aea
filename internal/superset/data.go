package superset

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"agentd/internal/fault"
)

// Data is rows by position, values exactly as Superset wrote them.
type Data struct {
	Columns  []string
	Rows     []json.RawMessage // each a JSON array
	Query    string            // the SQL that ran
	Rejected []string          // columns of filters that were ignored
}

// Samples reads some rows of a dataset.
func (s *Session) Samples(ctx context.Context, dataset, rows int) (Data, error) {
	return s.query(ctx, dataset, "samples", dataQuery{Columns: []string{}, Limit: rows})
}

// Try runs columns and saved metrics of a dataset for one row. What fails is Invalid with the database's words.
func (s *Session) Try(ctx context.Context, dataset int, columns, metrics []string) (Data, error) {
	return s.query(ctx, dataset, "results", dataQuery{Columns: append([]string{}, columns...), Metrics: metrics, Limit: 1})
}

type dataQuery struct {
	Columns []string `json:"columns"`
	Metrics []string `json:"metrics,omitempty"`
	Limit   int      `json:"row_limit"`
}

func (s *Session) query(ctx context.Context, dataset int, result string, q dataQuery) (Data, error) {
	type source struct {
		ID   int    `json:"id"`
		Type string `json:"type"`
	}
	r, err := newCall(http.MethodPost, "/api/v1/chart/data", struct {
		Datasource source      `json:"datasource"`
		Queries    []dataQuery `json:"queries"`
		Type       string      `json:"result_type"`
		Format     string      `json:"result_format"`
	}{source{dataset, "table"}, []dataQuery{q}, result, "json"})
	if err != nil {
		return Data{}, err
	}
	// It reads, and is exempt from CSRF.
	r.write = false
	var got chartData
	if err := s.do(ctx, r, &got); err != nil {
		return Data{}, err
	}
	return got.one()
}

// chartData is the answer of chart data.
type chartData struct {
	Result []struct {
		Data     []json.RawMessage `json:"data"`
		Names    []string          `json:"colnames"`
		Query    string            `json:"query"`
		IsCached *bool             `json:"is_cached"`
		CachedAt string            `json:"cached_dttm"`
		Error    string            `json:"error"`
		Rejected []struct {
			Column json.RawMessage `json:"column"`
		} `json:"rejected_filters"`
	} `json:"result"`
}

func (c chartData) one() (Data, error) {
	if len(c.Result) == 0 {
		return Data{}, mismatch("Superset's answer has no result.")
	}
	r := c.Result[0]
	if r.Error != "" {
		return Data{}, fault.New(fault.Invalid, "Superset: "+r.Error)
	}
	d := Data{Columns: r.Names, Query: r.Query}
	for _, f := range r.Rejected {
		d.Rejected = append(d.Rejected, string(f.Column))
	}
	for _, row := range r.Data {
		v, err := positional(row, r.Names)
		if err != nil {
			return Data{}, fault.Wrap(fault.Mismatch, "Superset's answer could not be read.", err)
		}
		d.Rows = append(d.Rows, v)
	}
	return d, nil
}

// positional turns an object into the array of its values in the order of names; a value that is absent is null.
func positional(row json.RawMessage, names []string) (json.RawMessage, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(row, &m); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteByte('[')
	for i, n := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		if v := m[n]; len(v) > 0 {
			b.Write(v)
		} else {
			b.WriteString("null")
		}
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}
