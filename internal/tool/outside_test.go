package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/tool"
)

func TestFromSchema(t *testing.T) {
	for _, tt := range []struct{ name, schema, fits, misfit string }{
		{"of draft 7", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993}}}`, `{"n":9007199254740993}`, `{"n":9007199254740994}`},
		{"referring to itself", `{"type":"object","properties":{"n":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}`, `{"n":"a"}`, `{"n":1}`},
		{"with a pattern that Go cannot read", `{"type":"object","properties":{"n":{"type":"string","pattern":"^(?!x)"}}}`, `{"n":"x"}`, `{"n":1}`},
		{"with nothing given", `{"type":"object"}`, ``, `[]`},
	} {
		ran := 0
		x, err := tool.FromSchema(tool.Tool{Name: "x", Schema: json.RawMessage(tt.schema)}, func(tool.Call) (tool.Bound, error) {
			ran++
			return tool.Bound{Risk: tool.Read}, nil
		})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		bind := func(args string) error {
			_, err := x.Bind(tool.Call{ToolCall: chat.ToolCall{Args: json.RawMessage(args)}})
			return err
		}
		if err := bind(tt.fits); err != nil || ran != 1 {
			t.Errorf("%s: %s: %v", tt.name, tt.fits, err)
		}
		if err := bind(tt.misfit); fault.KindOf(err) != fault.Invalid || ran != 1 {
			t.Errorf("%s: %s: %v, bound %d times", tt.name, tt.misfit, err, ran)
		}
	}
}

func TestFromSchemaRefuses(t *testing.T) {
	for _, schema := range []string{
		``, `{`, `{"type":5}`, `{"type":"object","properties":{"a":{"$ref":"file:///etc/hostname"}}}`, `{"type":"object","properties":{"a":{"$ref":"other.json"}}}`,
		`{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:1/x"}}}`, `{"$schema":"http://127.0.0.1:1/mine","type":"object"}`,
	} {
		_, err := tool.FromSchema(tool.Tool{Name: "x", Schema: json.RawMessage(schema)}, nil)
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v, want Invalid", schema, err)
		}
	}
}

func TestWith(t *testing.T) {
	own, err := tool.NewSet(tool.Tool{Name: "a"}, tool.Tool{Name: "b"})
	if err != nil {
		t.Fatal(err)
	}
	both := own.With(tool.Tool{Name: "c"}, tool.Tool{Name: "a", Description: "another"}, tool.Tool{Name: "größe"}, tool.Tool{Name: strings.Repeat("x", 65)}, tool.Tool{Name: strings.Repeat("x", 64)})
	var names []string
	for _, x := range both.All() {
		names = append(names, x.Name)
	}
	if got, want := strings.Join(names, " "), "a b c "+strings.Repeat("x", 64); got != want {
		t.Errorf("tools %s, want %s", got, want)
	}
	if x, _ := both.Find("a"); x.Description != "" {
		t.Error("a tool from outside took the place of ours")
	}
	if len(own.All()) != 2 {
		t.Error("the set itself changed")
	}
	if _, ok := (tool.Set{}).With().Find("a"); ok {
		t.Error("the empty set has a tool")
	}
}
