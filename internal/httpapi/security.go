package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"agentd/internal/fault"
)

// secure sets what every answer has. Pages replace the policy by their own.
func secure(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
}

// pagePolicy lets the page run its own code and nothing else, and lets only known origins embed it.
func pagePolicy(ancestors []string) string {
	return strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "font-src 'self'",
		"connect-src 'self'", "base-uri 'none'", "form-action 'none'", "object-src 'none'",
		"require-trusted-types-for 'script'", "trusted-types svelte-trusted-html",
		strings.Join(append([]string{"frame-ancestors 'self'"}, ancestors...), " "),
	}, "; ")
}

// checkOrigins refuses an ancestor that is no plain origin: it stands in a header, where a space or a semicolon
// would say more than was meant.
func checkOrigins(origins []string) error {
	for _, o := range origins {
		u, err := url.Parse(o)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || o != u.Scheme+"://"+u.Host ||
			strings.ContainsAny(o, " ;,*'\"\t\r\n") {
			return fault.New(fault.Invalid, "web.frame_ancestors: "+o+" must be an origin, for example https://bi.example.com.")
		}
	}
	return nil
}
