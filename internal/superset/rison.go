package superset

import (
	"net/url"
	"strconv"
	"strings"
)

// Rison is what Superset's lists take as q. Values are string, bool, int, []int, []string, object and []object;
// anything else is a programming error and panics. Every string is quoted, so that none is taken for a number.

type object []member

type member struct {
	key string // an identifier of Superset's, never text of a user
	val any
}

// rison returns v as text for a query: encoded for rison, then for the address.
func rison(v any) string {
	var b strings.Builder
	appendRison(&b, v)
	// A blank is %20: + is a blank only to those who know that it is a form.
	return strings.ReplaceAll(url.QueryEscape(b.String()), "+", "%20")
}

func appendRison(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		b.WriteByte('\'')
		for i := range len(v) {
			if v[i] == '!' || v[i] == '\'' {
				b.WriteByte('!')
			}
			b.WriteByte(v[i])
		}
		b.WriteByte('\'')
	case bool:
		if v {
			b.WriteString("!t")
		} else {
			b.WriteString("!f")
		}
	case int:
		b.WriteString(strconv.Itoa(v))
	case []int:
		appendList(b, v)
	case []string:
		appendList(b, v)
	case []object:
		appendList(b, v)
	case names:
		b.WriteString("!(" + strings.Join(v, ",") + ")")
	case name:
		b.WriteString(string(v))
	case object:
		b.WriteByte('(')
		for i, m := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(m.key)
			b.WriteByte(':')
			appendRison(b, m.val)
		}
		b.WriteByte(')')
	default:
		panic("superset: no rison for this type")
	}
}

// name and names are identifiers of Superset's, written without quotes.
type (
	name  string
	names []string
)

func appendList[T any](b *strings.Builder, list []T) {
	b.WriteString("!(")
	for i, v := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		appendRison(b, v)
	}
	b.WriteByte(')')
}

func filter(col, opr string, value any) object {
	return object{{"col", name(col)}, {"opr", name(opr)}, {"value", value}}
}
