package mcpclient

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"agentd/internal/fault"
	"agentd/internal/tool"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A server is one MCP server with its session and the list of its tools. Its loop owns both.
type server struct {
	Server
	o       Options
	log     *slog.Logger
	hide    *strings.Replacer // the values of its headers, out of whatever it says
	wire    *wire
	broken  error // why it can never be connected
	changed func()
	slots   chan struct{} // one for each call at a time
	kick    chan struct{} // read the list again
	tried   chan struct{} // closed after the first try
	once    sync.Once

	connecting chan struct{} // held while connecting; a channel, so that a wait for it can end with a context
	work       sync.WaitGroup

	mu      sync.Mutex
	session *mcp.ClientSession
	closed  bool
	list    []tool.Tool
	state   Status
}

func newServer(s Server, o Options, changed func()) *server {
	out := &server{
		Server: s, o: o, log: o.Logger.With("mcp_server", s.Name), hide: hider(s.Headers), changed: changed,
		slots: make(chan struct{}, o.InFlight), kick: make(chan struct{}, 1), tried: make(chan struct{}), connecting: make(chan struct{}, 1),
		state: Status{Server: s.Name, Err: "it was not tried yet", Since: time.Now()},
	}
	if out.wire, out.broken = newWire(s, o); out.broken != nil {
		out.wire = nil
	}
	return out
}

// shortSecret is what is too short to be looked for in texts: it would be found everywhere.
const shortSecret = 6

// hider takes the values of headers out of texts, and their last word alone, as of "Bearer …".
func hider(headers map[string]string) *strings.Replacer {
	var pairs []string
	for _, v := range headers {
		words := strings.Fields(v)
		for _, secret := range append([]string{v}, words...) {
			if len(secret) > shortSecret {
				pairs = append(pairs, secret, "[hidden]")
			}
		}
	}
	return strings.NewReplacer(pairs...)
}

// pause is the least time between two readings of a list, however often the server says that it has changed.
const pause = 50 * time.Millisecond

// loop keeps the list until ctx ends, then lets go of everything.
func (s *server) loop(ctx context.Context) {
	defer s.close()
	delay := s.o.RetryDelay
	for ctx.Err() == nil {
		err := s.refresh(ctx)
		s.once.Do(func() { close(s.tried) })
		if err != nil {
			sleep(ctx, delay, nil) // whatever hurries: it would only fail again
			delay = min(2*delay, s.o.Refresh)
			continue
		}
		delay = s.o.RetryDelay
		sleep(ctx, pause, nil)
		sleep(ctx, s.o.Refresh, s.kick)
	}
}

// sleep waits, not longer than until early says so or ctx ends.
func sleep(ctx context.Context, d time.Duration, early <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-early:
	case <-t.C:
	}
}

// hurry makes the loop read the list soon. It never blocks.
func (s *server) hurry() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// refresh reads the list. A server whose list cannot be read has no tools.
func (s *server) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.o.ConnectTimeout)
	defer cancel()
	list, skipped, err := s.read(ctx)
	s.mu.Lock()
	was := s.state
	s.list = list
	now := Status{Server: s.Name, Tried: true, Up: err == nil, Since: was.Since, Tools: len(list), Skipped: skipped}
	if err != nil {
		now.Err = fault.Message(err)
	}
	if now.Up != was.Up || now.Err != was.Err {
		now.Since = time.Now()
	}
	s.state = now
	s.mu.Unlock()
	s.changed()
	if errors.Is(ctx.Err(), context.Canceled) { // agentd stops
		return err
	}
	s.report(was, now, err)
	return err
}

// report logs what has changed.
func (s *server) report(was, now Status, err error) {
	switch {
	case err != nil && (was.Up || now.Err != was.Err):
		s.log.Warn("an MCP server is not available; its tools are not offered", "err", err)
	case err == nil && (!was.Up || now.Tools != was.Tools):
		s.log.Info("tools of an MCP server are offered", "tools", now.Tools)
	}
	seen := map[Skipped]bool{}
	for _, k := range was.Skipped {
		seen[k] = true
	}
	for _, k := range now.Skipped {
		if !seen[k] {
			s.log.Warn("a tool of an MCP server cannot be offered", "tool", k.Tool, "why", k.Why)
		}
	}
}

func (s *server) tools() []tool.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list
}

func (s *server) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}
