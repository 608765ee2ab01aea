package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"agentd/internal/fault"
	"agentd/internal/tool"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// call calls a tool once, and a read once more when the session was lost. It returns the result as it came. Errors:
// Unknown for a write that may have been executed; Transient, Auth, Denied, RateLimited, TooLarge, Mismatch, Invalid
// where nothing was, or nothing could be; what ended ctx.
func (s *server) call(ctx context.Context, name string, args json.RawMessage, risk tool.Risk) (json.RawMessage, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.o.CallTimeout)
		defer cancel()
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, s.unsent(ctx, "was busy with other calls")
	}
	for second := false; ; second = true {
		session, err := s.connected(ctx)
		if err != nil {
			return nil, err
		}
		once, x, end := begin(ctx)
		_, err = session.CallTool(once, &mcp.CallToolParams{Name: name, Arguments: args})
		raw, lost, err := s.outcome(once, x, risk.Writes(), err)
		end()
		if lost == sessionFine {
			return raw, err
		}
		s.drop(session)
		// What was not sent may be sent anew; what may have been executed only when it reads.
		if second || lost == sessionLost && risk != tool.Read {
			return nil, err
		}
	}
}

// loss says what became of the session of a call.
type loss int

const (
	sessionFine  loss = iota
	sessionLost       // the request was sent, and the answer was that there is no such session
	sessionStale      // it was gone already, and nothing was sent
)

// outcome judges what came of a call. What came whole counts, whatever the SDK makes of it: it does not know every
// kind of content.
func (s *server) outcome(ctx context.Context, x *exchange, writes bool, err error) (json.RawMessage, loss, error) {
	if r, ok := x.response(); ok {
		if r.Error != nil {
			return nil, sessionFine, s.said(r.Error, writes)
		}
		return r.Result, sessionFine, nil
	}
	x.mu.Lock()
	sent, status, tooLarge := x.sent, x.status, x.tooLarge
	x.mu.Unlock()
	switch {
	case tooLarge && writes:
		return nil, sessionFine, s.unknown("Its answer is larger than agentd reads", errTooLarge)
	case tooLarge:
		return nil, sessionFine, fault.New(fault.TooLarge, fmt.Sprintf("The answer of the MCP server %s is larger than the %d bytes that agentd reads. Ask for less.", s.Name, s.o.MaxBytes))
	case status == http.StatusNotFound:
		return nil, sessionLost, s.lostAnswer(writes, errors.New("HTTP 404: the session is gone"))
	case status != 0 && status/100 != 2:
		return nil, sessionFine, s.refused(x, writes)
	case ctx.Err() != nil:
		return nil, sessionFine, s.gaveUp(ctx, sent && writes)
	case !sent && (errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, mcp.ErrSessionMissing)):
		return nil, sessionStale, fault.Wrap(fault.Transient, "The session with the MCP server "+s.Name+" had ended. Nothing was sent.", s.cause(err))
	case !sent:
		return nil, sessionFine, fault.Wrap(fault.Transient, "The MCP server "+s.Name+" could not be reached. Nothing was sent.", s.cause(err))
	case err == nil:
		return nil, sessionFine, s.strange(writes, "Its answer could not be read", nil)
	}
	return nil, sessionFine, s.lostAnswer(writes, s.cause(err))
}

func (s *server) unknown(what string, cause error) error {
	return fault.Wrap(fault.Unknown, "The MCP server "+s.Name+" was asked. "+what+"; the change may have been made.", cause)
}

// lostAnswer is the fault of a request that was sent and not answered.
func (s *server) lostAnswer(writes bool, cause error) error {
	if writes {
		return s.unknown("The connection was lost after the request had been sent", cause)
	}
	return fault.Wrap(fault.Transient, "The connection to the MCP server "+s.Name+" was lost.", cause)
}

// strange is the fault of an answer that is none.
func (s *server) strange(writes bool, what string, cause error) error {
	if writes {
		return s.unknown(what, cause)
	}
	return fault.Wrap(fault.Mismatch, "The MCP server "+s.Name+" was asked. "+what+".", cause)
}

// gaveUp is the fault of a call whose context ended.
func (s *server) gaveUp(ctx context.Context, executed bool) error {
	switch timeout := errors.Is(ctx.Err(), context.DeadlineExceeded); {
	case timeout:
		return fault.Wrap(fault.Timeout, "The MCP server "+s.Name+" did not answer in time.", ctx.Err())
	case executed:
		return s.unknown("It was cancelled before it answered", context.Cause(ctx))
	}
	return fault.Wrap(fault.Canceled, "It was cancelled.", context.Cause(ctx))
}

// refused turns an HTTP status that is no success into a fault.
func (s *server) refused(x *exchange, writes bool) error {
	x.mu.Lock()
	status, after := x.status, x.after
	x.mu.Unlock()
	if r, ok := x.problem(); ok && status/100 == 4 {
		return s.said(r.Error, writes)
	}
	e := &fault.Error{Status: status, RetryAfter: after, Err: fmt.Errorf("HTTP %d", status)}
	switch {
	case status == http.StatusUnauthorized:
		e.Kind, e.Msg = fault.Auth, "The MCP server "+s.Name+" does not accept agentd's credentials (HTTP 401)."
	case status == http.StatusForbidden:
		e.Kind, e.Msg = fault.Denied, "The MCP server "+s.Name+" does not allow this (HTTP 403)."
	case status == http.StatusTooManyRequests:
		e.Kind, e.Msg = fault.RateLimited, "The MCP server "+s.Name+" takes no more requests for the moment."
	case status == http.StatusServiceUnavailable:
		e.Kind, e.Msg = fault.Transient, "The MCP server "+s.Name+" is not available at the moment (HTTP 503)."
	case status >= 500 && writes:
		e.Kind, e.Msg = fault.Unknown, fmt.Sprintf("The MCP server %s failed (HTTP %d); the change may have been made.", s.Name, status)
	case status == http.StatusBadGateway || status == http.StatusGatewayTimeout:
		e.Kind, e.Msg = fault.Transient, fmt.Sprintf("The MCP server %s could not be reached behind its proxy (HTTP %d).", s.Name, status)
	case status == http.StatusRequestEntityTooLarge:
		e.Kind, e.Msg = fault.TooLarge, "The request is larger than the MCP server "+s.Name+" takes."
	default:
		e.Kind, e.Msg = fault.Mismatch, fmt.Sprintf("The MCP server %s did not take the request (HTTP %d); its address may be wrong.", s.Name, status)
	}
	return e
}

// cause is an error of the SDK for the log, without the address, which may hold a secret.
func (s *server) cause(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("%s: %w", u.Op, u.Err)
	}
	if err == nil {
		return nil
	}
	return errors.New(s.hide.Replace(err.Error()))
}
