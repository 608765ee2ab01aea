package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"

	"github.com/golang-jwt/jwt/v5"
)

// leeway is how far two clocks may differ.
const leeway = 30 * time.Second

// JWT says which tokens count: those of a shared secret (HS256) or of a set of public keys (RS, PS and ES), never both.
type JWT struct {
	Secret     func() (string, error) // read once, by NewJWT, so that its absence is an error at start
	JWKSURL    string
	Issuer     string // "" is any, not with JWKSURL
	Audience   string // "" is any
	UserClaim  string // "" is sub
	RolesClaim string // "" is roles; a path with dots reaches into objects
	Client     *http.Client
}

// NewJWT makes a Resolver of bearer tokens. Its error is Invalid. The token goes with the identity as its
// credential, for environments to which it is forwarded.
func NewJWT(o JWT) (*Resolver, error) {
	if o.UserClaim == "" {
		o.UserClaim = "sub"
	}
	if o.RolesClaim == "" {
		o.RolesClaim = "roles"
	}
	opts := []jwt.ParserOption{jwt.WithExpirationRequired(), jwt.WithLeeway(leeway), jwt.WithIssuedAt()}
	if o.Issuer != "" {
		opts = append(opts, jwt.WithIssuer(o.Issuer))
	}
	if o.Audience != "" {
		opts = append(opts, jwt.WithAudience(o.Audience))
	}
	keys, methods, err := keysOf(o)
	if err != nil {
		return nil, err
	}
	// The methods are of one family, so a public key can never be taken for a shared secret.
	parser := jwt.NewParser(append(opts, jwt.WithValidMethods(methods))...)
	return &Resolver{identify: func(ctx context.Context, r *http.Request) (chat.Identity, error) {
		token, err := bearerOf(r)
		if err != nil {
			return chat.Identity{}, err
		}
		claims := jwt.MapClaims{}
		if _, err := parser.ParseWithClaims(token, claims, keys(ctx)); err != nil {
			var down *fault.Error
			if errors.As(err, &down) && down.Kind != fault.Auth {
				return chat.Identity{}, down
			}
			return chat.Identity{}, refused("The token is not valid. Sign in again.", err)
		}
		who, err := identityOf(claims, o)
		if err != nil {
			return chat.Identity{}, err
		}
		who.Credential = credential(r)
		who.Credential.Bearer = token
		return who, nil
	}}, nil
}

func keysOf(o JWT) (keys func(context.Context) jwt.Keyfunc, methods []string, err error) {
	if o.JWKSURL == "" {
		if o.Secret == nil {
			return nil, nil, fault.New(fault.Invalid, "Tokens need a secret or a jwks_url.")
		}
		secret, err := o.Secret()
		if err != nil {
			return nil, nil, err
		}
		if secret == "" {
			return nil, nil, fault.New(fault.Invalid, "The secret of the tokens is empty.")
		}
		return func(context.Context) jwt.Keyfunc {
			return func(*jwt.Token) (any, error) { return []byte(secret), nil }
		}, []string{"HS256"}, nil
	}
	u, err := url.Parse(o.JWKSURL)
	switch {
	case err != nil || !secure(u):
		return nil, nil, fault.New(fault.Invalid, "jwks_url must be an https address.")
	case o.Issuer == "":
		return nil, nil, fault.New(fault.Invalid, "jwks_url needs an issuer.")
	}
	set := newKeySet(o.JWKSURL, o.Client)
	return set.keyfunc, []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"}, nil
}

func identityOf(claims jwt.MapClaims, o JWT) (chat.Identity, error) {
	if t, _ := claims["type"].(string); t == "guest" {
		return chat.Identity{}, refused("A guest of an embedded dashboard cannot use the assistant.", nil)
	}
	user, ok := claim(claims, o.UserClaim).(string)
	if !ok {
		return chat.Identity{}, refused("The token names no user.", fmt.Errorf("claim %s is %T", o.UserClaim, claim(claims, o.UserClaim)))
	}
	roles, ok := rolesOf(claim(claims, o.RolesClaim))
	if !ok {
		return chat.Identity{}, refused("The token's roles cannot be read.", fmt.Errorf("claim %s is %T", o.RolesClaim, claim(claims, o.RolesClaim)))
	}
	who := chat.Identity{User: user, Roles: roles}
	who.Name, _ = claims["name"].(string)
	for _, name := range []string{"locale", "language"} {
		if s, ok := claims[name].(string); ok && s != "" {
			who.Language = languageOf(s)
		}
	}
	return who, nil
}

// claim finds a claim by its name, else by its path.
func claim(claims map[string]any, name string) any {
	if v, ok := claims[name]; ok {
		return v
	}
	first, rest, ok := strings.Cut(name, ".")
	if inner, isMap := claims[first].(map[string]any); ok && isMap {
		return claim(inner, rest)
	}
	return nil
}

// rolesOf reads a list of texts, or texts with commas. No claim is no roles; anything else is refused, since
// half a list could leave out the role that denies.
func rolesOf(v any) ([]string, bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case string:
		var out []string
		for s := range strings.SplitSeq(v, ",") {
			if s = strings.TrimSpace(s); s != "" {
				out = append(out, s)
			}
		}
		return out, true
	case []any:
		var out []string
		for _, x := range v {
			s, ok := x.(string)
			if !ok {
				return nil, false
			}
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
		return out, true
	}
	return nil, false
}
