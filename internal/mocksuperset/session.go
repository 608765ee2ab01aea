package mocksuperset

import (
	"net/http"
	"strconv"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// session is what the cookie says. It lives in the cookie alone: a copy of it
// goes on working after a log-out.
type session struct {
	User int    `json:"_user_id,omitempty"`
	CSRF string `json:"csrf_token,omitempty"`
}

const (
	sessionLife = 31 * 24 * time.Hour
	csrfLife    = 7 * 24 * time.Hour
)

func (s *Server) readSession(r *http.Request) session {
	var out session
	cookie, err := r.Cookie("session")
	if err != nil {
		return session{}
	}
	at, ok := s.unseal("session", cookie.Value, &out)
	if !ok || s.clock.wall().Sub(at) > sessionLife {
		return session{}
	}
	return out
}

func (c *call) sessionCookie() string {
	path := c.s.base
	if path == "" {
		path = "/"
	}
	cookie := http.Cookie{
		Name: "session", Value: c.s.seal("session", c.session, c.s.clock.wall()),
		Path: path, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	if c.session == (session{}) {
		cookie.Value, cookie.MaxAge = "", -1
	}
	return cookie.String()
}

// csrfToken gives a token for this session, which gets its half when it has none.
func (c *call) csrfToken() string {
	if c.session.CSRF == "" {
		c.session.CSRF = c.s.newKey(40)
		c.fresh = true
	}
	return c.s.seal("csrf", c.session.CSRF, c.s.clock.wall())
}

// checkCSRF refuses a write without a token that fits its session. What sends
// JSON is told in JSON, everything else is sent to the login page.
func (c *call) checkCSRF() (answer, bool) {
	switch c.r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return answer{}, false
	}
	if c.route.exempt {
		return answer{}, false
	}
	reason := c.csrfProblem()
	if reason == "" {
		return answer{}, false
	}
	if c.sendsJSON() {
		return backend(400, "400 Bad Request: "+reason), true
	}
	return redirectTo(302, c.s.base+"/login/?next="+escapeNext(c.r.URL.RequestURI())), true
}

func (c *call) csrfProblem() string {
	token := c.formValue("csrf_token")
	if token == "" {
		token = c.r.Header.Get("X-CSRFToken")
	}
	if token == "" {
		token = c.r.Header.Get("X-CSRF-Token")
	}
	if token == "" {
		return "The CSRF token is missing."
	}
	if c.session.CSRF == "" {
		return "The CSRF session token is missing."
	}
	var secret string
	at, ok := c.s.unseal("csrf", token, &secret)
	if !ok {
		return "The CSRF token is invalid."
	}
	if c.s.clock.wall().Sub(at) > csrfLife {
		return "The CSRF token has expired."
	}
	if secret != c.session.CSRF {
		return "The CSRF tokens do not match."
	}
	if c.r.TLS != nil {
		return c.refererProblem()
	}
	return ""
}

// refererProblem is asked on https only.
func (c *call) refererProblem() string {
	referer := c.r.Header.Get("Referer")
	if referer == "" {
		return "The referrer header is missing."
	}
	if !sameOrigin(referer, "https://"+c.r.Host) {
		return "The referrer does not match the host."
	}
	return ""
}
