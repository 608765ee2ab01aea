package auth_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentd/internal/auth"
	"agentd/internal/chat"
	"agentd/internal/fault"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
)

const origin = "https://agentd.bi.example.com"

func handoverOf(t *testing.T, change ...func(*auth.HandoverOptions)) *auth.Handover {
	t.Helper()
	o := auth.HandoverOptions{Secret: func() (string, error) { return secret, nil }, Audience: origin, TTL: 15 * time.Minute, Spent: &spent{}}
	for _, f := range change {
		f(&o)
	}
	h, err := auth.NewHandover(o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// spent is an auth.Spender in memory.
type spent struct {
	mu  sync.Mutex
	ids map[string]time.Time // id → when it may be forgotten
	err error
}

func (s *spent) Spend(_ context.Context, id string, expires time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until, ok := s.ids[id]; ok && time.Now().Before(until) {
		return fault.New(fault.Conflict, "It was used before.")
	}
	if s.ids == nil {
		s.ids = map[string]time.Time{}
	}
	s.ids[id] = expires
	return s.err
}

var tokens struct {
	sync.Mutex
	n int
}

// word is what Superset's side signs for anna, with the claims that more changes or, being nil, leaves out.
func word(more ...any) jwt.MapClaims {
	tokens.Lock()
	tokens.n++
	n := tokens.n
	tokens.Unlock()
	now := time.Now().Unix()
	c := jwt.MapClaims{"sub": "anna", "uid": 7, "name": "Anna A", "roles": []string{"Gamma", "Sales"}, "aud": origin, "iss": "superset",
		"iat": now, "exp": now + 60, "jti": fmt.Sprintf("%032d", n)}
	for i := 0; i < len(more); i += 2 {
		c[more[i].(string)] = more[i+1]
	}
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

func worded(t *testing.T, more ...any) string {
	return sign(t, jwt.SigningMethodHS256, []byte(secret), "", word(more...))
}

// with sends what a browser that holds the cookie sends.
func with(c *http.Cookie, headers ...string) *http.Request {
	return request(append([]string{"Cookie", c.Name + "=" + c.Value}, headers...)...)
}

func TestHandover(t *testing.T) {
	h := handoverOf(t)
	cookie, user, err := h.Exchange(t.Context(), worded(t))
	if err != nil || user != "anna" {
		t.Fatalf("%q, %v", user, err)
	}
	who, err := h.Beside(&auth.Resolver{}).Identify(t.Context(), with(cookie, "Accept-Language", "ru"))
	if err != nil {
		t.Fatal(err)
	}
	want := chat.Identity{User: "anna", Name: "Anna A", Roles: []string{"Gamma", "Sales"}, Language: "ru"}
	if diff := cmp.Diff(want, who); diff != "" {
		t.Error(diff)
	}
}

// The cookie is for agentd alone, for scripts of nobody, and no wider than where the page is.
func TestHandoverCookie(t *testing.T) {
	for _, c := range []struct{ audience, path, want string }{
		{origin, "", "__Host-agentd=V; Path=/; Max-Age=900; HttpOnly; Secure; SameSite=Lax"},
		{origin, "/", "__Host-agentd=V; Path=/; Max-Age=900; HttpOnly; Secure; SameSite=Lax"},
		{origin, "/agentd/", "__Secure-agentd=V; Path=/agentd/; Max-Age=900; HttpOnly; Secure; SameSite=Lax"},
		{"http://agentd.localhost:8080", "/", "agentd=V; Path=/; Max-Age=900; HttpOnly; SameSite=Lax"},
	} {
		h := handoverOf(t, func(o *auth.HandoverOptions) { o.Audience, o.Path = c.audience, c.path })
		cookie, _, err := h.Exchange(t.Context(), worded(t, "aud", c.audience))
		if err != nil {
			t.Fatal(err)
		}
		value := cookie.Value
		if got := strings.Replace(cookie.String(), value, "V", 1); got != c.want {
			t.Errorf("%s%s:\n%s, want\n%s", c.audience, c.path, got, c.want)
		}
		ended := strings.Replace(strings.Replace(c.want, "=V", "=", 1), "Max-Age=900", "Max-Age=0", 1)
		if got := h.Ended().String(); got != ended {
			t.Errorf("%s%s ended:\n%s, want\n%s", c.audience, c.path, got, ended)
		}
	}
}

func TestHandoverRefusesTokens(t *testing.T) {
	now := time.Now()
	none, err := jwt.NewWithClaims(jwt.SigningMethodNone, word()).SignedString(jwt.UnsafeAllowNoneSignatureType)
	if err != nil {
		t.Fatal(err)
	}
	session, _, err := handoverOf(t).Exchange(t.Context(), worded(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]string{
		"nothing":           "",
		"no token":          "a.b.c",
		"another secret":    sign(t, jwt.SigningMethodHS256, []byte("another "+secret), "", word()),
		"another method":    sign(t, jwt.SigningMethodHS512, []byte(secret), "", word()),
		"no signature":      none,
		"a session of ours": session.Value,
		"another audience":  worded(t, "aud", "https://other.example.com"),
		"audience's prefix": worded(t, "aud", origin+".evil.example"),
		"no audience":       worded(t, "aud", nil),
		"another issuer":    worded(t, "iss", "agentd"),
		"no issuer":         worded(t, "iss", nil),
		"expired":           worded(t, "iat", now.Add(-2*time.Minute).Unix(), "exp", now.Add(-time.Minute).Unix()),
		"no expiry":         worded(t, "exp", nil),
		"no time of issue":  worded(t, "iat", nil),
		"of the future":     worded(t, "iat", now.Add(time.Minute).Unix(), "exp", now.Add(2*time.Minute).Unix()),
		"for too long":      worded(t, "exp", now.Add(5*time.Minute+2*time.Second).Unix(), "iat", now.Unix()),
		"ends as it begins": worded(t, "iat", now.Unix(), "exp", now.Unix()),
		"no id":             worded(t, "jti", nil),
		"short id":          worded(t, "jti", strings.Repeat("a", 15)),
		"long id":           worded(t, "jti", strings.Repeat("a", 129)),
		"odd id":            worded(t, "jti", strings.Repeat("a ", 16)),
		"a guest":           worded(t, "uid", nil),
		"user 0":            worded(t, "uid", 0),
		"user as text":      worded(t, "uid", "7"),
		"no user":           worded(t, "sub", nil),
		"nameless":          worded(t, "sub", ""),
		"control in a name": worded(t, "sub", "an\nna"),
		"long name":         worded(t, "sub", strings.Repeat("a", 257)),
		"roles as text":     worded(t, "roles", "Admin"),
		"roles of numbers":  worded(t, "roles", []int{1}),
		"a name of numbers": worded(t, "name", 3),
	} {
		cookie, user, err := handoverOf(t).Exchange(t.Context(), token)
		if fault.KindOf(err) != fault.Auth || cookie != nil || user != "" {
			t.Errorf("%s: %v, %q, %v", name, cookie, user, err)
		}
		if s := fmt.Sprintf("%v %+v", err, errors.Unwrap(err)); token != "" && strings.Contains(s, token) || strings.Contains(s, secret) {
			t.Errorf("%s: the error tells a secret: %s", name, s)
		}
	}
	for name, token := range map[string]string{
		"for as long as may be": worded(t, "exp", now.Add(5*time.Minute).Unix(), "iat", now.Unix()),
		"shortest id":           worded(t, "jti", strings.Repeat("b", 16)),
		"longest id":            worded(t, "jti", strings.Repeat("b", 128)),
		"no roles":              worded(t, "roles", nil),
		"no name":               worded(t, "name", nil),
		"longest user":          worded(t, "sub", strings.Repeat("a", 256)),
	} {
		if _, _, err := handoverOf(t).Exchange(t.Context(), token); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHandoverOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := handoverOf(t)
		token := worded(t)
		if _, _, err := h.Exchange(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		for _, after := range []time.Duration{0, 60 * time.Second, 29 * time.Second, time.Second, time.Hour} {
			time.Sleep(after)
			if _, _, err := h.Exchange(t.Context(), token); fault.KindOf(err) != fault.Auth {
				t.Errorf("again after %s more: %v", after, err)
			}
		}
		// A token that was refused for what it is spends no id.
		id := strings.Repeat("c", 32)
		if _, _, err := h.Exchange(t.Context(), worded(t, "jti", id, "uid", 0)); err == nil {
			t.Fatal("a guest's token was taken")
		}
		if _, _, err := h.Exchange(t.Context(), worded(t, "jti", id)); err != nil {
			t.Error(err)
		}
	})
}

// Of many that come with one token at once, one is let in.
func TestHandoverRace(t *testing.T) {
	h := handoverOf(t)
	token := worded(t)
	var in sync.WaitGroup
	results := make(chan error, 20)
	for range cap(results) {
		in.Go(func() {
			_, _, err := h.Exchange(t.Context(), token)
			results <- err
		})
	}
	in.Wait()
	close(results)
	taken := 0
	for err := range results {
		if err == nil {
			taken++
		}
	}
	if taken != 1 {
		t.Errorf("taken %d times", taken)
	}
}

// Two clocks may differ by 30 s, not more.
func TestHandoverClock(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		ok    bool
	}{{89 * time.Second, true}, {90 * time.Second, false}, {91 * time.Second, false}} {
		synctest.Test(t, func(t *testing.T) {
			token := worded(t)
			time.Sleep(c.after)
			if _, _, err := handoverOf(t).Exchange(t.Context(), token); (err == nil) != c.ok {
				t.Errorf("after %s: %v", c.after, err)
			}
		})
	}
}

func TestHandoverSessionEnds(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		ok    bool
	}{{0, true}, {15 * time.Minute, true}, {15*time.Minute + 29*time.Second, true}, {15*time.Minute + 30*time.Second, false}, {time.Hour, false}} {
		synctest.Test(t, func(t *testing.T) {
			h := handoverOf(t)
			cookie, _, err := h.Exchange(t.Context(), worded(t))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(c.after)
			who, err := h.Beside(auth.NewDev("dev", []string{"Admin"})).Identify(t.Context(), with(cookie))
			if c.ok != (err == nil) || c.ok != (who.User == "anna") || !c.ok && fault.KindOf(err) != fault.Auth {
				t.Errorf("after %s: %+v, %v", c.after, who, err)
			}
		})
	}
}

// Whoever logs in next is somebody else here too.
func TestHandoverAnotherUser(t *testing.T) {
	h := handoverOf(t)
	r := h.Beside(&auth.Resolver{})
	first, _, err := h.Exchange(t.Context(), worded(t))
	if err != nil {
		t.Fatal(err)
	}
	second, user, err := h.Exchange(t.Context(), worded(t, "sub", "boris", "uid", 8, "name", nil, "roles", []string{"Alpha"}))
	if err != nil || user != "boris" {
		t.Fatal(user, err)
	}
	if first.Name != second.Name || first.Path != second.Path || first.Value == second.Value {
		t.Errorf("%s does not replace %s", second, first)
	}
	who, err := r.Identify(t.Context(), with(second))
	if diff := cmp.Diff(chat.Identity{User: "boris", Roles: []string{"Alpha"}, Language: "en"}, who); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// Who has no session is asked about elsewhere. A session that does not count is not none.
func TestHandoverBeside(t *testing.T) {
	h := handoverOf(t)
	cookie, _, err := h.Exchange(t.Context(), worded(t))
	if err != nil {
		t.Fatal(err)
	}
	token := worded(t)
	forged := sign(t, jwt.SigningMethodHS256, []byte(secret), "", word("iss", "agentd"))
	other := handoverOf(t, func(o *auth.HandoverOptions) { o.Secret = func() (string, error) { return secret + "!", nil } })
	foreign, _, err := other.Exchange(t.Context(), sign(t, jwt.SigningMethodHS256, []byte(secret+"!"), "", word()))
	if err != nil {
		t.Fatal(err)
	}
	r := h.Beside(auth.NewDev("dev", nil))
	for name, c := range map[string]struct {
		headers []string
		user    string // "" is refused
	}{
		"a session":                  {[]string{"Cookie", cookie.Name + "=" + cookie.Value}, "anna"},
		"among others":               {[]string{"Cookie", "session=x; " + cookie.Name + "=" + cookie.Value + "; a=b"}, "anna"},
		"no cookie":                  {nil, "dev"},
		"other cookies":              {[]string{"Cookie", "session=x; agentd=" + cookie.Value}, "dev"},
		"an ended session":           {[]string{"Cookie", cookie.Name + "="}, "dev"},
		"a client's own token":       {[]string{"Cookie", cookie.Name + "=" + cookie.Value, "Authorization", "Bearer x"}, "dev"},
		"a guest":                    {[]string{"Cookie", cookie.Name + "=" + cookie.Value, "X-GuestToken", "x"}, ""},
		"garbage":                    {[]string{"Cookie", cookie.Name + "=x"}, ""},
		"cut":                        {[]string{"Cookie", cookie.Name + "=" + cookie.Value[:len(cookie.Value)-2]}, ""},
		"the token itself":           {[]string{"Cookie", cookie.Name + "=" + token}, ""},
		"signed by Superset's side":  {[]string{"Cookie", cookie.Name + "=" + forged}, ""},
		"a session of other secrets": {[]string{"Cookie", cookie.Name + "=" + foreign.Value}, ""},
	} {
		who, err := r.Identify(t.Context(), request(c.headers...))
		if who.User != c.user || (c.user == "") != (fault.KindOf(err) == fault.Auth) {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
	}
}

// A second replica knows the session, also after a restart.
func TestHandoverReplicas(t *testing.T) {
	cookie, _, err := handoverOf(t).Exchange(t.Context(), worded(t))
	if err != nil {
		t.Fatal(err)
	}
	if who, err := handoverOf(t).Beside(&auth.Resolver{}).Identify(t.Context(), with(cookie)); err != nil || who.User != "anna" {
		t.Errorf("%+v, %v", who, err)
	}
	elsewhere := handoverOf(t, func(o *auth.HandoverOptions) { o.Audience = "https://other.bi.example.com" })
	if who, err := elsewhere.Beside(&auth.Resolver{}).Identify(t.Context(), with(cookie)); fault.KindOf(err) != fault.Auth {
		t.Errorf("another agentd with the same secret: %+v, %v", who, err)
	}
}

// A cookie that a browser would drop is not sent; half the roles would be worse.
func TestHandoverManyRoles(t *testing.T) {
	many := func(n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf("Role %04d", i))
		}
		return out
	}
	h := handoverOf(t)
	cookie, _, err := h.Exchange(t.Context(), worded(t, "roles", many(200)))
	if err != nil || len(cookie.Name)+len(cookie.Value) > 4000 {
		t.Errorf("200 roles: %v", err)
	}
	if _, _, err := h.Exchange(t.Context(), worded(t, "roles", many(400))); fault.KindOf(err) != fault.TooLarge || !strings.Contains(err.Error(), "400") {
		t.Errorf("400 roles: %v", err)
	}
}

// Where it cannot be found out whether a token was used, nobody is let in, and it is not the token's fault.
func TestHandoverWithoutMemory(t *testing.T) {
	down := fault.New(fault.Transient, "The database is away.")
	h := handoverOf(t, func(o *auth.HandoverOptions) { o.Spent = &spent{err: down} })
	if cookie, _, err := h.Exchange(t.Context(), worded(t)); cookie != nil || !errors.Is(err, down) || fault.KindOf(err) != fault.Transient {
		t.Errorf("got %v, %v", cookie, err)
	}
}

func TestNewHandoverRefuses(t *testing.T) {
	broken := errors.New("no file")
	for name, o := range map[string]auth.HandoverOptions{
		"no audience":      {Audience: ""},
		"no origin":        {Audience: "agentd"},
		"a path":           {Audience: origin + "/"},
		"another scheme":   {Audience: "ftp://agentd.example.com"},
		"a user":           {Audience: "https://u:p@agentd.example.com"},
		"no secret":        {Audience: origin, Secret: func() (string, error) { return "", broken }},
		"a short secret":   {Audience: origin, Secret: func() (string, error) { return strings.Repeat("s", 31), nil }},
		"an empty secret":  {Audience: origin, Secret: func() (string, error) { return "", nil }},
		"a query":          {Audience: origin + "?a"},
		"no host":          {Audience: "https://"},
		"what is no place": {Audience: "https://a b"},
	} {
		if o.Secret == nil {
			o.Secret = func() (string, error) { return secret, nil }
		}
		o.Spent = &spent{}
		if h, err := auth.NewHandover(o); err == nil || h != nil {
			t.Errorf("%s: %v, %v", name, h, err)
		}
	}
	if _, err := auth.NewHandover(auth.HandoverOptions{Audience: origin, Spent: &spent{}, Secret: func() (string, error) { return strings.Repeat("s", 32), nil }}); err != nil {
		t.Errorf("32 bytes: %v", err)
	}
}
