package mocksuperset

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"strings"
)

// form is a form body: texts and files by name.
type form struct {
	texts map[string]string
	files map[string][]byte
}

// readForm reads a form of either media type; an empty one for anything else.
func (c *call) readForm() form {
	out := form{texts: map[string]string{}, files: map[string][]byte{}}
	kind, params, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	switch {
	case err != nil:
	case kind == "application/x-www-form-urlencoded":
		values, err := url.ParseQuery(string(c.body))
		if err != nil {
			return out
		}
		for name := range values {
			out.texts[name] = values.Get(name)
		}
	case kind == "multipart/form-data":
		parts := multipart.NewReader(bytes.NewReader(c.body), params["boundary"])
		for {
			part, err := parts.NextPart()
			if err != nil {
				return out
			}
			text, err := io.ReadAll(part)
			if err != nil {
				return out
			}
			if part.FileName() != "" {
				out.files[part.FormName()] = text
			} else {
				out.texts[part.FormName()] = string(text)
			}
		}
	}
	return out
}

func (c *call) formValue(name string) string {
	if !strings.Contains(c.r.Header.Get("Content-Type"), "form") {
		return ""
	}
	return c.readForm().texts[name]
}

func sameOrigin(a, b string) bool {
	x, err := url.Parse(a)
	if err != nil {
		return false
	}
	y, err := url.Parse(b)
	return err == nil && x.Scheme == y.Scheme && x.Host == y.Host
}

// escapeNext escapes an address for the next parameter of the login page.
func escapeNext(address string) string {
	if u, err := url.QueryUnescape(strings.ReplaceAll(address, "+", "%2B")); err == nil {
		address = u
	}
	return url.QueryEscape(address)
}
