package offload_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/offload"
	"agentd/internal/tool"
)

// read calls read_artifact as the pipeline does: bind, run, bound.
func (b *bench) read(who, conversation, args string) (offload.Bounded, error) {
	b.Helper()
	c := call(offload.ReadArtifact)
	c.Who.User, c.Conversation, c.Args = who, conversation, json.RawMessage(args)
	bound, err := b.gate.Tool().Bind(c)
	if err != nil {
		return offload.Bounded{}, err
	}
	r, err := bound.Run(b.Context())
	if err != nil {
		return offload.Bounded{}, err
	}
	got := b.gate.Bound(b.Context(), c, r)
	if n := utf8.RuneCountInString(got.Text); n > b.gate.Limit(offload.ReadArtifact) {
		b.Errorf("a page of %d characters", n)
	}
	if strings.Contains(got.Text, "Cut inside") || got.Artifact != nil {
		b.Errorf("a page was cut or stored again:\n%s", got.Text)
	}
	return got, nil
}

func (b *bench) mustRead(args string) offload.Bounded {
	b.Helper()
	got, err := b.read("ann", "c1", args)
	if err != nil {
		b.Fatal(err)
	}
	return got
}

var nextCursor = regexp.MustCompile(`(?m)^next_cursor: (\S+)$`)

func TestReadingBackEverything(t *testing.T) {
	for _, limit := range []int{1000, 4000} {
		b := newBench(t, offload.Options{MaxChars: limit}, artifact.Options{})
		id := b.bound(tool.Result{Rows: dashboards(1234)}).Artifact.ID
		cursor, seen, pages := "", 0, 0
		for {
			got := b.mustRead(fmt.Sprintf(`{"artifact_id":%q,"cursor":%q}`, offload.URI(id), cursor))
			pages++
			for _, r := range got.Preview.Rows {
				if !strings.HasPrefix(string(r), fmt.Sprintf(`[%d,`, seen)) {
					t.Fatalf("row %d is %s", seen, r)
				}
				if !strings.Contains(got.Text, string(r)) {
					t.Fatalf("the model does not see row %d", seen)
				}
				seen++
			}
			if p := got.Preview; p.Completeness != chat.Incomplete || *p.Total != 1234 || int(*p.Returned) != len(p.Rows) {
				t.Errorf("preview says %s, %d of %d", p.Completeness, *p.Returned, *p.Total)
			}
			m := nextCursor.FindStringSubmatch(got.Text)
			if m == nil {
				break
			}
			cursor = m[1]
		}
		if seen != 1234 || pages < 10 {
			t.Errorf("limit %d: %d rows on %d pages", limit, seen, pages)
		}
	}
}

func TestReadAtMost200(t *testing.T) {
	b := newBench(t, offload.Options{}, artifact.Options{})
	var rows []json.RawMessage
	for i := range 3000 {
		rows = append(rows, json.RawMessage(fmt.Sprintf("[%d]", i)))
	}
	id := b.bound(tool.Result{Rows: &tool.Table{Columns: []chat.Column{{Name: "n"}}, Rows: rows}}).Artifact.ID
	got := b.mustRead(fmt.Sprintf(`{"artifact_id":%q}`, id))
	if len(got.Preview.Rows) != 200 || !strings.HasPrefix(got.Text, "Rows 1 to 200 of 3000.\nFound 200 items:\n") {
		t.Errorf("%d rows:\n%s", len(got.Preview.Rows), got.Text)
	}
	if got := b.mustRead(fmt.Sprintf(`{"artifact_id":%q,"limit":3}`, id)); len(got.Preview.Rows) != 3 {
		t.Errorf("%d rows", len(got.Preview.Rows))
	}
	for _, limit := range []string{"0", "-1", "201"} {
		if _, err := b.read("ann", "c1", fmt.Sprintf(`{"artifact_id":%q,"limit":%s}`, id, limit)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("limit %s: %v", limit, err)
		}
	}
}

func TestReadWithConditions(t *testing.T) {
	b := newBench(t, offload.Options{}, artifact.Options{})
	id := b.bound(tool.Result{Data: objects(400)}).Artifact.ID
	for args, want := range map[string]string{
		`"columns":["title"],"filter":[{"column":"id","op":"ge","value":"398"}]`:                                        "2 rows that match.\nFound 2 items:\nColumns: [\"title\"]\n[\"Dashboard number 398\"]\n[\"Dashboard number 399\"]\nThis is the end.",
		`"columns":["id"],"sort":["-id"],"limit":2`:                                                                     "Rows 1 to 2 of 400.\nFound 2 items:\nColumns: [\"id\"]\n[399]\n[398]\nnext_cursor: ",
		`"aggregate":{"values":[{"fn":"count"},{"fn":"sum","column":"id"},{"fn":"avg","column":"id"}]}`:                 "Groups 1 to 1.\nFound 1 item:\nColumns: [\"count()\",\"sum(id)\",\"avg(id)\"]\n[400,79800,199.5]\nThis is the end.",
		`"filter":[{"column":"id","op":"eq","value":"x"}]`:                                                              "No row matches.",
		`"aggregate":{"group_by":["title"],"values":[{"fn":"count"}]},"filter":[{"column":"id","op":"eq","value":"7"}]`: "[\"Dashboard number 7\",1]",
	} {
		if got := b.mustRead(fmt.Sprintf(`{"artifact_id":%q,%s}`, id, args)); !strings.Contains(got.Text, want) {
			t.Errorf("%s:\ngot  %s\nwant %s", args, got.Text, want)
		}
	}
	_, err := b.read("ann", "c1", fmt.Sprintf(`{"artifact_id":%q,"columns":["nope"]}`, id))
	if fault.CodeOf(err) != "columns" {
		t.Errorf("a column that is not there: %v", err)
	}
}

func TestReadText(t *testing.T) {
	b := newBench(t, offload.Options{}, artifact.Options{})
	body := strings.Repeat("A line of a log with \"quotes\" and ü.\n", 500)
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	first := b.bound(tool.Result{Data: data})
	if first.Artifact.Format != chat.FormatText || !strings.HasPrefix(first.Text, "A line of a log with \"quotes\"") {
		t.Fatalf("a JSON text is not shown as the text it is:\n%s", first.Text)
	}
	cursor, got := "", ""
	for {
		page := b.mustRead(fmt.Sprintf(`{"artifact_id":%q,"cursor":%q}`, first.Artifact.ID, cursor))
		got += page.Preview.Text
		m := nextCursor.FindStringSubmatch(page.Text)
		if m == nil {
			break
		}
		cursor = m[1]
	}
	if got != body {
		t.Errorf("%d of %d bytes came back", len(got), len(body))
	}
}

func TestReadIsForTheOwner(t *testing.T) {
	b := newBench(t, offload.Options{}, artifact.Options{})
	id := b.bound(tool.Result{Data: objects(400)}).Artifact.ID
	_, want := b.read("ann", "c1", `{"artifact_id":"art_01ARZ3NDEKTSV4RRFFQ69G5FAV"}`)
	for _, c := range []struct{ user, conversation, id string }{
		{"bob", "c1", id}, {"ann", "c2", id}, {"ann", "c1", "agentd+artifact://c2/" + id}, {"ann", "c2", "agentd+artifact://c1/" + id},
		{"ann", "c1", "../../etc/passwd"}, {"ann", "c1", ""},
	} {
		_, err := b.read(c.user, c.conversation, fmt.Sprintf(`{"artifact_id":%q}`, c.id))
		if fault.KindOf(err) != fault.Missing || err.Error() != want.Error() {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := b.read("ann", "c1", `{"artifact_id":"agentd+artifact://c1/`+id+`"}`); err != nil {
		t.Errorf("its own conversation in the URI: %v", err)
	}
	if _, err := b.read("ann", "c1", `{"artifact_id":"agentd+artifact:///`+id+`#/0"}`); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a fragment: %v", err)
	}
}

// TestAHugeRowIsStillReadable: a row that is larger than a page is shown with its values shrunk, and reading goes on.
func TestAHugeRowIsStillReadable(t *testing.T) {
	b := newBench(t, offload.Options{}, artifact.Options{})
	big, err := json.Marshal(strings.Repeat("x", 20_000))
	if err != nil {
		t.Fatal(err)
	}
	id := b.bound(tool.Result{Rows: &tool.Table{Columns: []chat.Column{{Name: "a"}, {Name: "b"}},
		Rows: []json.RawMessage{json.RawMessage(`[1,` + string(big) + `]`), json.RawMessage(`[2,"small"]`)}}}).Artifact.ID
	c := call(offload.ReadArtifact)
	c.Args = json.RawMessage(fmt.Sprintf(`{"artifact_id":%q}`, id))
	bound, err := b.gate.Tool().Bind(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := bound.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := b.gate.Bound(t.Context(), c, r)
	if n := utf8.RuneCountInString(got.Text); n > 4000 {
		t.Errorf("%d characters", n)
	}
	m := nextCursor.FindStringSubmatch(got.Text)
	if m == nil || got.Artifact != nil || len(got.Preview.Rows) != 1 {
		t.Fatalf("got %+v\n%s", got.Artifact, got.Text)
	}
	if next := b.mustRead(fmt.Sprintf(`{"artifact_id":%q,"cursor":%q}`, id, m[1])); !strings.Contains(next.Text, `[2,"small"]`) {
		t.Errorf("text = %s", next.Text)
	}
}
