package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"sort"
	"strings"
	"time"
)

// client is one identity against one environment: cookies and, if asked, a bearer token.
type client struct {
	http    *http.Client
	base    string
	user    string
	cookies map[string]string
	token   string
}

// response is an answer read whole.
type response struct {
	status int
	header http.Header
	body   []byte
}

func newClient(ctx context.Context, hc *http.Client, base, user, kind string) (*client, error) {
	c := &client{http: hc, base: strings.TrimRight(base, "/"), user: user, cookies: map[string]string{}}
	switch kind {
	case "token":
		return c, c.login(ctx)
	case "session":
		return c, c.formLogin(ctx)
	}
	return c, nil
}

func (c *client) login(ctx context.Context) error {
	body, _ := json.Marshal(map[string]any{"username": c.user, "password": c.user, "provider": "db", "refresh": true})
	res, err := c.send(ctx, "POST", "/api/v1/security/login", map[string]string{"Content-Type": "application/json"}, body)
	if err != nil {
		return err
	}
	var out struct {
		Token string `json:"access_token"`
	}
	if res.status != 200 || json.Unmarshal(res.body, &out) != nil {
		return fmt.Errorf("log in %s at %s: %d %.200s", c.user, c.base, res.status, res.body)
	}
	c.token = out.Token
	return nil
}

var pageToken = regexp.MustCompile(`csrf_token"[^>]*value="([^"]+)"|csrf_token&quot;: &quot;([^&]+)&quot;|"csrf_token": "([^"]+)"`)

func (c *client) pageCSRF(ctx context.Context) (string, error) {
	res, err := c.send(ctx, "GET", "/login/", nil, nil)
	if err != nil {
		return "", err
	}
	for i, group := range pageToken.FindSubmatch(res.body) {
		if i > 0 && len(group) > 0 {
			return string(group), nil
		}
	}
	return "", nil
}

func (c *client) formLogin(ctx context.Context) error {
	token, err := c.pageCSRF(ctx)
	if err != nil {
		return err
	}
	form := url.Values{"username": {c.user}, "password": {c.user}}
	if token != "" {
		form.Set("csrf_token", token)
	}
	head := map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Referer": c.base + "/login/"}
	res, err := c.send(ctx, "POST", "/login/", head, []byte(form.Encode()))
	if err != nil {
		return err
	}
	if res.status != 302 || strings.HasPrefix(res.header.Get("Location"), "/login/") {
		return fmt.Errorf("log in %s by form at %s: %d", c.user, c.base, res.status)
	}
	return nil
}

func (c *client) csrf(ctx context.Context) (string, error) {
	head := map[string]string{}
	if c.token != "" {
		head["Authorization"] = "Bearer " + c.token
	}
	res, err := c.send(ctx, "GET", "/api/v1/security/csrf_token/", head, nil)
	if err != nil {
		return "", err
	}
	if res.status != 200 {
		return c.pageCSRF(ctx)
	}
	var out struct {
		Result string `json:"result"`
	}
	return out.Result, json.Unmarshal(res.body, &out)
}

// send sends the path as it is written and never follows a redirect.
func (c *client) send(ctx context.Context, method, path string, headers map[string]string, body []byte) (response, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	base, err := url.Parse(c.base)
	if err != nil {
		return response{}, err
	}
	req, err := http.NewRequestWithContext(ctx, method, base.Scheme+"://"+base.Host+"/", bytes.NewReader(body))
	if err != nil {
		return response{}, err
	}
	raw, query, hasQuery := strings.Cut(path, "?")
	req.URL.Opaque = "//" + base.Host + escaped(base.Path+raw)
	req.URL.RawQuery, req.URL.ForceQuery = escaped(query), hasQuery && query == ""
	req.Header["User-Agent"] = nil
	for name, value := range headers {
		req.Header[http.CanonicalHeaderKey(name)] = []string{value}
	}
	if len(c.cookies) > 0 && req.Header.Get("Cookie") == "" {
		req.Header.Set("Cookie", c.cookieLine())
	}
	res, err := c.http.Do(req)
	if err != nil {
		return response{}, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return response{}, err
	}
	for _, cookie := range res.Cookies() {
		c.cookies[cookie.Name] = cookie.Value
	}
	return response{res.StatusCode, res.Header, data}, nil
}

func (c *client) cookieLine() string {
	var parts []string
	for name, value := range c.cookies {
		parts = append(parts, name+"="+value)
	}
	sort.Strings(parts)
	return strings.Join(parts, "; ")
}

// escaped escapes what may not stand in a request line and leaves the rest as it is written.
func escaped(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if b := text[i]; b <= ' ' || b >= 0x7f {
			fmt.Fprintf(&out, "%%%02X", b)
		} else {
			out.WriteByte(b)
		}
	}
	return out.String()
}
