package artifact_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentd/internal/artifact"
	"agentd/internal/artifact/artifacttest"
	"agentd/internal/fault"
)

func TestLargestGroups(t *testing.T) {
	s := artifact.New(artifacttest.NewIndex(), openDir(t), artifact.Options{})
	var lines []string
	for i := range 100 {
		lines = append(lines, fmt.Sprintf(`["r%02d","x",%d,null]`, i%20, i))
	}
	id := stored(t, s, append(lines, `["r07","x",9007199254740993,null]`, `["none","x",null,null]`))
	a := &artifact.Aggregate{GroupBy: []string{"region"}, Values: []artifact.Value{{Fn: "sum", Column: "amount"}, {Fn: "count"}}}
	for _, c := range []struct {
		sort []artifact.Order
		want string
	}{
		{[]artifact.Order{{Column: "sum(amount)", Desc: true}}, `["r07",9007199254741228,6] ["r19",295,5] ["r18",290,5]`},
		{[]artifact.Order{{Column: "sum(amount)"}}, `["r00",200,5] ["r01",205,5] ["r02",210,5]`},
		{[]artifact.Order{{Column: "count()"}, {Column: "region", Desc: true}}, `["none",null,1] ["r19",295,5] ["r18",290,5]`},
		{[]artifact.Order{{Column: "count", Desc: true}, {Column: "region"}}, `["r07",9007199254741228,6] ["r00",200,5] ["r01",205,5]`},
	} {
		q := artifact.Query{Request: artifact.Request{Limit: 3}, Sort: c.sort, Aggregate: a}
		if got := ask(t, s, id, q); got != c.want {
			t.Errorf("%v:\ngot  %s\nwant %s", c.sort, got, c.want)
		}
		n := 0
		var last string
		for {
			p, err := s.Query(t.Context(), owner, id, q)
			if err != nil {
				t.Fatal(err)
			}
			n += len(p.Rows)
			last = string(p.Rows[len(p.Rows)-1])
			if q.Cursor = p.Next; p.EOF {
				break
			}
		}
		if n != 21 {
			t.Errorf("%v: %d groups on all pages", c.sort, n)
		}
		if strings.HasPrefix(c.sort[0].Column, "sum") && last != `["none",null,1]` { // nulls last, both ways
			t.Errorf("%v: the last group is %s", c.sort, last)
		}
	}
	_, err := s.Query(t.Context(), owner, id, artifact.Query{Sort: []artifact.Order{{Column: "amount"}}, Aggregate: a})
	if fault.CodeOf(err) != "columns" || !strings.Contains(fault.Message(err), "region, sum(amount), count()") {
		t.Errorf("a column that is no group's: %v", err)
	}
}

// Equal values are one value, however they were written.
func TestEqualCells(t *testing.T) {
	s := artifact.New(artifacttest.NewIndex(), openDir(t), artifact.Options{})
	id := stored(t, s, []string{
		`["é","Ä",1,null]`, `["\u00e9","ä",1.0,null]`, `["e\u0301","👍",10e-1,null]`, `["é","\ud83d\udc4d",0,null]`, `["é","",-0,null]`,
		`["1","x",0.10,null]`, `[1,"x",9007199254740993,null]`, `[1.00,"x",9007199254740992,null]`, `[null,"x",true,null]`,
	})
	for _, c := range []struct {
		a      artifact.Aggregate
		filter []artifact.Condition
		want   string
	}{
		{artifact.Aggregate{GroupBy: []string{"region"}, Values: []artifact.Value{{Fn: "count"}}}, nil,
			`["é",4] ["e\u0301",1] ["1",1] [1,2] [null,1]`}, // a letter and its parts are not the same text, as in SQL
		{artifact.Aggregate{Values: []artifact.Value{{Fn: "count_distinct", Column: "amount"}, {Fn: "count_distinct", Column: "who"}, {Fn: "count", Column: "amount"}}}, nil, `[6,5,9]`},
		{artifact.Aggregate{Values: []artifact.Value{{Fn: "min", Column: "amount"}, {Fn: "max", Column: "amount"}, {Fn: "sum", Column: "amount"}}}, nil,
			`[0,true,18014398509481988.1]`}, // the order of a sort: numbers, texts, anything else
		{artifact.Aggregate{Values: []artifact.Value{{Fn: "count"}, {Fn: "max", Column: "amount"}}}, []artifact.Condition{{Column: "region", Op: "eq", Value: "é"}}, `[4,1]`},
		{artifact.Aggregate{Values: []artifact.Value{{Fn: "count"}}}, []artifact.Condition{{Column: "who", Op: "contains", Value: "ä"}}, `[2]`},
		{artifact.Aggregate{Values: []artifact.Value{{Fn: "count"}}}, []artifact.Condition{{Column: "who", Op: "eq", Value: "👍"}}, `[2]`},
		{artifact.Aggregate{Values: []artifact.Value{{Fn: "count"}}}, []artifact.Condition{{Column: "who", Op: "eq", Value: ""}}, `[1]`},
	} {
		if got := ask(t, s, id, artifact.Query{Aggregate: &c.a, Filter: c.filter}); got != c.want {
			t.Errorf("%+v %v:\ngot  %s\nwant %s", c.a, c.filter, got, c.want)
		}
	}
	none := stored(t, s, nil)
	count := &artifact.Aggregate{Values: []artifact.Value{{Fn: "count"}, {Fn: "sum", Column: "amount"}, {Fn: "min", Column: "who"}, {Fn: "count_distinct", Column: "who"}, {Fn: "avg", Column: "amount"}}}
	for name, c := range map[string]struct {
		q    artifact.Query
		want string
	}{
		"all of nothing":    {artifact.Query{Aggregate: count}, `[0,null,null,0,null]`},
		"groups of nothing": {artifact.Query{Aggregate: &artifact.Aggregate{GroupBy: []string{"who"}, Values: count.Values}}, ``},
		"nothing, sorted":   {artifact.Query{Sort: []artifact.Order{{Column: "who"}}}, ``},
		"nothing, filtered": {artifact.Query{Filter: []artifact.Condition{{Column: "who", Op: "is_null"}}}, ``},
	} {
		if got := ask(t, s, none, c.q); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// A cursor counts where it was given: for this artifact, and for what was asked of it.
func TestACursorIsBoundToItsQuery(t *testing.T) {
	s := artifact.New(artifacttest.NewIndex(), openDir(t), artifact.Options{})
	id, other := stored(t, s, sales), stored(t, s, sales)
	north := []artifact.Condition{{Column: "region", Op: "ne", Value: "nowhere"}}
	queries := []artifact.Query{
		{},
		{Filter: north},
		{Filter: []artifact.Condition{{Column: "region", Op: "ne", Value: "Nowhere"}}},
		{Filter: slices.Concat(north, north)},
		{Sort: []artifact.Order{{Column: "who"}}},
		{Sort: []artifact.Order{{Column: "who", Desc: true}}},
		{Sort: []artifact.Order{{Column: "who"}}, Filter: north},
		{Aggregate: &artifact.Aggregate{GroupBy: []string{"region"}, Values: []artifact.Value{{Fn: "count"}}}},
		{Aggregate: &artifact.Aggregate{GroupBy: []string{"region"}, Values: []artifact.Value{{Fn: "count", Column: "who"}}}},
		{Aggregate: &artifact.Aggregate{GroupBy: []string{"who"}, Values: []artifact.Value{{Fn: "count"}}}},
	}
	for i, q := range queries {
		q.Limit = 1
		p, err := s.Query(t.Context(), owner, id, q)
		if err != nil || p.Next == "" {
			t.Fatalf("query %d: %v", i, err)
		}
		for j, with := range queries {
			with.Limit, with.Cursor = 2, p.Next // how much, and which columns, may change
			if with.Aggregate == nil {
				with.Columns = []string{"who"}
			}
			_, err := s.Query(t.Context(), owner, id, with)
			if i == j && err != nil || i != j && fault.CodeOf(err) != "cursor" {
				t.Errorf("the cursor of query %d with query %d: %v", i, j, err)
			}
			if _, err := s.Query(t.Context(), owner, other, with); fault.CodeOf(err) != "cursor" {
				t.Errorf("the cursor of query %d with another artifact: %v", i, err)
			}
			if _, err := s.Query(t.Context(), artifact.Owner{User: "bob", Conversation: "c1"}, id, with); fault.KindOf(err) != fault.Missing {
				t.Errorf("the cursor of query %d with another user: %v", i, err)
			}
		}
	}
}
