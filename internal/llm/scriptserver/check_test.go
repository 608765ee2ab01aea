package scriptserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agentd/internal/llm/scriptserver"
)

type (
	msg  = scriptserver.Message
	past = scriptserver.ToolCall
)

func fn(id, name, args string) past {
	return past{ID: id, Type: "function", Function: scriptserver.Function{Name: name, Arguments: args}}
}

func user(s string) msg { return msg{Role: "user", Content: scriptserver.Text(s)} }
func assistant(s string, c ...past) msg {
	return msg{Role: "assistant", Content: scriptserver.Text(s), ToolCalls: c}
}
func result(id string) msg { return msg{Role: "tool", ToolCallID: id, Content: "r"} }

func TestCheck(t *testing.T) {
	a, b := fn("a", "f", `{}`), fn("b", "g", `{"x":1}`)
	for _, row := range []struct {
		name string
		msgs []msg
		want string
	}{
		{"text only", []msg{{Role: "system", Content: "s"}, user("hi"), assistant("ho"), user("hi")}, ""},
		{"two calls, two answers", []msg{user("hi"), assistant("", a, b), result("a"), result("b"), assistant("done")}, ""},
		{"ends with the answers", []msg{user("hi"), assistant("", a), result("a")}, ""},
		{"nothing", nil, "too short"},
		{"one answer is missing", []msg{user("hi"), assistant("", a, b), result("a")}, "did not have response messages: b"},
		{"a message before the answers", []msg{user("hi"), assistant("", a, b), result("a"), user("well?"), result("b")}, "did not have response messages: b"},
		{"answers in another order", []msg{user("hi"), assistant("", a, b), result("b"), result("a")}, "before the answer to a"},
		{"answered twice", []msg{user("hi"), assistant("", a), result("a"), result("a")}, "must be a response to a preceeding message"},
		{"an orphan", []msg{user("hi"), result("a")}, "must be a response to a preceeding message"},
		{"an answer to an old call", []msg{user("hi"), assistant("", a), result("a"), assistant("ho"), result("a")}, "must be a response to a preceeding message"},
		{"an id used twice", []msg{user("hi"), assistant("", a), result("a"), assistant("", fn("a", "g", `{}`)), result("a")}, "Duplicate value"},
		{"no id", []msg{user("hi"), assistant("", fn("", "f", `{}`)), result("")}, "Missing required parameter"},
		{"an id of 40", []msg{user("hi"), assistant("", fn(strings.Repeat("i", 40), "f", `{}`)), result(strings.Repeat("i", 40))}, ""},
		{"an id of 41", []msg{user("hi"), assistant("", fn(strings.Repeat("i", 41), "f", `{}`)), result(strings.Repeat("i", 41))}, "string too long"},
		{"a name of 64", []msg{user("hi"), assistant("", fn("a", strings.Repeat("f", 64), `{}`)), result("a")}, ""},
		{"a name of 65", []msg{user("hi"), assistant("", fn("a", strings.Repeat("f", 65), `{}`)), result("a")}, "does not match pattern"},
		{"a name with a dot", []msg{user("hi"), assistant("", fn("a", "x.f", `{}`)), result("a")}, "does not match pattern"},
		{"no type", []msg{user("hi"), assistant("", past{ID: "a", Function: scriptserver.Function{Name: "f", Arguments: "{}"}}), result("a")}, ".type"},
		{"arguments that are no JSON", []msg{user("hi"), assistant("", fn("a", "f", `{"x":`)), result("a")}, "Failed to parse tool call arguments"},
		{"a step that says nothing", []msg{user("hi"), assistant("")}, "Invalid value for 'content'"},
		{"a role of nobody's", []msg{{Role: "function"}}, "Supported values"},
	} {
		t.Run(row.name, func(t *testing.T) {
			check(t, scriptserver.Request{Messages: row.msgs}, row.want)
		})
	}
}

func TestCheckTools(t *testing.T) {
	tool := func(name, schema string) scriptserver.Tool {
		var x scriptserver.Tool
		x.Type, x.Function.Name, x.Function.Parameters = "function", name, json.RawMessage(schema)
		return x
	}
	for _, row := range []struct {
		name  string
		tools []scriptserver.Tool
		want  string
	}{
		{"two", []scriptserver.Tool{tool("f", `{}`), tool("g", `{}`)}, ""},
		{"one twice", []scriptserver.Tool{tool("f", `{}`), tool("f", `{}`)}, "must be unique"},
		{"a bad name", []scriptserver.Tool{tool("a b", `{}`)}, "does not match pattern"},
		{"no schema", []scriptserver.Tool{tool("f", ``)}, "Invalid schema"},
	} {
		t.Run(row.name, func(t *testing.T) {
			check(t, scriptserver.Request{Messages: []msg{user("hi")}, Tools: row.tools}, row.want)
		})
	}
}

func check(t *testing.T, r scriptserver.Request, want string) {
	t.Helper()
	err := scriptserver.Check(r)
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("got %v, want %q", err, want)
	}
}
