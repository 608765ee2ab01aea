package summarise_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"agentd/internal/chat"
	"agentd/internal/summarise"
)

// kinds makes an input of exactly n characters of each kind that the preview knows.
var kinds = map[string]struct {
	kind summarise.Kind
	make func(n int) string
}{
	"an array": {summarise.List, func(n int) string { return fill(`[{"id":1,"name":"`, "x", `"},{"id":2}]`, n) }},
	"an object around a list": {summarise.List, func(n int) string {
		return fill(`{"count":2,"next":null,"result":[{"id":1},{"id":2,"t":"`, "ü", `"}]}`, n)
	}},
	"another object":   {summarise.Object, func(n int) string { return fill(`{"id":7,"css":"`, "a", `","ok":true}`, n) }},
	"one huge string":  {summarise.Scalar, func(n int) string { return fill(`"`, "👍", `"`, n) }},
	"one huge element": {summarise.List, func(n int) string { return fill(`[{"a":{"b":["`, "z", `"]}}]`, n) }},
	"one number":       {summarise.Scalar, func(n int) string { return fill("1", "0", "", n) }},
	"deep nesting": {summarise.List, func(n int) string {
		return strings.Repeat("[", n/2) + strings.Repeat(" ", n%2) + strings.Repeat("]", n/2)
	}},
	"deep objects": {summarise.Object, func(n int) string {
		return strings.Repeat(`{"a":`, (n-1)/6) + fill("1", "0", "", (n-1)%6+1) + strings.Repeat("}", (n-1)/6)
	}},
	"a text":                     {summarise.Prose, func(n int) string { return fill("First. ", "A sentence. ", "", n) }},
	"a text in one line":         {summarise.Prose, func(n int) string { return fill("x", "y", "", n) }},
	"signs of many points":       {summarise.Prose, func(n int) string { return fill("", "👨‍👩‍👧", "", n) }},
	"combining marks":            {summarise.List, func(n int) string { return fill(`["`, "e\u0301", `"]`, n) }},
	"escapes":                    {summarise.List, func(n int) string { return fill(`["`, `\ud83d\ude00`, `"]`, n) }},
	"what is no UTF-8":           {summarise.Prose, func(n int) string { return fill("", "\xff\xfe", "", n) }},
	"no UTF-8 within JSON":       {summarise.List, func(n int) string { return fill(`["`, "\xff", `"]`, n) }},
	"the same key again":         {summarise.Object, func(n int) string { return fill(`{"k":1,"k":2,"k":"`, "v", `"}`, n) }},
	"numbers as they come":       {summarise.List, func(n int) string { return fill(`[-0,1e5,1E+400,0.10,9007199254740993,1`, "0", `]`, n) }},
	"a number of 401 digits":     {summarise.List, func(n int) string { return fill(`[1`+strings.Repeat("0", 400)+`,"`, "x", `"]`, n) }},
	"a list that is broken off":  {summarise.Prose, func(n int) string { return fill(`[1,2,"`, "x", ``, n) }},
	"several values, one a line": {summarise.Prose, func(n int) string { return fill("{\"a\":1}\n", "{\"a\":1}\n", "", n) }},
}

// fill makes n characters: before, as much of body as there is room, after. What body leaves is filled with x,
// or with 0 where body is that.
func fill(before, body, after string, n int) string {
	left := n - utf8.RuneCountInString(before) - utf8.RuneCountInString(after)
	k := utf8.RuneCountInString(body)
	rest := "x"
	if body == "0" {
		rest = body
	}
	return before + strings.Repeat(body, left/k) + strings.Repeat(rest, left%k) + after
}

func TestEachKindAtTheLimit(t *testing.T) {
	for name, k := range kinds {
		for _, limit := range []int{4000, 97} {
			for extra, cut := range map[int]bool{-1: false, 0: false, 1: true} {
				if limit == 97 && name == "a number of 401 digits" {
					continue
				}
				in := k.make(limit + extra)
				if n := utf8.RuneCountInString(in); n != limit+extra {
					t.Fatalf("%s: %d characters were made, not %d", name, n, limit+extra)
				}
				out := summarise.Bytes([]byte(in), summarise.Options{Limit: limit})
				if out.Cut != cut {
					t.Errorf("%s of %d: cut is %t", name, limit+extra, out.Cut)
				}
				if !cut && out.Kind != k.kind {
					t.Errorf("%s of %d: kind is %s", name, limit+extra, out.Kind)
				}
				if !cut && utf8.ValidString(in) && out.Text != in {
					t.Errorf("%s of %d: it was changed though it fits", name, limit+extra)
				}
				check(t, []byte(in), summarise.Options{Limit: limit})
				if t.Failed() {
					t.Fatalf("%s of %d", name, limit+extra)
				}
			}
		}
	}
}

func TestTableAtTheLimit(t *testing.T) {
	cols := []chat.Column{{Name: "id"}, {Name: "note"}}
	words := utf8.RuneCountInString("Found 2 items:\nColumns: [\"id\",\"note\"]\n[1,null]\n[2,\"\"]")
	for extra, cut := range map[int]bool{-1: false, 0: false, 1: true} {
		rows := []json.RawMessage{json.RawMessage(`[1,null]`), json.RawMessage(`[2,"` + strings.Repeat("ü", 4000-words+extra) + `"]`)}
		out, err := summarise.Rows(cols, rows, summarise.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := utf8.RuneCountInString(out.Text); out.Cut != cut || n > 4000 || !cut && n != 4000+extra {
			t.Errorf("%d characters: cut %t, %d shown", 4000+extra, out.Cut, n)
		}
	}
}

// A limit that hardly leaves room for the words never shows half of a number.
func TestTinyLimits(t *testing.T) {
	whole := map[string]bool{"": true, "Found 12438 items:": true, "Found 12438 items:\nand 12438 more items.": true}
	cols := []chat.Column{{Name: "id"}}
	var rows []json.RawMessage
	for range 12438 {
		rows = append(rows, json.RawMessage(`["`+strings.Repeat("x", 50)+`"]`))
	}
	for limit := 1; limit < 60; limit++ {
		list := summarise.Bytes([]byte(array(12438, 20)), summarise.Options{Limit: limit})
		table, err := summarise.Rows(cols, rows, summarise.Options{Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		for _, out := range []summarise.Out{list, table} {
			text, _, _ := strings.Cut(out.Text, "\nColumns: ")
			if *out.Preview.Returned == 0 && !whole[text] && !whole[out.Text] {
				t.Errorf("limit %d: %q", limit, out.Text)
			}
		}
		if out := summarise.Bytes([]byte(strings.Repeat("7", 100)), summarise.Options{Limit: limit}); out.Text != "" && out.Text != "A number of 100 characters." {
			t.Errorf("limit %d: a number became %q", limit, out.Text)
		}
	}
}

func TestKeptEverywhere(t *testing.T) {
	filler := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"key_%d":"%s",`, i, strings.Repeat("v", 40))
		}
		return b.String()
	}
	keys := `"count":12,"total":13,"next":"/n","cursor":"c","error":{"code":5},"message":"m","id":9,"uuid":"u","ok":true,"columns":["first","second"]`
	for name, in := range map[string]string{
		"at the end":                    `{` + filler(5000) + keys + `}`,
		"at the start":                  `{` + keys + `,` + strings.TrimSuffix(filler(5000), ",") + `}`,
		"within":                        `{"a":{` + filler(5000) + keys + `}}`,
		"in an item":                    `[{` + filler(5000) + keys + `}]`,
		"beside a list":                 `{` + filler(100) + keys + `,"result":` + array(500, 100) + `}`,
		"behind a list":                 `{"result":` + array(500, 100) + `,` + filler(100) + keys + `}`,
		"columns larger than all lists": `{` + filler(5000) + strings.Replace(keys, `["first"`, `["first","`+strings.Repeat("x", 100)+`"`, 1) + `}`,
	} {
		out := summarise.Bytes([]byte(in), summarise.Options{})
		for _, want := range []string{`"count":12`, `"total":13`, `"next":"/n"`, `"cursor":"c"`, `"error":{"code":5}`, `"message":"m"`, `"id":9`, `"uuid":"u"`, `"ok":true`, `"columns":["first"`} {
			if !strings.Contains(out.Text, want) {
				t.Errorf("%s: %s is not in the text", name, want)
			}
		}
		check(t, []byte(in), summarise.Options{})
	}
}

// A string longer than what is ever held still says how long it was.
func TestLengthOfClippedStrings(t *testing.T) {
	for _, piece := range []string{"x", "ü", `\"`, `\u00fc`, `\ud83d\ude00`, `\\`, "👍", `\ud83d`, `\ude00`} { // one character each
		for shift := range 13 {
			n := 900_000 / len(piece)
			in := `{"id":1,"long":"` + strings.Repeat("p", shift) + strings.Repeat(piece, n) + `","note":"short","other":"` + strings.Repeat("y", 300_000) + `"}`
			out := summarise.Bytes([]byte(in), summarise.Options{})
			for _, want := range []string{fmt.Sprintf(" of %d characters)", shift+n), " of 300000 characters)"} {
				if !strings.Contains(out.Text, want) {
					t.Fatalf("%s, shift %d: %q is not in %q", piece, shift, want, out.Text[len(out.Text)-200:])
				}
			}
		}
	}
}

// With a limit larger than what passes of a string otherwise, it is shown as it is.
func TestALimitAboveTheBlocks(t *testing.T) {
	var long strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&long, "word %d, ", i)
	}
	in := fmt.Sprintf(`{"long":%q,"list":%s}`, long.String(), array(30_000, 20))
	out := summarise.Bytes([]byte(in), summarise.Options{Limit: 1_500_000})
	var got struct{ Long string }
	if err := json.Unmarshal(out.Preview.Object, &got); err != nil {
		t.Fatal(err)
	}
	if shown := strings.TrimSuffix(got.Long, "…"); len(shown) < 300_000 || !strings.HasPrefix(long.String(), shown) {
		t.Errorf("%d characters, not those of the input", len(shown))
	}
}

func TestReservedKeysInTables(t *testing.T) {
	o := summarise.Options{Reserved: []string{"_artifact_uri", "_artifact"}}
	cols := []chat.Column{{Name: "_artifact_uri"}, {Name: "b"}}
	for _, n := range []int{1, 500} {
		var rows []json.RawMessage
		for range n {
			rows = append(rows, json.RawMessage(`["agentd+artifact:///x",{"deep":[{"_artifact":1}]}]`))
		}
		out, err := summarise.Rows(cols, rows, o)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.Text, `"_artifact`) || !strings.Contains(out.Text, `["tool__artifact_uri","b"]`) || !strings.Contains(out.Text, `{"tool__artifact":1}`) || out.Renamed < 2 {
			t.Errorf("%d renamed:\n%s", out.Renamed, out.Text)
		}
		if out.Preview.Columns[0].Name != "tool__artifact_uri" || cols[0].Name != "_artifact_uri" || strings.Contains(string(out.Preview.Rows[0]), `"_artifact"`) {
			t.Errorf("preview = %+v", out.Preview)
		}
	}
	// Renamed, it no longer fits.
	fits := summarise.Options{Limit: 60, Reserved: o.Reserved}
	out, err := summarise.Rows([]chat.Column{{Name: "a"}}, []json.RawMessage{json.RawMessage(`[{"_artifact":"12345678901"}]`)}, fits)
	if err != nil || !out.Cut || utf8.RuneCountInString(out.Text) > 60 {
		t.Errorf("%+v, %v", out, err)
	}
}

// Flags are two letters each, and a text may begin anywhere within a row of them.
func TestTheTailOfFlags(t *testing.T) {
	flag := "🇩🇪"
	for shift := range 8 {
		end := " end" + strings.Repeat("z", 4*shift)
		in := strings.Repeat(flag, 20_000) + end
		out := summarise.TextBytes([]byte(in), summarise.Options{Limit: 400, Tail: true})
		_, z, _ := strings.Cut(out.Text, "left out …]\n")
		if rest := strings.ReplaceAll(z, flag, ""); rest != end {
			t.Errorf("shift %d: a flag was cut: %q", shift, rest)
		}
	}
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		total int
		wants []int
		got   string
	}{
		{12, []int{4, 4, 4}, "[4 4 4]"}, {11, []int{4, 4, 4}, "[4 4 3]"}, {10, []int{4, 4, 4}, "[4 3 3]"}, {13, []int{4, 4, 4}, "[4 4 4]"},
		{100, []int{10, 200, 50}, "[10 45 45]"}, {100, []int{200, 10, 30}, "[60 10 30]"}, {101, []int{200, 10, 300}, "[46 10 45]"},
		{2, []int{5, 5, 5}, "[1 1 0]"}, {0, []int{1, 0}, "[0 0]"}, {-1, []int{1}, "[0]"}, {5, nil, "[]"}, {7, []int{0, 3, -2, 9}, "[0 3 0 4]"},
	} {
		if got := fmt.Sprint(summarise.Share(c.total, c.wants)); got != c.got {
			t.Errorf("%d among %d: %s, want %s", c.total, c.wants, got, c.got)
		}
	}
}

// What a table is about stays whole while the rest of a row shrinks, and rows that would say nothing are left out.
func TestKeptColumns(t *testing.T) {
	cols := []chat.Column{{Name: "note"}, {Name: "uuid"}, {Name: "n"}}
	uuid := "8f6c5a2e-0000-4000-8000-000000000001"
	row := json.RawMessage(`["` + strings.Repeat("n", 5000) + `","` + uuid + `",7]`)
	for limit, most := range map[int]int{4000: 5, 900: 3, 500: 1} {
		out, err := summarise.Rows(cols, []json.RawMessage{row, row, row, row, row, row}, summarise.Options{Limit: limit})
		if err != nil || len(out.Preview.Rows) == 0 || len(out.Preview.Rows) > most {
			t.Fatalf("limit %d: %d rows, %v", limit, len(out.Preview.Rows), err)
		}
		for _, r := range out.Preview.Rows {
			if !strings.Contains(string(r), uuid) || len(r) < 100 {
				t.Errorf("limit %d: row %s", limit, r)
			}
		}
	}
}
