package mcpclient_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"agentd/internal/chat"
	"agentd/internal/mcpclient"
	"agentd/internal/tool"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// anObject is the schema of a tool that takes what it gets.
const anObject = `{"type":"object","properties":{}}`

// upstream is a real MCP server of the SDK behind real HTTP.
type upstream struct {
	t    *testing.T
	mcp  *mcp.Server
	http *httptest.Server

	mu   sync.Mutex
	wrap func(http.Handler) http.Handler // what stands before the server, as a proxy would
	seen []http.Header
}

func start(t *testing.T, o *mcp.StreamableHTTPOptions, so *mcp.ServerOptions) *upstream {
	t.Helper()
	u := &upstream{t: t, mcp: mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, so)}
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return u.mcp }, o)
	u.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.mu.Lock()
		wrap := u.wrap
		u.seen = append(u.seen, r.Header.Clone())
		u.mu.Unlock()
		if wrap != nil {
			wrap(h).ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		u.http.CloseClientConnections()
		u.http.Close()
		for s := range u.mcp.Sessions() {
			_ = s.Close()
		}
	})
	return u
}

func (u *upstream) before(wrap func(http.Handler) http.Handler) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.wrap = wrap
}

func (u *upstream) headers() []http.Header {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.seen
}

// expire ends every session as a server does that forgets them.
func (u *upstream) expire() {
	for s := range u.mcp.Sessions() {
		_ = s.Close()
	}
}

// add adds a tool with a schema as it stands.
func (u *upstream) add(name, schema string, a *mcp.ToolAnnotations, f mcp.ToolHandler) {
	u.mcp.AddTool(&mcp.Tool{Name: name, Description: "Does " + name + ".", InputSchema: json.RawMessage(schema), Annotations: a}, f)
}

// says is a handler that answers with a text.
func says(text string) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	}
}

// connect opens a client and waits until the server was tried.
func (u *upstream) connect(s mcpclient.Server, o mcpclient.Options) *mcpclient.Client {
	u.t.Helper()
	if s.Name == "" {
		s.Name = "shop"
	}
	s.URL = u.http.URL
	if o.RetryDelay == 0 {
		o.RetryDelay = 10 * time.Millisecond
	}
	c := mcpclient.Open(u.t.Context(), []mcpclient.Server{s}, o)
	u.t.Cleanup(func() { _ = c.Close() })
	c.Settle(u.t.Context())
	return c
}

// patience bounds waits. Nothing depends on it but how long a broken test hangs.
const patience = 30 * time.Second

// until waits for a condition that other goroutines bring about.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

func names(c *mcpclient.Client) string {
	var out []string
	for _, t := range c.Tools() {
		out = append(out, t.Name)
	}
	return strings.Join(out, " ")
}

func find(t *testing.T, c *mcpclient.Client, name string) tool.Tool {
	t.Helper()
	for _, x := range c.Tools() {
		if x.Name == name {
			return x
		}
	}
	t.Fatalf("no tool %s among %s; %+v", name, names(c), c.Status())
	return tool.Tool{}
}

// run binds and runs a call.
func run(ctx context.Context, t *testing.T, c *mcpclient.Client, name, args string) (tool.Result, error) {
	t.Helper()
	b, err := find(t, c, name).Bind(tool.Call{ToolCall: chat.ToolCall{ID: "call_1", Name: name, Args: json.RawMessage(args)}})
	if err != nil {
		return tool.Result{}, err
	}
	return b.Run(ctx)
}

// logged collects what is logged.
type logged struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logged) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
