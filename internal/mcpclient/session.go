package mcpclient

import (
	"context"
	"errors"

	"agentd/internal/fault"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// connected returns the session, and makes one where there is none. Errors: Transient, Auth, Mismatch where the
// server cannot be connected, and what ended ctx; nothing of a call has been sent then.
func (s *server) connected(ctx context.Context) (*mcp.ClientSession, error) {
	if s.broken != nil {
		return nil, fault.Wrap(fault.Mismatch, "The MCP server "+s.Name+" cannot be reached: "+s.broken.Error()+".", s.broken)
	}
	select {
	case s.connecting <- struct{}{}:
		defer func() { <-s.connecting }()
	case <-ctx.Done():
		return nil, s.unsent(ctx, "was still being connected")
	}
	s.mu.Lock()
	have, closed := s.session, s.closed
	s.mu.Unlock()
	if have != nil {
		return have, nil
	}
	if closed {
		return nil, fault.New(fault.Transient, "agentd is stopping.")
	}
	return s.connect(ctx)
}

// connect must be called with connecting held.
func (s *server) connect(ctx context.Context) (*mcp.ClientSession, error) {
	ctx, cancel := context.WithTimeout(ctx, s.o.ConnectTimeout)
	defer cancel()
	ctx, x, end := begin(ctx)
	defer end()
	client := mcp.NewClient(&mcp.Implementation{Name: "agentd", Title: "agentd", Version: s.o.Version}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{}, // neither roots nor sampling
		// A question to the user is declined: whoever reads it could not tell that it is not ours.
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { s.hurry() },
	})
	got, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: s.wire.client(), MaxEventSize: s.maxEvent()}, nil)
	if err != nil {
		return nil, s.unreachable(ctx, x, err)
	}
	if !s.adopt(got) {
		_ = got.Close()
		return nil, fault.New(fault.Transient, "agentd is stopping.")
	}
	return got, nil
}

// adopt makes a session ours, unless the server is closed already.
func (s *server) adopt(got *mcp.ClientSession) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.session = got
	s.work.Go(func() {
		_ = got.Wait()
		s.drop(got)
	})
	return true
}

// maxEvent lets our own bound on an answer be the first to act: it ends one request, the SDK's the whole session.
func (s *server) maxEvent() int { return int(s.o.MaxBytes) + 1<<20 }

// drop forgets a session that is no good any more. The next call, or the loop, makes a new one.
func (s *server) drop(old *mcp.ClientSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != old || old == nil {
		return
	}
	s.session = nil
	s.hurry()
	if !s.closed {
		s.work.Go(func() { _ = old.Close() }) // it may wait for a server that does not answer
	}
}

// close ends the session and waits for everything that belongs to it.
func (s *server) close() {
	s.mu.Lock()
	old := s.session
	s.session, s.closed, s.list = nil, true, nil
	s.mu.Unlock()
	s.once.Do(func() { close(s.tried) })
	if old != nil {
		_ = old.Close()
	}
	s.work.Wait()
	if s.wire != nil {
		s.wire.close()
	}
}

// unsent is the fault of a call that was given up before anything was sent.
func (s *server) unsent(ctx context.Context, why string) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fault.Wrap(fault.Canceled, "It was cancelled before it was sent.", context.Cause(ctx))
	}
	// Not a timeout: a write that timed out may have been executed, and this one was not.
	return fault.New(fault.Transient, "The MCP server "+s.Name+" "+why+" when the time was over. Nothing was sent.")
}

// unreachable is the fault of a connection that did not come about.
func (s *server) unreachable(ctx context.Context, x *exchange, err error) error {
	x.mu.Lock()
	status := x.status
	x.mu.Unlock()
	if status/100 != 2 && status != 0 {
		return s.refused(x, false)
	}
	if ctx.Err() != nil {
		return s.unsent(ctx, "was still being connected")
	}
	return fault.Wrap(fault.Transient, "The MCP server "+s.Name+" could not be reached.", s.cause(err))
}
