package mocksuperset

import (
	"strconv"
	"strings"
)

// identify finds out who asks: a session wins over a token when its user holds
// the permission; a bearer token is read only without one.
func (c *call) identify() (answer, bool) {
	if c.session.User != 0 {
		if u := c.st.get("ab_user", c.session.User); u != nil && u.bool("active") {
			c.user = u
		}
	}
	if c.user != nil || c.route.open {
		return answer{}, false
	}
	if c.route.cookie {
		return c.deniedView(), true
	}
	header := c.r.Header.Get("Authorization")
	if header == "" {
		return noToken("Missing Authorization Header"), true
	}
	scheme, token, found := strings.Cut(header, " ")
	if scheme != "Bearer" || !found {
		return noToken("Missing 'Bearer' type in 'Authorization' header. Expected 'Authorization: Bearer <JWT>'"), true
	}
	claims, status, reason := c.s.readToken(token)
	if reason != "" {
		return reply(status, obj{"msg": reason}), true
	}
	if claims.Type != "access" {
		return reply(422, obj{"msg": "Only non-refresh tokens are allowed"}), true
	}
	id, err := strconv.Atoi(claims.Sub)
	u := c.st.get("ab_user", id)
	if err != nil || u == nil || !u.bool("active") {
		return noToken("Error loading the user " + claims.Sub), true
	}
	c.user = u
	return answer{}, false
}

func noToken(text string) answer { return reply(401, obj{"msg": text}) }

// deniedView is what an old view says to nobody and to a bearer token.
func (c *call) deniedView() answer {
	if strings.HasPrefix(c.r.URL.Path, c.s.base+"/api/") || strings.Contains(c.r.URL.Path, "/datasource/") {
		return reply(401, obj{"message": "Access is Denied", "severity": "danger"})
	}
	return redirectTo(302, c.s.base+"/login/?next="+c.address()+strings.TrimPrefix(c.r.URL.RequestURI(), c.s.base))
}

// isAdmin says whether the user has the role Admin, which owns everything.
func (c *call) isAdmin() bool {
	for _, r := range c.roles() {
		if r.str("name") == "Admin" {
			return true
		}
	}
	return false
}

func (c *call) roles() []row {
	if c.user == nil {
		return nil
	}
	return c.st.linked("ab_user_role", "user_id", c.user.id(), "role_id", "ab_role")
}

// may says whether a role of the user holds a permission, such as can_read on Dashboard.
func (c *call) may(perm, view string) bool {
	if c.perms == nil {
		c.perms = map[string]bool{}
		for _, role := range c.roles() {
			for _, p := range c.st.pairs(role.id()) {
				c.perms[p[0]+" "+p[1]] = true
			}
		}
	}
	return c.perms[perm+" "+view]
}

// pairs are the permissions of a role, each with its view.
func (s *state) pairs(role int) [][2]string {
	var out [][2]string
	for _, held := range s.where("ab_permission_view_role", "role_id", role) {
		pv := s.get("ab_permission_view", held.int("permission_view_id"))
		if pv == nil {
			continue
		}
		perm, view := s.get("ab_permission", pv.int("permission_id")), s.get("ab_view_menu", pv.int("view_menu_id"))
		if perm != nil && view != nil {
			out = append(out, [2]string{perm.str("name"), view.str("name")})
		}
	}
	return out
}

// owns says whether the user may change a row: as one of its owners, or as an admin.
func (c *call) owns(link, column string, id int) bool {
	if c.isAdmin() {
		return true
	}
	for _, l := range c.st.where(link, column, id) {
		if l.int("user_id") == c.user.id() {
			return true
		}
	}
	return false
}
