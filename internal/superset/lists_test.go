package superset_test

import (
	"testing"

	"agentd/internal/fault"
	"agentd/internal/mocksuperset"
	"agentd/internal/superset"
)

func TestListsReal(t *testing.T) { lists(t, real(t)) }

func TestLists(t *testing.T) {
	_, base := mock(t)
	lists(t, base)
}

// lists is the suite that a real Superset and the mock both pass.
func lists(t *testing.T, base string) {
	s := session(t, base, "admin")
	yes, no := true, false
	tests := []struct {
		name  string
		f     superset.DashboardFilter
		total int
	}{
		{"all", superset.DashboardFilter{}, 151},
		{"text", superset.DashboardFilter{Text: "archive"}, 130},
		{"a wildcard in the text", superset.DashboardFilter{Text: "100%"}, 2},
		{"quotes", superset.DashboardFilter{Text: `"double" & 'single'`}, 1},
		{"other letters", superset.DashboardFilter{Text: "Продажи"}, 1},
		{"drafts", superset.DashboardFilter{Published: &no, Text: "olga"}, 1},
		{"published", superset.DashboardFilter{Published: &yes, Text: "olga"}, 1},
		{"certified", superset.DashboardFilter{Certified: &yes}, 1},
		{"not certified", superset.DashboardFilter{Certified: &no}, 150},
		{"ids", superset.DashboardFilter{IDs: []int{1, 2, 999999}}, 2},
		{"no ids", superset.DashboardFilter{IDs: []int{}}, 0},
		{"slug", superset.DashboardFilter{Slug: "2024"}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := s.DashboardsUpTo(t.Context(), tt.f, superset.Paging{By: "changed_on", Desc: true}, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if p.Total != tt.total || len(p.Rows) != tt.total {
				t.Errorf("got %d rows of %d, want %d", len(p.Rows), p.Total, tt.total)
			}
		})
	}
	t.Run("an owner that is not there is no filter to Superset", func(t *testing.T) {
		if _, err := s.Dashboards(t.Context(), superset.DashboardFilter{OwnerID: 999999}, superset.Paging{}); fault.KindOf(err) != fault.Mismatch {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a dashboard that is not there is no filter to Superset", func(t *testing.T) {
		if _, err := s.Charts(t.Context(), superset.ChartFilter{Dashboard: 999999}, 10); fault.KindOf(err) != fault.Mismatch {
			t.Errorf("got %v", err)
		}
	})
	t.Run("page sizes around the cap", func(t *testing.T) {
		for size, want := range map[int]int{1: 1, 99: 99, 100: 100, 101: 100, 0: 100} {
			p, err := s.Dashboards(t.Context(), superset.DashboardFilter{}, superset.Paging{Size: size})
			if err != nil || len(p.Rows) != want || p.Total != 151 {
				t.Errorf("size %d: %d rows of %d, %v", size, len(p.Rows), p.Total, err)
			}
		}
	})
}

// Lists that answer 200 and are wrong.
func TestWrongLists(t *testing.T) {
	row := func(id int, title string) map[string]any {
		return map[string]any{"id": id, "dashboard_title": title, "slug": nil}
	}
	tests := []struct {
		name string
		body map[string]any
	}{
		{"another request's rows", map[string]any{"count": 1, "ids": []int{7}, "result": []any{row(7, "Products")}}},
		{"no count", map[string]any{"ids": []int{7}, "result": []any{row(7, "Sales")}}},
		{"fewer rows than counted", map[string]any{"count": 2, "ids": []int{7}, "result": []any{row(7, "Sales")}}},
		{"more rows than counted", map[string]any{"count": 0, "ids": []int{7}, "result": []any{row(7, "Sales")}}},
		{"one row twice", map[string]any{"count": 2, "ids": []int{7, 7}, "result": []any{row(7, "Sales"), row(7, "Sales")}}},
		{"ids of others", map[string]any{"count": 1, "ids": []int{}, "result": []any{row(7, "Sales")}}},
		{"no id", map[string]any{"count": 1, "ids": []int{7}, "result": []any{map[string]any{"dashboard_title": "Sales"}}}},
		{"no list", map[string]any{"message": "OK"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, base := mock(t)
			s := session(t, base, "admin")
			m.Fail(mocksuperset.Fault{Method: "GET", Path: "/api/v1/dashboard/", Status: 200, Body: tt.body})
			if _, err := s.Dashboards(t.Context(), superset.DashboardFilter{Text: "sales"}, superset.Paging{}); fault.KindOf(err) != fault.Mismatch {
				t.Errorf("got %v", err)
			}
		})
	}
}
