package confirm_test

import (
	"encoding/json"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/confirm"
	"agentd/internal/tool"

	"github.com/google/go-cmp/cmp"
)

// TestCardSaysWhatIsPassedOn: a URI tells a person nothing. Each argument has one note, and no two notes are alike.
func TestCardSaysWhatIsPassedOn(t *testing.T) {
	n := func(n int64) *int64 { return &n }
	ref := func(arg, fragment string, rows *int64, title, sum string) chat.Reference {
		return chat.Reference{Argument: arg, URI: "agentd+artifact:///art_1" + fragment, Tool: "run_sql", Title: title, Rows: rows, SizeBytes: 70, SHA256: sum}
	}
	many := make([]chat.Reference, 5)
	for i := range many {
		many[i] = ref("/data_uri", "", n(2), "", "a")
	}
	for _, row := range []struct {
		name string
		refs []chat.Reference
		want []string
	}{
		{"none", nil, []string{"a note of the tool"}},
		{"rows", []chat.Reference{ref("/data_uri", "", n(500), "500 rows of sales.", "a")}, []string{"data_uri passes on 500 rows that run_sql gave (500 rows of sales)."}},
		{"one row", []chat.Reference{ref("/data_uri", "", n(1), "", "a")}, []string{"data_uri passes on 1 row that run_sql gave."}},
		{"no rows", []chat.Reference{ref("/spec_uri", "", nil, "", "a")}, []string{"spec_uri passes on 70 bytes that run_sql gave."}},
		{"a part", []chat.Reference{ref("/list/1/data_uri", "#/0/id", n(9), "", "a")}, []string{"list/1/data_uri passes on the part /0/id of 9 rows that run_sql gave."}},
		{"several in one", many[:3], []string{"data_uri passes on 2 rows that run_sql gave, 2 rows that run_sql gave, 2 rows that run_sql gave."}},
		{"many in one", many, []string{"data_uri passes on 2 rows that run_sql gave, 2 rows that run_sql gave, 2 rows that run_sql gave, 2 more stored results."}},
		{"two arguments", []chat.Reference{ref("/a_uri", "", n(2), "", "a"), ref("/b_uri", "", n(3), "", "b")}, []string{"a_uri passes on 2 rows that run_sql gave.", "b_uri passes on 3 rows that run_sql gave."}},
	} {
		t.Run(row.name, func(t *testing.T) {
			q := confirm.Question{Call: tool.Call{ToolCall: chat.ToolCall{Args: json.RawMessage(`{}`)}}, Passed: row.refs}
			if row.refs == nil {
				q.Preview.Notes = row.want
			}
			c, card := confirm.Ask(q)
			if diff := cmp.Diff(row.want, card.Preview.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(row.refs, c.Preview.References); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
			if c.ArgsDigest != confirm.Digest(c.Args, row.refs...) || (c.ArgsDigest == confirm.Digest(c.Args)) != (row.refs == nil) {
				t.Errorf("the digest is not over what is passed on")
			}
		})
	}
}
