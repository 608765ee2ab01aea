package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/tool"
)

type in struct {
	ID    int64    `json:"id" jsonschema:"required,description=Number of the thing"`
	Sort  string   `json:"sort,omitempty" jsonschema:"enum=title,enum=changed"`
	Names []string `json:"names,omitempty" jsonschema:"maxItems=2"`
}

func make1(got *in) tool.Tool {
	return tool.New(tool.Tool{Name: "thing", Risk: tool.Read}, func(_ tool.Call, i in) (tool.Bound, error) {
		*got = i
		return tool.Bound{Risk: tool.Read, Run: func(context.Context) (tool.Result, error) { return tool.Result{}, nil }}, nil
	})
}

func TestBind(t *testing.T) {
	for _, tt := range []struct {
		name, args string
		pointers   []string // of the fields that are named; nil: it fits
	}{
		{"fits", `{"id":1,"sort":"title"}`, nil},
		{"beyond 2^53 stays exact", `{"id":9007199254740993}`, nil},
		{"the most that is allowed", `{"id":1,"names":["a","b"]}`, nil},
		{"one more", `{"id":1,"names":["a","b","c"]}`, []string{"/names"}},
		{"nothing", ``, []string{""}},
		{"a missing one", `{}`, []string{""}},
		{"an unknown one", `{"id":1,"colour":"red"}`, []string{""}},
		{"a wrong type", `{"id":"1"}`, []string{"/id"}},
		{"a wrong value", `{"id":1,"sort":"size"}`, []string{"/sort"}},
		{"two at once", `{"id":"1","sort":"size"}`, []string{"/id", "/sort"}},
		{"no object", `[1]`, []string{""}},
		{"half an object", `{"id":1`, []string{}},
		{"two objects", `{"id":1}{"id":2}`, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got in
			_, err := make1(&got).Bind(tool.Call{ToolCall: chat.ToolCall{Name: "thing", Args: json.RawMessage(tt.args)}})
			if tt.pointers == nil {
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(tt.args, "9007199254740993") && got.ID != 9007199254740993 {
					t.Errorf("the number became %d", got.ID)
				}
				return
			}
			if fault.KindOf(err) != fault.Invalid {
				t.Fatalf("got %v, want an invalid error", err)
			}
			e, _ := errors.AsType[*fault.Error](err)
			for _, p := range tt.pointers {
				found := false
				for _, f := range e.Fields {
					found = found || f.Pointer == p && f.Detail != ""
				}
				if !found {
					t.Errorf("names %v, want %q among them", e.Fields, p)
				}
			}
		})
	}
}

func TestSchemaIsStrict(t *testing.T) {
	var got in
	var s struct {
		Type       string                     `json:"type"`
		More       *bool                      `json:"additionalProperties"`
		Required   []string                   `json:"required"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(make1(&got).Schema, &s); err != nil {
		t.Fatal(err)
	}
	if s.Type != "object" || s.More == nil || *s.More || len(s.Required) != 1 || len(s.Properties) != 3 {
		t.Errorf("schema %s", make1(&got).Schema)
	}
}

func TestSet(t *testing.T) {
	a, b := tool.Tool{Name: "a"}, tool.Tool{Name: "b"}
	s, err := tool.NewSet(b, a)
	if err != nil || len(s.All()) != 2 || s.All()[0].Name != "b" {
		t.Fatalf("%v, %v", s.All(), err)
	}
	if _, ok := s.Find("a"); !ok {
		t.Error("a is not found")
	}
	if _, ok := s.Find("c"); ok {
		t.Error("c is found")
	}
	if _, ok := (tool.Set{}).Find("a"); ok {
		t.Error("the zero set has a tool")
	}
	for _, bad := range [][]tool.Tool{{a, a}, {{Name: ""}}, {{Name: "with space"}}, {{Name: strings.Repeat("x", 65)}}} {
		if _, err := tool.NewSet(bad...); err == nil {
			t.Errorf("%v was taken", bad[0].Name)
		}
	}
	if _, err := tool.NewSet(tool.Tool{Name: strings.Repeat("x", 64)}); err != nil {
		t.Error(err)
	}
}

func TestZeroRiskIsDangerous(t *testing.T) {
	if (tool.Risk("")).Level() != tool.Dangerous.Level() || !tool.Risk("").Writes() || !tool.Risk("whatever").Writes() {
		t.Error("a risk that nobody declared must count as dangerous")
	}
	if tool.Read.Writes() || tool.Query.Writes() || !(tool.Read.Level() < tool.Query.Level() && tool.Query.Level() < tool.Write.Level()) {
		t.Error("the risks are out of order")
	}
}

// FuzzBind: whatever a model sends is refused as invalid or decodes; nothing else comes of it.
func FuzzBind(f *testing.F) {
	for _, s := range []string{`{"id":1}`, `{"id":1e400}`, `{"id":1,"id":2}`, `{"id":"\ud800"}`, `[`, `{"names":[[[[]]]]}`, "\x00", `{"id":-0.0}`} {
		f.Add(s)
	}
	var got in
	tl := make1(&got)
	f.Fuzz(func(t *testing.T, args string) {
		if _, err := tl.Bind(tool.Call{ToolCall: chat.ToolCall{Name: "thing", Args: json.RawMessage(args)}}); err != nil && fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v is %s", args, err, fault.KindOf(err))
		}
	})
}
