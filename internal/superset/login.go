package superset

import (
	"context"
	"net/http"
	"sync"
	"time"

	"agentd/internal/fault"
)

// freshFor is how long an access token is used. Superset's live 15 minutes unless it is told otherwise.
const freshFor = 12 * time.Minute

// csrfPath gives the token of a session. The slash belongs to it.
const csrfPath = "/api/v1/security/csrf_token/"

// A login is what authorises requests: tokens of a service account, a fixed bearer, or a forwarded cookie, and for
// writes a CSRF pair. It is safe for several goroutines; one at a time logs in, the others wait for it.
type login struct {
	c      *Client
	fixed  string // bearer that cannot be renewed
	cookie string // session cookie that cannot be renewed
	agent  string // the browser's User-Agent; Superset binds a session to it
	via    string // the browser's X-Forwarded-For
	turn   chan struct{}

	mu      sync.Mutex
	access  string
	refresh string
	since   time.Time
	pair    csrf
}

// csrf is a token with the cookie of the session that it belongs to.
type csrf struct{ token, cookie string }

// A pass is what one request was sent with.
type pass struct {
	bearer string
	csrf   csrf
}

func newLogin(c *Client) *login { return &login{c: c, turn: make(chan struct{}, 1)} }

// pass returns what a request needs, logging in and fetching a CSRF pair where there is none.
func (l *login) pass(ctx context.Context, write bool) (pass, error) {
	if p, ok := l.known(write); ok {
		return p, nil
	}
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return pass{}, lost(ctx, nil)
	}
	if p, ok := l.known(write); ok {
		return p, nil
	}
	bearer, err := l.bearer(ctx)
	if err != nil {
		return pass{}, err
	}
	if !write {
		return pass{bearer: bearer}, nil
	}
	pair, err := l.fetchPair(ctx, bearer)
	if fault.KindOf(err) == fault.Auth && l.renewable() {
		l.forget(pass{bearer: bearer})
		if bearer, err = l.bearer(ctx); err != nil {
			return pass{}, err
		}
		pair, err = l.fetchPair(ctx, bearer)
	}
	if err != nil {
		return pass{}, err
	}
	return pass{bearer, pair}, nil
}

// known returns the pass that is at hand.
func (l *login) known(write bool) (pass, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := pass{bearer: l.fixed, csrf: l.pair}
	if l.renewable() {
		if l.access == "" || time.Since(l.since) >= freshFor {
			return pass{}, false
		}
		p.bearer = l.access
	}
	return p, !write || p.csrf.token != ""
}

func (l *login) renewable() bool { return l.fixed == "" && l.cookie == "" }

// forget drops what a request was refused with, unless somebody has renewed it by now.
func (l *login) forget(p pass) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.access == p.bearer {
		l.access, l.refresh = "", ""
	}
	if l.pair == p.csrf {
		l.pair = csrf{}
	}
}

// forgetPair drops the CSRF pair of p alone.
func (l *login) forgetPair(p pass) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pair == p.csrf {
		l.pair = csrf{}
	}
}

// bearer returns a token, refreshed or from a new login. It must be called with the turn held.
func (l *login) bearer(ctx context.Context) (string, error) {
	if !l.renewable() {
		return l.fixed, nil
	}
	l.mu.Lock()
	access, refresh, since := l.access, l.refresh, l.since
	l.mu.Unlock()
	if access != "" && time.Since(since) < freshFor {
		return access, nil
	}
	var got struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	if access != "" && refresh != "" {
		err := l.post(ctx, "/api/v1/security/refresh", refresh, struct{}{}, &got)
		if k := fault.KindOf(err); err != nil && k != fault.Auth {
			return "", err
		}
		got.Refresh = refresh
	}
	if got.Access == "" {
		body := struct {
			Username string `json:"username"`
			Password string `json:"password"`
			Provider string `json:"provider"`
			Refresh  bool   `json:"refresh"`
		}{l.c.auth.Username, l.c.auth.Password, l.c.auth.Provider, true}
		if err := l.post(ctx, "/api/v1/security/login", "", body, &got); err != nil {
			if k := fault.KindOf(err); k == fault.Auth || k == fault.Invalid {
				return "", &fault.Error{Kind: fault.Auth, Code: "service_account", Status: status(err), Err: err,
					Msg: "Superset refused the login of the service account; its name, password or provider must be corrected in the configuration."}
			}
			return "", err
		}
	}
	if got.Access == "" {
		return "", fault.New(fault.Mismatch, "Superset's answer to the login has no token.")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.access, l.refresh, l.since = got.Access, got.Refresh, time.Now()
	return got.Access, nil
}

// post sends one of the login's own requests, which need no pass and change nothing.
func (l *login) post(ctx context.Context, path, bearer string, body, out any) error {
	r, err := newCall(http.MethodPost, path, body)
	if err != nil {
		return err
	}
	r.write = false
	a, err := l.c.roundTrip(ctx, r, l.header(pass{bearer: bearer}, false))
	if err != nil {
		return err
	}
	return l.c.decode(ctx, r, a, out)
}

// fetchPair asks for the CSRF token of the session. With a bearer the session is made now, and its cookie comes with it.
func (l *login) fetchPair(ctx context.Context, bearer string) (csrf, error) {
	r := call{method: http.MethodGet, path: csrfPath}
	a, err := l.c.roundTrip(ctx, r, l.header(pass{bearer: bearer}, false))
	if err != nil {
		return csrf{}, err
	}
	set := (&http.Response{Header: a.header}).Cookies()
	var got struct {
		Result string `json:"result"`
	}
	if err := l.c.decode(ctx, r, a, &got); err != nil {
		return csrf{}, err
	}
	if got.Result == "" {
		return csrf{}, fault.New(fault.Mismatch, "Superset's answer has no CSRF token.")
	}
	pair := csrf{token: got.Result, cookie: l.cookie}
	for _, k := range set {
		if k.Name == l.c.auth.Cookie && k.Value != "" {
			pair.cookie = k.Name + "=" + k.Value
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pair = pair
	return pair, nil
}

// header is what a request is sent with. Referer is checked by Superset when it is behind https.
func (l *login) header(p pass, write bool) http.Header {
	h := http.Header{"Accept": {"application/json"}, "Referer": {l.c.base.String() + "/"}}
	if l.agent != "" {
		h.Set("User-Agent", l.agent)
	}
	if l.via != "" {
		h.Set("X-Forwarded-For", l.via)
	}
	if p.bearer != "" {
		h.Set("Authorization", "Bearer "+p.bearer)
	}
	cookie := l.cookie
	if write {
		h.Set("X-CSRFToken", p.csrf.token)
		if p.csrf.cookie != "" {
			cookie = p.csrf.cookie
		}
	}
	if cookie != "" {
		h.Set("Cookie", cookie)
	}
	return h
}
