package sqlguard

import "unicode"

type kind uint8

const (
	word   kind = iota // a bare word, in lower case
	name               // a quoted name, as it is within the quotes
	str                // a string, as it is within the quotes
	number             //
	sign               // anything else
)

// token is one piece of a statement. from and to are its bytes in the text.
type token struct {
	kind     kind
	text     string
	from, to int
}

func (t token) word(w string) bool { return t.kind == word && t.text == w }
func (t token) sign(s string) bool { return t.kind == sign && t.text == s }

// is reports whether t is a word or a sign, and not a name or string with the same letters.
func (t token) is(s string) bool { return (t.kind == word || t.kind == sign) && t.text == s }

// called reports whether t can be the name of a function.
func (t token) called() bool { return t.kind == word || t.kind == name }

func startsWord(r rune) bool {
	return r == '_' || r < 128 && (r|32 >= 'a' && r|32 <= 'z') || r >= 128 && unicode.IsLetter(r)
}

func inWord(r rune) bool {
	return startsWord(r) || r >= '0' && r <= '9' || r == '$' || r >= 128 && (unicode.IsDigit(r) || unicode.IsMark(r))
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// lower lowers ASCII alone: databases differ in what they do to other letters, and some of those fold into
// ASCII ones.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 32
		}
	}
	return string(b)
}
