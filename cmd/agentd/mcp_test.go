package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// shop is a real MCP server of the SDK.
type shop struct {
	mcp    *mcp.Server
	http   *httptest.Server
	orders atomic.Int64
	args   atomic.Value // of the last call of plot or order, as they came
}

const plotSchema = `{"type":"object","properties":{"rows":{"type":"array","items":{"type":"object"}},"title":{"type":"string"}},"required":["rows"]}`

func newShop(t *testing.T) *shop {
	s := &shop{mcp: mcp.NewServer(&mcp.Implementation{Name: "shop"}, nil)}
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, nil)
	s.http = httptest.NewServer(h)
	t.Cleanup(func() { s.http.CloseClientConnections(); s.http.Close() })
	says := func(text string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	}
	s.add("rows", `{"type":"object"}`, nil, func() *mcp.CallToolResult {
		var rows []string
		for i := range 500 {
			rows = append(rows, fmt.Sprintf(`[%d,"shop %d"]`, 9007199254740993+i, i))
		}
		return &mcp.CallToolResult{StructuredContent: json.RawMessage(`{"columns":["id","name"],"rows":[` + strings.Join(rows, ",") + `]}`)}
	})
	s.add("plot", plotSchema, nil, func() *mcp.CallToolResult { return says("plotted") })
	s.add("order", `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, &mcp.ToolAnnotations{ReadOnlyHint: true}, func() *mcp.CallToolResult {
		s.orders.Add(1)
		return says("ordered")
	})
	s.add("breaks", `{"type":"object"}`, nil, func() *mcp.CallToolResult {
		s.orders.Add(1)
		s.http.CloseClientConnections()
		return says("done, and nobody hears it")
	})
	s.add("opens", `{"type":"object"}`, nil, func() *mcp.CallToolResult {
		s.add("late", `{"type":"object"}`, nil, func() *mcp.CallToolResult { return says("I am new") })
		return says("opened")
	})
	return s
}

func (s *shop) add(name, schema string, a *mcp.ToolAnnotations, f func() *mcp.CallToolResult) {
	s.mcp.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(schema), Annotations: a}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.args.Store(string(r.Params.Arguments))
		return f(), nil
	})
}

// flags point agentd at the shop. Nobody but the shop says anything about order.
func (s *shop) flags() []string {
	return []string{"--mcp-servers", `[{name: shop, url: "` + s.http.URL + `", tools: {rows: {risk: read}, plot: {risk: read, affinity: [dashboard]}, opens: {risk: read}, late: {risk: read}, breaks: {risk: write}}}]`}
}

// TestMCP: rows of one tool go to another by reference; what claims to read asks all the same.
func TestMCP(t *testing.T) {
	s := newShop(t)
	m := scripted(t, `{"rounds": [
		{"when": {"tools": ["mcp__shop__rows", "mcp__shop__order", "search_dashboards"]}, "calls": [{"id": "a", "name": "mcp__shop__rows"}]},
		{"calls": [{"id": "b", "name": "mcp__shop__plot", "args": {"rows_uri": "${find:agentd.artifact:///art_[A-Za-z0-9]+}", "title": "Shops"}}]},
		{"calls": [{"id": "c", "name": "mcp__shop__order", "args": {"n": 9007199254740993}}]},
		{"when": {"result": "ordered"}, "text": ["Done."]}]}`)
	p := demo(t, t.TempDir(), append(m.flags(), s.flags()...)...)
	c := p.conversation()
	_, es := p.say(c, 0, map[string]any{"message": "Plot the shops and order", "env_id": "ss-dev"})
	if got := summary(es); got != "tool_start tool_result tool_start tool_result confirm_required finished:awaiting_confirmation" {
		t.Fatalf("events %s", got)
	}
	var plotted struct {
		Rows []struct {
			ID   json.Number `json:"id"`
			Name string      `json:"name"`
		} `json:"rows"`
	}
	if err := json.Unmarshal([]byte(s.args.Load().(string)), &plotted); err != nil || len(plotted.Rows) != 500 || plotted.Rows[0].ID != "9007199254740993" || plotted.Rows[499].Name != "shop 499" {
		t.Errorf("plot got %.300s, %v", s.args.Load(), err)
	}
	if s.orders.Load() != 0 {
		t.Fatal("it was ordered before anybody said yes")
	}
	es = p.decide(c, last(es), find(t, es, "confirm_required"), map[string]any{"decision": "approve"})
	if got := summary(es); got != "resolved:approved tool_start tool_result finished:answered" {
		t.Errorf("events %s", got)
	}
	if s.orders.Load() != 1 || s.args.Load() != `{"n":9007199254740993}` {
		t.Errorf("ordered %d times with %s", s.orders.Load(), s.args.Load())
	}
	m.complete()
}

// TestMCPUnknown: the connection breaks while a write is going.
func TestMCPUnknown(t *testing.T) {
	s := newShop(t)
	m := scripted(t, `{"rounds": [{"calls": [{"id": "a", "name": "mcp__shop__breaks"}]}, {"text": ["I do not know."]}]}`)
	p := demo(t, t.TempDir(), append(m.flags(), s.flags()...)...)
	c := p.conversation()
	_, es := p.say(c, 0, map[string]any{"message": "Go", "env_id": "ss-dev"})
	es = p.decide(c, last(es), find(t, es, "confirm_required"), map[string]any{"decision": "approve"})
	timeout := find(t, es, "tool_timeout")
	if timeout.str("cause") != "connection_lost" || timeout.data["is_write_tool"] != true || timeout.str("outcome") != "unknown" {
		t.Errorf("timeout %v", timeout.data)
	}
	if got := find(t, es, "tool_outcome").str("outcome"); got != "still_unknown" || s.orders.Load() != 1 {
		t.Errorf("outcome %s, executed %d times", got, s.orders.Load())
	}
	m.complete()
}

// TestMCPListChanged: a tool that comes while agentd runs is offered and called; page and role decide about it, too.
func TestMCPListChanged(t *testing.T) {
	s := newShop(t)
	m := scripted(t, `{"rounds": [
		{"when": {"without": ["mcp__shop__late"]}, "calls": [{"id": "a", "name": "mcp__shop__opens"}]}, {"text": ["Opened."]},
		{"when": {"tools": ["mcp__shop__late"]}, "calls": [{"id": "b", "name": "mcp__shop__late"}]}, {"when": {"result": "I am new"}, "text": ["Yes."]}]}`)
	p := demo(t, t.TempDir(), append(m.flags(), s.flags()...)...)
	c := p.conversation()
	_, es := p.say(c, 0, map[string]any{"message": "Open", "env_id": "ss-dev"})
	offered := func(query string) string {
		return fmt.Sprint(p.must(200, "GET", "/capabilities"+query, nil)["offered"])
	}
	for end := time.Now().Add(patience); !strings.Contains(offered(""), "mcp__shop__late"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the new tool is not offered: %s", offered(""))
		}
	}
	if on := offered("?objectType=dashboard&objectId=1"); strings.Contains(on, "mcp__shop__late") || !strings.Contains(on, "mcp__shop__plot") {
		t.Errorf("on a dashboard: %s", on)
	}
	_, es = p.say(c, last(es), map[string]any{"message": "And now", "env_id": "ss-dev"})
	if got := summary(es); got != "tool_start tool_result finished:answered" {
		t.Errorf("events %s", got)
	}
	m.complete()
	p.stop()

	// A role without the right, and a server that is not there: neither stops agentd.
	s.http.Close()
	p = demo(t, t.TempDir(), append(s.flags(), "--auth.dev.roles", "Alpha")...)
	if got := fmt.Sprint(p.must(200, "GET", "/capabilities", nil)); strings.Contains(got, "mcp__shop") {
		t.Errorf("without its server: %s", got)
	}
}

// TestMCPCard: a write takes rows by reference. The card says what the reference stands for; what is approved is sent
// whole; what is gone by then is not sent, and the model is told.
func TestMCPCard(t *testing.T) {
	for _, gone := range []bool{false, true} {
		t.Run(fmt.Sprintf("gone=%v", gone), func(t *testing.T) {
			s := newShop(t)
			s.add("load", `{"type":"object","properties":{"request":{"$ref":"#/$defs/Load"}},"required":["request"],"$defs":{"Load":{"type":"object","additionalProperties":false,"required":["rows"],`+
				`"properties":{"rows":{"anyOf":[{"type":"array","items":{"type":"array"}},{"type":"null"}]},"title":{"type":"string"}}}}}`, nil, func() *mcp.CallToolResult {
				s.orders.Add(1)
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "loaded"}}}
			})
			after := `"when": {"result": "loaded"}`
			if gone {
				after = `"when": {"result": "_missing_uris"}`
			}
			m := scripted(t, `{"rounds": [
				{"when": {"tools": ["mcp__shop__load"]}, "calls": [{"id": "a", "name": "mcp__shop__rows"}]},
				{"calls": [{"id": "b", "name": "mcp__shop__load", "args": {"request": {"rows_uri": "${find:agentd.artifact:///art_[A-Za-z0-9]+}", "title": "Shops"}}}]},
				{`+after+`, "text": ["Done."]}]}`)
			p := demo(t, t.TempDir(), append(m.flags(), s.flags()...)...)
			c := p.conversation()
			_, es := p.say(c, 0, map[string]any{"message": "Load the shops", "env_id": "ss-dev"})
			card := find(t, es, "confirm_required")
			if got, want := fmt.Sprint(card.data["preview"].(map[string]any)["notes"]), "[request/rows_uri passes on 500 rows that mcp__shop__rows gave.]"; got != want {
				t.Errorf("the card says %s, want %s", got, want)
			}
			if strings.Contains(fmt.Sprint(card.data), "shop 499") {
				t.Error("the card holds the rows")
			}
			if gone {
				p.must(204, "DELETE", "/artifacts/"+find(t, es, "tool_result").data["artifact"].(map[string]any)["id"].(string), nil)
			}
			es = p.decide(c, last(es), card, map[string]any{"decision": "approve"})
			if gone {
				if got := summary(es); got != "resolved:approved tool_error:invalid finished:answered" || s.orders.Load() != 0 {
					t.Errorf("events %s, executed %d times", got, s.orders.Load())
				}
				m.complete()
				return
			}
			if got := summary(es); got != "resolved:approved tool_start tool_result finished:answered" || s.orders.Load() != 1 {
				t.Errorf("events %s, executed %d times", got, s.orders.Load())
			}
			var loaded struct {
				Request struct {
					Rows  [][]any `json:"rows"`
					Title string  `json:"title"`
				} `json:"request"`
			}
			if err := json.Unmarshal([]byte(s.args.Load().(string)), &loaded); err != nil || len(loaded.Request.Rows) != 500 || loaded.Request.Rows[499][1] != "shop 499" || loaded.Request.Title != "Shops" {
				t.Errorf("load got %.300s, %v", s.args.Load(), err)
			}
			if strings.Contains(fmt.Sprint(es), "shop 499") {
				t.Error("the log holds the rows")
			}
			m.complete()
		})
	}
}

// TestMCPStatus: whether a server answers is told to people, to the model and to whoever watches, by name and state
// and without its address.
func TestMCPStatus(t *testing.T) {
	s := newShop(t)
	m := scripted(t, `{"rounds": [{"calls": [{"id": "a", "name": "show_capabilities"}]}, {"when": {"result": "MCP servers are missing, since they do not answer: gone."}, "text": ["It is away."]}]}`)
	flags := strings.Replace(s.flags()[1], "[{", "[{name: gone, url: 'http://127.0.0.1:1/secret-path'}, {", 1)
	p := demo(t, t.TempDir(), append(m.flags(), "--mcp-servers", flags)...)
	c := p.conversation()
	if _, es := p.say(c, 0, map[string]any{"message": "What can I do?"}); summary(es) != "tool_start tool_result finished:answered" {
		t.Errorf("events %s", summary(es))
	}
	m.complete()
	want := "[map[name:gone state:down] map[name:shop state:up]]"
	if got := fmt.Sprint(p.must(200, "GET", "/capabilities", nil)["mcp_servers"]); got != want {
		t.Errorf("capabilities: %s, want %s", got, want)
	}
	read := func() string {
		resp, err := http.Get(p.url + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	servers := func() []any { return p.must(200, "GET", "/diagnostics/mcp", nil)["servers"].([]any) }
	got := servers()
	if len(got) != 2 || got[0].(map[string]any)["state"] != "down" || got[1].(map[string]any)["state"] != "up" || got[1].(map[string]any)["tools"] != float64(5) {
		t.Errorf("diagnostics: %v", got)
	}
	metrics := read()
	if !strings.Contains(metrics, `agentd_mcp_server_up{server="gone"} 0`) || !strings.Contains(metrics, `agentd_mcp_server_up{server="shop"} 1`) {
		t.Error("metrics do not tell which server is up")
	}
	if all := fmt.Sprint(got) + metrics; strings.Contains(all, "secret-path") {
		t.Error("an address is told")
	}
}
