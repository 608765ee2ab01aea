package supersettools_test

import (
	"slices"
	"strings"
	"testing"

	"agentd/internal/fault"
)

func TestChartsReal(t *testing.T) { charts(t, real(t)) }

// charts is the suite that a real Superset and the mock both pass.
func charts(t *testing.T, base string) {
	t.Run("check", func(t *testing.T) { checkDashboard(t, base) })
}

type checked struct {
	Counts map[string]int `json:"counts"`
	Charts []checkedChart `json:"charts"`
}

type checkedChart struct {
	ID       int    `json:"id"`
	Name     string `json:"name"`
	Status   string `json:"status"`
	Cause    string `json:"cause"`
	Evidence string `json:"evidence"`
}

func checkDashboard(t *testing.T, base string) {
	b := newBench(t, base, "admin")
	tests := []struct {
		mode string
		want map[string]string // name of the chart → status and cause
	}{
		{"static", map[string]string{
			"Total revenue":                            "ok ",
			"Broken: column dropped from the table":    "broken missing_column",
			"Broken: metric over a dropped column":     "broken missing_column",
			"Broken: column not in the dataset":        "broken missing_column",
			"Broken: dataset deleted":                  "broken missing_dataset",
			"Broken: metric with invalid SQL":          "broken db_error",
			"Broken: metric deleted from the dataset":  "broken missing_metric",
			"Broken: saved metric with a wrong column": "ok ", // only the database knows
			"Broken: SQL of the dataset fails":         "ok ", // likewise
			"No query context":                         "broken no_query_context",
			"Stale: parameters and query disagree":     "ok ",
			"Events":                                   "ok ",
		}},
		{"execute", map[string]string{
			"Total revenue":                            "ok ",
			"Broken: column dropped from the table":    "broken missing_column",
			"Broken: metric over a dropped column":     "broken missing_column",
			"Broken: column not in the dataset":        "broken missing_column",
			"Broken: dataset deleted":                  "broken missing_dataset",
			"Broken: metric with invalid SQL":          "broken db_error",
			"Broken: metric deleted from the dataset":  "broken missing_metric",
			"Broken: saved metric with a wrong column": "broken missing_column",
			"Broken: SQL of the dataset fails":         "broken db_error",
			"No query context":                         "broken no_query_context",
			"Events":                                   "empty ",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			got := data[checked](t, b.mustRun("check_dashboard", `{"dashboard":"broken","mode":"`+tt.mode+`"}`))
			seen := map[string]string{}
			for _, c := range got.Charts {
				seen[c.Name] = c.Status + " " + c.Cause
				if c.Status != "ok" && c.Evidence == "" {
					t.Errorf("%s: no evidence", c.Name)
				}
				if strings.HasPrefix(c.Name, "Stale") && tt.mode == "static" && !strings.Contains(c.Evidence, "region") {
					t.Errorf("stale: %q", c.Evidence)
				}
			}
			for name, want := range tt.want {
				if seen[name] != want {
					t.Errorf("%s: %q, want %q", name, seen[name], want)
				}
			}
			wellAt := slices.IndexFunc(got.Charts, func(c checkedChart) bool { return c.Status == "ok" })
			if slices.ContainsFunc(got.Charts[wellAt:], func(c checkedChart) bool { return c.Status == "broken" }) {
				t.Error("what is broken does not come first")
			}
		})
	}
	if got := data[checked](t, b.mustRun("check_dashboard", `{"dashboard":"broken","chart_ids":[1]}`)); len(got.Charts) != 1 {
		t.Errorf("one chart: %+v", got)
	}
	if _, err := b.run("check_dashboard", `{"dashboard":"broken","chart_ids":[2]}`); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a chart of another dashboard: %v", err)
	}
}
