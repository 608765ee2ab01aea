package summarise_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

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
	keys, numbers := tokens(in)
	for _, part := range append(append([]json.RawMessage{out.Preview.Object}, out.Preview.Items...), out.Preview.Rows...) {
		k, n := tokens(part)
		if !subsequence(k, keys) {
			t.Errorf("the keys %q of the preview are not in the order of %q", k, keys)
		}
		for num := range n {
			if !numbers[num] {
				t.Errorf("the number %s is not in the input", num)
			}
		}
	}
}

// tokens returns the keys of a JSON text in order and its numbers as they stand.
func tokens(b []byte) (keys []string, numbers map[string]bool) {
	numbers = map[string]bool{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var walk func() bool
	walk = func() bool {
		tok, err := d.Token()
		if err != nil {
			return false
		}
		switch v := tok.(type) {
		case json.Number:
			numbers[v.String()] = true
		case json.Delim:
			for d.More() {
				if v == '{' {
					k, err := d.Token()
					if err != nil {
						return false
					}
					keys = append(keys, k.(string))
				}
				if !walk() {
					return false
				}
			}
			_, err = d.Token()
			return err == nil
		}
		return true
	}
	walk()
	return keys, numbers
}

func subsequence(part, whole []string) bool {
	for _, w := range whole {
		if len(part) > 0 && part[0] == w {
			part = part[1:]
		}
	}
	return len(part) == 0
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
