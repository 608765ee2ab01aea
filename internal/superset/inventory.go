package superset

import "context"

// uuidsAtOnce keeps a list's address below what servers take.
const uuidsAtOnce = 40

// DashboardsByUUID lists those of the dashboards that the user sees.
func (s *Session) DashboardsByUUID(ctx context.Context, uuids []string) ([]DashboardRow, error) {
	return byUUID(uuids, func(part []string) ([]DashboardRow, error) {
		q := DashboardFilter{}.query(Paging{By: "dashboard_title"})
		q.filters = append(q.filters, filter("uuid", "in", part))
		q.fits = append(q.fits, func(d DashboardRow) bool { return hasUUID(part, d.UUID) })
		p, err := all(ctx, s, q, uuidsAtOnce)
		return p.Rows, err
	})
}

// DashboardsBySlug lists the dashboards with a slug that the user sees.
func (s *Session) DashboardsBySlug(ctx context.Context, slug string) ([]DashboardRow, error) {
	q := DashboardFilter{}.query(Paging{By: "dashboard_title"})
	q.filters = append(q.filters, filter("slug", "eq", slug))
	q.fits = append(q.fits, func(d DashboardRow) bool { return d.Slug == slug })
	p, err := all(ctx, s, q, PageCap)
	return p.Rows, err
}

// ChartsByUUID lists those of the charts that the user sees.
func (s *Session) ChartsByUUID(ctx context.Context, uuids []string) ([]ChartRow, error) {
	return byUUID(uuids, func(part []string) ([]ChartRow, error) {
		p, err := s.Charts(ctx, ChartFilter{UUIDs: part}, uuidsAtOnce)
		return p.Rows, err
	})
}

// DatasetsByUUID lists those of the datasets that the user sees.
func (s *Session) DatasetsByUUID(ctx context.Context, uuids []string) ([]DatasetRow, error) {
	return byUUID(uuids, func(part []string) ([]DatasetRow, error) {
		q := DatasetFilter{}.query(Paging{By: "table_name"})
		q.filters = append(q.filters, filter("uuid", "in", part))
		q.fits = append(q.fits, func(d DatasetRow) bool { return hasUUID(part, d.UUID) })
		p, err := all(ctx, s, q, uuidsAtOnce)
		return p.Rows, err
	})
}

// DatasetsOn lists the datasets that stand for a table of a connection. A schema of "" is none.
func (s *Session) DatasetsOn(ctx context.Context, database int, table string) ([]DatasetRow, error) {
	p, err := all(ctx, s, DatasetFilter{Database: database, Name: table}.query(Paging{By: "table_name"}), PageCap)
	return p.Rows, err
}

func byUUID[T any](uuids []string, read func([]string) ([]T, error)) ([]T, error) {
	var out []T
	for len(uuids) > 0 {
		n := min(len(uuids), uuidsAtOnce)
		rows, err := read(uuids[:n])
		if err != nil {
			return nil, err
		}
		out, uuids = append(out, rows...), uuids[n:]
	}
	return out, nil
}
