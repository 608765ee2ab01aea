package offload

import (
	"encoding/json"
	"net/url"
	"strings"
)

// scheme begins the name of a stored result in texts and arguments.
const scheme = "agentd+artifact://"

// URI is the name under which a stored result is passed on. It is no permission.
func URI(id string) string { return scheme + "/" + id }

// uri is a reference taken apart.
type uri struct {
	text         string // as it was given
	conversation string // "" where none is named
	id           string
	pointer      string // JSON pointer behind #, percent signs undone
}

// parseURI reads agentd+artifact://[conversation]/id[#pointer]. ok is false for another scheme; a malformed one
// of ours names nothing and so will not be found.
func parseURI(s string) (u uri, ok bool) {
	rest, ok := strings.CutPrefix(s, scheme)
	if !ok {
		return uri{}, false
	}
	u.text = s
	rest, fragment, _ := strings.Cut(rest, "#")
	u.pointer = unpercent(fragment)
	u.conversation, u.id, _ = strings.Cut(rest, "/")
	return u, true
}

// references reads the value of a <name>_uri argument: one URI, or an array of nothing but URIs, at least one.
// many tells which. Nothing else is a reference.
func references(v json.RawMessage) (uris []uri, many, ok bool) {
	if startsWith(v, '"') {
		var s string
		if json.Unmarshal(v, &s) != nil {
			return nil, false, false
		}
		u, ok := parseURI(s)
		return []uri{u}, false, ok
	}
	var list []string
	if !startsWith(v, '[') || json.Unmarshal(v, &list) != nil || len(list) == 0 {
		return nil, false, false
	}
	for _, s := range list {
		u, ok := parseURI(s)
		if !ok {
			return nil, false, false
		}
		uris = append(uris, u)
	}
	return uris, true, true
}

// unpercent undoes the percent signs of a fragment. A fragment that has them wrong is taken as it stands: models
// write pointers as they are.
func unpercent(fragment string) string {
	if s, err := url.PathUnescape(fragment); err == nil {
		return s
	}
	return fragment
}

// The escapes of a name within a JSON pointer.
var (
	escaped   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaped = strings.NewReplacer("~1", "/", "~0", "~")
)
