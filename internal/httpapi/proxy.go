package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// cleanBase gives a base path one slash at each end.
func cleanBase(p string) string {
	p = strings.Trim(p, "/")
	if p == "" {
		return "/"
	}
	return "/" + p + "/"
}

// withoutBase takes the base path off, where a proxy left it on.
func withoutBase(base string, next http.Handler) http.Handler {
	if base == "/" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, ok := strings.CutPrefix(r.URL.Path, strings.TrimSuffix(base, "/"))
		if !ok || path != "" && path[0] != '/' {
			next.ServeHTTP(w, r)
			return
		}
		r2 := new(http.Request)
		*r2 = *r
		r2.URL = new(url.URL)
		*r2.URL = *r.URL
		r2.URL.Path = "/" + strings.TrimPrefix(path, "/")
		if r.URL.RawPath != "" {
			r2.URL.RawPath = "/" + strings.TrimPrefix(strings.TrimPrefix(r.URL.RawPath, strings.TrimSuffix(base, "/")), "/")
		}
		next.ServeHTTP(w, r2)
	})
}

// forwardedHeaders say where a request came from before a proxy. Anyone can write them.
var forwardedHeaders = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Prefix", "X-Real-Ip"}

// forwarded removes what a peer says about others, unless the peer is a proxy that is trusted.
func forwarded(trusted []netip.Prefix, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !trusts(trusted, r.RemoteAddr) {
			for _, h := range forwardedHeaders {
				r.Header.Del(h)
			}
		}
		next.ServeHTTP(w, r)
	})
}

func trusts(trusted []netip.Prefix, remote string) bool {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	ip = ip.Unmap().WithZone("")
	for _, p := range trusted {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}
