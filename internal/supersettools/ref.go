package supersettools

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"agentd/internal/superset"
)

var (
	uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
	slugPattern = regexp.MustCompile(`^[\p{L}\p{M}\p{N}_-]{1,255}$`)
)

type kind string

const (
	dashboardKind kind = "dashboard"
	chartKind     kind = "chart"
	datasetKind   kind = "dataset"
)

// ref reads what a person pastes: a number, a uuid, a dashboard's slug, or the address of a page of Superset. An
// address of another environment is refused: its numbers mean other objects here.
func (o op) ref(pointer string, k kind, text string) (superset.Ref, error) {
	text = strings.TrimSpace(text)
	if strings.Contains(text, "/") {
		part, link, err := o.fromAddress(pointer, k, text)
		if err != nil || link {
			return superset.Ref{Link: part}, err
		}
		text = part
	}
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n <= 1<<31-1 {
		return superset.Ref{ID: n}, nil
	}
	switch {
	case uuidPattern.MatchString(text):
		return superset.Ref{UUID: strings.ToLower(text)}, nil
	case k == dashboardKind && slugPattern.MatchString(text) && strings.Trim(text, "0123456789") != "":
		return superset.Ref{Slug: text}, nil
	case k == dashboardKind:
		return superset.Ref{}, invalid(pointer, "must be a dashboard's id, uuid, slug or address; find it by its title with search_dashboards")
	case k == datasetKind:
		return superset.Ref{}, invalid(pointer, "must be a dataset's id, uuid or address; find it by its name with search_datasets")
	}
	return superset.Ref{}, invalid(pointer, "must be a chart's id, uuid or address")
}

var keyPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// fromAddress picks the name of the object out of the address of its page. link says that it is the key of a permalink.
func (o op) fromAddress(pointer string, k kind, text string) (part string, link bool, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", false, invalid(pointer, "is not an address that can be read")
	}
	path := u.Path
	if u.Host != "" {
		var ok bool
		if path, ok = o.env.Client.Owns(u); !ok {
			for _, e := range o.envs.All() {
				if _, theirs := e.Client.Owns(u); theirs {
					return "", false, invalid(pointer, "is an address of environment "+e.ID+"; this call works on "+o.env.ID+", where numbers mean other objects")
				}
			}
			return "", false, invalid(pointer, "is not an address of environment "+o.env.ID)
		}
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	q := u.Query()
	after := func(prefix ...string) string {
		for i := 0; i+len(prefix) < len(parts); i++ {
			if strings.Join(parts[i:i+len(prefix)], "/") == strings.Join(prefix, "/") {
				return parts[i+len(prefix)]
			}
		}
		return ""
	}
	permalink := after("superset", "explore", "p")
	if k == dashboardKind {
		permalink = after("superset", "dashboard", "p")
	}
	if keyPattern.MatchString(permalink) {
		return permalink, true, nil
	}
	switch k {
	case dashboardKind:
		if v := after("superset", "dashboard"); v != "" && v != "p" {
			return v, false, nil
		}
		return "", false, invalid(pointer, "is not the address of a dashboard, which looks like /superset/dashboard/…/")
	case chartKind:
		if v := q.Get("slice_id"); v != "" {
			return v, false, nil
		}
		for _, v := range []string{after("superset", "slice"), after("api", "v1", "chart")} {
			if v != "" {
				return v, false, nil
			}
		}
		return "", false, invalid(pointer, "is not the address of a chart, which looks like /explore/?slice_id=…")
	}
	if v := q.Get("datasource_id"); v != "" && q.Get("datasource_type") != "query" {
		return v, false, nil
	}
	if v, ok := strings.CutSuffix(q.Get("datasourceKey"), "__table"); ok {
		return v, false, nil
	}
	if v := after("dataset"); v != "" {
		return v, false, nil
	}
	return "", false, invalid(pointer, "is not the address of a dataset, which looks like /explore/?datasource_type=table&datasource_id=…")
}
