package supersettools_test

import (
	"fmt"
	"strings"
	"testing"

	"agentd/internal/fault"
)

// TestHuge: a dashboard as large as people make them, and larger than anybody's. What can be read is read, what cannot
// is refused in words, and nothing was changed.
func TestHuge(t *testing.T) {
	m, base := mock(t)
	b := newBench(t, base, "admin")

	var layout strings.Builder
	layout.WriteString(`{"DASHBOARD_VERSION_KEY":"v2","ROOT_ID":{"type":"ROOT","id":"ROOT_ID","children":["GRID_ID"]},"GRID_ID":{"type":"GRID","id":"GRID_ID","children":["ROW-1"],"parents":["ROOT_ID"]},"ROW-1":{"type":"ROW","id":"ROW-1","children":[`)
	for i := range 1000 {
		if i > 0 {
			layout.WriteByte(',')
		}
		fmt.Fprintf(&layout, `"CHART-%d"`, i)
	}
	layout.WriteString(`],"parents":["ROOT_ID","GRID_ID"],"meta":{"background":"BACKGROUND_TRANSPARENT"}}`)
	for i := range 1000 {
		fmt.Fprintf(&layout, `,"CHART-%d":{"type":"CHART","id":"CHART-%d","children":[],"parents":["ROOT_ID","GRID_ID","ROW-1"],"meta":{"chartId":%d,"height":50,"width":4,"sliceName":"Chart %d"}}`, i, i, 100_000+i, i)
	}
	layout.WriteByte('}')

	t.Run("a thousand charts in the layout", func(t *testing.T) {
		if _, ok := m.Change("dashboard", 1, map[string]any{"position_json": layout.String()}); !ok {
			t.Fatal("there is no dashboard 1")
		}
		b := &bench{t: t, set: b.set, user: "admin"}
		r := b.mustRun("get_dashboard", `{"dashboard":"1","include":["charts","layout"]}`)
		if strings.Contains(string(r.Data), "position_json") || len(r.Data) == 0 {
			t.Errorf("the answer has %d bytes", len(r.Data))
		}
	})
	t.Run("a layout of 40 MB", func(t *testing.T) {
		if _, ok := m.Change("dashboard", 1, map[string]any{"position_json": `{"x":"` + strings.Repeat("x", 40<<20) + `"}`}); !ok {
			t.Fatal("there is no dashboard 1")
		}
		b := &bench{t: t, set: b.set, user: "admin"}
		if _, err := b.run("get_dashboard", `{"dashboard":"1"}`); err != nil && fault.Message(err) == "Internal error." {
			t.Errorf("read: %v", err)
		}
		before := m.Committed("PUT", "/api/v1/dashboard/1")
		if _, err := b.run("update_dashboard", `{"dashboard":"1","patch":{"add_chart_ids":[1]}}`); err == nil || fault.Message(err) == "Internal error." {
			t.Errorf("a change of a layout that Superset itself cannot read: %v", err)
		}
		if m.Committed("PUT", "/api/v1/dashboard/1") != before {
			t.Error("it was changed all the same")
		}
	})
}
