package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"agentd/internal/fault"
	"agentd/internal/mcpclient"
	"agentd/internal/tool"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestToolsOfAServer(t *testing.T) {
	for _, stateless := range []bool{false, true} { // the two eras of the protocol
		t.Run(fmt.Sprintf("stateless=%v", stateless), func(t *testing.T) {
			u := start(t, &mcp.StreamableHTTPOptions{Stateless: stateless}, &mcp.ServerOptions{PageSize: 2})
			for _, n := range []string{"a", "b", "c", "d", "e"} {
				u.add(n, anObject, nil, says("it is "+n))
			}
			c := u.connect(mcpclient.Server{Tools: map[string]mcpclient.ToolConfig{"b": {Risk: tool.Read, Affinity: []string{"dataset"}}}}, mcpclient.Options{})
			if got, want := names(c), "mcp__shop__a mcp__shop__b mcp__shop__c mcp__shop__d mcp__shop__e"; got != want {
				t.Fatalf("tools %s, want %s; %+v", got, want, c.Status())
			}
			b := find(t, c, "mcp__shop__b")
			if diff := cmp.Diff([]any{"Does b.", tool.Read, []string{"dataset"}}, []any{b.Description, b.Risk, b.Affinity}); diff != "" {
				t.Error(diff)
			}
			got, err := run(t.Context(), t, c, "mcp__shop__c", `{}`)
			if err != nil || string(got.Data) != `"it is c"` {
				t.Errorf("result %s, %v", got.Data, err)
			}
		})
	}
}

func TestSchemaAsItIs(t *testing.T) {
	u := start(t, nil, nil)
	exact := `{"type":"object","properties":{"z":{"type":"integer","maximum":9007199254740993},"a":{"type":"string","pattern":"^(?!x)"}},"required":["z"]}`
	u.add("exact", exact, nil, says("ok"))
	u.add("bare", `{"type":"object"}`, nil, says("ok"))
	u.add("either", `{"type":"object","anyOf":[{"required":["a"]}]}`, nil, says("ok"))
	u.add("odd", `{"type":"object","properties":{"größe":{"type":"string"}}}`, nil, says("ok"))
	u.add("file", `{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`, nil, says("ok"))
	u.add("remote", `{"type":"object","properties":{"a":{"$ref":"`+u.http.URL+`/schema"}}}`, nil, says("ok"))
	var log logged
	c := u.connect(mcpclient.Server{}, mcpclient.Options{Logger: log.logger()})

	if got, want := names(c), "mcp__shop__bare mcp__shop__exact"; got != want {
		t.Fatalf("tools %s, want %s", got, want)
	}
	if got := string(find(t, c, "mcp__shop__exact").Schema); got != exact {
		t.Errorf("schema\n%s, want as it came\n%s", got, exact)
	}
	if got, want := string(find(t, c, "mcp__shop__bare").Schema), `{"properties":{},"type":"object"}`; got != want {
		t.Errorf("schema %s, want %s", got, want)
	}
	for _, name := range []string{"either", "odd", "file", "remote"} {
		if !strings.Contains(log.String(), "tool="+name) {
			t.Errorf("%s was left out without a warning", name)
		}
	}
	for args, at := range map[string]string{`{}`: "", `{"z":9007199254740994}`: "/z", `{"z":1,"a":5}`: "/a"} {
		_, err := run(t.Context(), t, c, "mcp__shop__exact", args)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(fault.Message(err), at) {
			t.Errorf("%s: %v, want it refused at %q before it is sent", args, err, at)
		}
	}
	if _, err := run(t.Context(), t, c, "mcp__shop__bare", `{"env_id":"ss-dev"}`); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an environment that only the guard would look at: %v", err)
	}
	if _, err := run(t.Context(), t, c, "mcp__shop__exact", `{"z":9007199254740993}`); err != nil {
		t.Errorf("the exact maximum: %v", err)
	}
}

func TestListChanged(t *testing.T) {
	for _, stateless := range []bool{false, true} {
		u := start(t, &mcp.StreamableHTTPOptions{Stateless: stateless}, nil)
		u.add("a", anObject, nil, says("a"))
		c := u.connect(mcpclient.Server{}, mcpclient.Options{})
		before := c.Tools()
		u.add("b", anObject, nil, says("b"))
		until(t, "the new tool", func() bool { return names(c) == "mcp__shop__a mcp__shop__b" })
		u.mcp.RemoveTools("a")
		until(t, "the end of the old one", func() bool { return names(c) == "mcp__shop__b" })
		if len(before) != 1 || before[0].Name != "mcp__shop__a" {
			t.Error("a snapshot changed")
		}
	}
}

func TestListIsReadAgain(t *testing.T) {
	u := start(t, nil, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}}) // it never says that its list changed
	u.add("a", anObject, nil, says("a"))
	c := u.connect(mcpclient.Server{}, mcpclient.Options{Refresh: 10 * time.Millisecond})
	u.add("b", anObject, nil, says("b"))
	until(t, "the new tool", func() bool { return names(c) == "mcp__shop__a mcp__shop__b" })

	u.before(func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusServiceUnavailable) })
	})
	until(t, "the end of all tools of a server that is down", func() bool { return names(c) == "" && !c.Status()[0].Up })
	u.before(nil)
	until(t, "their return", func() bool { return names(c) == "mcp__shop__a mcp__shop__b" && c.Status()[0].Up })
}

// TestStreamThatNeverBegins is a proxy that holds back the head of a stream: calls work all the same.
func TestStreamThatNeverBegins(t *testing.T) {
	u := start(t, nil, nil)
	u.add("a", anObject, nil, says("a"))
	u.before(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				<-r.Context().Done()
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	c := u.connect(mcpclient.Server{}, mcpclient.Options{ConnectTimeout: 500 * time.Millisecond})
	until(t, "the list", func() bool { return names(c) == "mcp__shop__a" })
	if _, err := run(t.Context(), t, c, "mcp__shop__a", `{}`); err != nil {
		t.Error(err)
	}
}

func TestListThatCannotBeTrusted(t *testing.T) {
	u := start(t, nil, nil)
	pages := 0
	u.mcp.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method != "tools/list" {
				return next(ctx, method, r)
			}
			pages++
			out := &mcp.ListToolsResult{NextCursor: fmt.Sprint(pages)} // without an end
			for i := range 10 {
				out.Tools = append(out.Tools, &mcp.Tool{Name: fmt.Sprintf("t%d_%d", pages, i), Description: strings.Repeat("ä", max(1, 9000*(1-i))), InputSchema: json.RawMessage(anObject)})
			}
			for _, name := range []string{"same", "same", "", strings.Repeat("n", 257), "line\nbreak", strings.Repeat("n", 256)} {
				out.Tools = append(out.Tools, &mcp.Tool{Name: name, InputSchema: json.RawMessage(anObject)})
			}
			out.Tools = append(out.Tools, &mcp.Tool{Name: "huge", InputSchema: json.RawMessage(`{"type":"object","description":"` + strings.Repeat("x", 65<<10) + `"}`)})
			return out, nil
		}
	})
	c := u.connect(mcpclient.Server{}, mcpclient.Options{ConnectTimeout: patience})
	got := c.Tools()
	if len(got) != 256 {
		t.Errorf("%d tools, want the first 256; %+v", len(got), c.Status())
	}
	if _, err := tool.NewSet(got...); err != nil {
		t.Errorf("a provider would refuse them: %v", err)
	}
	for _, x := range got {
		if n := len([]rune(x.Description)); n > 4000 {
			t.Errorf("%s has a description of %d characters", x.Name, n)
		}
	}
	if len(c.Status()[0].Skipped) == 0 {
		t.Error("nothing is said of what was left out")
	}
}

func TestServerThatIsDown(t *testing.T) {
	u := start(t, nil, nil)
	u.add("a", anObject, nil, says("a"))
	address := u.http.URL
	var log logged
	c := mcpclient.Open(t.Context(), []mcpclient.Server{
		{Name: "gone", URL: "http://127.0.0.1:1/mcp?token=secret-in-address"},
		{Name: "shop", URL: address},
	}, mcpclient.Options{Logger: log.logger()})
	defer c.Close()
	c.Settle(t.Context())
	if got := names(c); got != "mcp__shop__a" {
		t.Errorf("tools %s", got)
	}
	st := c.Status()
	if st[0].Up || st[0].Err == "" || !st[1].Up || st[1].Tools != 1 {
		t.Errorf("status %+v", st)
	}
	if strings.Contains(log.String(), "secret-in-address") || !strings.Contains(log.String(), "mcp_server=gone") {
		t.Errorf("log %s", log.String())
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestHeadersGoToTheServerOnly(t *testing.T) {
	u := start(t, nil, nil)
	u.add("a", anObject, nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "I was given Bearer very-secret-token"}}}, nil
	})
	var log logged
	c := u.connect(mcpclient.Server{Headers: map[string]string{"Authorization": "Bearer very-secret-token"}}, mcpclient.Options{Logger: log.logger()})
	_, err := run(t.Context(), t, c, "mcp__shop__a", `{}`)
	if err == nil || strings.Contains(err.Error(), "very-secret") {
		t.Errorf("error %v", err)
	}
	for _, h := range u.headers() {
		if h.Get("Authorization") != "Bearer very-secret-token" {
			t.Errorf("a request without the header: %v", h)
		}
	}
	if strings.Contains(log.String(), "very-secret") {
		t.Errorf("log %s", log.String())
	}
}
