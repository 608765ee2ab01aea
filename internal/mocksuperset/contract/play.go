package contract

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"sort"
	"strings"
)

// A Result is one step that was played: no differences, it agrees.
type Result struct {
	Step        string
	Differences []string
}

// A Player plays scenarios. It may be used again; each scenario starts with
// fresh cookies and tokens. It is for one goroutine.
type Player struct {
	// Bases are the addresses by environment: dev, staging, prod.
	Bases map[string]string
	// HTTP sends the requests; nil is a client of its own. It must not follow redirects.
	HTTP *http.Client
}

// Play plays all steps of a scenario. The error is about the play itself: an
// environment without an address, a log-in that fails. A step that cannot be
// sent or captured is a difference.
func (p *Player) Play(ctx context.Context, s *Scenario) ([]Result, error) {
	hc := p.HTTP
	if hc == nil {
		hc = &http.Client{Transport: &http.Transport{DisableCompression: true}}
		defer hc.CloseIdleConnections()
	}
	hc = &http.Client{Transport: hc.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	vars := map[string]any{}
	maps.Copy(vars, s.Variables)
	for env, base := range p.Bases {
		vars["base_"+env] = base
	}
	clients := map[[3]string]*client{}
	var out []Result
	for i := range s.Steps {
		step := &s.Steps[i]
		env := step.Env
		if env == "" {
			env = "dev"
		}
		base, known := p.Bases[env]
		if !known {
			return out, fmt.Errorf("step %s needs the address of %s", step.ID, env)
		}
		kind, user := identity(step.As)
		key := [3]string{env, kind, user}
		if clients[key] == nil {
			c, err := newClient(ctx, hc, base, user, kind)
			if err != nil {
				return out, err
			}
			clients[key] = c
		}
		out = append(out, Result{step.ID, playStep(ctx, step, clients[key], env, vars)})
	}
	return out, nil
}

func identity(as string) (kind, user string) {
	switch {
	case as == "":
		return "token", "admin"
	case as == "anonymous":
		return "anonymous", "anonymous"
	}
	kind, user, found := strings.Cut(as, ":")
	if !found {
		return "token", as
	}
	return kind, user
}

func playStep(ctx context.Context, step *Step, c *client, env string, vars map[string]any) []string {
	var answer map[string]any
	for i := 1; i <= max(step.Repeat, 1); i++ {
		vars["i"] = i
		res, err := perform(ctx, step, c, vars)
		if err != nil {
			return []string{"not played: " + err.Error()}
		}
		if answer, err = describe(res); err != nil {
			return []string{"not understood: " + err.Error()}
		}
	}
	for name, where := range step.Capture {
		v, found := capture(answer, where, c)
		if !found {
			return append(verifyPortable(step, answer, c, env), "nothing to capture at "+where)
		}
		vars[name] = v
	}
	return verifyPortable(step, answer, c, env)
}

func verifyPortable(step *Step, answer map[string]any, c *client, env string) []string {
	if z, there := answer["zip"].([]entry); there {
		o, err := opened(z)
		if err != nil {
			return []string{"bundle: " + err.Error()}
		}
		answer["zip"] = o
	}
	portable, err := decode(portableText(answer, c.base, env))
	if err != nil {
		return []string{err.Error()}
	}
	return verify(step, portable.(map[string]any))
}

var (
	sqliteFile  = regexp.MustCompile(`sqlite:///[^"\\\s]*/`)
	signedToken = regexp.MustCompile(`[\w-]{20,}\.[\w-]{6,}\.[\w-]{27,}`)
)

// portableText makes one recording fit every server.
func portableText(answer map[string]any, base, env string) []byte {
	out := strings.ReplaceAll(text(answer), base, "${base_"+env+"}")
	out = sqliteFile.ReplaceAllString(out, "sqlite:///<data>/")
	return []byte(signedToken.ReplaceAllString(out, "<signed token>"))
}

func capture(answer map[string]any, where string, c *client) (any, bool) {
	if name, found := strings.CutPrefix(where, "header "); found {
		headers, _ := answer["headers"].(map[string]any)
		v, there := headers[name]
		return v, there
	}
	if name, found := strings.CutPrefix(where, "cookie "); found {
		v, there := c.cookies[name]
		return v, there
	}
	if where == "zip" {
		v, there := answer["zip"]
		return v, there
	}
	return pick(answer["body"], where)
}

func perform(ctx context.Context, step *Step, c *client, vars map[string]any) (response, error) {
	r := step.Request
	path, err := fill(r.Path, vars)
	if err != nil {
		return response{}, err
	}
	headers := map[string]string{}
	if c.token != "" {
		headers["Authorization"] = "Bearer " + c.token
	}
	body, ctype, err := requestBody(r, vars)
	if err != nil {
		return response{}, err
	}
	if ctype != "" {
		headers["Content-Type"] = ctype
	}
	if r.CSRF == "auto" {
		if headers["X-CSRFToken"], err = c.csrf(ctx); err != nil {
			return response{}, err
		}
		headers["Referer"] = c.base + "/"
	}
	own, err := fill(r.Headers, vars)
	if err != nil {
		return response{}, err
	}
	for name, v := range own.(map[string]any) {
		if v == nil {
			delete(headers, name)
		} else {
			headers[name] = plainText(v)
		}
	}
	return c.send(ctx, r.Method, plainText(path), headers, body)
}

func requestBody(r Request, vars map[string]any) ([]byte, string, error) {
	switch {
	case r.jsonThere:
		v, err := fill(*r.JSON, vars)
		if err != nil {
			return nil, "", err
		}
		return []byte(text(v)), "application/json", nil
	case r.Text != nil:
		v, err := fill(*r.Text, vars)
		return []byte(plainText(v)), "", err
	case r.Form != nil || r.Files != nil:
		return multipartBody(r, vars)
	}
	return nil, "", nil
}

const boundary = "agentd-contract-boundary"

func multipartBody(r Request, vars map[string]any) ([]byte, string, error) {
	var out bytes.Buffer
	fields, err := fill(r.Form, vars)
	if err != nil {
		return nil, "", err
	}
	files, err := fill(r.Files, vars)
	if err != nil {
		return nil, "", err
	}
	form := fields.(map[string]any)
	for _, name := range names(form) {
		value, isText := form[name].(string)
		if !isText {
			value = text(form[name])
		}
		fmt.Fprintf(&out, "--%s\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n", boundary, name, value)
	}
	sent, _ := files.(*ordered)
	if sent == nil {
		sent = newOrdered()
	}
	for _, name := range sent.keys {
		file, isObject := sent.values[name].(*ordered)
		if !isObject {
			return nil, "", fmt.Errorf("file %s is no object", name)
		}
		filename, ctype := name, "application/zip"
		if v, there := file.values["filename"].(string); there {
			filename = v
		}
		if v, there := file.values["type"].(string); there {
			ctype = v
		}
		data, err := fileBytes(file)
		if err != nil {
			return nil, "", err
		}
		fmt.Fprintf(&out, "--%s\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\nContent-Type: %s\r\n\r\n", boundary, name, filename, ctype)
		out.Write(data)
		out.WriteString("\r\n")
	}
	fmt.Fprintf(&out, "--%s--\r\n", boundary)
	return out.Bytes(), "multipart/form-data; boundary=" + boundary, nil
}

func names(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// describe is the recorded form of an answer.
func describe(res response) (map[string]any, error) {
	ctype, _, _ := mime.ParseMediaType(res.header.Get("Content-Type"))
	out := map[string]any{"status": res.status, "type": ctype}
	headers := map[string]any{}
	for _, name := range []string{"Location", "Content-Disposition", "Retry-After", "WWW-Authenticate", "Allow"} {
		if v := res.header.Get(name); v != "" {
			headers[name] = v
		}
	}
	if len(headers) > 0 {
		out["headers"] = headers
	}
	switch {
	case ctype == "application/zip" || bytes.HasPrefix(res.body, []byte("PK")):
		z, err := unzip(res.body)
		if err != nil {
			return nil, err
		}
		out["zip"] = z
	case strings.HasSuffix(ctype, "json"):
		out["body"] = nil
		if len(res.body) > 0 {
			v, err := decode(res.body)
			if err != nil {
				return nil, err
			}
			out["body"] = v
		}
	case len(res.body) > 0:
		t := strings.ToValidUTF8(string(res.body), "\uFFFD")
		if runes := []rune(t); ctype != "text/csv" && len(runes) > 600 {
			t = string(runes[:600])
		}
		out["text"] = t
	}
	return out, nil
}
