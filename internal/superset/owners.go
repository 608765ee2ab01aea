package superset

import (
	"context"
	"net/http"
	"strconv"
)

// SetChartOwners replaces the owners of a chart. Who is no Admin stays among them, whatever is sent.
func (s *Session) SetChartOwners(ctx context.Context, id int, owners []int) error {
	body := struct {
		Owners []int `json:"owners"`
	}{owners}
	return s.write(ctx, http.MethodPut, "/api/v1/chart/"+strconv.Itoa(id), body, nil)
}

// SetDatasetOwners replaces the owners of a dataset and reads it first, since a PUT resets what it leaves out.
func (s *Session) SetDatasetOwners(ctx context.Context, id int, owners []int) error {
	d, err := s.Dataset(ctx, Ref{ID: id})
	if err != nil {
		return err
	}
	return s.UpdateDataset(ctx, id, DatasetPatch{Owners: &owners, AlwaysFilterByTime: d.AlwaysFilterByTime})
}
