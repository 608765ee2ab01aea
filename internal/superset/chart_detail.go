package superset

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"agentd/internal/fault"
)

// A Chart is one chart, whole. Params and QueryContext are JSON texts as Superset keeps them; nothing makes them agree.
type Chart struct {
	ID             int      `json:"id"`
	UUID           string   `json:"uuid"`
	Name           string   `json:"slice_name"`
	Description    string   `json:"description"`
	VizType        string   `json:"viz_type"`
	DatasetID      int      `json:"datasource_id"` // 0: its dataset was deleted
	DatasourceType string   `json:"datasource_type"`
	DatasetName    string   `json:"datasource_name_text"`
	CacheTimeout   *int     `json:"cache_timeout"`
	Params         string   `json:"params"`
	QueryContext   string   `json:"query_context"` // "" where nothing was saved to run
	Owners         []Person `json:"owners"`
	Managed        bool     `json:"is_managed_externally"`
}

// Chart reads one chart by id or uuid. A hidden one is Missing.
func (s *Session) Chart(ctx context.Context, ref Ref) (Chart, error) {
	ref, err := s.resolve(ctx, charts, ref)
	if err != nil {
		return Chart{}, err
	}
	var got struct {
		Result Chart `json:"result"`
	}
	if err := s.get(ctx, "/api/v1/chart/"+escape(ref.String()), "", &got); err != nil {
		return Chart{}, err
	}
	if c := got.Result; !ref.is(c.ID, c.UUID, "") {
		return Chart{}, mismatch("Superset answered with another chart than the one that was asked for.")
	}
	return got.Result, nil
}

// ChartRow finds one chart in the list, which alone knows when it was changed. A hidden one is Missing.
func (s *Session) ChartRow(ctx context.Context, ref Ref) (ChartRow, error) {
	f := ChartFilter{IDs: []int{ref.ID}}
	if ref.ID == 0 {
		f = ChartFilter{UUIDs: []string{ref.UUID}}
	}
	p, err := s.Charts(ctx, f, 1)
	switch {
	case err != nil:
		return ChartRow{}, err
	case len(p.Rows) == 0:
		return ChartRow{}, fault.New(fault.Missing, "There is no such chart, or it is hidden from this user.")
	case p.Total > 1:
		return ChartRow{}, mismatch("Superset answered with more than one chart.")
	}
	return p.Rows[0], nil
}

// A ChartPatch is what a PUT of a chart sends; what is nil is kept.
type ChartPatch struct {
	Name           *string `json:"slice_name,omitempty"`
	Description    *string `json:"description,omitempty"`
	CacheTimeout   *int    `json:"cache_timeout,omitempty"`
	DatasetID      *int    `json:"datasource_id,omitempty"`
	DatasourceType *string `json:"datasource_type,omitempty"` // must go with DatasetID
	Params         *string `json:"params,omitempty"`
	QueryContext   *string `json:"query_context,omitempty"`
	Dashboards     *[]int  `json:"dashboards,omitempty"` // replaces the membership; Superset does not ask who owns them
}

// UpdateChart changes a chart. That it answers without an error is not yet proof: read the chart back.
func (s *Session) UpdateChart(ctx context.Context, id int, p ChartPatch) error {
	return s.write(ctx, http.MethodPut, "/api/v1/chart/"+strconv.Itoa(id), p, nil)
}

// A ChartRun is one execution of a chart's saved query.
type ChartRun struct {
	Data
	Count    int // rows
	CachedAt string
	Took     time.Duration
}

// RunChart executes the saved query of a chart; with force the cache is not asked. A query that fails is Invalid with
// the database's words; a chart that is hidden or whose dataset is gone is Missing.
func (s *Session) RunChart(ctx context.Context, id int, force bool) (ChartRun, error) {
	q := "format=json&type=full"
	if force {
		q += "&force=true"
	}
	begin := time.Now()
	var got chartData
	if err := s.get(ctx, "/api/v1/chart/"+strconv.Itoa(id)+"/data/", q, &got); err != nil {
		return ChartRun{}, err
	}
	d, err := got.one()
	if err != nil {
		return ChartRun{}, err
	}
	r := ChartRun{Data: d, Count: len(d.Rows), Took: time.Since(begin)}
	if v := got.Result[0]; v.IsCached != nil && *v.IsCached {
		r.CachedAt = v.CachedAt
	}
	return r, nil
}

// ChartSQL returns the SQL of a chart without running it. What Superset cannot build is Invalid: an unknown metric, SQL
// that does not parse, a missing query context. It does not look whether columns and tables exist.
func (s *Session) ChartSQL(ctx context.Context, id int) (string, error) {
	var got struct {
		Result []struct {
			Query string `json:"query"`
			Error string `json:"error"`
		} `json:"result"`
	}
	if err := s.get(ctx, "/api/v1/chart/"+strconv.Itoa(id)+"/data/", "format=json&type=query", &got); err != nil {
		return "", err
	}
	if len(got.Result) == 0 {
		return "", mismatch("Superset's answer has no result.")
	}
	text := ""
	for i, r := range got.Result {
		if r.Error != "" {
			return r.Query, fault.New(fault.Invalid, "Superset: "+r.Error)
		}
		if i > 0 {
			text += ";\n"
		}
		text += r.Query
	}
	return text, nil
}

// WarmUp runs a chart anew as its dashboard does, default filters included. Admins only. A query that fails is Invalid.
func (s *Session) WarmUp(ctx context.Context, chart, dashboard int) error {
	body := struct {
		Chart     int `json:"chart_id"`
		Dashboard int `json:"dashboard_id,omitempty"`
	}{chart, dashboard}
	var got struct {
		Result []struct {
			Chart  int             `json:"chart_id"`
			Error  json.RawMessage `json:"viz_error"`
			Status string          `json:"viz_status"`
		} `json:"result"`
	}
	if err := s.write(ctx, http.MethodPut, "/api/v1/chart/warm_up_cache", body, &got); err != nil {
		return err
	}
	if len(got.Result) != 1 || got.Result[0].Chart != chart {
		return mismatch("Superset answered for another chart than the one that was asked for.")
	}
	if e := got.Result[0].Error; len(e) > 0 && string(e) != "null" {
		text := string(e)
		var words string
		if json.Unmarshal(e, &words) == nil {
			text = words
		}
		return fault.New(fault.Invalid, "Superset: "+text)
	}
	return nil
}
