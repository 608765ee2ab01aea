package mocksuperset

import (
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// call is one request on its way: who asks, what state it sees, what it wrote.
type call struct {
	s       *Server
	r       *http.Request
	body    []byte
	vars    map[string]string
	route   *route
	session session
	fresh   bool // the session is new or changed and has to be sent

	st     *state
	forked bool
	user   row
	perms  map[string]bool // "can_read Dashboard" → held; filled on first use

	changed     bool // data was written
	withoutTags bool // an export of everything lists no tags
}

// run takes the request through the gates in Superset's order: CSRF, identity,
// permission, handler.
func (c *call) run() answer {
	if a, refused := c.checkCSRF(); refused {
		return a
	}
	a := c.guarded()
	if c.fresh {
		a = a.with("Set-Cookie", c.sessionCookie())
	}
	return a
}

func (c *call) guarded() answer {
	rt := c.route
	if rt.view == "ReportSchedule" && !c.s.features.reports {
		return notFound
	}
	if a, refused := c.identify(); refused {
		return a
	}
	if rt.perm != "" && !c.may(rt.perm, rt.view) {
		return forbidden
	}
	return rt.handle(c)
}

// write gives the state that this request may change.
func (c *call) write() *state {
	if !c.forked {
		c.st, c.forked = c.st.fork(), true
	}
	return c.st
}

// now is the date for whatever this request writes.
func (c *call) now() string { return stored(c.s.clock.now()) }

func (c *call) ago(text string) string { return ago(c.s.clock.now(), text) }

func (c *call) userID() int { return c.user.id() }

// id is a number in the path; false when it is none.
func (c *call) id(name string) (int, bool) {
	n, err := strconv.Atoi(c.vars[name])
	return n, err == nil
}

func (c *call) query() url.Values { return c.r.URL.Query() }

// address is the scheme, host and base path that the client used.
func (c *call) address() string {
	scheme := "http"
	if c.r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + c.r.Host + c.s.base
}

func (c *call) mediaType() string {
	kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

func (c *call) sendsJSON() bool {
	kind := c.mediaType()
	return kind == "application/json" || (strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"))
}

// wantsHTML says whether Accept admits HTML. No Accept at all does not.
func (c *call) wantsHTML() bool {
	accept := c.r.Header.Get("Accept")
	for _, part := range strings.Split(accept, ",") {
		kind, _, _ := strings.Cut(strings.TrimSpace(part), ";")
		if kind == "text/html" || kind == "*/*" || kind == "text/*" {
			return true
		}
	}
	return false
}

// jsonBody reads the body as a JSON object. The answer is what the API says to
// anything else: 400 for broken JSON, 500 for another media type or another kind of value.
func (c *call) jsonBody() (obj, answer, bool) {
	if !c.sendsJSON() {
		return nil, fatal, false
	}
	v, err := parseJSON(c.body)
	if err != nil {
		return nil, message(400, badJSON), false
	}
	switch v := v.(type) {
	case obj:
		return v, answer{}, true
	case []any:
		if len(v) == 0 {
			return obj{}, answer{}, true
		}
	case nil:
		return obj{}, answer{}, true
	}
	return nil, fatal, false
}

const badJSON = "400 Bad Request: The browser (or proxy) sent a request that this server could not understand."
