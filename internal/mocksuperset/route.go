package mocksuperset

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// A route is one method of one path. Segments in angle brackets take any text,
// those that begin with int: only digits. A slash at the end belongs to the path.
type route struct {
	method string
	path   string
	perm   string // permission, such as can_read; empty: no permission is asked
	view   string // of that permission, such as Dashboard
	handle func(*call) answer

	changes bool // it changes metadata or data when it succeeds
	records bool // it writes only what goes with reading: log-ins, links, queries
	exempt  bool // no CSRF token is asked
	open    bool // nobody in particular may call it
	cookie  bool // an old view: it knows no bearer token
}

func (r *route) writes() bool { return r.changes || r.records }

// pattern is a path with its routes by method.
type pattern struct {
	segments []string
	statics  int
	slash    bool
	methods  []*route
}

var patterns = collect(
	systemRoutes(), securityRoutes(), dashboardRoutes(), chartRoutes(), datasetRoutes(), databaseRoutes(),
	reportRoutes(), tagRoutes(), sqlLabRoutes(), exportRoutes(), importRoutes(),
	themeRoutes(), peopleRoutes(), embeddedRoutes(), linkRoutes(),
	ruleRoutes(), savedQueryRoutes(), queryRoutes(),
)

func collect(groups ...[]route) []*pattern {
	byPath := map[string]*pattern{}
	var out []*pattern
	for _, group := range groups {
		for i := range group {
			r := &group[i]
			p := byPath[r.path]
			if p == nil {
				p = &pattern{segments: split(r.path), slash: strings.HasSuffix(r.path, "/")}
				for _, s := range p.segments {
					if !strings.HasPrefix(s, "<") {
						p.statics++
					}
				}
				byPath[r.path] = p
				out = append(out, p)
			}
			p.methods = append(p.methods, r)
		}
	}
	return out
}

func split(path string) []string {
	path = strings.Trim(path, "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

// lookup finds the route of a request. Without one it says whether a slash at
// the end is missing, or which methods the path has.
func lookup(method, path string) (found *route, vars map[string]string, redirect bool, allowed []string) {
	segments, slash := split(path), strings.HasSuffix(path, "/")
	var best *pattern
	for _, p := range patterns {
		if !p.fits(segments) || (slash && !p.slash) || (!slash && p.slash && p.route(method) == nil) {
			continue
		}
		if best == nil || p.statics > best.statics || (p.statics == best.statics && p.slash == slash && best.slash != slash) {
			best = p
		}
	}
	if best == nil {
		return nil, nil, false, nil
	}
	if best.slash && !slash {
		return nil, nil, true, nil
	}
	if r := best.route(method); r != nil {
		return r, best.vars(segments), false, nil
	}
	return nil, nil, false, best.allowed()
}

func (p *pattern) route(method string) *route {
	for _, r := range p.methods {
		if r.method == method || (method == http.MethodHead && r.method == http.MethodGet) {
			return r
		}
	}
	return nil
}

func (p *pattern) fits(segments []string) bool {
	if len(segments) != len(p.segments) {
		return false
	}
	for i, s := range p.segments {
		switch {
		case strings.HasPrefix(s, "<int:"):
			if _, err := strconv.ParseUint(segments[i], 10, 64); err != nil {
				return false
			}
		case !strings.HasPrefix(s, "<") && s != segments[i]:
			return false
		}
	}
	return true
}

func (p *pattern) vars(segments []string) map[string]string {
	out := map[string]string{}
	for i, s := range p.segments {
		if strings.HasPrefix(s, "<") {
			out[strings.TrimPrefix(strings.Trim(s, "<>"), "int:")] = segments[i]
		}
	}
	return out
}

func (p *pattern) allowed() []string {
	out := []string{http.MethodOptions}
	for _, r := range p.methods {
		out = append(out, r.method)
		if r.method == http.MethodGet {
			out = append(out, http.MethodHead)
		}
	}
	slices.Sort(out)
	return out
}
