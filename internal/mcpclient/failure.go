package mcpclient

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"agentd/internal/fault"
)

// maxSaid bounds, in characters, what a server says about a failure. No gate stands between it and the model.
const maxSaid = 2000

// The codes of JSON-RPC that say that nothing was executed.
const (
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
)

// said is the fault of a JSON-RPC error.
func (s *server) said(e *rpcError, writes bool) error {
	cause := fmt.Errorf("JSON-RPC error %d: %s", e.Code, s.clip(e.Message))
	msg := "The MCP server " + s.Name + " says: " + s.clip(e.Message)
	switch {
	case e.Code == codeInvalidParams, e.Code == codeInvalidRequest:
		return fault.Wrap(fault.Invalid, msg, cause)
	case e.Code == codeNoMethod:
		return fault.Wrap(fault.Missing, msg, cause)
	case writes:
		return s.unknown("It failed ("+s.clip(e.Message)+")", cause)
	}
	return fault.Wrap(fault.Mismatch, msg, cause)
}

// clip keeps what a server says short, with its end, where causes stand, and our secrets out of it.
func (s *server) clip(text string) string {
	text = strings.ToValidUTF8(strings.TrimSpace(s.hide.Replace(text)), "\uFFFD")
	if utf8.RuneCountInString(text) <= maxSaid {
		return text
	}
	const head = maxSaid / 3
	r := []rune(text)
	return string(r[:head]) + "…" + string(r[len(r)-(maxSaid-1-head):])
}

// failed reports whether a result says that the tool failed, and how: by isError, or in the words of servers that
// never set it. Of these only what cannot be an ordinary result counts: a lone text that begins with "Error: ", an
// object that says success false, or one that holds an error and nothing else.
func (s *server) failed(r callResult, writes bool) error {
	text := r.text()
	switch {
	case r.IsError:
		if text == "" {
			text = string(r.StructuredContent)
		}
	case len(r.StructuredContent) > 0 && !null(r.StructuredContent):
		t, is := errorIn(r.StructuredContent)
		if !is {
			return nil
		}
		text = t
	case len(r.Content) == 1 && strings.HasPrefix(text, "Error: "):
	default:
		t, is := errorIn(json.RawMessage(text))
		if !is {
			return nil
		}
		text = t
	}
	if writes && strings.Contains(text, "Response too large") { // it was executed, and only its answer refused
		return s.unknown("It did not give its answer", nil)
	}
	msg := "The MCP server " + s.Name + " says: " + s.clip(text)
	if text == "" {
		msg = "The tool failed and did not say why."
	}
	return &fault.Error{Kind: kindOf(text), Code: "tool_failed", Msg: msg}
}

// kindOf knows the failures that are shown in a way of their own.
func kindOf(text string) fault.Kind {
	t := strings.ToLower(strings.TrimPrefix(text[:min(len(text), 200)], "Error: "))
	if strings.HasPrefix(t, "error calling tool ") {
		_, t, _ = strings.Cut(t, "': ")
	}
	switch {
	case strings.HasPrefix(t, "permission denied"), strings.HasPrefix(t, "permission_denied"), strings.Contains(t, "forbiddenerror"):
		return fault.Denied
	case strings.HasPrefix(t, "not_found"), strings.HasPrefix(t, "notfound"):
		return fault.Missing
	}
	return fault.Invalid
}

// aboutErrors are the members that go with an error and are no payload.
var aboutErrors = map[string]bool{
	"error": true, "error_type": true, "success": true, "timestamp": true, "message": true, "code": true, "status": true,
	"details": true, "hint": true, "suggestions": true, "permission_denied": true, "valid_chart_types": true,
}

// errorIn finds the error that an object is about.
func errorIn(raw json.RawMessage) (text string, ok bool) {
	var m map[string]json.RawMessage
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &m) != nil || empty(m["error"]) {
		return "", false
	}
	id, named := m["id"]
	if string(m["success"]) != "false" && !(named && null(id)) { // what should have been made has no id
		for k, v := range m {
			if !aboutErrors[k] && !empty(v) {
				return "", false
			}
		}
	}
	var detailed struct {
		Type    string `json:"error_type"`
		Message string `json:"message"`
	}
	if json.Unmarshal(m["error"], &text) != nil {
		text = string(m["error"])
		if json.Unmarshal(m["error"], &detailed) == nil && detailed.Message != "" {
			text = detailed.Message
		}
	}
	typ := detailed.Type
	if typ == "" && json.Unmarshal(m["error_type"], &typ) != nil {
		typ = ""
	}
	if typ != "" {
		text = typ + ": " + text
	}
	if string(m["permission_denied"]) == "true" {
		text = "permission_denied: " + text
	}
	return text, true
}

func null(v json.RawMessage) bool { return string(v) == "null" }

// empty is what an absent member, null and its like have in common.
func empty(v json.RawMessage) bool {
	switch string(v) {
	case "", "null", "false", `""`, "[]", "{}":
		return true
	}
	return false
}
