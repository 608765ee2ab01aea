package superset

import (
	"context"
	"slices"
	"sort"

	"agentd/internal/fault"
)

// Me is the Superset user that a session acts as.
type Me struct {
	ID    int
	User  string
	Name  string
	Email string
	Roles []string // sorted
	pairs map[string]bool
}

// Me asks who the session acts as and what that user may do. A guest or anonymous answer is Auth.
func (s *Session) Me(ctx context.Context) (Me, error) {
	var got struct {
		Result struct {
			UserID      int                    `json:"userId"`
			Username    string                 `json:"username"`
			FirstName   string                 `json:"firstName"`
			LastName    string                 `json:"lastName"`
			Email       string                 `json:"email"`
			IsAnonymous bool                   `json:"isAnonymous"`
			Roles       map[string][][2]string `json:"roles"`
		} `json:"result"`
	}
	if err := s.get(ctx, "/api/v1/me/roles/", "", &got); err != nil {
		return Me{}, err
	}
	r := got.Result
	if r.IsAnonymous || r.UserID <= 0 || r.Username == "" {
		return Me{}, fault.New(fault.Auth, "Superset answered without saying who is asking.")
	}
	m := Me{ID: r.UserID, User: r.Username, Name: Person{FirstName: r.FirstName, LastName: r.LastName}.Name(), Email: r.Email, pairs: map[string]bool{}}
	for role, pairs := range r.Roles {
		m.Roles = append(m.Roles, role)
		for _, p := range pairs {
			m.pairs[p[0]+" on "+p[1]] = true
		}
	}
	sort.Strings(m.Roles)
	return m, nil
}

// May reports whether the user holds a permission, written as "can_read on Dashboard".
func (m Me) May(perm string) bool { return m.pairs[perm] }

// Perms lists the permissions, sorted.
func (m Me) Perms() []string {
	out := make([]string, 0, len(m.pairs))
	for p := range m.pairs {
		out = append(out, p)
	}
	sort.Strings(out)
	return out
}

// Admin reports whether Superset takes the user for an owner of everything.
func (m Me) Admin() bool { return slices.Contains(m.Roles, "Admin") }

// MayChange reports whether the user may change an object with these owners.
func (m Me) MayChange(owners []Person) bool { return m.Admin() || owned(owners, m.ID) }

// Version is Superset's version, "6.1.0".
func (s *Session) Version(ctx context.Context) (string, error) {
	var got struct {
		Version string `json:"version_string"`
	}
	if err := s.get(ctx, "/version", "", &got); err != nil {
		return "", err
	}
	return got.Version, nil
}
