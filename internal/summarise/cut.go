package summarise

import (
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/clipperhouse/uax29/v2/sentences"
)

// firstGraphemes returns the longest beginning of s of at most limit characters that does not end within
// what a reader sees as one sign.
func firstGraphemes(s string, limit int) string {
	return s[:cutAfter(s, limit, func(string) int { return 0 })]
}

// cutAfter returns the byte at which the signs of s have cost limit: each costs its characters and extra.
func cutAfter(s string, limit int, extra func(sign string) int) int {
	at, used := 0, 0
	for g := graphemes.FromString(s); g.Next(); {
		v := g.Value()
		used += utf8.RuneCountInString(v) + extra(v)
		if used > limit {
			break
		}
		at += len(v)
	}
	return at
}

// firstSentences returns whole sentences from the start of s, at most limit characters; where not even one
// fits, its beginning.
func firstSentences(s string, limit int) string {
	at, used := 0, 0
	for t := sentences.FromString(s); t.Next(); {
		v := t.Value()
		used += utf8.RuneCountInString(v)
		if used > limit {
			break
		}
		at += len(v)
	}
	if at == 0 {
		return firstGraphemes(s, limit)
	}
	return s[:at]
}

// lastSentences returns whole sentences up to the end of s, at most limit characters; where not even one
// fits, its end.
func lastSentences(s string, limit int) string {
	over := utf8.RuneCountInString(s) - limit // characters to leave out at least
	at, passed := 0, 0
	for t := sentences.FromString(s); t.Next() && passed < over; {
		passed += utf8.RuneCountInString(t.Value())
		at += len(t.Value())
	}
	if at < len(s) || over <= 0 {
		return s[at:]
	}
	at, passed = 0, 0
	for g := graphemes.FromString(s); passed < over && g.Next(); {
		passed += utf8.RuneCountInString(g.Value())
		at += len(g.Value())
	}
	return s[at:]
}
