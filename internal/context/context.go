// Package uicontext describes what the user is looking at. Its folder is internal/context; the name differs
// so that it never shadows the standard context.
package uicontext

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentd/internal/fault"
)

// Limits of the page's values. The name is shown and never believed: it is resolved by id.
const (
	MaxID    = 255 // as long as a slug of Superset
	MaxName  = 256
	MaxRoute = 512
)

// View is the validated state of the user's screen. The zero View looks at nothing. It is a plain argument,
// never a context value. The JSON names are those of the page's URL parameters.
type View struct {
	ObjectType string `json:"objectType,omitempty"` // lower case; unknown types count as none
	ObjectID   string `json:"objectId,omitempty"`   // number, uuid or slug
	ObjectName string `json:"objectName,omitempty"` // untrusted text
	EnvID      string `json:"envId,omitempty"`      // fills the selector, authorises nothing
	Route      string `json:"route,omitempty"`      // path of Superset's page, untrusted text
}

var (
	typePattern = regexp.MustCompile(`^[a-z_]{1,32}$`)
	envPattern  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
)

// Validate reports every value that is not well-formed, as one Invalid error whose fields point below prefix.
// Whether the environment exists is not its question.
func (v View) Validate(prefix string) error {
	var f []fault.Field
	bad := func(name, detail string) { f = append(f, fault.Field{Pointer: prefix + "/" + name, Detail: detail}) }
	if v.ObjectType != "" && !typePattern.MatchString(v.ObjectType) {
		bad("objectType", "must match ^[a-z_]{1,32}$, for example dashboard")
	}
	if v.ObjectID != "" && !id(v.ObjectID) {
		bad("objectId", "must be a number, a uuid or a slug of at most 255 letters, digits, - and _")
	}
	if !text(v.ObjectName, MaxName) {
		bad("objectName", "must be valid text of at most 256 characters without control characters")
	}
	if v.EnvID != "" && !envPattern.MatchString(v.EnvID) {
		bad("envId", "must be the id of a configured environment")
	}
	if !text(v.Route, MaxRoute) {
		bad("route", "must be valid text of at most 512 characters without control characters")
	}
	if v.ObjectID != "" && v.ObjectType == "" {
		bad("objectType", "must be given with objectId")
	}
	if len(f) == 0 {
		return nil
	}
	return &fault.Error{Kind: fault.Invalid, Msg: "The page context has values that cannot be used.", Fields: f}
}

// id reports whether s matches ^[\p{L}\p{N}_-]{1,255}$: slugs may be in any script, and hold no blank, mark or line.
func id(s string) bool {
	return text(s, MaxID) && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' && r != '-'
	})
}

func text(s string, limit int) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= limit && !strings.ContainsFunc(s, unicode.IsControl)
}
