package auth

import (
	"context"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

	"agentd/internal/chat"
)

// A Person is what Superset says of a session.
type Person struct {
	ID    int // 0 is nobody: anonymous or a guest
	User  string
	Name  string
	Roles []string
}

// A Directory tells whose session a credential is, as /api/v1/me/roles/ does. Its error is Auth when it is nobody's.
type Directory interface {
	WhoIs(ctx context.Context, c *chat.Credential) (Person, error)
}

// Superset says which cookie is checked, and where.
type Superset struct {
	Directory  Directory
	CookieName string        // "" is session
	Cache      time.Duration // how long an answer is believed; 0 is not at all
}

// maxCached bounds the answers kept. Each is one session.
const maxCached = 10_000

// NewSuperset makes a Resolver of Superset's session cookie. Only that cookie goes with the identity as its
// credential, with what Superset binds a session to. Answers are kept under a hash of the cookie and the browser.
func NewSuperset(o Superset) *Resolver {
	if o.CookieName == "" {
		o.CookieName = "session"
	}
	c := &cache{ttl: o.Cache}
	return &Resolver{identify: func(ctx context.Context, r *http.Request) (chat.Identity, error) {
		cookie := cookieOf(r, o.CookieName)
		if cookie == "" {
			return chat.Identity{}, refused("Sign in to Superset first.", nil)
		}
		cred := credential(r)
		cred.Cookie = cookie
		key := sha256.Sum256([]byte(cookie + "\x00" + cred.UserAgent))
		p, ok := c.find(key)
		if !ok {
			var err error
			if p, err = o.Directory.WhoIs(ctx, cred); err != nil {
				return chat.Identity{}, answered(err, "Sign in to Superset first.")
			}
			if p.ID == 0 || p.User == "" {
				return chat.Identity{}, refused("Sign in to Superset first.", nil)
			}
			c.keep(key, p)
		}
		return chat.Identity{User: p.User, Name: p.Name, Roles: p.Roles, Credential: cred}, nil
	}}
}

// cookieOf is the Cookie header with the cookies of one name only.
func cookieOf(r *http.Request, name string) string {
	out := ""
	for _, c := range r.CookiesNamed(name) {
		if c.Value == "" {
			continue
		}
		if out != "" {
			out += "; "
		}
		out += c.Name + "=" + c.Value
	}
	return out
}

type cache struct {
	ttl time.Duration

	mu    sync.Mutex
	known map[[sha256.Size]byte]entry // hash of cookie and browser → answer
}

type entry struct {
	person Person
	until  time.Time
}

func (c *cache) find(key [sha256.Size]byte) (Person, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.known[key]
	return e.person, ok && time.Now().Before(e.until)
}

func (c *cache) keep(key [sha256.Size]byte, p Person) {
	if c.ttl <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if len(c.known) >= maxCached {
		for k, e := range c.known {
			if !now.Before(e.until) {
				delete(c.known, k)
			}
		}
		if len(c.known) >= maxCached {
			clear(c.known) // all of them fresh: asking again is cheaper than an order to evict by
		}
	}
	if c.known == nil {
		c.known = map[[sha256.Size]byte]entry{}
	}
	c.known[key] = entry{person: p, until: now.Add(c.ttl)}
}
