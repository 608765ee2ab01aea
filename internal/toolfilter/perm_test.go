package toolfilter_test

import (
	"testing"

	"agentd/internal/tool"
	"agentd/internal/toolfilter"

	"github.com/google/go-cmp/cmp"
)

func TestUnknownPerms(t *testing.T) {
	set, err := tool.NewSet(
		tool.Tool{Name: "fine", Perms: []string{"can_read on Dashboard", "can_execute_sql_query on SQLLab", "can_import_ on ImportExportRestApi"}},
		tool.Tool{Name: "none"},
		tool.Tool{Name: "wrong", Perms: []string{"can_read on Dashboards", "can_delete on Dashboard", "read on Chart", "can_read Chart", "can_ on Chart", ""}},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`the tool wrong needs "can_read on Dashboards", which is no permission of Superset`,
		`the tool wrong needs "can_delete on Dashboard", which is no permission of Superset`,
		`the tool wrong needs "read on Chart", which is no permission of Superset`,
		`the tool wrong needs "can_read Chart", which is no permission of Superset`,
		`the tool wrong needs "can_ on Chart", which is no permission of Superset`,
		`the tool wrong needs "", which is no permission of Superset`,
	}
	if diff := cmp.Diff(want, toolfilter.UnknownPerms(set)); diff != "" {
		t.Error(diff)
	}
}
