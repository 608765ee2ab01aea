package auth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentd/internal/auth"
	"agentd/internal/chat"
	"agentd/internal/fault"

	"github.com/google/go-cmp/cmp"
)

func request(headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/api/v1/me", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func TestZeroResolverRefuses(t *testing.T) {
	for _, r := range []*auth.Resolver{nil, {}} {
		if who, err := r.Identify(t.Context(), request()); fault.KindOf(err) != fault.Auth || who.User != "" {
			t.Errorf("%+v, %v", who, err)
		}
	}
}

func TestDev(t *testing.T) {
	r := auth.NewDev("dev", []string{"Admin"})
	who, err := r.Identify(t.Context(), request("Authorization", "Bearer x", "Cookie", "session=y", "Accept-Language", "ru,en;q=0.5"))
	if err != nil || who.User != "dev" || !who.Admin() || who.Credential != nil || who.Language != "ru" {
		t.Errorf("%+v, %v", who, err)
	}
	if _, err := r.Identify(t.Context(), request("X-GuestToken", "abc")); fault.KindOf(err) != fault.Auth {
		t.Errorf("a guest: %v", err)
	}
	for _, user := range []string{"", " dev", "a\nb", "\xff", strings.Repeat("я", 257)} {
		if _, err := auth.NewDev(user, nil).Identify(t.Context(), request()); fault.KindOf(err) != fault.Auth {
			t.Errorf("user %q: %v", user, err)
		}
	}
	for _, user := range []string{strings.Repeat("я", 256), "anna müller"} {
		if _, err := auth.NewDev(user, nil).Identify(t.Context(), request()); err != nil {
			t.Errorf("user %q: %v", user, err)
		}
	}
}

func TestLanguage(t *testing.T) {
	for accept, want := range map[string]string{
		"": "en", "ru": "ru", "ru-RU,ru;q=0.9,en;q=0.8": "ru", "en-GB,ru;q=0.9": "en", "de": "en", "de,ru;q=0.5": "ru", "*": "en", "%%%": "en",
	} {
		who, err := auth.NewDev("dev", nil).Identify(t.Context(), request("Accept-Language", accept))
		if err != nil || who.Language != want {
			t.Errorf("%q: %q, %v; want %q", accept, who.Language, err, want)
		}
	}
}

// directory knows sessions by their cookie.
type directory struct {
	people map[string]auth.Person
	err    error
	asked  int
	last   *chat.Credential
}

func (d *directory) WhoIs(_ context.Context, c *chat.Credential) (auth.Person, error) {
	d.asked++
	d.last = c
	if d.err != nil {
		return auth.Person{}, d.err
	}
	p, ok := d.people[c.Cookie]
	if !ok {
		return auth.Person{}, fault.New(fault.Auth, "Missing Authorization Header")
	}
	return p, nil
}

func anna() auth.Person {
	return auth.Person{ID: 7, User: "anna", Name: "Anna A", Roles: []string{"Gamma"}}
}

func TestSuperset(t *testing.T) {
	d := &directory{people: map[string]auth.Person{"session=a": anna(), "session=guest": {User: "guest"}, "session=nameless": {ID: 3}}}
	r := auth.NewSuperset(auth.Superset{Directory: d})
	who, err := r.Identify(t.Context(), request("Cookie", "other=1; session=a; agentd=2", "User-Agent", "Firefox", "X-Forwarded-For", "10.1.1.1"))
	if err != nil {
		t.Fatal(err)
	}
	want := chat.Identity{User: "anna", Name: "Anna A", Roles: []string{"Gamma"}, Language: "en",
		Credential: &chat.Credential{Cookie: "session=a", UserAgent: "Firefox", ForwardedFor: "10.1.1.1"}}
	if diff := cmp.Diff(want, who); diff != "" {
		t.Error(diff)
	}
	for _, cookie := range []string{"", "session=", "other=a", "session=b", "session=guest", "session=nameless"} {
		if who, err := r.Identify(t.Context(), request("Cookie", cookie)); fault.KindOf(err) != fault.Auth || who.User != "" {
			t.Errorf("cookie %q: %+v, %v", cookie, who, err)
		}
	}
	if _, err := r.Identify(t.Context(), request("Authorization", "Bearer x")); fault.KindOf(err) != fault.Auth {
		t.Errorf("a token instead of a cookie: %v", err)
	}
}

// Somebody whose sign-in cannot be checked is neither let in nor signed out.
func TestSupersetOutOfReach(t *testing.T) {
	for kind, want := range map[fault.Kind]fault.Kind{
		fault.Transient: fault.Transient, fault.Timeout: fault.Transient, fault.Unknown: fault.Transient, fault.Degraded: fault.Degraded,
		fault.RateLimited: fault.RateLimited, fault.Canceled: fault.Canceled,
		fault.Auth: fault.Auth, fault.Denied: fault.Auth, fault.Missing: fault.Auth, fault.Mismatch: fault.Transient, fault.Internal: fault.Transient,
	} {
		r := auth.NewSuperset(auth.Superset{Directory: &directory{err: fault.New(kind, "no")}})
		if who, err := r.Identify(t.Context(), request("Cookie", "session=a")); fault.KindOf(err) != want || who.User != "" {
			t.Errorf("%s: %+v, %v; want %s", kind, who, err, want)
		}
	}
}

func TestSupersetCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &directory{people: map[string]auth.Person{"session=a": anna(), "session=b": {ID: 8, User: "bert"}}}
		r := auth.NewSuperset(auth.Superset{Directory: d, Cache: time.Minute})
		as := func(cookie, agent, want string, asked int) {
			t.Helper()
			who, _ := r.Identify(t.Context(), request("Cookie", cookie, "User-Agent", agent))
			if who.User != want || d.asked != asked {
				t.Errorf("%s with %s: %q after %d questions, want %q after %d", cookie, agent, who.User, d.asked, want, asked)
			}
			if who.User != "" && who.Credential.Cookie != cookie {
				t.Errorf("somebody else's credential: %q", who.Credential.Cookie)
			}
		}
		as("session=a", "Firefox", "anna", 1)
		as("session=a", "Firefox", "anna", 1)
		as("session=a", "Chrome", "anna", 2) // the session may be bound to the browser
		as("session=b", "Firefox", "bert", 3)
		time.Sleep(time.Minute - 1)
		as("session=a", "Firefox", "anna", 3)
		time.Sleep(time.Nanosecond)
		delete(d.people, "session=a")
		as("session=a", "Firefox", "", 4)
		as("session=a", "Firefox", "", 5) // a refusal is not kept
		d.people["session=a"] = anna()
		as("session=a", "Firefox", "anna", 6)
	})
}

func TestSupersetCacheIsBounded(t *testing.T) {
	d := &directory{people: map[string]auth.Person{}}
	r := auth.NewSuperset(auth.Superset{Directory: d, Cache: time.Hour})
	for i := range 10_001 {
		d.people[fmt.Sprintf("session=%d", i)] = anna()
		if _, err := r.Identify(t.Context(), request("Cookie", fmt.Sprintf("session=%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	d.asked = 0
	for _, cookie := range []string{"session=0", "session=10000"} {
		if _, err := r.Identify(t.Context(), request("Cookie", cookie)); err != nil {
			t.Fatal(err)
		}
	}
	if d.asked != 1 {
		t.Errorf("%d questions, want one for the oldest and none for the newest", d.asked)
	}
}
