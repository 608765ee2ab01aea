package mcpclient

import (
	"encoding/json"
	"strings"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/tool"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestName(t *testing.T) {
	long := strings.Repeat("x", 70)
	seen := map[string]string{}
	for _, row := range []struct{ server, tool, want string }{
		{"shop", "list", "mcp__shop__list"},
		{"shop", strings.Repeat("y", 53), "mcp__shop__" + strings.Repeat("y", 53)}, // 64
		{"shop", strings.Repeat("y", 54), ""},
		{"shop", long + "_get_rows", ""},
		{"shop", long + "_put_rows", ""},
		{strings.Repeat("s", 64), "list", ""},
		{"a__b", "c", ""},
		{"a", "b__c", "mcp__a__b__c"},
		{"a_", "b", ""},
		{"a", "_b", ""},
		{"shop.eu", "list", ""},
		{"shop-eu", "list", "mcp__shop-eu__list"},
		{"shop", "größe", ""},
		{"shop", "groesse.v1", ""},
		{"shop", "groesse v1", ""},
	} {
		got := Name(row.server, row.tool)
		if len(got) > 64 || row.want != "" && got != row.want {
			t.Errorf("%s/%s: %s (%d), want %s", row.server, row.tool, got, len(got), row.want)
		}
		if _, err := tool.NewSet(tool.Tool{Name: got}); err != nil {
			t.Errorf("%s/%s: %v", row.server, row.tool, err)
		}
		if other, taken := seen[got]; taken {
			t.Errorf("%s and %s/%s are both %s", other, row.server, row.tool, got)
		}
		seen[got] = row.server + "/" + row.tool
		if got != Name(row.server, row.tool) {
			t.Errorf("%s/%s: the name is not always the same", row.server, row.tool)
		}
	}
	if got := Name("shop", long+"_get_rows"); !strings.HasSuffix(got, "_get_rows") {
		t.Errorf("%s does not end as the tool's own name", got)
	}
}

func TestRiskOf(t *testing.T) {
	yes, no := true, false
	for _, row := range []struct {
		name     string
		operator tool.Risk
		a        *mcp.ToolAnnotations
		want     tool.Risk
		raised   bool
	}{
		{"nobody said anything", "", nil, tool.Dangerous, false},
		{"a title is no word on risk", "", &mcp.ToolAnnotations{Title: "x"}, tool.Dangerous, false},
		{"it claims to read", "", &mcp.ToolAnnotations{ReadOnlyHint: true}, tool.Write, false},
		{"it claims to add only", "", &mcp.ToolAnnotations{DestructiveHint: &no}, tool.Write, false},
		{"it says destructive", "", &mcp.ToolAnnotations{DestructiveHint: &yes}, tool.Dangerous, false},
		{"it contradicts itself", "", &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &yes}, tool.Dangerous, false},
		{"the operator's word alone", tool.Read, nil, tool.Read, false},
		{"the operator's word, agreed", tool.Read, &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &no}, tool.Read, false},
		{"a hint does not lower", tool.Dangerous, &mcp.ToolAnnotations{ReadOnlyHint: true}, tool.Dangerous, false},
		{"a hint raises", tool.Read, &mcp.ToolAnnotations{DestructiveHint: &yes}, tool.Dangerous, true},
		{"a default is no hint", tool.Read, &mcp.ToolAnnotations{}, tool.Read, false},
		{"nothing to raise", tool.Dangerous, &mcp.ToolAnnotations{DestructiveHint: &yes}, tool.Dangerous, false},
		{"query", tool.Query, &mcp.ToolAnnotations{ReadOnlyHint: true}, tool.Query, false},
	} {
		got, raised := riskOf(row.operator, row.a)
		if got != row.want || raised != row.raised {
			t.Errorf("%s: %s %v, want %s %v", row.name, got, raised, row.want, row.raised)
		}
	}
}

// TestSupersetsFailures are answers of Superset 6.1.0's own MCP service, which never sets isError.
func TestSupersetsFailures(t *testing.T) {
	s := newServer(Server{Name: "superset"}, Options{}.withDefaults(), func() {})
	for _, row := range []struct {
		text string
		kind fault.Kind
	}{
		{`Error: Error calling tool 'execute_sql': Permission denied: can_execute_sql_query on SQLLab for user gamma`, fault.Denied},
		{`Error: Error calling tool 'list_dashboards': No authenticated user found. Tried: …`, fault.Invalid},
		{`Error: Internal error in list_dashboards: An unexpected error occurred. Error ID: err_1`, fault.Invalid},
		{`{"error":"ChartInfo with identifier '1' not found","error_type":"not_found","timestamp":"2026-11-29T20:04:54"}`, fault.Missing},
		{`{"success":false,"rows":null,"columns":null,"error":"DML queries are not allowed on this database","error_type":"failed"}`, fault.Invalid},
		{`{"chart":null,"success":false,"error":{"error_type":"NotFound","message":"No chart found with identifier: 999","details":"","suggestions":[]}}`, fault.Missing},
		{`{"chart":null,"success":false,"error":{"error_type":"ChartForbiddenError","message":"Chart update failed: Changing this chart is forbidden"}}`, fault.Denied},
		{`{"dashboard":null,"dashboard_url":null,"error":"You don't have permission to edit dashboard 'Sales'","permission_denied":true}`, fault.Denied},
		{`{"dashboard":null,"dashboard_url":null,"error":"Charts not found: [999]"}`, fault.Invalid},
		{`{"id":null,"dataset_name":"by_region","sql":"select 1 as a","database_id":1,"columns":[],"url":null,"error":"Dataset by_region already exists"}`, fault.Invalid},
		{`{"error":"Unknown chart_type: 'nope'","valid_chart_types":["pie"],"hint":"Use one of these"}`, fault.Invalid},
		{`{"success":true,"rows":[{"b":2}],"error":null}`, ""},
		{`{"id":3,"dataset_name":"by_region","error":null}`, ""},
		{`{"id":3,"status":"failed","error":"the query failed"}`, ""}, // a record of a query is a result
	} {
		err := s.failed(callResult{Content: []content{{Type: "text", Text: row.text}}}, true)
		if fault.KindOf(err) != row.kind {
			t.Errorf("%s: %v, want %q", row.text, err, row.kind)
		}
	}
}

func FuzzMessages(f *testing.F) {
	f.Add("event: message\r\ndata: {\"result\":{}}\r\n\r\n: ping\r\n\r\ndata: {\"method\":\"x\"}\n\n")
	f.Add("data: {\"id\":1,\ndata: \"result\":{}}\n\n")
	f.Add("data:")
	f.Fuzz(func(t *testing.T, s string) {
		n := 0
		for data := range messages([]byte(s)) {
			n += len(data)
		}
		if n > len(s) {
			t.Errorf("%d bytes of data in %d", n, len(s))
		}
	})
}

// What a server gives is all that it gives, and not all that there is, unless it says so itself.
func TestAListMayBeAPageOfMore(t *testing.T) {
	for _, raw := range []string{
		`{"content":[{"type":"text","text":"[1,2,3]"}]}`,
		`{"content":[],"structuredContent":{"columns":["a"],"rows":[[1]]}}`,
	} {
		got, err := (&server{}).result(json.RawMessage(raw), false)
		if err != nil || got.Source != chat.Unsure {
			t.Errorf("%s: source is %q, %v", raw, got.Source, err)
		}
	}
}

func TestClipKeepsTheEnd(t *testing.T) {
	s := &server{hide: strings.NewReplacer("token", "***")}
	for _, n := range []int{maxSaid - 1, maxSaid, maxSaid + 1, 50_000} {
		end := "no such table"
		text := "Traceback" + strings.Repeat("ü", n-len("Traceback")-len(end)) + end
		got := s.clip(text)
		if chars := len([]rune(got)); chars > maxSaid || n <= maxSaid && got != text || !strings.HasPrefix(got, "Traceback") || !strings.HasSuffix(got, end) {
			t.Errorf("%d characters became %d: … %s", n, chars, got[len(got)-30:])
		}
	}
}
