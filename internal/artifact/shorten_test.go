package artifact_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"agentd/internal/artifact"
	"agentd/internal/artifact/artifacttest"
	"agentd/internal/chat"
)

// A page is never larger than its limit, also where one row is.
func TestARowLargerThanAPage(t *testing.T) {
	s := artifact.New(artifacttest.NewIndex(), openDir(t), artifact.Options{})
	columns := []chat.Column{{Name: "n"}, {Name: "s"}, {Name: "t"}}
	for name, c := range map[string]struct {
		columns []chat.Column
		row     string
		cut     bool
	}{
		"one byte below":       {columns, `[1,"` + strings.Repeat("x", artifact.MaxPageBytes-11) + `","y"]`, false},
		"as large as the page": {columns, `[1,"` + strings.Repeat("x", artifact.MaxPageBytes-10) + `","y"]`, true},
		"many bytes a sign":    {columns, `[9007199254740993,"` + strings.Repeat("👍", 1<<20) + `",null]`, true},
		"much to be escaped":   {columns, `[1,"` + strings.Repeat(`\u0001`, 400_000) + `","` + strings.Repeat(`\\`, 700_000) + `"]`, true},
		"an object":            {columns, `[1,{"k":["` + strings.Repeat("é", 600_000) + `"]},2.50]`, true},
		"no table":             {nil, `"` + strings.Repeat("x", 1<<21) + `"`, true},
		"items":                {nil, `{"n":1,"s":"` + strings.Repeat("x", 1<<21) + `","t":"y"}`, true},
	} {
		w, err := s.Create(t.Context(), artifact.Spec{Owner: owner, Format: chat.FormatRows, Columns: c.columns})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := w.WriteRow([]byte(c.row)); err != nil {
				t.Fatal(name, err)
			}
		}
		m, err := w.Commit()
		if err != nil {
			t.Fatal(err)
		}
		q := artifact.Query{}
		for n := 0; ; n++ {
			p, err := s.Query(t.Context(), owner, m.ID, q)
			if err != nil {
				t.Fatal(name, err)
			}
			if len(p.Rows) != 1 {
				t.Fatalf("%s: page %d has %d rows", name, n, len(p.Rows))
			}
			row := p.Rows[0]
			if len(row)+1 > artifact.MaxPageBytes || !utf8.Valid(row) || !json.Valid(row) {
				t.Errorf("%s: a row of %d bytes", name, len(row))
			}
			if cut := strings.Contains(string(row), " characters, cut)"); cut != c.cut {
				t.Errorf("%s: cut %t", name, cut)
			}
			if c.cut && len(row) < artifact.MaxPageBytes/2 {
				t.Errorf("%s: only %d bytes are left", name, len(row))
			}
			if q.Cursor = p.Next; p.EOF {
				if n != 2 {
					t.Errorf("%s: %d pages", name, n+1)
				}
				break
			}
		}
		if c.columns != nil && c.cut { // what is small stays as it is
			p, err := s.Read(t.Context(), owner, m.ID, artifact.Request{Columns: []string{"n"}})
			if err != nil || len(p.Rows) != 3 {
				t.Fatalf("%s: %d rows, %v", name, len(p.Rows), err)
			}
			var cells []json.RawMessage
			full, err := s.Read(t.Context(), owner, m.ID, artifact.Request{})
			if err != nil || json.Unmarshal(full.Rows[0], &cells) != nil || fmt.Sprintf("[%s]", cells[0]) != string(p.Rows[0]) {
				t.Errorf("%s: the small cell is %s, %v", name, cells[0], err)
			}
		}
	}
}
