package auth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentd/internal/auth"
	"agentd/internal/fault"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
)

const secret = "a secret of the tests that is long enough"

func claims(more ...any) jwt.MapClaims {
	c := jwt.MapClaims{"sub": "anna", "roles": []string{"Alpha"}, "exp": time.Now().Add(time.Hour).Unix(), "iss": "https://issuer", "aud": "agentd"}
	for i := 0; i < len(more); i += 2 {
		c[more[i].(string)] = more[i+1]
	}
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

func sign(t *testing.T, m jwt.SigningMethod, key any, kid string, c jwt.MapClaims) string {
	t.Helper()
	tok := jwt.NewWithClaims(m, c)
	if kid != "" {
		tok.Header["kid"] = kid
	}
	s, err := tok.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func hs(t *testing.T, o auth.JWT) *auth.Resolver {
	t.Helper()
	o.Secret = func() (string, error) { return secret, nil }
	r, err := auth.NewJWT(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSharedSecret(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	r := hs(t, auth.JWT{Issuer: "https://issuer", Audience: "agentd"})
	now := time.Now()
	for _, tt := range []struct {
		name  string
		token string
		ok    bool
	}{
		{"good", sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims()), true},
		{"audience in a list", sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims("aud", []string{"x", "agentd"})), true},
		{"just expired, clocks differ", sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims("exp", now.Add(-20*time.Second).Unix())), true},
		{"expired", sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims("exp", now.Add(-40*time.Second).Unix())), false},
		{"without an end", sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims("exp", nil)), false},
		{"not yet", sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims("nbf", now.Add(time.Hour).Unix())), false},
		{"issued in the future", sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims("iat", now.Add(time.Hour).Unix())), false},
		{"another secret", sign(t, jwt.SigningMethodHS256, []byte("another secret"), "", claims()), false},
		{"another issuer", sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims("iss", "https://other")), false},
		{"no issuer", sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims("iss", nil)), false},
		{"another audience", sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims("aud", "superset")), false},
		{"no audience", sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims("aud", nil)), false},
		{"another length of hash", sign(t, jwt.SigningMethodHS512, []byte(secret), "", claims()), false},
		{"unsigned", sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "", claims()), false},
		{"a public-key signature", sign(t, jwt.SigningMethodRS256, rsaKey, "", claims()), false},
		{"no user", sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims("sub", nil)), false},
		{"an empty user", sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims("sub", "")), false},
		{"a user that is a number", sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims("sub", 7)), false},
		{"roles that are a number", sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims("roles", 7)), false},
		{"a role that is a number", sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims("roles", []any{"Alpha", 7})), false},
		{"Superset's guest", sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims("type", "guest")), false},
		{"half a token", "abc.def", false},
	} {
		who, err := r.Identify(t.Context(), request("Authorization", "Bearer "+tt.token))
		if tt.ok && (err != nil || who.User != "anna") || !tt.ok && (fault.KindOf(err) != fault.Auth || who.User != "") {
			t.Errorf("%s: %+v, %v", tt.name, who, err)
		}
		if err != nil && strings.Contains(err.Error(), tt.token) {
			t.Errorf("%s: the token is in the error", tt.name)
		}
	}
}

func TestBearerHeader(t *testing.T) {
	r := hs(t, auth.JWT{})
	good := sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims())
	for _, tt := range []struct {
		name    string
		headers []string
		ok      bool
	}{
		{"as usual", []string{"Authorization", "Bearer " + good}, true},
		{"another case", []string{"Authorization", "bearer " + good}, true},
		{"none", nil, false},
		{"two", []string{"Authorization", "Bearer " + good, "Authorization", "Bearer " + good}, false},
		{"two in one", []string{"Authorization", "Bearer " + good + ", Bearer " + good}, false},
		{"no scheme", []string{"Authorization", good}, false},
		{"basic", []string{"Authorization", "Basic " + good}, false},
		{"as a guest", []string{"Authorization", "Bearer " + good, "X-GuestToken", "x"}, false},
		{"in a cookie", []string{"Cookie", "token=" + good}, false},
	} {
		if _, err := r.Identify(t.Context(), request(tt.headers...)); (err == nil) != tt.ok || err != nil && fault.KindOf(err) != fault.Auth {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	q := request()
	q.URL.RawQuery = "access_token=" + good
	if _, err := r.Identify(t.Context(), q); fault.KindOf(err) != fault.Auth {
		t.Errorf("in the address: %v", err)
	}
}

func TestClaims(t *testing.T) {
	r := hs(t, auth.JWT{UserClaim: "preferred_username", RolesClaim: "realm_access.roles"})
	tok := sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims("preferred_username", "bert", "name", "Bert B", "locale", "ru-RU",
		"realm_access", map[string]any{"roles": []string{"Gamma", "sql_lab", "Gamma"}}))
	who, err := r.Identify(t.Context(), request("Authorization", "Bearer "+tok, "User-Agent", "Firefox", "Cookie", "session=x", "Accept-Language", "en"))
	if err != nil {
		t.Fatal(err)
	}
	if who.User != "bert" || who.Name != "Bert B" || who.Language != "ru" || !cmp.Equal(who.Roles, []string{"Gamma", "sql_lab"}) {
		t.Errorf("%+v", who)
	}
	if c := who.Credential; c.Bearer != tok || c.Cookie != "" || c.UserAgent != "Firefox" || c.ForwardedFor != "192.0.2.1" {
		t.Errorf("credential: cookie %q, agent %q, from %q", c.Cookie, c.UserAgent, c.ForwardedFor)
	}
	for _, tt := range []struct {
		roles any
		want  []string
	}{{"Alpha, Sales readers,", []string{"Alpha", "Sales readers"}}, {nil, nil}, {[]string{}, nil}} {
		r := hs(t, auth.JWT{})
		who, err := r.Identify(t.Context(), request("Authorization", "Bearer "+sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims("roles", tt.roles))))
		if err != nil || !cmp.Equal(who.Roles, tt.want) {
			t.Errorf("roles %v: %v, %v", tt.roles, who.Roles, err)
		}
	}
}

func TestNewJWTRefuses(t *testing.T) {
	why := errors.New("not set")
	for name, o := range map[string]auth.JWT{
		"nothing": {}, "an empty secret": {Secret: func() (string, error) { return "", nil }},
		"keys without an issuer": {JWKSURL: "https://i/k"}, "keys in the clear": {JWKSURL: "http://i/k", Issuer: "i"}, "no address": {JWKSURL: "::", Issuer: "i"},
	} {
		if _, err := auth.NewJWT(o); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := auth.NewJWT(auth.JWT{Secret: func() (string, error) { return "", why }}); !errors.Is(err, why) {
		t.Error(err)
	}
}

// issuer serves public keys.
type issuer struct {
	*httptest.Server
	asked atomic.Int32
	down  atomic.Bool
	body  atomic.Value // string
}

func newIssuer(t *testing.T, keys ...map[string]string) *issuer {
	i := new(issuer)
	i.serve(keys...)
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		i.asked.Add(1)
		if i.down.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_, _ = w.Write([]byte(i.body.Load().(string)))
	}))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) serve(keys ...map[string]string) {
	b, _ := json.Marshal(map[string]any{"keys": keys})
	i.body.Store(string(b))
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func rsaJWK(k *rsa.PrivateKey, kid string) map[string]string {
	return map[string]string{"kty": "RSA", "kid": kid, "use": "sig", "alg": "RS256", "n": b64(k.N.Bytes()), "e": b64(big.NewInt(int64(k.E)).Bytes())}
}

func TestPublicKeys(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	x, y := make([]byte, 32), make([]byte, 32)
	ecJWK := map[string]string{"kty": "EC", "kid": "e", "use": "sig", "alg": "ES256", "crv": "P-256", "x": b64(ec.X.FillBytes(x)), "y": b64(ec.Y.FillBytes(y))}
	oct := map[string]string{"kty": "oct", "kid": "o", "alg": "HS256", "k": b64([]byte(secret))}
	i := newIssuer(t, rsaJWK(rsaKey, "r"), ecJWK, oct)
	r, err := auth.NewJWT(auth.JWT{JWKSURL: i.URL, Issuer: "https://issuer", Audience: "agentd"})
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&rsaKey.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	for _, tt := range []struct {
		name, token string
		ok          bool
	}{
		{"RSA", sign(t, jwt.SigningMethodRS256, rsaKey, "r", claims()), true},
		{"elliptic", sign(t, jwt.SigningMethodES256, ec, "e", claims()), true},
		{"another key under that name", sign(t, jwt.SigningMethodRS256, other, "r", claims()), false},
		{"a name that is not there", sign(t, jwt.SigningMethodRS256, other, "x", claims()), false},
		{"the public key as a shared secret", sign(t, jwt.SigningMethodHS256, public, "r", claims()), false},
		{"its modulus as a shared secret", sign(t, jwt.SigningMethodHS256, rsaKey.N.Bytes(), "r", claims()), false},
		{"a shared secret in the set", sign(t, jwt.SigningMethodHS256, []byte(secret), "o", claims()), false},
		{"another algorithm than the key's", sign(t, jwt.SigningMethodRS512, rsaKey, "r", claims()), false},
		{"unsigned", sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "r", claims()), false},
		{"another issuer", sign(t, jwt.SigningMethodRS256, rsaKey, "r", claims("iss", "https://evil")), false},
		{"no end", sign(t, jwt.SigningMethodRS256, rsaKey, "r", claims("exp", nil)), false},
	} {
		who, err := r.Identify(t.Context(), request("Authorization", "Bearer "+tt.token))
		if tt.ok && (err != nil || who.User != "anna") || !tt.ok && (fault.KindOf(err) != fault.Auth || who.User != "") {
			t.Errorf("%s: %+v, %v", tt.name, who, err)
		}
	}
	if n := i.asked.Load(); n != 1 {
		t.Errorf("the keys were fetched %d times, although a made-up name is no reason within a minute", n)
	}
	i.down.Store(true)
	if _, err := r.Identify(t.Context(), request("Authorization", "Bearer "+sign(t, jwt.SigningMethodRS256, rsaKey, "r", claims()))); err != nil {
		t.Errorf("the known keys are not used while the issuer is down: %v", err)
	}
}

func TestIssuerDown(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := newIssuer(t, rsaJWK(key, "r"))
	r, err := auth.NewJWT(auth.JWT{JWKSURL: i.URL, Issuer: "https://issuer"})
	if err != nil {
		t.Fatal(err)
	}
	token := sign(t, jwt.SigningMethodRS256, key, "r", claims())
	i.down.Store(true)
	if _, err := r.Identify(t.Context(), request("Authorization", "Bearer "+token)); fault.KindOf(err) != fault.Transient {
		t.Errorf("down: %v, want Transient", err)
	}
	i.down.Store(false)
	i.serve(rsaJWK(key, "r"))
	if _, err := r.Identify(t.Context(), request("Authorization", "Bearer "+token)); err != nil {
		t.Errorf("up again: %v", err)
	}
}
