package mocksuperset

import (
	"strconv"
	"strings"
)

func securityRoutes() []route {
	return []route{
		{method: "POST", path: "/api/v1/security/login", open: true, exempt: true, records: true, handle: (*call).login},
		{method: "POST", path: "/api/v1/security/refresh", open: true, exempt: true, records: true, handle: (*call).refresh},
		{method: "GET", path: "/api/v1/security/csrf_token/", perm: "can_read", view: "SecurityRestApi", records: true, handle: func(c *call) answer {
			return ok(obj{"result": c.csrfToken()})
		}},
		{method: "POST", path: "/api/v1/security/guest_token/", perm: "can_grant_guest_token", view: "SecurityRestApi", handle: (*call).guestToken},
		{method: "GET", path: "/login/", open: true, records: true, handle: (*call).loginPage},
		{method: "POST", path: "/login/", open: true, records: true, handle: (*call).formLogin},
		{method: "GET", path: "/logout/", open: true, handle: func(c *call) answer {
			c.session, c.fresh = session{}, true
			return redirectTo(302, c.s.base+"/")
		}},
	}
}

var loginSchema = schema{
	"username": {kind: kindText, required: true, min: 1},
	"password": {kind: kindText, required: true, min: 1},
	"refresh":  {kind: kindBool},
	"provider": {kind: kindText, check: func(v any) []any {
		var out []any
		if v != "db" && v != "ldap" {
			out = append(out, "Must be one of: db, ldap.")
		}
		if v != "db" {
			out = append(out, "Alternative authentication provider is not allowed")
		}
		return out
	}},
}

func (c *call) login() answer {
	if !c.sendsJSON() {
		return message(400, "Request payload is not JSON")
	}
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	fields, faults := loginSchema.load(body)
	if faults != nil {
		return message(400, faults)
	}
	if _, there := fields["provider"]; !there {
		return fatal
	}
	u := c.authenticate(fields.str("username"), fields.str("password"))
	if u == nil {
		return notAuth
	}
	out := obj{"access_token": c.s.newToken("access", u.id(), true)}
	if fields.bool("refresh") {
		out["refresh_token"] = c.s.newToken("refresh", u.id(), false)
	}
	return ok(out)
}

// authenticate counts a right log-in. Names are matched without case; a mail address is a name too.
func (c *call) authenticate(name, password string) row {
	for u := range c.st.table("ab_user").all() {
		if !strings.EqualFold(u.str("username"), name) && !strings.EqualFold(u.str("email"), name) {
			continue
		}
		if !u.bool("active") || u.str("password") != password {
			return nil
		}
		return c.write().update("ab_user", u.id(), row{"login_count": u.int("login_count") + 1, "last_login": c.now()})
	}
	return nil
}

func (c *call) refresh() answer {
	scheme, token, found := strings.Cut(c.r.Header.Get("Authorization"), " ")
	if c.r.Header.Get("Authorization") == "" {
		return noToken("Missing Authorization Header")
	}
	if scheme != "Bearer" || !found {
		return noToken("Missing 'Bearer' type in 'Authorization' header. Expected 'Authorization: Bearer <JWT>'")
	}
	claims, status, reason := c.s.readToken(token)
	if reason != "" {
		return reply(status, obj{"msg": reason})
	}
	if claims.Type != "refresh" {
		return reply(422, obj{"msg": "Only refresh tokens are allowed"})
	}
	id, err := strconv.Atoi(claims.Sub)
	if u := c.st.get("ab_user", id); err != nil || u == nil || !u.bool("active") {
		return noToken("Error loading the user " + claims.Sub)
	}
	return ok(obj{"access_token": c.s.newToken("access", id, false)})
}

func (c *call) loginPage() answer {
	if c.user != nil {
		return redirectTo(302, c.s.base+"/")
	}
	return c.appPage("login")
}

func (c *call) formLogin() answer {
	if c.user != nil {
		return redirectTo(302, c.s.base+"/")
	}
	fields := c.readForm().texts
	next := c.query().Get("next")
	if next == "" || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") {
		next = c.s.base + "/"
	}
	u := c.authenticate(fields["username"], fields["password"])
	if u == nil {
		return redirectTo(302, c.s.base+"/login/?next="+next)
	}
	c.session.User, c.fresh = u.id(), true
	return redirectTo(302, next)
}

// guestToken is refused: guests are a feature that the instances do not have on.
func (c *call) guestToken() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	guest := schema{
		"user":      {kind: kindNested, fields: schema{"username": {}, "first_name": {}, "last_name": {}}},
		"resources": listOf(field{kind: kindNested, fields: schema{"type": {required: true}, "id": {required: true}}}),
		"rls":       listOf(field{kind: kindNested, fields: schema{"dataset": {kind: kindInt}, "clause": {}}}),
	}
	for _, name := range []string{"resources", "rls"} {
		f := guest[name]
		f.required = true
		guest[name] = f
	}
	if _, faults := guest.load(body); faults != nil {
		return message(400, faults)
	}
	return message(400, "Embedded dashboard not found")
}
