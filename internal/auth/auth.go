// Package auth finds out who is asking, anew for each request. Whoever cannot be told is refused; there is no
// default user beside mode dev, which the configuration allows on a loopback address only.
package auth

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentd/internal/chat"
	"agentd/internal/fault"

	"golang.org/x/text/language"
)

// A Resolver finds out who is asking. It is made by NewDev, NewJWT or NewSuperset and is safe for several
// goroutines. The zero Resolver refuses everybody.
type Resolver struct {
	identify func(context.Context, *http.Request) (chat.Identity, error)
}

// Identify returns who sent r. Its error is Auth when that cannot be told, or Transient when whoever could tell does
// not answer: then the user is not signed out. It may block on the network, within ctx.
func (s *Resolver) Identify(ctx context.Context, r *http.Request) (chat.Identity, error) {
	if s == nil || s.identify == nil {
		return chat.Identity{}, refused("Nobody can sign in here.", nil)
	}
	if r.Header.Get("X-GuestToken") != "" {
		return chat.Identity{}, refused("A guest of an embedded dashboard cannot use the assistant.", nil)
	}
	who, err := s.identify(ctx, r)
	if err != nil {
		return chat.Identity{}, err
	}
	if !wellFormed(who.User) {
		return chat.Identity{}, refused("The sign-in names no user.", nil)
	}
	if who.Language == "" {
		who.Language = languageOf(r.Header.Get("Accept-Language"))
	}
	return who, nil
}

// NewDev makes one fixed user of everybody who can reach the address.
func NewDev(user string, roles []string) *Resolver {
	return &Resolver{identify: func(_ context.Context, r *http.Request) (chat.Identity, error) {
		return chat.Identity{User: user, Name: user, Roles: roles, Credential: nil}, nil
	}}
}

func refused(msg string, cause error) error { return fault.Wrap(fault.Auth, msg, cause) }

// maxUser bounds the name of a user, which is a key of what is stored.
const maxUser = 256

func wellFormed(user string) bool {
	return user != "" && user == strings.TrimSpace(user) && utf8.ValidString(user) && utf8.RuneCountInString(user) <= maxUser &&
		!strings.ContainsFunc(user, unicode.IsControl)
}

var languages = language.NewMatcher([]language.Tag{language.English, language.Russian})

// languageOf picks en or ru by a list of languages, as browsers send it. What is not understood is en.
func languageOf(accept string) string {
	tags, _, err := language.ParseAcceptLanguage(accept)
	if err != nil || len(tags) == 0 {
		return "en"
	}
	if _, i, c := languages.Match(tags...); i == 1 && c >= language.High {
		return "ru"
	}
	return "en"
}

// credential is what is forwarded beside a cookie or a token: Superset binds a session to it.
func credential(r *http.Request) *chat.Credential {
	from := strings.Join(r.Header.Values("X-Forwarded-For"), ", ")
	if from == "" {
		from, _, _ = net.SplitHostPort(r.RemoteAddr)
	}
	return &chat.Credential{UserAgent: r.UserAgent(), ForwardedFor: from}
}

// bearerPattern: one token and nothing else.
var bearerPattern = regexp.MustCompile(`^(?i:bearer) +([A-Za-z0-9._~+/=-]+)$`)

// bearerOf returns the token of a request. Two headers are refused: a proxy and we could read different ones.
func bearerOf(r *http.Request) (string, error) {
	h := r.Header.Values("Authorization")
	if len(h) != 1 {
		return "", refused("Sign in first.", nil)
	}
	m := bearerPattern.FindStringSubmatch(strings.TrimSpace(h[0]))
	if m == nil {
		return "", refused("Sign in with a bearer token.", nil)
	}
	return m[1], nil
}

// answered makes Auth of what is an answer. Everything else says that nobody could be asked, which is no reason to
// sign somebody out.
func answered(err error, msg string) error {
	switch fault.KindOf(err) {
	case fault.Auth, fault.Denied, fault.Missing, fault.Invalid:
		return refused(msg, err)
	case fault.Transient, fault.Degraded, fault.RateLimited, fault.Canceled:
		return err
	}
	return fault.Wrap(fault.Transient, "The sign-in could not be checked.", err)
}

// secure reports whether keys may be fetched from u.
func secure(u *url.URL) bool {
	host := u.Hostname()
	ip := net.ParseIP(host)
	return u.Scheme == "https" && host != "" || u.Scheme == "http" && (host == "localhost" || ip != nil && ip.IsLoopback())
}
