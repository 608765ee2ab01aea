package auth

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"agentd/internal/fault"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
)

const (
	keysFresh   = time.Hour        // after this the set is asked for again
	keysPause   = time.Minute      // at least between two requests, so that made-up key ids cost nothing
	keysTimeout = 10 * time.Second // of one request
	keysMax     = 1 << 20          // bytes
)

// A keySet is the public keys at an address, fetched when they are needed. A set that was fetched stays in use
// while the address does not answer.
type keySet struct {
	url    string
	client *http.Client  // nil is http.DefaultClient
	turn   chan struct{} // holds one while fetching: others wait for the same answer, and may give up

	mu      sync.Mutex
	keys    keyfunc.Keyfunc
	fetched time.Time // of keys
	asked   time.Time // of the last request, good or not
}

func newKeySet(url string, client *http.Client) *keySet {
	return &keySet{url: url, client: client, turn: make(chan struct{}, 1)}
}

func (s *keySet) keyfunc(ctx context.Context) jwt.Keyfunc {
	return func(t *jwt.Token) (any, error) {
		keys, err := s.current(ctx, false)
		if err != nil {
			return nil, err
		}
		key, err := keys.Keyfunc(t)
		if err == nil {
			return key, nil
		}
		// A key that is not there may be a new one.
		if keys, err = s.current(ctx, true); err != nil {
			return nil, err
		}
		return keys.Keyfunc(t)
	}
}

// current returns the keys, fetched again when they are old, or when anew and the last request is a while ago.
func (s *keySet) current(ctx context.Context, anew bool) (keyfunc.Keyfunc, error) {
	if keys := s.usable(anew); keys != nil {
		return keys, nil
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, fault.Wrap(fault.Canceled, "It was cancelled.", context.Cause(ctx))
	}
	if keys := s.usable(anew); keys != nil {
		return keys, nil // somebody else has just fetched them
	}
	keys, err := s.fetch(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = time.Now()
	switch {
	case err == nil:
		s.keys, s.fetched = keys, s.asked
	case s.keys == nil:
		return nil, fault.Wrap(fault.Transient, "The sign-in could not be checked: the issuer's keys are out of reach.", err)
	}
	return s.keys, nil
}

func (s *keySet) usable(anew bool) keyfunc.Keyfunc {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := anew || time.Since(s.fetched) >= keysFresh
	if old && time.Since(s.asked) >= keysPause {
		return nil
	}
	return s.keys
}

func (s *keySet) fetch(ctx context.Context) (keyfunc.Keyfunc, error) {
	ctx, cancel := context.WithTimeout(ctx, keysTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err
	}
	client := s.client
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("keys at %s: status %d", s.url, resp.StatusCode)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, keysMax))
	if err != nil {
		return nil, err
	}
	return keyfunc.NewJWKSetJSON(b)
}
