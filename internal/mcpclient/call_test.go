package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentd/internal/fault"
	"agentd/internal/mcpclient"
	"agentd/internal/tool"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// reads lets the operator call tools reading.
func reads(names ...string) mcpclient.Server {
	s := mcpclient.Server{Tools: map[string]mcpclient.ToolConfig{}}
	for _, n := range names {
		s.Tools[n] = mcpclient.ToolConfig{Risk: tool.Read}
	}
	return s
}

func TestExactNumbers(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		u := start(t, &mcp.StreamableHTTPOptions{JSONResponse: asJSON}, nil)
		var got atomic.Value
		u.add("ids", anObject, nil, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			got.Store(string(r.Params.Arguments))
			return &mcp.CallToolResult{StructuredContent: json.RawMessage(`{"id":9007199254740993,"b":1.10,"a":[18446744073709551615]}`)}, nil
		})
		u.add("text", anObject, nil, says(` {"id":9007199254740993} `))
		c := u.connect(reads("ids", "text"), mcpclient.Options{})
		r, err := run(t.Context(), t, c, "mcp__shop__ids", `{"id":9007199254740993}`)
		if err != nil {
			t.Fatal(err)
		}
		if want := `{"id":9007199254740993,"b":1.10,"a":[18446744073709551615]}`; string(r.Data) != want {
			t.Errorf("JSON=%v: result %s, want %s", asJSON, r.Data, want)
		}
		if got.Load() != `{"id":9007199254740993}` {
			t.Errorf("the server got %v", got.Load())
		}
		if r, err := run(t.Context(), t, c, "mcp__shop__text", `{}`); err != nil || string(r.Data) != `{"id":9007199254740993}` {
			t.Errorf("text %s, %v", r.Data, err)
		}
	}
}

func TestResults(t *testing.T) {
	u := start(t, nil, nil)
	answers := map[string]*mcp.CallToolResult{
		"none":  {Content: []mcp.Content{}},
		"mixed": {Content: []mcp.Content{&mcp.TextContent{Text: "one"}, &mcp.ImageContent{MIMEType: "image/png", Data: []byte("abc")}, &mcp.TextContent{Text: "two"}}},
		"links": {Content: []mcp.Content{
			&mcp.ResourceLink{URI: "https://bi.example.com/d/1", Name: "board"}, &mcp.ResourceLink{URI: "shop://x", Name: "x"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "shop://y", Text: "why"}}}},
		"each":  {Content: []mcp.Content{&mcp.TextContent{Text: `{"a":1}`}, &mcp.TextContent{Text: `{"a":2}`}}},
		"twice": {Content: []mcp.Content{&mcp.TextContent{Text: "3 found"}}, StructuredContent: json.RawMessage(`[1,2,3]`)},
		"table": {StructuredContent: json.RawMessage(`{"columns":["id","n"],"rows":[[9007199254740993,null],[2,"x"]],"total":70,"next_cursor":"abc"}`)},
		"named": {StructuredContent: json.RawMessage(`{"columns":[{"name":"id","type":"BIGINT"},{"name":"n"}],"data":[{"n":1,"id":2},{"id":3}],"row_count":2,"success":true}`)},
		"loses": {StructuredContent: json.RawMessage(`{"columns":["id"],"rows":[{"id":1,"more":2}]}`)},
	}
	for n, a := range answers {
		u.add(n, anObject, nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return a, nil })
	}
	c := u.connect(mcpclient.Server{}, mcpclient.Options{})
	for _, row := range []struct{ name, data, rows, links, warn, hint string }{
		{name: "none"},
		{name: "mixed", data: `"one\n\ntwo"`, warn: "image/png, 3 bytes"},
		{name: "links", data: `"why"`, links: "board https://bi.example.com/d/1", warn: "shop://x"},
		{name: "each", data: `[{"a":1},{"a":2}]`},
		{name: "twice", data: `[1,2,3]`},
		{name: "table", rows: `[9007199254740993,null][2,"x"]`, hint: `"next_cursor":"abc"`},
		{name: "named", rows: `[2,1][3,null]`},
		{name: "loses", data: `{"columns":["id"],"rows":[{"id":1,"more":2}]}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, err := run(t.Context(), t, c, "mcp__shop__"+row.name, `{}`)
			if err != nil {
				t.Fatal(err)
			}
			var rows, links string
			if r.Rows != nil {
				for _, x := range r.Rows.Rows {
					rows += string(x)
				}
			}
			for _, l := range r.Links {
				links += l.Title + " " + l.URL
			}
			if diff := cmp.Diff([]string{row.data, row.rows, row.links}, []string{string(r.Data), rows, links}); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(strings.Join(r.Warnings, " "), row.warn) || !strings.Contains(r.Hint, row.hint) {
				t.Errorf("warnings %q, hint %q", r.Warnings, r.Hint)
			}
			if row.name == "table" && (r.Total == nil || *r.Total != 70 || !r.Bounded) {
				t.Errorf("total %v, bounded %v; 2 of 70 are here", r.Total, r.Bounded)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	u := start(t, nil, nil)
	fails := func(r *mcp.CallToolResult, err error) mcp.ToolHandler {
		return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return r, err }
	}
	u.add("is_error", anObject, nil, fails(&mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("ä", 5000)}}}, nil))
	u.add("protocol", anObject, nil, fails(nil, &jsonrpc.Error{Code: -32602, Message: "no such shop"}))
	u.add("broken", anObject, nil, fails(nil, &jsonrpc.Error{Code: -32603, Message: "stack"}))
	u.add("text", anObject, nil, says("Error: Permission denied: can_write on Chart for user ann"))
	u.add("shape", anObject, nil, says(`{"error":"no dashboard 7","error_type":"not_found","timestamp":"now"}`))
	u.add("says", anObject, nil, says(`{"success":false,"rows":[],"error":{"message":"no"}}`))
	u.add("record", anObject, nil, says(`{"id":7,"error":"the query failed","sql":"SELECT 1"}`)) // a record about an error is a result
	u.add("talk", anObject, nil, says("Error counts fell."))
	u.add("large", anObject, nil, says("Error: Response too large: ~30000 tokens"))
	for _, row := range []struct {
		name      string
		risk      tool.Risk
		kind      fault.Kind
		contained string
	}{
		{"is_error", tool.Read, fault.Invalid, "ää…"},
		{"protocol", tool.Write, fault.Invalid, "no such shop"},
		{"broken", tool.Read, fault.Mismatch, "stack"},
		{"broken", tool.Write, fault.Unknown, "stack"},
		{"text", tool.Write, fault.Denied, "can_write"},
		{"shape", tool.Read, fault.Missing, "no dashboard 7"},
		{"says", tool.Write, fault.Invalid, "no"},
		{"record", tool.Read, "", ""},
		{"talk", tool.Read, "", ""},
		{"large", tool.Read, fault.Invalid, "too large"},
		{"large", tool.Write, fault.Unknown, "may have been made"},
	} {
		t.Run(row.name+" "+string(row.risk), func(t *testing.T) {
			c := u.connect(mcpclient.Server{Tools: map[string]mcpclient.ToolConfig{row.name: {Risk: row.risk}}}, mcpclient.Options{})
			_, err := run(t.Context(), t, c, "mcp__shop__"+row.name, `{}`)
			if fault.KindOf(err) != row.kind || !strings.Contains(fault.Message(err), row.contained) && err != nil {
				t.Errorf("%v: kind %q, want %q", err, fault.KindOf(err), row.kind)
			}
			if err != nil && len([]rune(fault.Message(err))) > 2100 {
				t.Errorf("%d characters of a failure reach the model", len([]rune(fault.Message(err))))
			}
		})
	}
}

// count is a tool that counts its executions.
func count(n *atomic.Int64) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		n.Add(1)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
	}
}

// lose answers the next call of a tool with what lost says, instead of the server.
func lose(n *atomic.Int64, lost func(w http.ResponseWriter)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			if strings.Contains(string(b), `"tools/call"`) && n.Add(-1) >= 0 {
				lost(w)
				return
			}
			r.Body = io.NopCloser(strings.NewReader(string(b)))
			next.ServeHTTP(w, r)
		})
	}
}

func TestSessionThatExpired(t *testing.T) {
	for _, row := range []struct {
		risk tool.Risk
		kind fault.Kind
		runs int64
	}{
		{tool.Read, "", 1},
		{tool.Query, fault.Transient, 0},
		{tool.Write, fault.Unknown, 0},
		{tool.Dangerous, fault.Unknown, 0},
	} {
		t.Run(string(row.risk), func(t *testing.T) {
			u := start(t, nil, nil)
			var runs, lost atomic.Int64
			u.add("a", anObject, nil, count(&runs))
			c := u.connect(mcpclient.Server{Tools: map[string]mcpclient.ToolConfig{"a": {Risk: row.risk}}}, mcpclient.Options{})
			lost.Store(1)
			u.before(lose(&lost, func(w http.ResponseWriter) { http.Error(w, "session not found", http.StatusNotFound) }))
			_, err := run(t.Context(), t, c, "mcp__shop__a", `{}`)
			if fault.KindOf(err) != row.kind || runs.Load() != row.runs {
				t.Errorf("%v, executed %d times; want %q and %d", err, runs.Load(), row.kind, row.runs)
			}
			until(t, "the tool's return", func() bool { return names(c) == "mcp__shop__a" })
			if _, err := run(t.Context(), t, c, "mcp__shop__a", `{}`); err != nil {
				t.Errorf("the next call: %v", err)
			}
		})
	}
}

func TestSessionEndedMidCall(t *testing.T) {
	for risk, kind := range map[tool.Risk]fault.Kind{tool.Read: fault.Transient, tool.Write: fault.Unknown} {
		t.Run(string(risk), func(t *testing.T) {
			u := start(t, nil, nil)
			began, goOn := make(chan struct{}), make(chan struct{})
			u.add("a", anObject, nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				close(began)
				<-goOn
				return nil, errors.New("gone")
			})
			u.add("b", anObject, nil, says("b"))
			c := u.connect(mcpclient.Server{Tools: map[string]mcpclient.ToolConfig{"a": {Risk: risk}}}, mcpclient.Options{})
			failed := make(chan error, 1)
			a := find(t, c, "mcp__shop__a")
			go func() {
				b, err := a.Bind(tool.Call{})
				if err == nil {
					_, err = b.Run(context.Background())
				}
				failed <- err
			}()
			<-began
			u.http.CloseClientConnections()
			err := <-failed
			close(goOn)
			if fault.KindOf(err) != kind {
				t.Errorf("%v, want %s", err, kind)
			}
			until(t, "another session", func() bool {
				_, err := run(t.Context(), t, c, "mcp__shop__b", `{}`)
				return err == nil
			})
		})
	}
}

// TestSessionsForgotten is a server that restarts between two calls: what was not sent is sent once the new session is there.
func TestSessionsForgotten(t *testing.T) {
	u := start(t, nil, nil)
	var runs atomic.Int64
	u.add("a", anObject, nil, count(&runs))
	c := u.connect(reads("a"), mcpclient.Options{})
	u.expire()
	for range 3 {
		if _, err := run(t.Context(), t, c, "mcp__shop__a", `{}`); err != nil {
			t.Fatal(err)
		}
	}
	if runs.Load() != 3 {
		t.Errorf("executed %d times, want 3", runs.Load())
	}
}

func TestStatuses(t *testing.T) {
	for _, row := range []struct {
		status int
		risk   tool.Risk
		kind   fault.Kind
	}{
		{401, tool.Write, fault.Auth}, {403, tool.Read, fault.Denied}, {429, tool.Write, fault.RateLimited},
		{500, tool.Read, fault.Mismatch}, {500, tool.Write, fault.Unknown},
		{502, tool.Read, fault.Transient}, {502, tool.Write, fault.Unknown}, {503, tool.Write, fault.Transient},
		{504, tool.Write, fault.Unknown}, {400, tool.Write, fault.Mismatch},
	} {
		u := start(t, nil, nil)
		u.add("a", anObject, nil, says("ok"))
		c := u.connect(mcpclient.Server{Tools: map[string]mcpclient.ToolConfig{"a": {Risk: row.risk}}}, mcpclient.Options{})
		var lost atomic.Int64
		lost.Store(1)
		u.before(lose(&lost, func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "7")
			http.Error(w, "no", row.status)
		}))
		_, err := run(t.Context(), t, c, "mcp__shop__a", `{}`)
		e, _ := errors.AsType[*fault.Error](err)
		if fault.KindOf(err) != row.kind || e == nil || e.Status != row.status || e.RetryAfter != 7*time.Second {
			t.Errorf("HTTP %d of a %s: %#v, want %s", row.status, row.risk, e, row.kind)
		}
		if _, err := run(t.Context(), t, c, "mcp__shop__a", `{}`); err != nil {
			t.Errorf("after HTTP %d: %v", row.status, err)
		}
	}
}

func TestTimeAndCancel(t *testing.T) {
	u := start(t, nil, nil)
	began, over := make(chan struct{}, 1), make(chan struct{})
	defer close(over)
	u.add("slow", anObject, nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		began <- struct{}{}
		<-over
		return nil, errors.New("nobody waits")
	})
	for risk, kind := range map[tool.Risk]fault.Kind{tool.Read: fault.Canceled, tool.Write: fault.Unknown} {
		c := u.connect(mcpclient.Server{Tools: map[string]mcpclient.ToolConfig{"slow": {Risk: risk}}}, mcpclient.Options{CallTimeout: 100 * time.Millisecond})
		if _, err := run(t.Context(), t, c, "mcp__shop__slow", `{}`); fault.KindOf(err) != fault.Timeout {
			t.Errorf("%s: %v, want a timeout", risk, err)
		}
		<-began
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		go func() { <-began; cancel() }()
		if _, err := run(ctx, t, c, "mcp__shop__slow", `{}`); fault.KindOf(err) != kind {
			t.Errorf("%s: %v, want %s", risk, err, kind)
		}
		cancel()
	}
}

func TestSize(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		for risk, kind := range map[tool.Risk]fault.Kind{tool.Read: fault.TooLarge, tool.Write: fault.Unknown} {
			u := start(t, &mcp.StreamableHTTPOptions{JSONResponse: asJSON}, nil)
			u.add("much", anObject, nil, says(strings.Repeat("x", 200_000)))
			u.add("little", anObject, nil, says("ok"))
			c := u.connect(mcpclient.Server{Tools: map[string]mcpclient.ToolConfig{"much": {Risk: risk}}}, mcpclient.Options{MaxBytes: 100_000})
			if _, err := run(t.Context(), t, c, "mcp__shop__much", `{}`); fault.KindOf(err) != kind {
				t.Errorf("JSON=%v %s: %v, want %s", asJSON, risk, err, kind)
			}
			sessions := len(u.headers())
			if _, err := run(t.Context(), t, c, "mcp__shop__little", `{}`); err != nil {
				t.Errorf("the next call: %v", err)
			}
			for _, h := range u.headers()[sessions:] {
				if h.Get("Mcp-Session-Id") == "" {
					t.Error("the session was given up for one answer that was too large")
				}
			}
		}
	}
}

func TestQuestionsAreDeclined(t *testing.T) {
	u := start(t, nil, nil)
	u.add("asks", anObject, nil, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		a, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Your password?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"p":{"type":"string"}}}`)})
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "answer: " + a.Action}}}, nil
	})
	c := u.connect(mcpclient.Server{}, mcpclient.Options{})
	r, err := run(t.Context(), t, c, "mcp__shop__asks", `{}`)
	if err != nil || string(r.Data) != `"answer: decline"` {
		t.Errorf("%s, %v", r.Data, err)
	}
}

func TestRedirectToElsewhere(t *testing.T) {
	var got atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got.Add(1) }))
	defer other.Close()
	u := start(t, nil, nil)
	u.add("a", anObject, nil, says("ok"))
	c := u.connect(reads("a"), mcpclient.Options{})
	var n atomic.Int64
	n.Store(1)
	u.before(lose(&n, func(w http.ResponseWriter) {
		w.Header().Set("Location", other.URL)
		w.WriteHeader(http.StatusTemporaryRedirect)
	}))
	if _, err := run(t.Context(), t, c, "mcp__shop__a", `{}`); err == nil || got.Load() != 0 {
		t.Errorf("%v; another server got %d requests", err, got.Load())
	}
}

func TestInFlight(t *testing.T) {
	u := start(t, nil, nil)
	var now, most atomic.Int64
	entered, goOn := make(chan struct{}, 8), make(chan struct{})
	u.add("a", anObject, nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for {
			if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		entered <- struct{}{}
		<-goOn
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "ok"}}}, nil
	})
	c := u.connect(mcpclient.Server{Tools: map[string]mcpclient.ToolConfig{"a": {Risk: tool.Write}}}, mcpclient.Options{InFlight: 2})
	a, err := find(t, c, "mcp__shop__a").Bind(tool.Call{})
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan error, 6)
	for range 6 {
		go func() {
			_, err := a.Run(t.Context())
			answers <- err
		}()
	}
	<-entered
	<-entered
	// A write that gets no turn was not sent, and that is no timeout: whether it was executed is known.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := a.Run(ctx); fault.KindOf(err) != fault.Transient {
		t.Errorf("a call that got no turn: %v", err)
	}
	close(goOn)
	for range 6 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	if most.Load() != 2 {
		t.Errorf("%d calls at a time, want 2", most.Load())
	}
}

func TestCloseWaitsForCalls(t *testing.T) {
	u := start(t, nil, nil)
	began, goOn := make(chan struct{}), make(chan struct{})
	u.add("a", anObject, nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		close(began)
		<-goOn
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "ok"}}}, nil
	})
	c := u.connect(reads("a"), mcpclient.Options{})
	a, err := find(t, c, "mcp__shop__a").Bind(tool.Call{})
	if err != nil {
		t.Fatal(err)
	}
	answer := make(chan error, 1)
	go func() {
		_, err := a.Run(t.Context())
		answer <- err
	}()
	<-began
	closed := make(chan error, 1)
	go func() { closed <- c.Close() }()
	close(goOn)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	<-answer // it has one, whatever it is: nothing hangs
	if err := c.Close(); err != nil {
		t.Errorf("the second Close: %v", err)
	}
	if _, err := a.Run(t.Context()); fault.KindOf(err) != fault.Transient {
		t.Errorf("a call after Close: %v", err)
	}
}
