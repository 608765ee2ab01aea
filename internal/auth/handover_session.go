package auth

import (
	"context"
	"net/http"

	"agentd/internal/chat"

	"github.com/golang-jwt/jwt/v5"
)

// Beside makes a Resolver that knows the sessions of h, and asks mode about everybody who has none. A token that a
// client sends itself is mode's, whatever cookie comes with it. A session that does not count any more is refused and
// not taken for none: nobody becomes another user by the end of a session.
func (h *Handover) Beside(mode *Resolver) *Resolver {
	return &Resolver{identify: func(ctx context.Context, r *http.Request) (chat.Identity, error) {
		cookie, err := r.Cookie(h.cookie.Name)
		if err != nil || cookie.Value == "" || len(r.Header.Values("Authorization")) > 0 {
			return mode.Identify(ctx, r)
		}
		var c handoverClaims
		if _, err := h.sessions.ParseWithClaims(cookie.Value, &c, func(*jwt.Token) (any, error) { return h.key, nil }); err != nil {
			return chat.Identity{}, refused("The session has ended. Sign in again.", err)
		}
		// No credential: this origin has none of the user's at Superset.
		return chat.Identity{User: c.Subject, Name: c.Name, Roles: c.Roles}, nil
	}}
}
