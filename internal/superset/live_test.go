package superset_test

import (
	"os"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/superset"
)

// live returns a session on a real Superset, or skips.
func live(t *testing.T, user string) *superset.Session {
	t.Helper()
	base := os.Getenv("AGENTD_TEST_SUPERSET_DEV")
	if base == "" {
		t.Skip("AGENTD_TEST_SUPERSET_DEV is not set: it names a seeded Superset, http://127.0.0.1:8101 for example")
	}
	return session(t, base, user)
}

func session(t *testing.T, base, user string) *superset.Session {
	t.Helper()
	c, err := superset.New(superset.Options{BaseURL: base, Auth: superset.Auth{Username: user, Password: user}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s, err := c.As(chat.Identity{User: user})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLive(t *testing.T) {
	s := live(t, "admin")
	ctx := t.Context()
	p, err := s.Dashboards(ctx, superset.DashboardFilter{}, superset.Paging{Size: 50})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(p.Total, len(p.Rows), p.Rows[0])
	d, err := s.Dashboard(ctx, superset.Ref{Slug: "sales-overview"})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(d.ChangedOn, d.Tags)
	cs, err := s.Charts(ctx, superset.ChartFilter{Dashboard: d.ID}, 500)
	t.Log(cs.Total, err)
	me, err := s.Me(ctx)
	t.Log(me.ID, me.Roles, me.May("can_read on Dashboard"), err)
	ds, err := s.Dataset(ctx, superset.Ref{ID: 1})
	t.Log(ds.Name, len(ds.Columns), err)
	_, err = s.DashboardReports(ctx, d.ID)
	t.Log(err)
	title := "Sales Overview"
	t.Log(s.UpdateDashboard(ctx, 999999, superset.DashboardPatch{Title: &title}))
	v, err := s.Version(ctx)
	t.Log(v, err)
}
