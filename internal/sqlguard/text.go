package sqlguard

import (
	"strings"
	"unicode/utf8"
)

// checkText refuses what no lexer should have to read: signs that dialects take differently or that people do
// not see, and templates, which are rendered after the check, in strings too.
func checkText(s string) *refusal {
	if len(s) > MaxBytes {
		return refuse("length", "The text is longer than %d bytes.", MaxBytes)
	}
	if !utf8.ValidString(s) {
		return refuse("encoding", "The text is not valid UTF-8.")
	}
	for i, r := range s {
		if r == '\r' && i+1 < len(s) && s[i+1] == '\n' { // a lone one ends a comment in some dialects only
			continue
		}
		if control(r) {
			return refuse("control_character", "The control character U+%04X is not allowed.", r)
		}
	}
	for _, open := range []string{"{{", "{%", "{#"} {
		if strings.Contains(s, open) {
			return refuse("template", "Templates (%s) are not allowed: what runs would not be what was read.", open)
		}
	}
	return nil
}

func control(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ', r >= 0x7F && r < 0xA0:
		return true
	case r == 0x2028, r == 0x2029: // line breaks of Unicode
		return true
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x200E, r == 0x200F, r == 0x061C: // direction
		return true
	}
	return false
}
