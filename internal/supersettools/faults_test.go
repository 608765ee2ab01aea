package supersettools_test

import (
	"context"
	"testing"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/mocksuperset"
	"agentd/internal/tool"
)

// A write without an answer is unknown, is sent once, and reading back tells what became of it.
func TestUnknownWrites(t *testing.T) {
	tests := []struct {
		name    string
		tool    string
		args    string
		method  string
		f       mocksuperset.Fault
		kind    fault.Kind
		outcome string
	}{
		{"update is done, then hangs", "update_dashboard", `{"dashboard":2,"patch":{"title":"New"}}`, "PUT", mocksuperset.Fault{CommitThenHang: true}, fault.Timeout, chat.OutcomeApplied},
		{"update is done, then reset", "update_dashboard", `{"dashboard":2,"patch":{"title":"New"}}`, "PUT", mocksuperset.Fault{CommitThenReset: true}, fault.Unknown, chat.OutcomeApplied},
		{"update is not done", "update_dashboard", `{"dashboard":2,"patch":{"title":"New"}}`, "PUT", mocksuperset.Fault{Reset: true}, fault.Unknown, chat.OutcomeNotApplied},
		{"update behind a proxy", "update_dashboard", `{"dashboard":2,"patch":{"title":"New"}}`, "PUT", mocksuperset.Fault{HTML: true}, fault.Unknown, chat.OutcomeNotApplied},
		{"deletion is done, then hangs", "delete_dashboard", `{"dashboard":2}`, "DELETE", mocksuperset.Fault{CommitThenHang: true}, fault.Timeout, chat.OutcomeApplied},
		{"deletion is not done", "delete_dashboard", `{"dashboard":2}`, "DELETE", mocksuperset.Fault{Reset: true}, fault.Unknown, chat.OutcomeNotApplied},
		{"update answers well and is not done", "update_dashboard", `{"dashboard":2,"patch":{"title":"New"}}`, "PUT",
			mocksuperset.Fault{Status: 200, Body: map[string]any{"id": 2, "result": map[string]any{"dashboard_title": "New"}}}, fault.Mismatch, chat.OutcomeNotApplied},
		{"deletion answers well and is not done", "delete_dashboard", `{"dashboard":2}`, "DELETE",
			mocksuperset.Fault{Status: 200, Body: map[string]any{"message": "OK"}}, fault.Mismatch, chat.OutcomeNotApplied},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, base := mock(t)
			b := newBench(t, base, "admin")
			w := b.mustBind(tt.tool, tt.args)
			p, err := w.Preview(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tt.f.Method, tt.f.Path, tt.f.Times = tt.method, "/api/v1/dashboard/2", -1
			m.Fail(tt.f)
			ctx, cancel := t.Context(), context.CancelFunc(func() {})
			if tt.f.CommitThenHang {
				ctx, cancel = context.WithTimeout(ctx, 500*time.Millisecond)
			}
			_, err = w.Run(ctx)
			cancel()
			if fault.KindOf(err) != tt.kind {
				t.Errorf("got %v, want %s", err, tt.kind)
			}
			if n := m.Received(tt.method, "/api/v1/dashboard/2"); n != 1 {
				t.Errorf("sent %d times", n)
			}
			o, err := w.ReadBack(t.Context(), p)
			if err != nil || o.Outcome != tt.outcome || o.Evidence == "" {
				t.Errorf("read back: %+v %v, want %s", o, err, tt.outcome)
			}
		})
	}
}

// A search and a look make at most two requests besides the login.
func TestRequestsOfReads(t *testing.T) {
	tests := []struct{ name, args string }{
		{"search_dashboards", `{}`},
		{"search_dashboards", `{"query":"sales","published":true,"certified":true,"owner_id":2,"page":0,"page_size":50}`},
		{"search_dashboards", `{"mine":true}`},
		{"search_dashboards", `{"changed_before_days":1}`},
		{"get_dashboard", `{"dashboard":9}`},
		{"get_dashboard", `{"dashboard":"sales-overview","include":["charts","datasets","filters","tabs","layout"]}`},
		{"search_datasets", `{"query":"sales"}`},
		{"get_dataset", `{"dataset":1}`},
		{"get_dataset", `{"dataset":1,"include":["columns","sample"]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name+" "+tt.args, func(t *testing.T) {
			m, base := mock(t)
			newBench(t, base, "admin").mustRun(tt.name, tt.args)
			n := m.Received("", "*") - m.Received("", "/api/v1/security/*")
			if n < 1 || n > 2 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// Previews and dry runs change nothing.
func TestLooksChangeNothing(t *testing.T) {
	m, base := mock(t)
	b := newBench(t, base, "admin")
	for _, w := range []tool.Bound{
		b.mustBind("update_dashboard", `{"dashboard":1,"patch":{"title":"x","published":false,"remove_chart_ids":[1]}}`),
		b.mustBind("delete_dashboard", `{"dashboard":1,"delete_charts":true}`),
	} {
		if _, err := w.Preview(t.Context()); err != nil {
			t.Fatal(err)
		}
		if w.Verify == "" || w.ReadBack == nil {
			t.Error("a write says neither how to verify nor how to read back")
		}
	}
	b.mustRun("update_dashboard", `{"dashboard":1,"patch":{"title":"x"},"dry_run":true}`)
	if n := m.Committed("", "*"); n != 0 {
		t.Errorf("%d changes", n)
	}
}
