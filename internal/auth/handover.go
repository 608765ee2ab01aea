package auth

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"agentd/internal/fault"

	"github.com/golang-jwt/jwt/v5"
)

const (
	handoverIssuer = "superset"
	handoverSecret = 32               // bytes at least
	handoverLife   = 5 * time.Minute  // of a token at most: its id is remembered that long
	sessionLife    = 15 * time.Minute // by default
	sessionIssuer  = "agentd"
	sessionMax     = 3800 // bytes of a cookie: browsers keep 4096 with its name and attributes
)

// A Spender remembers what counts once, for all replicas. *eventlog.Log is one.
type Spender interface {
	// Spend notes an id until it may be forgotten. Conflict where it is noted already.
	Spend(ctx context.Context, id string, expires time.Time) error
}

// HandoverOptions say whose word counts and what the session that comes of it looks like.
type HandoverOptions struct {
	Secret   func() (string, error) // shared with Superset's side, 32 bytes or more; read once, by NewHandover
	Audience string                 // agentd's own origin, as Superset's side names it: https://agentd.bi.example.com
	TTL      time.Duration          // of the session; 0 is 15 minutes
	Path     string                 // of the cookie; "" is /
	Spent    Spender                // of the tokens that were used
}

// A Handover signs people in on an origin of agentd's own, where Superset's cookie does not come: Superset signs a
// token that says who is logged in there, its page passes the token on, and Exchange makes a short session of it.
// Such a session says who asks. It is no right at Superset: calls go by an account of agentd's.
//
// It is safe for several goroutines.
type Handover struct {
	tokens   *jwt.Parser
	sessions *jwt.Parser
	secret   []byte // of tokens
	key      []byte // of sessions
	audience string
	ttl      time.Duration
	cookie   http.Cookie // without a value
	spent    Spender
}

// claims of a token and of a session alike. A token's time is short, a session's longer; the keys differ, so that
// neither can be taken for the other.
type handoverClaims struct {
	jwt.RegisteredClaims
	UID   int64    `json:"uid,omitempty"`
	Name  string   `json:"name,omitempty"`
	Roles []string `json:"roles,omitempty"`
}

// NewHandover checks the options. Its error is Invalid, or Internal where Spent is missing.
func NewHandover(o HandoverOptions) (*Handover, error) {
	u, err := url.Parse(o.Audience)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || o.Audience != u.Scheme+"://"+u.Host {
		return nil, fault.New(fault.Invalid, "auth.handover.audience must be agentd's own origin, for example https://agentd.bi.example.com.")
	}
	if o.Spent == nil {
		return nil, fault.New(fault.Internal, "A hand-over needs a place that remembers its tokens.")
	}
	secret, err := o.Secret()
	if err != nil {
		return nil, err
	}
	if len(secret) < handoverSecret {
		return nil, fault.New(fault.Invalid, fmt.Sprintf("The secret of auth.handover has %d bytes, it must have %d or more.", len(secret), handoverSecret))
	}
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "agentd handover session "+o.Audience, sha256.Size)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, "The secret of auth.handover cannot be used.", err)
	}
	h := &Handover{secret: []byte(secret), key: key, audience: o.Audience, ttl: o.TTL, spent: o.Spent}
	if h.ttl <= 0 {
		h.ttl = sessionLife
	}
	parser := func(issuer string, leeway time.Duration) *jwt.Parser {
		return jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired(), jwt.WithIssuedAt(),
			jwt.WithLeeway(leeway), jwt.WithIssuer(issuer), jwt.WithAudience(o.Audience))
	}
	h.tokens, h.sessions = parser(handoverIssuer, leeway), parser(sessionIssuer, leeway)
	h.cookie = http.Cookie{Name: "agentd", Path: o.Path, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: u.Scheme == "https"}
	if h.cookie.Path == "" {
		h.cookie.Path = "/"
	}
	// A browser lets nobody else set a cookie of such a name: not plain http, and with __Host- no other subdomain.
	if h.cookie.Secure && h.cookie.Path == "/" {
		h.cookie.Name = "__Host-agentd"
	} else if h.cookie.Secure {
		h.cookie.Name = "__Secure-agentd"
	}
	return h, nil
}

var tokenID = regexp.MustCompile(`^[A-Za-z0-9_-]{16,128}$`)

// Exchange takes a token, once, and returns the cookie of the session that it opens, and whose it is. Its error is
// Auth for a token that does not count, also for one that was used on whatever replica; TooLarge when the user has more
// roles than a cookie holds; that of the Spender where it cannot be found out.
func (h *Handover) Exchange(ctx context.Context, token string) (*http.Cookie, string, error) {
	var c handoverClaims
	if _, err := h.tokens.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return h.secret, nil }); err != nil {
		return nil, "", refused("The hand-over from Superset is not valid.", err)
	}
	if err := c.fit(); err != nil {
		return nil, "", refused("The hand-over from Superset is not valid.", err)
	}
	session, err := h.open(c)
	if err != nil {
		return nil, "", err
	}
	// Last, so that only a token that would have opened a session is spent.
	err = h.spent.Spend(ctx, "handover "+c.ID, c.ExpiresAt.Add(leeway))
	if fault.KindOf(err) == fault.Conflict {
		return nil, "", refused("The hand-over from Superset was used before.", err)
	}
	if err != nil {
		return nil, "", err
	}
	return session, c.Subject, nil
}

// fit looks at what the parser does not.
func (c handoverClaims) fit() error {
	switch {
	case c.IssuedAt == nil:
		return fmt.Errorf("no iat")
	case c.ExpiresAt.Sub(c.IssuedAt.Time) <= 0 || c.ExpiresAt.Sub(c.IssuedAt.Time) > handoverLife:
		return fmt.Errorf("it is made for %s", c.ExpiresAt.Sub(c.IssuedAt.Time))
	case !tokenID.MatchString(c.ID):
		return fmt.Errorf("jti is no id")
	case c.UID <= 0:
		return fmt.Errorf("uid is nobody's") // as a guest's
	case !wellFormed(c.Subject):
		return fmt.Errorf("sub is no user")
	}
	return nil
}

// open makes the session's cookie. The session is signed and not stored: each replica can read it.
func (h *Handover) open(c handoverClaims) (*http.Cookie, error) {
	now := time.Now()
	c.RegisteredClaims = jwt.RegisteredClaims{Subject: c.Subject, Issuer: sessionIssuer, Audience: jwt.ClaimStrings{h.audience},
		IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(h.ttl))}
	value, err := jwt.NewWithClaims(jwt.SigningMethodHS256, c).SignedString(h.key)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, "", fmt.Errorf("sign a session: %w", err))
	}
	if len(value) > sessionMax {
		return nil, fault.New(fault.TooLarge, fmt.Sprintf("You have too many roles at Superset (%d) to be signed in here.", len(c.Roles)))
	}
	cookie := h.cookie
	cookie.Value, cookie.MaxAge = value, int(h.ttl.Seconds())
	return &cookie, nil
}

// Ended returns the cookie that ends a session in the browser that gets it.
func (h *Handover) Ended() *http.Cookie {
	cookie := h.cookie
	cookie.MaxAge = -1
	return &cookie
}
