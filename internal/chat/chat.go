// Package chat holds the words that every other package shares: who speaks, what is said, what happened. It does no I/O.
package chat

import (
	"log/slog"
	"slices"
)

// AdminRole is the role that may read the audit and simulate policy.
const AdminRole = "Admin"

// Identity is who a request or a run works for. It is resolved for each request and never ambient.
type Identity struct {
	User     string   `json:"user"` // unique name; the owner of what is created
	Name     string   `json:"name,omitempty"`
	Roles    []string `json:"roles,omitempty"`
	Language string   `json:"language,omitempty"` // en or ru; "" is en

	// Credential is what Superset is called with on the user's behalf; nil means a service account.
	// It lives in memory only.
	Credential *Credential `json:"-"`
}

// Admin reports whether the identity holds AdminRole.
func (i Identity) Admin() bool { return slices.Contains(i.Roles, AdminRole) }

// A Credential is forwarded to Superset as it came. It is never logged and never stored.
type Credential struct {
	Cookie       string // the whole Cookie header
	Bearer       string
	UserAgent    string // Superset binds a session to it
	ForwardedFor string
}

// LogValue keeps the credential out of every log.
func (*Credential) LogValue() slog.Value { return slog.StringValue("[credential]") }

// String keeps the credential out of every text.
func (*Credential) String() string { return "[credential]" }

// GoString keeps the credential out of %#v.
func (*Credential) GoString() string { return "[credential]" }
