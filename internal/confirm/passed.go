package confirm

import (
	"fmt"
	"strings"

	"agentd/internal/chat"
)

// maxNamed bounds the results that a note names of one argument.
const maxNamed = 3

// passedOn says of each argument that is a reference what will stand in its place, for a person who sees no more of
// it than a URI.
func passedOn(refs []chat.Reference) []string {
	var notes []string
	for len(refs) > 0 {
		n := 1
		for n < len(refs) && refs[n].Argument == refs[0].Argument {
			n++
		}
		var parts []string
		for _, r := range refs[:min(n, maxNamed)] {
			parts = append(parts, content(r))
		}
		if n > maxNamed {
			parts = append(parts, fmt.Sprintf("%d more stored results", n-maxNamed))
		}
		notes = append(notes, fmt.Sprintf("%s passes on %s.", strings.TrimPrefix(refs[0].Argument, "/"), strings.Join(parts, ", ")))
		refs = refs[n:]
	}
	return notes
}

// content is how much of what a reference stands for.
func content(r chat.Reference) string {
	amount := fmt.Sprintf("%d bytes", r.SizeBytes)
	switch {
	case r.Rows != nil && *r.Rows == 1:
		amount = "1 row"
	case r.Rows != nil:
		amount = fmt.Sprintf("%d rows", *r.Rows)
	}
	_, fragment, has := strings.Cut(r.URI, "#")
	if has && fragment != "" {
		amount = "the part " + fragment + " of " + amount
	}
	out := amount + " that " + r.Tool + " gave"
	if r.Title != "" {
		out += " (" + strings.TrimSuffix(r.Title, ".") + ")"
	}
	return out
}
