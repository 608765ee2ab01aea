package mocksuperset

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// answer is what goes back: status, media type, headers and body.
type answer struct {
	status int
	ctype  string
	header http.Header
	body   []byte
	stream func(io.Writer) error // instead of body, for what is too large to be held; its error is the client's going
	keep   bool                  // what the request wrote stays although it is refused
}

func (a answer) with(name, value string) answer {
	h := a.header.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Add(name, value)
	a.header = h
	return a
}

// must says that f did what was asked: 200 and the object.
func reply(status int, v any) answer {
	return answer{status: status, ctype: "application/json", body: encode(v)}
}

func ok(v any) answer { return reply(200, v) }

func message(status int, text any) answer { return reply(status, obj{"message": text}) }

func okMessage() answer { return message(200, "OK") }

var (
	forbidden  = message(403, "Forbidden")
	notFound   = message(404, "Not found")
	fatal      = message(500, "Fatal error")
	notAuth    = message(401, "Not authorized")
	notCorrect = message(400, "Arguments are not correct")
)

// problem is one entry of the errors shape.
type problem struct {
	message string
	kind    string
	level   string
	extra   obj
	codes   []int
}

// issues are the numbered explanations that Superset adds to errors.
var issues = map[int]string{
	1000: "The datasource is too large to query.",
	1001: "The database is under an unusual load.",
	1002: "The database returned an unexpected error.",
	1003: "There is a syntax error in the SQL query. Perhaps there was a misspelling or a typo.",
	1004: "The column was deleted or renamed in the database.",
	1005: "The table was deleted or renamed in the database.",
	1006: "One or more parameters specified in the query are missing.",
	1007: "The hostname provided can't be resolved.",
	1008: "The port is closed.",
	1009: "The host might be down, and can't be reached on the provided port.",
	1010: "Superset encountered an error while running a command.",
	1011: "Superset encountered an unexpected error.",
	1012: "The username provided when connecting to a database is not valid.",
	1013: "The password provided when connecting to a database is not valid.",
	1014: "Either the username or the password is wrong.",
	1015: "Either the database is spelled incorrectly or does not exist.",
	1016: "The schema was deleted or renamed in the database.",
	1017: "User doesn't have the proper permissions.",
	1018: "One or more parameters needed to configure a database are missing.",
	1019: "The submitted payload has the incorrect format.",
	1020: "The submitted payload has the incorrect schema.",
	1021: "Results backend needed for asynchronous queries is not configured.",
	1022: "Database does not allow data manipulation.",
	1023: "The CTAS (create table as select) doesn't have a SELECT statement at the end. Please make sure your query has a SELECT as its last statement. Then, try running your query again.",
	1024: "CVAS (create view as select) query has more than one statement.",
	1025: "CVAS (create view as select) query is not a SELECT statement.",
	1028: "One or more parameters specified in the query are malformed.",
	1030: "The query has a syntax error.",
	1031: "The results backend no longer has the data from the query.",
	1032: "The query associated with the results was deleted.",
	1033: "The results stored in the backend were stored in a different format, and no longer can be deserialized.",
	1036: "The database was deleted.",
	1037: "Custom SQL fields cannot contain sub-queries.",
	1040: "The submitted payload failed validation.",
}

func (p problem) json() obj {
	extra := obj{}
	for k, v := range p.extra {
		extra[k] = v
	}
	if p.codes != nil {
		list := []any{}
		for _, code := range p.codes {
			list = append(list, obj{"code": code, "message": fmt.Sprintf("Issue %d - %s", code, issues[code])})
		}
		extra["issue_codes"] = list
	}
	level := p.level
	if level == "" {
		level = "error"
	}
	return obj{"message": p.message, "error_type": p.kind, "level": level, "extra": extra}
}

func problems(status int, list ...problem) answer {
	var out []any
	for _, p := range list {
		out = append(out, p.json())
	}
	return reply(status, obj{"errors": out})
}

// backend is the errors shape for whatever has no kind of its own.
func backend(status int, text string) answer {
	return problems(status, problem{message: text, kind: "GENERIC_BACKEND_ERROR", codes: []int{1011}})
}

func redirectTo(status int, location string) answer {
	shown := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;").Replace(location)
	body := "<!doctype html>\n<html lang=en>\n<title>Redirecting...</title>\n<h1>Redirecting...</h1>\n" +
		"<p>You should be redirected automatically to the target URL: <a href=\"" + shown + "\">" + shown + "</a>. If not, click the link.\n"
	return htmlAnswer(status, body).with("Location", location)
}

func htmlAnswer(status int, body string) answer {
	return answer{status: status, ctype: "text/html; charset=utf-8", body: []byte(body)}
}

const unknownText = "404 Not Found: The requested URL was not found on the server. If you entered the URL manually please check your spelling and try again."

func (c *call) unknownRoute() answer {
	if c.wantsHTML() {
		return notFoundPage(c.r)
	}
	return backend(404, unknownText)
}

func (c *call) methodNotAllowed(allowed []string) answer {
	return backend(405, "405 Method Not Allowed: The method is not allowed for the requested URL.").
		with("Allow", strings.Join(allowed, ", "))
}

func (c *call) slashRedirect(path string) answer {
	location := c.address() + path + "/"
	if c.r.URL.RawQuery != "" {
		location += "?" + c.r.URL.RawQuery
	}
	return redirectTo(308, location)
}

// refusal is a command's error: the errors shape, or the error page of status
// 500 for a client whose Accept admits HTML.
func (c *call) refusal(a answer) answer {
	if c.wantsHTML() {
		return errorPage()
	}
	return a
}

func notFoundPage(*http.Request) answer {
	return htmlAnswer(404, page("404: Not found", "<h1>Page not found</h1><p>Sorry, we cannot find the page you are looking for. It may have been moved or deleted.</p>")).with("Content-Disposition", "inline; filename=404.html")
}

func errorPage() answer {
	return htmlAnswer(500, page("500: Internal server error", "<h1>Internal server error</h1><p>Sorry, something went wrong. Try again later.</p>")).with("Content-Disposition", "inline; filename=500.html")
}

func page(title, body string) string {
	return "<!DOCTYPE html>\n<html>\n<head><title>" + title + "</title></head>\n<body>" + body + "</body>\n</html>\n"
}
