package summarise_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"agentd/internal/chat"
	"agentd/internal/summarise"

	"github.com/google/go-cmp/cmp"
)

// array is n objects of about size characters each.
func array(n, size int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":%q}`, i, strings.Repeat("x", size))
	}
	b.WriteByte(']')
	return b.String()
}

func TestArrayShowsFiveAndTheCount(t *testing.T) {
	out := summarise.Bytes([]byte(array(12438, 20)), summarise.Options{})
	want := `Found 12438 items:
{"id":0,"name":"xxxxxxxxxxxxxxxxxxxx"}
{"id":1,"name":"xxxxxxxxxxxxxxxxxxxx"}
{"id":2,"name":"xxxxxxxxxxxxxxxxxxxx"}
{"id":3,"name":"xxxxxxxxxxxxxxxxxxxx"}
{"id":4,"name":"xxxxxxxxxxxxxxxxxxxx"}
and 12433 more items.`
	if diff := cmp.Diff(want, out.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if !out.Cut || out.Kind != summarise.List || out.Count != 12438 || len(out.Preview.Items) != 5 ||
		*out.Preview.Returned != 5 || *out.Preview.Total != 12438 {
		t.Errorf("out = %+v", out)
	}
}

func TestOneMoreThanShownIsSingular(t *testing.T) {
	out := summarise.Bytes([]byte(array(6, 1000)), summarise.Options{})
	if !strings.HasPrefix(out.Text, "Found 6 items:\n") || !strings.Contains(out.Text, "\nand 1 more item.") {
		t.Errorf("text = %s", out.Text)
	}
}

func TestStrictlyGreaterTriggers(t *testing.T) {
	for _, pad := range []string{"x", "é", "👍"} {
		for extra, cut := range map[int]bool{-1: false, 0: false, 1: true} {
			in := `["` + strings.Repeat(pad, 4000-4+extra) + `"]`
			out := summarise.Bytes([]byte(in), summarise.Options{})
			if out.Cut != cut {
				t.Errorf("%d characters of %s: cut = %t, want %t", 4000+extra, pad, out.Cut, cut)
			}
			if !cut && out.Text != in {
				t.Errorf("%d characters of %s: the text was changed", 4000+extra, pad)
			}
		}
	}
}

func TestTotalOfTheSource(t *testing.T) {
	total := int64(151)
	out := summarise.Bytes([]byte(array(50, 200)), summarise.Options{Total: &total, More: true})
	if !strings.HasPrefix(out.Text, "Found 151 items:\n") || !strings.Contains(out.Text, "\nand 146 more items.") {
		t.Errorf("text = %s", out.Text)
	}
	if *out.Preview.Returned != 5 || *out.Preview.Total != 151 {
		t.Errorf("preview says %d of %d", *out.Preview.Returned, *out.Preview.Total)
	}
	out = summarise.Bytes([]byte(array(50, 200)), summarise.Options{More: true})
	if !strings.HasPrefix(out.Text, "Found at least 50 items:\n") || !strings.Contains(out.Text, "\nand at least 45 more items.") {
		t.Errorf("text = %s", out.Text)
	}
	if out.Preview.Total != nil {
		t.Errorf("total %d is claimed although the source has more", *out.Preview.Total)
	}
}

func TestObjectAroundOneMainArray(t *testing.T) {
	in := `{"count":151,"ids":[1,2,3,4,5,6],"result":` + array(50, 200) + `,"note":"kept"}`
	out := summarise.Bytes([]byte(in), summarise.Options{})
	want := `{"count":151,"ids":[1,2,3,4,5,6],"note":"kept"}` + "\nIn \"result\":\nFound 50 items:\n{\"id\":0,"
	if !strings.HasPrefix(out.Text, want) {
		t.Errorf("text = %s", out.Text)
	}
	if len(out.Preview.Items) != 5 || *out.Preview.Total != 50 || !strings.Contains(string(out.Preview.Object), `"count":151`) {
		t.Errorf("preview = %+v", out.Preview)
	}
}

func TestTheLargestArrayWins(t *testing.T) {
	in := `{"list_columns":["a","b","c","d","e","f","g"],"rows":` + array(3, 1500) + `}`
	out := summarise.Bytes([]byte(in), summarise.Options{})
	if !strings.Contains(out.Text, "In \"rows\":\nFound 3 items:") {
		t.Errorf("text = %s", out.Text)
	}
}

func TestLargestValuesShrinkFirst(t *testing.T) {
	in := `{"id":7,"title":"Sales","css":"` + strings.Repeat("a", 60000) + `","owners":["ann","bob"],"json":"` +
		strings.Repeat(`\"`, 500) + `","error":null}`
	out := summarise.Bytes([]byte(in), summarise.Options{})
	if out.Kind != summarise.Object {
		t.Fatalf("kind = %s", out.Kind)
	}
	var got struct {
		ID               int
		Title, CSS, JSON string
		Owners           []string
		Error            *string
	}
	if err := json.Unmarshal(out.Preview.Object, &got); err != nil {
		t.Fatal(err)
	}
	if got.ID != 7 || got.Title != "Sales" || len(got.Owners) != 2 || got.JSON != strings.Repeat(`"`, 500) {
		t.Errorf("the small values did not stay: %+v", got)
	}
	if n := utf8.RuneCountInString(got.CSS); n < 1500 || n > 4000 || !strings.HasSuffix(got.CSS, "…") {
		t.Errorf("css has %d characters", n)
	}
	if !strings.Contains(out.Text, "/css (") || !strings.Contains(out.Text, " of 60000 characters)") {
		t.Errorf("the cut is not told: %s", out.Text[len(out.Text)-200:])
	}
}

func TestAlwaysKept(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{`)
	for i := range 5000 {
		fmt.Fprintf(&b, `"key_%d":"%s",`, i, strings.Repeat("v", 40))
	}
	b.WriteString(`"count":12,"total":13,"next":"/n","cursor":"c","error":"e","message":"m","id":9,"uuid":"u","ok":true}`)
	out := summarise.Bytes([]byte(b.String()), summarise.Options{})
	for _, want := range []string{`"count":12`, `"total":13`, `"next":"/n"`, `"cursor":"c"`, `"error":"e"`, `"message":"m"`, `"id":9`, `"uuid":"u"`, `"ok":true`, " of 5009 keys"} {
		if !strings.Contains(out.Text, want) {
			t.Errorf("%s is not in the text", want)
		}
	}
}

func TestNumbersStayExact(t *testing.T) {
	in := `[{"big":9007199254740993,"edge":9007199254740991,"over":9007199254740992,"neg":-9007199254740993,"f":1.10,"e":1E400,"s":"9007199254740993"}]`
	out := summarise.Bytes([]byte(in), summarise.Options{})
	if out.Text != in {
		t.Errorf("text = %s", out.Text)
	}
	want := `{"big":"9007199254740993","edge":9007199254740991,"over":"9007199254740992","neg":"-9007199254740993","f":1.10,"e":1E400,"s":"9007199254740993"}`
	if diff := cmp.Diff(want, string(out.Preview.Items[0])); diff != "" {
		t.Errorf("item (-want +got):\n%s", diff)
	}
}

func TestTable(t *testing.T) {
	cols := []chat.Column{{Name: "id", Type: "BIGINT"}, {Name: "note"}}
	var rows []json.RawMessage
	for i := range 300 {
		rows = append(rows, json.RawMessage(fmt.Sprintf(`[%d,null]`, 9007199254740990+i)))
	}
	out, err := summarise.Rows(cols, rows, summarise.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "Found 300 items:\nColumns: [\"id\",\"note\"]\n[9007199254740990,null]\n[9007199254740991,null]\n" +
		"[9007199254740992,null]\n[9007199254740993,null]\n[9007199254740994,null]\nand 295 more items."
	if diff := cmp.Diff(want, out.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if !out.Preview.Columns[0].Exact || out.Preview.Columns[1].Exact || cols[0].Exact {
		t.Errorf("columns = %+v, the caller's %+v", out.Preview.Columns, cols)
	}
	if got := string(out.Preview.Rows[2]); got != `["9007199254740992",null]` {
		t.Errorf("row = %s", got)
	}
	whole, err := summarise.Rows(cols, rows[:20], summarise.Options{})
	if err != nil || whole.Cut || len(whole.Preview.Rows) != 20 || *whole.Preview.Total != 20 {
		t.Errorf("20 small rows: %+v, %v", whole, err)
	}
}

func TestARowKeepsItsPositions(t *testing.T) {
	big, _ := json.Marshal(strings.Repeat("z", 50000))
	row := json.RawMessage(fmt.Sprintf(`[1,%s,3,null]`, big))
	out, err := summarise.Rows([]chat.Column{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}, []json.RawMessage{row, row}, summarise.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range out.Preview.Rows {
		var cells []any
		if err := json.Unmarshal(r, &cells); err != nil || len(cells) != 4 || cells[2] != 3.0 || cells[3] != nil {
			t.Errorf("row = %s, %v", r, err)
		}
	}
	if len(out.Preview.Rows) != 2 {
		t.Errorf("%d rows", len(out.Preview.Rows))
	}
}

func TestRowsRefuseWhatIsNoRow(t *testing.T) {
	for _, row := range []string{`{"a":1}`, `1`, `[1`, ``} {
		if _, err := summarise.Rows(nil, []json.RawMessage{json.RawMessage(row)}, summarise.Options{}); err == nil {
			t.Errorf("row %q was accepted", row)
		}
	}
}

func TestHugeThings(t *testing.T) {
	long := strings.Repeat("ü", 300_000)
	for name, in := range map[string]string{
		"one huge string":  `"` + long + `"`,
		"one huge element": `[{"a":{"b":"` + long + `"}}]`,
		"escapes":          `["` + strings.Repeat(`\u00fc\"`, 100_000) + `"]`,
		"surrogates":       `["` + strings.Repeat(`\ud83d\udc4d`, 100_000) + `"]`,
		"nested arrays":    strings.Repeat(`[`, 9000) + strings.Repeat(`]`, 9000),
		"nested objects":   strings.Repeat(`{"a":`, 5000) + `1` + strings.Repeat(`}`, 5000),
		"a huge key":       `{"` + long + `":1,"id":2}`,
		"a long number":    `[1` + strings.Repeat("0", 9000) + `]`,
		"blanks":           `[1,` + strings.Repeat(" \n", 300_000) + `2]`,
		"many keys":        `{"k":1` + strings.Repeat(`,"k":1`, 100_000) + `}`,
	} {
		out := summarise.Bytes([]byte(in), summarise.Options{})
		if n := utf8.RuneCountInString(out.Text); n > 4000 {
			t.Errorf("%s: %d characters", name, n)
		}
		if !out.Cut || out.Text == "" {
			t.Errorf("%s: cut %t, text %q", name, out.Cut, out.Text)
		}
		checkPreview(t, out)
	}
}

func TestABodyThatBreaksOff(t *testing.T) {
	in := array(1000, 50)
	out := summarise.Bytes([]byte(in[:20000]), summarise.Options{})
	if !out.Partial || !strings.HasPrefix(out.Text, "Found at least ") || out.Preview.Total != nil {
		t.Errorf("list: %+v", out)
	}
	out = summarise.Bytes([]byte(`{"count":1000,"result":`+in[:20000]), summarise.Options{})
	if !out.Partial || !strings.Contains(out.Text, "Found at least ") {
		t.Errorf("object: %+v", out)
	}
}

func TestText(t *testing.T) {
	log := strings.Repeat("[2026-01-01 10:00:00] A line of the log. ", 1000) + "The last error was: no such table."
	out := summarise.Bytes([]byte(log), summarise.Options{Tail: true})
	if out.Kind != summarise.Prose || !strings.HasPrefix(out.Text, "[2026-01-01 10:00:00] A line") || !strings.HasSuffix(out.Text, "no such table.") {
		t.Errorf("text = %s … %s", out.Text[:80], out.Text[len(out.Text)-80:])
	}
	if n := utf8.RuneCountInString(out.Text); n > 4000 || n < 3500 {
		t.Errorf("%d characters", n)
	}
	out, err := summarise.Text(strings.NewReader(strings.Repeat("Ein Satz mit ü. ", 1000)), summarise.Options{Limit: 100})
	want := strings.Repeat("Ein Satz mit ü. ", 4) + "\n[… 15936 characters left out …]\n"
	if err != nil || out.Text != want {
		t.Errorf("text = %q, %v", out.Text, err)
	}
}

func TestTextIsCutBetweenSigns(t *testing.T) {
	family := "👨‍👩‍👧" // five code points, one sign
	for limit := 40; limit < 60; limit++ {
		out, err := summarise.Text(strings.NewReader(strings.Repeat(family, 100)), summarise.Options{Limit: limit, Tail: true})
		if err != nil {
			t.Fatal(err)
		}
		if n := utf8.RuneCountInString(out.Text); n > limit {
			t.Errorf("limit %d: %d characters", limit, n)
		}
		a, rest, _ := strings.Cut(out.Text, "\n")
		_, z, _ := strings.Cut(rest, "\n")
		for _, part := range []string{a, z} {
			if strings.ReplaceAll(part, family, "") != "" {
				t.Errorf("limit %d: a sign was cut: %q", limit, part)
			}
		}
	}
}

func TestReservedKeysAreRenamed(t *testing.T) {
	o := summarise.Options{Reserved: []string{"_artifact_uri"}}
	out := summarise.Bytes([]byte(`{"a":{"_artifact_uri":"agentd+artifact:///x"}}`), o)
	if out.Renamed != 1 || out.Text != `{"a":{"tool__artifact_uri":"agentd+artifact:///x"}}` {
		t.Errorf("out = %+v", out)
	}
}

func TestAnErrorOfTheReader(t *testing.T) {
	broken := iotest.ErrReader(fmt.Errorf("no more"))
	if _, err := summarise.JSON(broken, summarise.Options{}); err == nil {
		t.Error("the error is lost at the start")
	}
	late := func() *bytes.Reader { return bytes.NewReader([]byte(array(1000, 100))) }
	if _, err := summarise.JSON(iotest.TimeoutReader(late()), summarise.Options{}); err == nil {
		t.Error("the error is lost later")
	}
}

func TestNoticeIsLeftFree(t *testing.T) {
	for _, notice := range []int{0, 1, 300, 3990, 4000, 9999} {
		out := summarise.Bytes([]byte(array(1000, 900)), summarise.Options{Notice: notice})
		if n := utf8.RuneCountInString(out.Text); n > max(0, 4000-notice) {
			t.Errorf("notice %d: %d characters", notice, n)
		}
	}
}

// checkPreview holds for every preview.
func checkPreview(t *testing.T, out summarise.Out) {
	t.Helper()
	if !utf8.ValidString(out.Text) || !utf8.ValidString(out.Preview.Text) {
		t.Error("the text is not valid UTF-8")
	}
	for _, part := range append(append([]json.RawMessage{out.Preview.Object}, out.Preview.Items...), out.Preview.Rows...) {
		if part != nil && (!json.Valid(part) || !utf8.Valid(part)) {
			t.Errorf("not valid JSON: %s", part)
		}
	}
}
