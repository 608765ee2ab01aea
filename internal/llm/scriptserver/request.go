package scriptserver

import (
	"encoding/json"
	"net/http"
	"strings"
)

// A Request is what a client sent.
type Request struct {
	Model         string    `json:"model"`
	Stream        bool      `json:"stream"`
	StreamOptions options   `json:"stream_options"`
	Messages      []Message `json:"messages"`
	Tools         []Tool    `json:"tools"`

	Fields map[string]json.RawMessage `json:"-"` // all that the body holds
	Header http.Header                `json:"-"`
}

type options struct {
	Usage bool `json:"include_usage"`
}

// A Message is one of a request's.
type Message struct {
	Role       string     `json:"role"`
	Content    Text       `json:"content"`
	ToolCalls  []ToolCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
}

// A ToolCall is a past call.
type ToolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// A Function is the called function.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// A Tool is an offered tool.
type Tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// Text is a message's content: a string, null, or text parts.
type Text string

// UnmarshalJSON reads the three forms.
func (t *Text) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		return json.Unmarshal(b, (*string)(t))
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		*t += Text(p.Text)
	}
	return nil
}

// Last returns the last message of a role.
func (r Request) Last(role string) (Message, bool) {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == role {
			return r.Messages[i], true
		}
	}
	return Message{}, false
}

// Offers reports whether a tool is offered.
func (r Request) Offers(name string) bool {
	for _, t := range r.Tools {
		if t.Function.Name == name {
			return true
		}
	}
	return false
}

func (w *When) fits(r Request) bool {
	if w == nil {
		return true
	}
	has := func(role, part string) bool {
		m, _ := r.Last(role)
		return strings.Contains(string(m.Content), part)
	}
	if !has("user", w.User) || !has("tool", w.Result) || !has("system", w.System) {
		return false
	}
	if n := len(r.Messages); w.Last != "" && (n == 0 || r.Messages[n-1].Role != w.Last) {
		return false
	}
	for _, t := range w.Tools {
		if !r.Offers(t) {
			return false
		}
	}
	for _, t := range w.Without {
		if r.Offers(t) {
			return false
		}
	}
	return true
}
