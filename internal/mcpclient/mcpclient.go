// Package mcpclient offers the tools of MCP servers as tools of ours. It is the only home of the MCP SDK.
//
// A server is trusted with its own data and with nothing else: what it says about the risk of its tools can raise
// the operator's word and never lower it, its answers are bounded, and what it says of itself reaches the model as
// the description of a tool and in no other way.
package mcpclient

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"agentd/internal/tool"
)

// Server is one MCP server, reached over streamable HTTP.
type Server struct {
	Name    string
	URL     string
	Headers map[string]string     // sent with each request to it and to nobody else; their values are secrets
	Tools   map[string]ToolConfig // what the operator says of its tools, by the server's own names
}

// ToolConfig is the operator's word on one tool. The zero ToolConfig leaves the risk to be dangerous, or what the
// server claims where that is a write, and offers the tool on pages without an object only.
type ToolConfig struct {
	Risk         tool.Risk
	Affinity     []string // object types whose pages offer it
	NoReferences bool     // its arguments do not take stored results
}

// Options of a Client. Zero values are the defaults.
type Options struct {
	Version string // of agentd, told to servers

	// Referable lists the arguments of a schema that a stored result can stand for, as tool.Tool.References names
	// them; nil: none.
	Referable func(schema json.RawMessage) []string

	ConnectTimeout time.Duration // to connect, and for the list of tools; 10 s
	CallTimeout    time.Duration // of a call whose context has no end; 60 s
	Refresh        time.Duration // how often a list is read again that no server said had changed; 5 min
	RetryDelay     time.Duration // before a server that failed is asked again, doubled each time up to Refresh; 1 s
	InFlight       int           // calls at a time to one server; 4
	MaxBytes       int64         // of one answer; 50 MiB
	Logger         *slog.Logger  // nil is silence
}

func (o Options) withDefaults() Options {
	o.ConnectTimeout = or(o.ConnectTimeout, 10*time.Second)
	o.CallTimeout = or(o.CallTimeout, time.Minute)
	o.Refresh = or(o.Refresh, 5*time.Minute)
	o.RetryDelay = or(o.RetryDelay, time.Second)
	o.InFlight = or(o.InFlight, 4)
	o.MaxBytes = or(o.MaxBytes, 50<<20)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func or[T int | int64 | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// Client keeps the tools of some servers at hand. It is safe for several goroutines.
type Client struct {
	servers []*server
	stop    context.CancelFunc
	loops   sync.WaitGroup

	mu  sync.Mutex // one rebuild at a time
	now atomic.Pointer[[]tool.Tool]
}

// Open begins to connect to servers and returns at once: one that cannot be reached stops nothing, its tools are
// absent until it can. Close must be called; ctx gives values only, its end does not stop the client.
func Open(ctx context.Context, servers []Server, o Options) *Client {
	o = o.withDefaults()
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &Client{stop: stop}
	c.now.Store(&[]tool.Tool{})
	for _, s := range servers {
		c.servers = append(c.servers, newServer(s, o, c.rebuild))
	}
	for _, s := range c.servers {
		c.loops.Go(func() { s.loop(ctx) })
	}
	return c
}

// Tools returns the tools that there are at this moment, in the order of the servers and of their lists. It never
// blocks. The slice is not to be changed; while nothing changes it is the same one.
func (c *Client) Tools() []tool.Tool { return *c.now.Load() }

// rebuild puts the lists of the servers together. Their names cannot meet: each has its server's in it.
func (c *Client) rebuild() {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := []tool.Tool{}
	for _, s := range c.servers {
		all = append(all, s.tools()...)
	}
	c.now.Store(&all)
}

// Settle waits until each server was tried once, or until ctx ends.
func (c *Client) Settle(ctx context.Context) {
	for _, s := range c.servers {
		select {
		case <-s.tried:
		case <-ctx.Done():
			return
		}
	}
}

// Close ends the connections. It waits for the calls that are going on, each of which has a time limit; later ones
// are refused. It may be called twice.
func (c *Client) Close() error {
	c.stop()
	c.loops.Wait()
	return nil
}

// Status is how a server stands.
type Status struct {
	Server  string
	Tried   bool // at least once
	Up      bool
	Err     string // why it is not up, without secrets
	Since   time.Time
	Tools   int
	Skipped []Skipped
}

// State is up, down, or starting before the first try: what may be told to everybody.
func (s Status) State() string {
	switch {
	case s.Up:
		return "up"
	case s.Tried:
		return "down"
	}
	return "starting"
}

// Skipped is a tool that cannot be offered, or that is configured and not there.
type Skipped struct {
	Tool string
	Why  string
}

// Status tells how each server stands, in their order.
func (c *Client) Status() []Status {
	out := make([]Status, len(c.servers))
	for i, s := range c.servers {
		out[i] = s.status()
	}
	return out
}
