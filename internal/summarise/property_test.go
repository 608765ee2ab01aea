package summarise_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"agentd/internal/chat"
	"agentd/internal/summarise"
)

// check holds for every input.
func check(t *testing.T, in []byte, o summarise.Options) {
	t.Helper()
	out := summarise.Bytes(in, o)
	limit := o.Limit
	if limit <= 0 {
		limit = summarise.DefaultLimit
	}
	got, whole := utf8.RuneCountInString(out.Text), utf8.RuneCount(in)
	if got > limit {
		t.Errorf("%d characters over a limit of %d", got, limit)
	}
	if got > whole {
		t.Errorf("%d characters of an input of %d", got, whole)
	}
	if out.Cut != (whole > limit) {
		t.Errorf("cut %t for %d characters with a limit of %d", out.Cut, whole, limit)
	}
	if out.Size != int64(len(in)) {
		t.Errorf("size %d of %d bytes", out.Size, len(in))
	}
	checkPreview(t, out)
	again := summarise.Bytes([]byte(out.Text), o)
	if again.Text != out.Text && strings.TrimSpace(out.Text) != again.Text || again.Cut {
		t.Errorf("a preview of the preview differs:\n%q\n%q", out.Text, again.Text)
	}
	if !json.Valid(in) {
		return
	}
	checkShrunk(t, in, out)
}

// value writes a random JSON value.
func value(r *rand.Rand, depth int, b *strings.Builder) {
	kind := r.IntN(7)
	if depth > 5 && kind < 2 {
		kind = 2
	}
	switch kind {
	case 0:
		b.WriteByte('[')
		for i := range r.IntN(12) {
			if i > 0 {
				b.WriteByte(',')
			}
			value(r, depth+1, b)
		}
		b.WriteByte(']')
	case 1:
		b.WriteByte('{')
		for i := range r.IntN(9) {
			if i > 0 {
				b.WriteByte(',')
			}
			keys := []string{"id", "result", "data", "name", "a/b", "ключ", "error", "columns", "count", "x~y"}
			fmt.Fprintf(b, "%q:", keys[r.IntN(len(keys))])
			value(r, depth+1, b)
		}
		b.WriteByte('}')
	case 2:
		pieces := []string{"word ", `\"`, `\n`, `\u00fc`, "ü", "👍", `\ud83d\udc4d`, "e\u0301", "👨‍👩‍👧", `\\`, `\u0001`}
		b.WriteByte('"')
		for range r.IntN(1 << r.IntN(11)) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		b.WriteByte('"')
	case 3:
		fmt.Fprintf(b, "%d", r.Int64()-r.Int64())
	case 4:
		fmt.Fprintf(b, "%d.%dE%d", r.IntN(100), r.IntN(1000), r.IntN(400))
	case 5:
		b.WriteString([]string{"true", "false", "null"}[r.IntN(3)])
	case 6:
		fmt.Fprintf(b, "%d", r.IntN(100))
	}
}

func TestPropertiesOnRandomJSON(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		value(r, 0, &b)
		limit := 1 + r.IntN(1<<(1+r.IntN(12)))
		check(t, []byte(b.String()), summarise.Options{Limit: limit, Tail: r.IntN(2) == 0})
		if t.Failed() {
			t.Fatalf("seed %d, limit %d: %.2000s", seed, limit, b.String())
		}
	}
}

func TestPropertiesOfRandomTables(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 2))
		cols := make([]chat.Column, r.IntN(8))
		for i := range cols {
			cols[i].Name = []string{"id", "a long name of a column", "ключ", "👨‍👩‍👧", ""}[r.IntN(5)]
		}
		rows := make([]json.RawMessage, r.IntN(1<<r.IntN(8)))
		for i := range rows {
			var b strings.Builder
			b.WriteByte('[')
			for k := range r.IntN(8) {
				if k > 0 {
					b.WriteByte(',')
				}
				value(r, 3, &b)
			}
			rows[i] = json.RawMessage(b.String() + "]")
		}
		o := summarise.Options{Limit: 1 + r.IntN(1<<(1+r.IntN(12)))}
		checkRows(t, cols, rows, o)
		if t.Failed() {
			t.Fatalf("seed %d, limit %d", seed, o.Limit)
		}
	}
}

func FuzzRows(f *testing.F) {
	f.Add("id\nname", "[1,\"a\"]\n[2,null]", 60)
	f.Add("a", `[{"b":["`+strings.Repeat("x", 100)+`"]}]`, 40)
	f.Add("", "[]\n[9007199254740993,-0,1e400]", 30)
	f.Fuzz(func(t *testing.T, names, lines string, limit int) {
		if limit < 1 || limit > 5000 {
			limit = 64
		}
		var cols []chat.Column
		for _, n := range strings.Split(names, "\n") {
			cols = append(cols, chat.Column{Name: n})
		}
		var rows []json.RawMessage
		for _, l := range strings.Split(lines, "\n") {
			if !json.Valid([]byte(l)) {
				return
			}
			rows = append(rows, json.RawMessage(l))
		}
		checkRows(t, cols, rows, summarise.Options{Limit: limit})
	})
}

// FuzzText: of every text whole signs from its start and, where asked for, from its end.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"A sentence. And one more! Is it?\nA line.\r\nAnd more", "🇩🇪🇫🇷🇩🇪🇫🇷🇩🇪🇫🇷🇩🇪🇫🇷", "e\u0301\u0301\u0301\u0301\u0301", "\xff\xfe\xf0\x9f", "👨‍👩‍👧👨‍👩‍👧"} {
		f.Add(strings.Repeat(seed, 20), 60, true)
	}
	f.Fuzz(func(t *testing.T, in string, limit int, tail bool) {
		if limit < 1 || limit > 5000 {
			limit = 64
		}
		out := summarise.TextBytes([]byte(in), summarise.Options{Limit: limit, Tail: tail})
		whole := []rune(in)
		if n := utf8.RuneCountInString(out.Text); n > limit || n > len(whole) || !utf8.ValidString(out.Text) {
			t.Errorf("%d characters of %d with a limit of %d", n, len(whole), limit)
		}
		if !out.Cut {
			return
		}
		a, rest, marked := strings.Cut(out.Text, "\n[… ")
		if !marked || strings.Contains(in, "\n[… ") { // it is too short for the words
			return
		}
		_, z, _ := strings.Cut(rest, " left out …]\n")
		text := string(whole) // with U+FFFD for what is no UTF-8
		if !strings.HasPrefix(text, a) || !strings.HasSuffix(text, z) || !between(text, len(a)) || !between(text, len(text)-len(z)) {
			t.Errorf("%q and %q are no whole signs of %q", a, z, text)
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`[1,2,3]`, `{"result":[{"id":1}]}`, "plain text. And more.", `["\ud83d\udc4d"]`, `[1,2`, "\xff\xfe", `{"a":{"b":[[[]]]}}`,
		`"` + strings.Repeat(`\"`, 60) + `"`, strings.Repeat("[", 40) + strings.Repeat("]", 40), `[9007199254740993]`, "👨‍👩‍👧👨‍👩‍👧", `{"a":1}{"b":2}`,
	} {
		f.Add([]byte(seed), 20, true)
		f.Add([]byte(seed), 4000, false)
	}
	f.Fuzz(func(t *testing.T, in []byte, limit int, tail bool) {
		if limit < 1 || limit > 5000 {
			limit = 64
		}
		check(t, in, summarise.Options{Limit: limit, Tail: tail})
	})
}

// What stands behind a string of many blocks is read right.
func TestLongStringsAcrossBlocks(t *testing.T) {
	for shift := range 14 { // so that every escape meets the border of a block
		for _, piece := range []string{`\"`, `\\`, `\u00fc`, `\ud83d\udc4d`, "ü", "x"} {
			long := strings.Repeat("p", shift) + strings.Repeat(piece, 300_000/len(piece))
			in := `{"long":"` + long + `","after":"` + strings.Repeat("y", 20) + `","list":["` + long + `",7]}`
			out, err := summarise.JSON(io.MultiReader(strings.NewReader(in)), summarise.Options{Limit: 400})
			if err != nil {
				t.Fatal(err)
			}
			var got struct{ Long, After string }
			if err := json.Unmarshal(out.Preview.Object, &got); err != nil || got.After != strings.Repeat("y", 20) {
				t.Fatalf("shift %d, %s: %s, %v", shift, piece, out.Text, err)
			}
		}
	}
}
