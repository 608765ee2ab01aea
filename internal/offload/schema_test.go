package offload_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/offload"
	"agentd/internal/tool"

	"github.com/google/go-cmp/cmp"
)

// outside is a schema as servers write them: with definitions, optional values, tuples and branches.
const outside = `{"type":"object","additionalProperties":false,"required":["request","wide"],"$defs":{` +
	`"Req":{"type":"object","additionalProperties":false,"required":["data","name"],"properties":{` +
	`"name":{"type":"string"},"data":{"type":"array","items":{"$ref":"#/$defs/Row"}},"next":{"$ref":"#/$defs/Req"}}},` +
	`"Row":{"type":"object"},"Pair~/x y":{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}]}},` +
	`"properties":{"request":{"$ref":"#/$defs/Req"},` +
	`"wide":{"anyOf":[{"type":"array","items":{"type":"array"}},{"type":"null"}]},` +
	`"maybe":{"type":["array","null"]},` +
	`"pairs":{"type":"array","items":{"$ref":"#/$defs/Pair~0~1x%20y"}},` +
	`"both":{"type":"array","items":{"anyOf":[{"type":"array"},{"type":"object"}]}},` +
	`"ids":{"type":"array","items":{"type":"integer"}},` +
	`"kinds":{"oneOf":[{"type":"string"},{"type":"array","items":{"enum":["a","b"]}}]},` +
	`"any":{"oneOf":[{"type":"object"},{"type":"array"}]},` +
	`"tuple":{"prefixItems":[{"type":"object"},{"type":"array"}]},` +
	`"map":{"properties":{"k":{"type":"string"}}},` +
	`"free":{},"yes":true,"json":{"type":"string","contentMediaType":"application/json"},"n":{"type":"integer"},` +
	`"image":{"type":"object"},"image_uri":{"type":"string"},"a.b":{"type":"array"},` +
	`"` + longName + `":{"type":"array"},` +
	`"elsewhere":{"$ref":"#/$defs/nope"},"loop":{"$ref":"#/properties/loop"},"foreign":{"$ref":"other.json#/x"}}}`

// longName leaves no room for the suffix within what providers take.
const longName = "x23456789_123456789_123456789_123456789_123456789_123456789_1"

func TestReferableOfSchemasFromOutside(t *testing.T) {
	want := []string{
		"request", "request.data", "request.next", "request.next.data", "request.next.next", "request.next.next.data", "request.next.next.next",
		"wide", "maybe", "pairs", "both", "ids", "kinds", "any", "tuple", "map",
	}
	if diff := cmp.Diff(want, offload.Referable(json.RawMessage(outside))); diff != "" {
		t.Errorf("referable (-want +got):\n%s", diff)
	}
	for _, schema := range []string{``, `{`, `[]`, `{"type":"object"}`, `{"properties":[]}`, `{"properties":{"a":{"type":"array"},"a":{}}}`, strings.Repeat(`{"properties":`, 9999)} {
		if got := offload.Referable(json.RawMessage(schema)); len(got) != 0 {
			t.Errorf("%.40s: %v", schema, got)
		}
	}
	var many strings.Builder
	many.WriteString(`{"properties":{"x":{}`)
	for i := range 300 {
		many.WriteString(`,"a` + strings.Repeat("b", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26)) + `":{"type":"array"}`)
	}
	many.WriteString(`}}`)
	if got := offload.Referable(json.RawMessage(many.String())); len(got) != 100 {
		t.Errorf("%d arguments of one tool, want 100 at most", len(got))
	}
}

// all is a tool from outside whose arguments all opt in.
func all(schema string) tool.Tool {
	return tool.Tool{Name: "out", Schema: json.RawMessage(schema), References: offload.Referable(json.RawMessage(schema))}
}

// TestShownSchemaFromOutside: whatever is said of an argument in whichever place, what the model is shown lets it pass
// a reference instead, and lets it pass the value as before.
func TestShownSchemaFromOutside(t *testing.T) {
	b := newRefBench(t, offload.ReferenceOptions{})
	out := all(outside)
	tools, err := b.refs.Shown([]tool.Tool{out})
	if err != nil {
		t.Fatal(err)
	}
	shown := check(t, usable(tools[0].Schema))
	for args, fits := range map[string]bool{
		`{"request":{"name":"x","data":[{}]},"wide":[[1]]}`:                         true,
		`{"request":{"name":"x","data_uri":"u"},"wide_uri":"u"}`:                    true,
		`{"request":{"name":"x","next":{"name":"y","data_uri":"u"}},"wide_uri":""}`: true,
		`{"request_uri":"u"}`: true, `{"ids_uri":"u","pairs_uri":"u"}`: true,
		`{"ids_uri":["u"]}`:            false, // one of them is what is asked for, though a list is understood
		`{"request":{"data_uri":"u"}}`: false, // name is required as before
		`{"n_uri":"u"}`:                false,
		`{"a.b_uri":"u"}`:              false,
		`{"json_uri":"u"}`:             false,
	} {
		if err := shown(args); (err == nil) != fits {
			t.Errorf("%s: %v, want it to fit: %v", args, err, fits)
		}
	}
	if n := strings.Count(string(tools[0].Schema), `"data_uri"`); n != 1 {
		t.Errorf("a definition was changed %d times", n)
	}
	if n := strings.Count(string(tools[0].Schema), `"image_uri"`); n != 1 || !strings.Contains(string(tools[0].Schema), `"image_uri":{"type":"string"}`) {
		t.Error("the tool's own argument was changed")
	}
}

// usable takes out what no validator follows.
func usable(schema json.RawMessage) json.RawMessage {
	return json.RawMessage(strings.NewReplacer(`{"$ref":"#/$defs/nope"}`, `{}`, `{"$ref":"other.json#/x"}`, `{}`).Replace(string(schema)))
}

// check compiles a schema as a model's provider would.
func check(t *testing.T, schema json.RawMessage) func(args string) error {
	t.Helper()
	made, err := tool.FromSchema(tool.Tool{Name: "out", Schema: schema}, func(tool.Call) (tool.Bound, error) { return tool.Bound{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	return func(args string) error {
		_, err := made.Bind(tool.Call{ToolCall: chat.ToolCall{Args: json.RawMessage(args)}})
		return err
	}
}

// TestShapesFromOutside: rows come as the schema of the argument asks.
func TestShapesFromOutside(t *testing.T) {
	b := newRefBench(t, offload.ReferenceOptions{})
	refs, err := offload.NewReferences(b.store, []tool.Tool{all(outside)}, offload.ReferenceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 300)
	table := b.bound(tool.Result{Rows: &tool.Table{Columns: []chat.Column{{Name: "b"}, {Name: "a"}}, Rows: []json.RawMessage{json.RawMessage(`[1,"` + long + `"]`)}}}).Artifact.ID
	one := b.bound(tool.Result{Rows: &tool.Table{Columns: []chat.Column{{Name: "id"}}, Rows: []json.RawMessage{json.RawMessage(`[9007199254740993]`), json.RawMessage(`["` + long + `"]`)}}}).Artifact.ID
	items := b.bound(tool.Result{Data: json.RawMessage(`[{"b":1,"a":"` + long + `"},{"a":null,"c":[1]}]`)}).Artifact.ID
	single := b.bound(tool.Result{Data: json.RawMessage(`[{"id":7},{"id":"` + long + `"}]`)}).Artifact.ID
	keyed, positional := `[{"b":1,"a":"`+long+`"}]`, `[[1,"`+long+`"]]`
	asItems := `[{"b":1,"a":"` + long + `"},{"a":null,"c":[1]}]`
	for _, row := range []struct{ name, id, args, want string }{
		{"a definition's items are objects", table, `{"request":{"data_uri":"%"}}`, `{"request":{"data":` + keyed + `}}`},
		{"below a definition in itself", table, `{"request":{"next":{"data_uri":"%"}}}`, `{"request":{"next":{"data":` + keyed + `}}}`},
		{"optional arrays of arrays", table, `{"wide_uri":"%"}`, `{"wide":` + positional + `}`},
		{"nothing is asked for", table, `{"maybe_uri":"%"}`, `{"maybe":` + keyed + `}`},
		{"tuples", table, `{"pairs_uri":"%"}`, `{"pairs":` + positional + `}`},
		{"either: objects", table, `{"both_uri":"%"}`, `{"both":` + keyed + `}`},
		{"an object or a list", table, `{"any_uri":"%"}`, `{"any":` + keyed + `}`},
		{"numbers of one column", one, `{"ids_uri":"%"}`, `{"ids":[9007199254740993,"` + long + `"]}`},
		{"texts of one column", one, `{"kinds_uri":"%"}`, `{"kinds":[9007199254740993,"` + long + `"]}`},
		{"numbers of two columns", table, `{"ids_uri":"%"}`, `{"ids":` + keyed + `}`}, // the tool's own check refuses them
		{"items as arrays", items, `{"wide_uri":"%"}`, `{"wide":[[1,"` + long + `",null],[null,null,[1]]]}`},
		{"items as they were", items, `{"both_uri":"%"}`, `{"both":` + asItems + `}`},
		{"items with one member", single, `{"ids_uri":"%"}`, `{"ids":[7,"` + long + `"]}`},
		{"the tool's own argument", table, `{"image_uri":"%"}`, `{"image_uri":"%"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := call("out")
			c.Args = json.RawMessage(strings.ReplaceAll(row.args, "%", offload.URI(row.id)))
			got, err := refs.Resolve(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.ReplaceAll(row.want, "%", offload.URI(row.id)), string(got.Args)); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
	// What was retyped is counted where it is rows; a list of ids is none.
	for args, refused := range map[string]bool{
		`{"ids":` + numbers(50) + `}`: false, `{"kinds":` + numbers(50) + `}`: false, `{"any":` + numbers(21) + `}`: true, `{"wide":` + numbers(21) + `}`: true,
		`{"request":{"data":` + numbers(21) + `}}`: true, `{"request":{"next":{"data":` + numbers(20) + `}}}`: false,
	} {
		c := call("out")
		c.Args = json.RawMessage(args)
		if _, err := refs.Resolve(t.Context(), c); (fault.CodeOf(err) == "inline_rows") != refused {
			t.Errorf("%.40s: %v", args, err)
		}
	}
}

func numbers(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]" }

// TestHostileSchema: a schema that refers to itself in every way costs no more than its size.
func TestHostileSchema(t *testing.T) {
	branches := strings.TrimSuffix(strings.Repeat(`{"$ref":"#"},`, 4000), ",")
	var props strings.Builder
	for i := range 150 {
		props.WriteString(`"a` + string(rune('a'+i%26)) + string(rune('a'+i/26)) + `":{"$ref":"#"},`)
	}
	schema := `{"type":"object","anyOf":[` + branches + `],"properties":{` + props.String() + `"z":{"type":"array","items":{"$ref":"#"}}}}`
	if got := offload.Referable(json.RawMessage(schema)); len(got) != 100 {
		t.Errorf("%d arguments", len(got))
	}
	b := newRefBench(t, offload.ReferenceOptions{})
	if _, err := b.refs.Shown([]tool.Tool{all(schema)}); err != nil {
		t.Error(err)
	}
}
