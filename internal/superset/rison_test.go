package superset

import (
	"net/url"
	"strings"
	"testing"
)

func TestRison(t *testing.T) {
	tests := []struct {
		name string
		in   any
		want string
	}{
		{"text", "sales", `'sales'`},
		{"empty", "", `''`},
		{"looks like a number", "2024", `'2024'`},
		{"looks like true", "!t", `'!!t'`},
		{"quotes", `it's "x"`, `'it!'s "x"'`},
		{"signs", "!,:()'", `'!!,:()!''`},
		{"other scripts", "Продажи 📊 100%+&;", `'Продажи 📊 100%+&;'`},
		{"true", true, `!t`},
		{"false", false, `!f`},
		{"number", -1, `-1`},
		{"numbers", []int{1, 2}, `!(1,2)`},
		{"no numbers", []int{}, `!()`},
		{"texts", []string{"a", "b'"}, `!('a','b!'')`},
		{"names", names{"id", "owners.id"}, `!(id,owners.id)`},
		{"object", object{{"page", 0}, {"filters", []object{filter("slug", "eq", "x")}}}, `(page:0,filters:!((col:slug,opr:eq,value:'x')))`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := rison(tt.in)
			if strings.ContainsAny(got, " +&;") {
				t.Errorf("%s is not encoded for an address", got)
			}
			if got, err := url.QueryUnescape(got); err != nil || got != tt.want {
				t.Errorf("got %s %v, want %s", got, err, tt.want)
			}
		})
	}
}

// FuzzRison holds that a text comes out as it went in and never ends early.
func FuzzRison(f *testing.F) {
	for _, s := range []string{"", "'", "!", "!'", "a')!(", "100%", "Ü\x00\n", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b strings.Builder
		appendRison(&b, s)
		got, rest, ok := unquote(b.String())
		if !ok || got != s || rest != "" {
			t.Fatalf("%q became %q and reads as %q, rest %q", s, b.String(), got, rest)
		}
		if back, err := url.QueryUnescape(rison(s)); err != nil || back != b.String() {
			t.Fatalf("%q is %q in an address, which reads as %q: %v", s, rison(s), back, err)
		}
	})
}

// unquote reads a quoted text as Superset's parser does.
func unquote(s string) (text, rest string, ok bool) {
	if !strings.HasPrefix(s, "'") {
		return "", s, false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\'':
			return b.String(), s[i+1:], true
		case '!':
			if i++; i == len(s) || s[i] != '!' && s[i] != '\'' {
				return "", s, false
			}
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return "", s, false
}
