package toolfilter

import (
	"slices"

	uicontext "agentd/internal/context"
	"agentd/internal/tool"
)

// A Verdict says whether a tool may be seen and called. The zero Verdict hides.
type Verdict uint8

// The verdicts.
const (
	HiddenByRole Verdict = iota // the role may not use it: permission_denied when called
	HiddenByPage                // the page's set leaves it out: not_offered when called
	Unbuilt                     // named, and not there yet
	NoArtifact                  // reads artifacts, and the conversation has none
	Visible
)

func (v Verdict) String() string {
	switch v {
	case HiddenByPage:
		return "page"
	case Unbuilt:
		return "unbuilt"
	case NoArtifact:
		return "no_artifact"
	case Visible:
		return "visible"
	}
	return "role"
}

// Allows answers whether the user's roles may use a tool in a class of environments.
type Allows func(class, tool string) bool

// State is what beside role and page decides. The zero State is a new conversation.
type State struct {
	Held      []string // tools with an open confirmation: they stay callable although the page changed
	Artifacts bool     // the conversation has an artifact
}

// Judge is the one predicate, asked for the list and again for each call. classes are those that a call could
// name: for the list all configured ones, for a call its own. With none of them nothing is allowed.
//
// RBAC comes first, since it is security and the page is not. Arguments are not looked at, so that a rule about
// arguments can never hide a tool.
func Judge(t tool.Tool, allows Allows, classes []string, view uicontext.View, s State) Verdict {
	page, known := pageFor[view.ObjectType]
	return judge(&t, allows, classes, view.ObjectType, page, known, &s)
}

func judge(t *tool.Tool, allows Allows, classes []string, objectType string, page Page, known bool, s *State) Verdict {
	switch {
	case !t.Always && !allowed(t.Name, allows, classes):
		return HiddenByRole
	case t.Unbuilt:
		return Unbuilt
	case t.Always && t.Name == ReadArtifact && !s.Artifacts:
		return NoArtifact
	case t.Always, !known, slices.Contains(s.Held, t.Name):
		return Visible
	}
	if p, ok := pageOf[t.Name]; ok {
		if p == page {
			return Visible
		}
		return HiddenByPage
	}
	if slices.Contains(t.Affinity, objectType) || slices.Contains(t.Affinity, string(page)) {
		return Visible
	}
	return HiddenByPage
}

func allowed(name string, allows Allows, classes []string) bool {
	if allows == nil {
		return false
	}
	for _, c := range classes {
		if allows(c, name) {
			return true
		}
	}
	return false
}
