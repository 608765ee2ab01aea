package toolfilter

import (
	"fmt"
	"slices"
	"strings"

	"agentd/internal/tool"
)

// catalog are Superset's permissions (6.1) on what tools work with: resource → names without can_.
var catalog = map[string]string{
	"Chart":               "export read tag warm_up_cache write",
	"Dashboard":           "cache_dashboard_screenshot delete_embedded drill export export_as_example get_embedded put_chart_customizations read set_embedded tag view_chart_as_table view_query write",
	"Database":            "export read upload write",
	"Dataset":             "duplicate export get_drill_info get_or_create_dataset read warm_up_cache write",
	"ImportExportRestApi": "export import_",
	"Query":               "read",
	"ReportSchedule":      "read write",
	"SQLLab":              "estimate_query_cost execute_sql_query export_csv export_streaming_csv format_sql get_results read",
	"SavedQuery":          "export list read write",
	"SecurityRestApi":     "grant_guest_token read",
	"Tag":                 "bulk_create read write",
	"Theme":               "export read write",
}

// UnknownPerms reports every tool that needs a permission which Superset does not have: it would be dead for everybody
// but Admin, without a word. It is looked at when agentd starts.
func UnknownPerms(tools tool.Set) (problems []string) {
	for _, t := range tools.All() {
		for _, p := range t.Perms {
			if !exists(p) {
				problems = append(problems, fmt.Sprintf("the tool %s needs %q, which is no permission of Superset", t.Name, p))
			}
		}
	}
	return problems
}

func exists(perm string) bool {
	name, resource, ok := strings.Cut(perm, " on ")
	name, can := strings.CutPrefix(name, "can_")
	return ok && can && slices.Contains(strings.Fields(catalog[resource]), name)
}
