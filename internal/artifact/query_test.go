package artifact_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agentd/internal/artifact"
	"agentd/internal/artifact/artifacttest"
	"agentd/internal/chat"
	"agentd/internal/fault"

	"github.com/google/go-cmp/cmp"
	"gocloud.dev/blob/memblob"
)

// sales are rows to be asked about.
var sales = []string{
	`["north","ann",10,"2026-01-01"]`, `["south","bob",9007199254740993,null]`, `["north","Bob",9007199254740992,"2026-02-01"]`,
	`["south",null,0.1,"2026-03-01"]`, `["north","cy",0.2,"2026-01-15"]`, `["west","dee",null,"2026-01-01"]`, `["west","eva","n/a","x"]`,
}

func stored(t *testing.T, s *artifact.Store, lines []string) string {
	t.Helper()
	w, err := s.Create(t.Context(), artifact.Spec{Owner: owner, Format: chat.FormatRows,
		Columns: []chat.Column{{Name: "region"}, {Name: "who"}, {Name: "amount"}, {Name: "day"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if err := w.WriteRow([]byte(l)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	return m.ID
}

func ask(t *testing.T, s *artifact.Store, id string, q artifact.Query) string {
	t.Helper()
	p, err := s.Query(t.Context(), owner, id, q)
	if err != nil {
		t.Fatal(err)
	}
	return joined(p.Rows)
}

func joined(rows []json.RawMessage) string {
	var out []string
	for _, r := range rows {
		out = append(out, string(r))
	}
	return strings.Join(out, " ")
}

func TestFilter(t *testing.T) {
	s := artifact.New(artifacttest.NewIndex(), openDir(t), artifact.Options{})
	id := stored(t, s, sales)
	for _, c := range []struct {
		filter []artifact.Condition
		want   string
	}{
		{[]artifact.Condition{{Column: "region", Op: "eq", Value: "north"}}, `["ann"] ["Bob"] ["cy"]`},
		{[]artifact.Condition{{Column: "region", Op: "ne", Value: "north"}, {Column: "who", Op: "not_null"}}, `["bob"] ["dee"] ["eva"]`},
		{[]artifact.Condition{{Column: "who", Op: "is_null"}}, `[null]`},
		{[]artifact.Condition{{Column: "who", Op: "contains", Value: "BO"}}, `["bob"] ["Bob"]`},
		{[]artifact.Condition{{Column: "amount", Op: "eq", Value: "10.0"}}, `["ann"]`},
		{[]artifact.Condition{{Column: "amount", Op: "gt", Value: "9007199254740992"}}, `["bob"] ["eva"]`}, // a text is compared as text
		{[]artifact.Condition{{Column: "amount", Op: "lt", Value: "0.2"}}, `[null]`},
		{[]artifact.Condition{{Column: "day", Op: "ge", Value: "2026-02"}}, `["Bob"] [null] ["eva"]`},
		{[]artifact.Condition{{Column: "amount", Op: "le", Value: "1e1"}}, `["ann"] [null] ["cy"]`},
		{[]artifact.Condition{{Column: "region", Op: "eq", Value: "nowhere"}}, ``},
	} {
		got := ask(t, s, id, artifact.Query{Request: artifact.Request{Columns: []string{"who"}}, Filter: c.filter})
		if got != c.want {
			t.Errorf("%v: got %s, want %s", c.filter, got, c.want)
		}
	}
}

func TestFilterPageByPage(t *testing.T) {
	s := artifact.New(artifacttest.NewIndex(), openDir(t), artifact.Options{})
	id := stored(t, s, sales)
	q := artifact.Query{Request: artifact.Request{Columns: []string{"who"}, Limit: 1}, Filter: []artifact.Condition{{Column: "region", Op: "eq", Value: "north"}}}
	var got []string
	for range 10 {
		p, err := s.Query(t.Context(), owner, id, q)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, joined(p.Rows))
		if q.Cursor = p.Next; p.EOF {
			break
		}
	}
	if diff := cmp.Diff([]string{`["ann"]`, `["Bob"]`, `["cy"]`}, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

func TestSort(t *testing.T) {
	s := artifact.New(artifacttest.NewIndex(), openDir(t), artifact.Options{})
	id := stored(t, s, sales)
	for _, c := range []struct {
		sort []artifact.Order
		want string
	}{
		{[]artifact.Order{{Column: "amount"}}, `[0.1] [0.2] [10] [9007199254740992] [9007199254740993] ["n/a"] [null]`},
		{[]artifact.Order{{Column: "amount", Desc: true}}, `["n/a"] [9007199254740993] [9007199254740992] [10] [0.2] [0.1] [null]`},
		{[]artifact.Order{{Column: "region"}, {Column: "amount", Desc: true}}, `[9007199254740992] [10] [0.2] [9007199254740993] [0.1] ["n/a"] [null]`},
	} {
		all := ask(t, s, id, artifact.Query{Request: artifact.Request{Columns: []string{"amount"}}, Sort: c.sort})
		if all != c.want {
			t.Errorf("%v:\ngot  %s\nwant %s", c.sort, all, c.want)
		}
		q := artifact.Query{Request: artifact.Request{Columns: []string{"amount"}, Limit: 2}, Sort: c.sort}
		var pages []string
		for {
			p, err := s.Query(t.Context(), owner, id, q)
			if err != nil {
				t.Fatal(err)
			}
			pages = append(pages, joined(p.Rows))
			if q.Cursor = p.Next; p.EOF {
				break
			}
		}
		if got := strings.Join(pages, " "); got != c.want || len(pages) != 4 {
			t.Errorf("%v in %d pages: %s", c.sort, len(pages), got)
		}
	}
}

func TestAggregate(t *testing.T) {
	s := artifact.New(artifacttest.NewIndex(), openDir(t), artifact.Options{})
	id := stored(t, s, sales)
	for _, c := range []struct {
		a      artifact.Aggregate
		filter []artifact.Condition
		want   string
	}{
		{artifact.Aggregate{Values: []artifact.Value{{Fn: "count"}, {Fn: "count", Column: "who"}, {Fn: "count_distinct", Column: "region"}}}, nil, `[7,6,3]`},
		{artifact.Aggregate{GroupBy: []string{"region"}, Values: []artifact.Value{{Fn: "sum", Column: "amount"}, {Fn: "avg", Column: "amount"}, {Fn: "min", Column: "day"}, {Fn: "max", Column: "who"}}}, nil,
			`["north",9007199254741002.2,3002399751580334.06666666666666666667,"2026-01-01","cy"] ["south",9007199254740993.1,4503599627370496.55,"2026-03-01","bob"] ["west",null,null,"2026-01-01","eva"]`},
		{artifact.Aggregate{Values: []artifact.Value{{Fn: "count"}, {Fn: "sum", Column: "amount"}}}, []artifact.Condition{{Column: "region", Op: "eq", Value: "nowhere"}}, `[0,null]`},
	} {
		if got := ask(t, s, id, artifact.Query{Aggregate: &c.a, Filter: c.filter}); got != c.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", c.a, got, c.want)
		}
	}
	big := stored(t, s, []string{`["a","b",1e999999999,null]`})
	_, err := s.Query(t.Context(), owner, big, artifact.Query{Aggregate: &artifact.Aggregate{Values: []artifact.Value{{Fn: "sum", Column: "amount"}}}})
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("a number that would fill the memory: %v", err)
	}
}

func TestAQueryThatMakesNoSense(t *testing.T) {
	s := artifact.New(artifacttest.NewIndex(), openDir(t), artifact.Options{})
	id := stored(t, s, sales)
	var groups []string
	for i := range 10_001 {
		groups = append(groups, fmt.Sprintf(`["r%d","x",1,null]`, i))
	}
	many := stored(t, s, groups)
	count := []artifact.Value{{Fn: "count"}}
	for name, c := range map[string]struct {
		id   string
		q    artifact.Query
		code string
	}{
		"column":      {id, artifact.Query{Filter: []artifact.Condition{{Column: "nope", Op: "eq"}}}, "columns"},
		"comparison":  {id, artifact.Query{Filter: []artifact.Condition{{Column: "who", Op: "like"}}}, "query"},
		"sort column": {id, artifact.Query{Sort: []artifact.Order{{Column: "nope"}}}, "columns"},
		"four sorts":  {id, artifact.Query{Sort: make([]artifact.Order, 4)}, "query"},
		"no values":   {id, artifact.Query{Aggregate: &artifact.Aggregate{}}, "query"},
		"function":    {id, artifact.Query{Aggregate: &artifact.Aggregate{Values: []artifact.Value{{Fn: "median", Column: "who"}}}}, "query"},
		"sum of none": {id, artifact.Query{Aggregate: &artifact.Aggregate{Values: []artifact.Value{{Fn: "sum"}}}}, "columns"},
		"group":       {id, artifact.Query{Aggregate: &artifact.Aggregate{GroupBy: []string{"nope"}, Values: count}}, "columns"},
		"many groups": {many, artifact.Query{Aggregate: &artifact.Aggregate{GroupBy: []string{"region"}, Values: count}}, "query"},
		"projection":  {id, artifact.Query{Request: artifact.Request{Columns: []string{"nope"}}, Filter: []artifact.Condition{{Column: "who", Op: "is_null"}}}, "columns"},
	} {
		_, err := s.Query(t.Context(), owner, c.id, c.q)
		if fault.KindOf(err) != fault.Invalid || fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v (%s)", name, err, fault.CodeOf(err))
		}
	}
	_, err := s.Query(t.Context(), artifact.Owner{User: "bob", Conversation: "c1"}, id, artifact.Query{Aggregate: &artifact.Aggregate{Values: count}})
	if fault.KindOf(err) != fault.Missing {
		t.Errorf("a stranger: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Query(ctx, owner, many, artifact.Query{Aggregate: &artifact.Aggregate{Values: count}}); err == nil {
		t.Error("a cancelled query went on")
	}
}

func TestABackendWithoutCapabilities(t *testing.T) {
	far := artifact.New(artifacttest.NewIndex(), artifact.NewBucket(memblob.OpenBucket(nil)), artifact.Options{})
	id := stored(t, far, sales)
	near := artifact.New(artifacttest.NewIndex(), openDir(t), artifact.Options{})
	w, err := near.Create(t.Context(), artifact.Spec{Owner: owner, Format: chat.FormatText})
	if err != nil {
		t.Fatal(err)
	}
	text, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s  *artifact.Store
		id string
	}{{far, id}, {near, text.ID}} {
		for _, q := range []artifact.Query{
			{Filter: []artifact.Condition{{Column: "who", Op: "is_null"}}}, {Sort: []artifact.Order{{Column: "who"}}},
			{Aggregate: &artifact.Aggregate{Values: []artifact.Value{{Fn: "count"}}}},
		} {
			if _, err := c.s.Query(t.Context(), owner, c.id, q); fault.CodeOf(err) != "unsupported_capability" {
				t.Errorf("%+v: %v", q, err)
			}
		}
		if _, err := c.s.Query(t.Context(), owner, c.id, artifact.Query{}); err != nil {
			t.Errorf("reading in order: %v", err)
		}
	}
}
