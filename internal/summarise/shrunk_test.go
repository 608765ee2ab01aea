package summarise_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/summarise"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// value of JSON with its members in order and its numbers as they stand.
type tree struct {
	kind  byte // '{', '[', '"', '0' or the letter of a literal
	text  string
	names []string
	kids  []tree
}

// parsed is false for what is no JSON.
func parsed(b []byte) (tree, bool) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	t, err := read(d)
	return t, err == nil
}

func read(d *json.Decoder) (tree, error) {
	tok, err := d.Token()
	if err != nil {
		return tree{}, err
	}
	switch v := tok.(type) {
	case string:
		return tree{kind: '"', text: v}, nil
	case json.Number:
		return tree{kind: '0', text: v.String()}, nil
	case bool:
		if v {
			return tree{kind: 't'}, nil
		}
		return tree{kind: 'f'}, nil
	case nil:
		return tree{kind: 'n'}, nil
	case json.Delim:
		t := tree{kind: byte(v)}
		for d.More() {
			if v == '{' {
				name, err := d.Token()
				if err != nil {
					return tree{}, err
				}
				t.names = append(t.names, name.(string))
			}
			kid, err := read(d)
			if err != nil {
				return tree{}, err
			}
			t.kids = append(t.kids, kid)
		}
		_, err = d.Token()
		return t, err
	}
	panic("encoding/json has no other tokens")
}

// shrunk reports whether got is want or less of it: numbers and literals whole or not at all, strings up to a
// sign of their own, lists up to an item and with nothing of ours in them, objects with their keys in order.
// Integers that a browser would round may have become strings.
func shrunk(got, want tree) bool {
	if got.kind == '"' && want.kind == '0' {
		return got.text == want.text
	}
	if got.kind != want.kind {
		return false
	}
	switch got.kind {
	case '"':
		head, cut := strings.CutSuffix(got.text, "…")
		return got.text == want.text || cut && strings.HasPrefix(want.text, head) && between(want.text, len(head))
	case '[':
		for i := range got.kids {
			if i >= len(want.kids) || !shrunk(got.kids[i], want.kids[i]) {
				return false
			}
		}
	case '{':
		next := 0
		for i := range got.kids {
			for next < len(want.kids) && (got.names[i] != want.names[next] || !shrunk(got.kids[i], want.kids[next])) {
				next++
			}
			if next == len(want.kids) {
				return false
			}
			next++
		}
	}
	return got.text == want.text
}

// between reports whether at lies between two signs of s.
func between(s string, at int) bool {
	if at == 0 {
		return true
	}
	end := 0
	for g := graphemes.FromString(s); g.Next() && end < at; {
		end += len(g.Value())
	}
	return end == at
}

// checkShrunk holds for the preview of every JSON value.
func checkShrunk(t *testing.T, in []byte, out summarise.Out) {
	t.Helper()
	want, ok := parsed(in)
	if !ok || out.Kind == summarise.Prose {
		return
	}
	object := want
	if out.Kind == summarise.List && want.kind == '{' {
		i := -1
		for k, name := range want.names {
			if name == out.Main && want.kids[k].kind == '[' && int64(len(want.kids[k].kids)) == out.Count && itemsOf(out, want.kids[k]) {
				i = k
			}
		}
		if i < 0 {
			t.Errorf("no list %q of the input has the items %s", out.Main, out.Preview.Items)
			return
		}
		object = tree{kind: '{'}
		for k := range want.kids {
			if k != i {
				object.names, object.kids = append(object.names, want.names[k]), append(object.kids, want.kids[k])
			}
		}
	} else if out.Kind == summarise.List && !itemsOf(out, want) {
		t.Errorf("the items are not those of the input: %s", out.Preview.Items)
	}
	if out.Preview.Object != nil {
		if got, ok := parsed(out.Preview.Object); !ok || !shrunk(got, object) {
			t.Errorf("the object is not that of the input: %s", out.Preview.Object)
		}
	}
}

func itemsOf(out summarise.Out, want tree) bool {
	if want.kind != '[' || len(out.Preview.Items) > len(want.kids) {
		return false
	}
	for i, item := range out.Preview.Items {
		if got, ok := parsed(item); !ok || !shrunk(got, want.kids[i]) {
			return false
		}
	}
	return true
}

// checkRows holds for every table.
func checkRows(t *testing.T, cols []chat.Column, rows []json.RawMessage, o summarise.Options) {
	t.Helper()
	out, err := summarise.Rows(cols, rows, o)
	if err != nil {
		return // a row is no array
	}
	if n := len([]rune(out.Text)); n > o.Limit {
		t.Errorf("%d characters over a limit of %d", n, o.Limit)
	}
	checkPreview(t, out)
	if int(*out.Preview.Returned) != len(out.Preview.Rows) || out.Count != int64(len(rows)) {
		t.Errorf("returned %d of %d, %d rows of %d", *out.Preview.Returned, out.Count, len(out.Preview.Rows), len(rows))
	}
	if !out.Cut && len(out.Preview.Rows) != len(rows) {
		t.Errorf("%d rows of %d, and nothing is cut", len(out.Preview.Rows), len(rows))
	}
	for i, r := range out.Preview.Rows {
		got, ok := parsed(r)
		want, _ := parsed(rows[i])
		if !ok || !shrunk(got, want) {
			t.Errorf("row %d is %s, of %.200s", i, r, rows[i])
		}
	}
	again, err := summarise.Rows(cols, rows, o)
	if err != nil || again.Text != out.Text {
		t.Error("the same rows give another preview")
	}
}
