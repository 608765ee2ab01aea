package mcpclient

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"Lists orders.\n\n- fast\tindeed": "Lists orders.\n\n- fast\tindeed",
		"a\r\nb\rc\u2028d":                "a\nb\nc\nd",
		"\x1b[2Jred\x00\x07":              "[2Jred",
		"ab\u202eevil\u202c\u2066x\u2069": "abevilx",     // the direction of writing
		"no\u200bthing\ufeff\u00ad hid":   "nothing hid", // no width
		"tag\U000E0069\U000E0067":         "tag",         // hidden letters
		"v\ufe0f\U000E0100\U000E01EF":     "v",           // hidden bytes
		"p\ue000\U000F0000":               "p",           // private signs
		"bad\xff":                         "bad\uFFFD",   // broken UTF-8 is seen
		" größe 数 🙂 ":                     "größe 数 🙂",   // what people write stays
		strings.Repeat("\u200b", 50):      "",            //
		"ignore\u200b all":                "ignore all",  // what is said is not judged here
	} {
		if got := clean(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestCleanTexts(t *testing.T) {
	same := `{"type": "object", "description":"as it is", "properties":{"description":{"type":"string","enum":["a\u200b"]},"n":{"maximum":9007199254740993,"minimum":1e2}}}`
	if got, err := cleanTexts(json.RawMessage(same)); err != nil || string(got) != same {
		t.Errorf("%s, %v", got, err)
	}
	in := `{"type":"object","title":"t\u202e","properties":{"a":{"description":"do\u200b it\r\n","items":{"title":"x\u0000"},"default":"\u200b","maximum":9007199254740993,"minimum":1e2}},"$defs":{"title":{"description":"y\udb40\udc69"}}}`
	want := `{"type":"object","title":"t","properties":{"a":{"description":"do it","items":{"title":"x"},"default":"` + "\u200b" + `","maximum":9007199254740993,"minimum":1e2}},"$defs":{"title":{"description":"y"}}}`
	if got, err := cleanTexts(json.RawMessage(in)); err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	for _, broken := range []string{``, `{`, `{"description":"a","description":"b"}`, `{"a":}`} {
		if got, err := cleanTexts(json.RawMessage(broken)); err == nil {
			t.Errorf("%q: %s", broken, got)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\u202eb\x1b[0m\U000E0041")
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		if !utf8.ValidString(got) || clean(got) != got || strings.ContainsAny(got, "\x00\x1b\r\u202e\u200b") {
			t.Errorf("%q: %q", s, got)
		}
	})
}
