package summarise

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"
)

// wholeText shows a text that fits.
func wholeText(b []byte) Out {
	s := valid(string(b))
	out := Out{Text: s, Kind: Prose, Size: int64(len(b))}
	out.Preview.Text = s
	return out
}

// cutText shows whole sentences from the start of what went by, and with Options.Tail from its end too.
func cutText(src *source, o Options) Out {
	out := Out{Kind: Prose, Cut: true, Size: src.size}
	head, end := src.head, skipFlags(skipBroken(src.end()))
	if int64(len(head)+len(src.tail)) == src.size { // nothing lies between them
		end = slices.Concat(head, src.tail)
		src.runes = int64(utf8.RuneCount(end)) // exact for broken UTF-8 too
	}
	room := o.room() - utf8.RuneCountInString(leftOut(src.runes)) // the longest it can be
	if room < 0 {
		if o.room() > 0 {
			out.Text = firstGraphemes(valid(string(cutBroken(head))), o.room()-1) + ellipsis
			out.Preview.Text = out.Text
		}
		return out
	}
	first := room
	if o.Tail {
		first = room / 3 // the end of a log says more than its beginning
	}
	a := firstSentences(valid(string(cutBroken(head))), first)
	z := ""
	if o.Tail {
		z = lastSentences(valid(string(end)), room-utf8.RuneCountInString(a))
	}
	left := max(0, src.runes-int64(utf8.RuneCountInString(a)+utf8.RuneCountInString(z)))
	out.Text = a + leftOut(left) + z
	out.Preview.Text = out.Text
	return out
}

func leftOut(n int64) string { return fmt.Sprintf("\n[… %d characters left out …]\n", n) }

// cutBroken drops the beginning of a code point at the end of b.
func cutBroken(b []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// skipBroken drops the rest of a code point at the start of b.
func skipBroken(b []byte) []byte {
	for i := 0; i < utf8.UTFMax && i < len(b); i++ {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b
}

// skipFlags drops the letters that make up flags from the start of b: two are one sign, and which two is only
// seen from where they begin.
func skipFlags(b []byte) []byte {
	return bytes.TrimLeftFunc(b, func(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF })
}
