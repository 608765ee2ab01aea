package mocksuperset

import (
	"strings"
)

func systemRoutes() []route {
	text := func(*call) answer {
		return answer{status: 200, ctype: "text/html; charset=utf-8", body: []byte("OK")}
	}
	return []route{
		{method: "GET", path: "/health", open: true, handle: text},
		{method: "GET", path: "/healthcheck", open: true, handle: text},
		{method: "GET", path: "/ping", open: true, handle: text},
		{method: "GET", path: "/version", open: true, handle: func(*call) answer {
			return ok(obj{"build_number": nil, "version_sha": "", "version_string": "6.1.0"})
		}},
		{method: "GET", path: "/", open: true, handle: func(c *call) answer {
			return redirectTo(302, c.s.base+"/superset/welcome/")
		}},
		{method: "GET", path: "/superset/welcome/", open: true, handle: func(c *call) answer {
			if c.user == nil {
				return redirectTo(302, c.s.base+"/login/?next="+escapeNext(c.r.URL.RequestURI()))
			}
			return c.appPage("welcome")
		}},
		{method: "GET", path: "/dashboard/list/", cookie: true, handle: (*call).anyPage},
		{method: "GET", path: "/chart/list/", cookie: true, handle: (*call).anyPage},
		{method: "GET", path: "/tablemodelview/list/", cookie: true, handle: (*call).anyPage},
		{method: "GET", path: "/databaseview/list/", cookie: true, handle: (*call).anyPage},
		{method: "GET", path: "/sqllab/", cookie: true, handle: (*call).anyPage},
		{method: "GET", path: "/explore/", cookie: true, handle: (*call).anyPage},
		{method: "GET", path: "/superset/dashboard/<id>/", cookie: true, handle: (*call).anyPage},
		{method: "GET", path: "/api/v1/me/", perm: "can_read", view: "CurrentUserRestApi", handle: (*call).me},
		{method: "GET", path: "/api/v1/me/roles/", perm: "can_read", view: "CurrentUserRestApi", handle: (*call).meRoles},
		{method: "PUT", path: "/api/v1/me/", perm: "can_write", view: "CurrentUserRestApi", changes: true, handle: (*call).putMe},
	}
}

func (c *call) anyPage() answer { return c.appPage("page") }

// appPage is the frame that every page of Superset's interface comes in. It
// carries who is logged in, as the real one does, and no interface.
func (c *call) appPage(entry string) answer {
	bootstrap := obj{"common": obj{"application_root": c.s.base, "locale": "en", "feature_flags": obj{}}}
	if c.user != nil {
		bootstrap["user"] = c.rolesOf(c.user)
	}
	data := strings.NewReplacer("&", "&amp;", `"`, "&#34;", "<", "&lt;", ">", "&gt;").Replace(dumps(bootstrap))
	form := ""
	if entry == "login" {
		form = `<input id="csrf_token" name="csrf_token" type="hidden" value="` + c.csrfToken() + `">`
	}
	return htmlAnswer(200, "<!DOCTYPE html>\n<html>\n<head><title>Superset</title></head>\n<body>"+form+
		`<div id="app" data-bootstrap="`+data+"\"></div></body>\n</html>\n")
}

func (c *call) me() answer {
	u := c.user
	out := u.pick("email", "first_name", "id", "last_name", "login_count", "username")
	out["is_active"], out["is_anonymous"] = u.bool("active"), false
	return ok(obj{"result": out})
}

func (c *call) meRoles() answer { return ok(obj{"result": c.rolesOf(c.user)}) }

func (c *call) rolesOf(u row) obj {
	roles, grants := obj{}, map[string][]any{}
	for _, r := range c.st.linked("ab_user_role", "user_id", u.id(), "role_id", "ab_role") {
		list := []any{}
		for _, p := range c.st.pairs(r.id()) {
			list = append(list, []string{p[0], p[1]})
			if p[0] == "datasource_access" || p[0] == "database_access" || p[0] == "schema_access" {
				grants[p[0]] = append(grants[p[0]], p[1])
			}
		}
		roles[r.str("name")] = list
	}
	permissions := obj{}
	for kind, list := range grants {
		permissions[kind] = list
	}
	return obj{
		"username": u.str("username"), "firstName": u.str("first_name"), "lastName": u.str("last_name"),
		"userId": u.id(), "isActive": u.bool("active"), "isAnonymous": false, "createdOn": isoDate(u.str("created_on")),
		"email": u.str("email"), "loginCount": u.int("login_count"), "roles": roles, "permissions": permissions,
	}
}

func (c *call) putMe() answer {
	body, a, good := c.jsonBody()
	if !good {
		return a
	}
	changes, bad := meSchema.load(body)
	if bad != nil {
		return message(400, bad)
	}
	if len(changes) == 0 {
		return message(400, "At least one field must be provided.")
	}
	c.user = c.write().update("ab_user", c.user.id(), changes)
	return c.me()
}

var meSchema = schema{
	"first_name": {kind: kindText, min: 1, max: 64},
	"last_name":  {kind: kindText, min: 1, max: 64},
	"password":   {kind: kindText, min: 1, max: 128},
}
