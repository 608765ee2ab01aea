// Package superset is a typed client of Superset's REST API. It classifies failures and never retries, but for
// a request that was surely not executed: that one is sent once more after a new login.
package superset

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

// Mode says as whom Superset is called.
type Mode string

// The modes.
const (
	Service       Mode = "service"        // a service account, by password or API key
	ForwardCookie Mode = "forward_cookie" // the user's Superset session
	ForwardToken  Mode = "forward_token"  // the user's Superset token
)

// Auth is how to be somebody at Superset. The zero Auth is a service account without a name, which no Superset lets in.
type Auth struct {
	Mode     Mode // "" is Service
	Username string
	Password string
	Provider string // AUTH_TYPE of the instance; "" is db
	APIKey   string // instead of a password
	Cookie   string // name of the session cookie that is forwarded; "" is session
}

// Options describe one Superset.
type Options struct {
	BaseURL   string // how agentd reaches it, with the path that it is served under
	PublicURL string // for links; "" is BaseURL
	Auth      Auth

	MaxConns int   // connections at once for reads, and as many for writes; 0 is 16
	MaxBody  int64 // bytes of one JSON answer; 0 is 64 MiB. Streamed answers are the reader's to bound
}

// The defaults of Options.
const (
	DefaultMaxConns = 16
	DefaultMaxBody  = 64 << 20
)

// A Client talks to one Superset. It is safe for several goroutines. Close it when it is not needed any more.
type Client struct {
	base    *url.URL
	public  *url.URL
	auth    Auth
	maxBody int64
	reads   *http.Transport
	writes  *http.Transport
	turns   map[class]chan struct{}
	service *login
}

// New makes a client. It does no I/O. Its error is Invalid and names the address or mode that cannot be used.
func New(o Options) (*Client, error) {
	base, err := address("base_url", o.BaseURL)
	if err != nil {
		return nil, err
	}
	public := base
	if o.PublicURL != "" {
		if public, err = address("public_url", o.PublicURL); err != nil {
			return nil, err
		}
	}
	if o.Auth.Mode == "" {
		o.Auth.Mode = Service
	}
	if o.Auth.Provider == "" {
		o.Auth.Provider = "db"
	}
	if o.Auth.Cookie == "" {
		o.Auth.Cookie = "session"
	}
	if o.MaxConns <= 0 {
		o.MaxConns = DefaultMaxConns
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	c := &Client{base: base, public: public, auth: o.Auth, maxBody: o.MaxBody, turns: map[class]chan struct{}{}}
	for _, k := range []class{dashboards, charts, datasets, databases, reports} {
		c.turns[k] = make(chan struct{}, 1)
	}
	c.reads = transport(o.MaxConns)
	c.writes = transport(o.MaxConns)
	// A write never takes a connection that the server may have closed while it was idle: its outcome would be unknown.
	c.writes.DisableKeepAlives = true
	switch o.Auth.Mode {
	case Service:
		c.service = newLogin(c)
		c.service.fixed = o.Auth.APIKey
	case ForwardCookie, ForwardToken:
	default:
		return nil, fault.New(fault.Invalid, "auth.mode must be service, forward_cookie or forward_token, not "+string(o.Auth.Mode)+".")
	}
	return c, nil
}

// transport speaks HTTP/1.1 only: over HTTP/2 net/http repeats requests by itself.
func transport(conns int) *http.Transport {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		// Gunicorn closes idle connections after 2 seconds by default. One that dies in the moment of its reuse is
		// an error here, since nothing is repeated, so it is given up earlier.
		IdleConnTimeout:     1500 * time.Millisecond,
		MaxConnsPerHost:     conns,
		MaxIdleConnsPerHost: conns,
		Protocols:           p,
	}
}

func address(key, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, fault.New(fault.Invalid, key+" must be an address like https://bi.example.com or http://superset:8088/bi.")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	return u, nil
}

// Close lets go of the connections. Requests in flight go on.
func (c *Client) Close() {
	c.reads.CloseIdleConnections()
	c.writes.CloseIdleConnections()
}

// PublicURL turns a path of Superset's pages, with its query, into an address that a person can open.
func (c *Client) PublicURL(path string) string { return c.public.String() + path }

// Owns reports whether u is an address of this Superset, and returns its path below the one it is served under.
func (c *Client) Owns(u *url.URL) (path string, ok bool) {
	for _, own := range []*url.URL{c.public, c.base} {
		if !strings.EqualFold(u.Host, own.Host) {
			continue
		}
		if rest, cut := strings.CutPrefix(u.Path, own.Path); cut && (rest == "" || rest[0] == '/') {
			return rest, true
		}
	}
	return "", false
}

// ActsAsUser reports whether calls are made as the person who asks, and not as a service account.
func (c *Client) ActsAsUser() bool { return c.auth.Mode != Service }

// As returns a session that acts for who: with the credential forwarded, or as the service account. It does no
// I/O. Its error is Auth with code sign_in_again when a credential is needed and who has none.
func (c *Client) As(who chat.Identity) (*Session, error) {
	if c.service != nil {
		return &Session{c: c, login: c.service}, nil
	}
	l := newLogin(c)
	if cr := who.Credential; cr != nil {
		l.agent, l.via = cr.UserAgent, cr.ForwardedFor
		if c.auth.Mode == ForwardToken {
			l.fixed = cr.Bearer
		} else {
			l.cookie = cookieNamed(cr.Cookie, c.auth.Cookie)
		}
	}
	if l.fixed == "" && l.cookie == "" {
		return nil, signIn(nil)
	}
	return &Session{c: c, login: l}, nil
}

// cookieNamed picks one cookie from a Cookie header; nothing else of it is Superset's business.
func cookieNamed(header, name string) string {
	r := http.Request{Header: http.Header{"Cookie": {header}}}
	if k, err := r.Cookie(name); err == nil {
		return k.Name + "=" + k.Value
	}
	return ""
}

func signIn(cause error) *fault.Error {
	return &fault.Error{Kind: fault.Auth, Code: "sign_in_again", Err: cause,
		Msg: "Superset does not know who is asking. Sign in to Superset again and send the message once more."}
}

// A Session is one caller's view of a Superset. It is cheap, safe for several goroutines, and has nothing to close.
type Session struct {
	c     *Client
	login *login
}

// A class is a kind of object that has lists.
type class string

const (
	dashboards class = "dashboard"
	charts     class = "chart"
	datasets   class = "dataset"
	databases  class = "database"
	reports    class = "report"
)

// patience is how long a list waits for another one of its class.
const patience = 5 * time.Second

// turn waits until no other list of the class is under way, since the threads of a Superset worker share one filter
// object and mix their answers. It does not wait for ever: a list that hangs must not stop all others, and what
// comes back is checked anyway. The caller calls done.
func (c *Client) turn(ctx context.Context, k class) (done func()) {
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case c.turns[k] <- struct{}{}:
		return func() { <-c.turns[k] }
	case <-t.C:
	case <-ctx.Done():
	}
	return func() {}
}
