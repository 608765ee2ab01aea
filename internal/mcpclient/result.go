package mcpclient

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/tool"
)

// callResult is the result of tools/call as it came. Numbers stay the tokens that they are.
type callResult struct {
	Content           []content       `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent"`
	IsError           bool            `json:"isError"`
	ResultType        string          `json:"resultType"`
}

// content is one block of any kind; a kind that is not known has a Type and no more.
type content struct {
	Type     string    `json:"type"`
	Text     string    `json:"text"`
	MIMEType string    `json:"mimeType"`
	Data     string    `json:"data"` // base64
	URI      string    `json:"uri"`
	Name     string    `json:"name"`
	Title    string    `json:"title"`
	Resource *embedded `json:"resource"`
}

type embedded struct {
	URI      string  `json:"uri"`
	MIMEType string  `json:"mimeType"`
	Text     *string `json:"text"`
}

// text joins what is text.
func (r callResult) text() string {
	var parts []string
	for _, c := range r.Content {
		switch {
		case c.Type == "text" && c.Text != "":
			parts = append(parts, c.Text)
		case c.Type == "resource" && c.Resource != nil && c.Resource.Text != nil:
			parts = append(parts, *c.Resource.Text)
		}
	}
	return strings.Join(parts, "\n\n")
}

// result makes a result of ours. What is structured counts before text, which by the protocol says the same again.
func (s *server) result(raw json.RawMessage, writes bool) (tool.Result, error) {
	var r callResult
	if err := json.Unmarshal(raw, &r); err != nil {
		return tool.Result{}, s.strange(writes, "Its answer is no result of a tool", err)
	}
	if r.ResultType == "input_required" {
		return tool.Result{}, fault.New(fault.Invalid, "The tool asks its user for more, which agentd does not pass on. It was not executed.")
	}
	if err := s.failed(r, writes); err != nil {
		return tool.Result{}, err
	}
	out := tool.Result{Source: chat.Unsure} // a list may be a page of more
	payload := r.StructuredContent
	if len(payload) == 0 || null(payload) {
		payload = r.payload()
	}
	if !rows(&out, payload) {
		out.Data = payload
	}
	for _, c := range r.Content {
		c.beside(&out)
	}
	return out, nil
}

// payload is what the text blocks hold: one JSON value, a list of them where each block is one, or a text.
func (r callResult) payload() json.RawMessage {
	text := r.text()
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if structured(text) {
		return json.RawMessage(strings.TrimSpace(text))
	}
	var list []json.RawMessage
	for _, c := range r.Content {
		if c.Type != "text" || !structured(c.Text) {
			b, err := json.Marshal(text)
			if err != nil {
				return nil // a text always marshals
			}
			return b
		}
		list = append(list, json.RawMessage(strings.TrimSpace(c.Text)))
	}
	return join(list)
}

// structured reports whether a text is a JSON object or array. A bare number or word is a text.
func structured(text string) bool {
	t := strings.TrimSpace(text)
	return t != "" && (t[0] == '{' || t[0] == '[') && json.Valid([]byte(t))
}

func join(list []json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for i, v := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// beside adds to a result what is no text: links as links, and of the rest that it was there.
func (c content) beside(out *tool.Result) {
	say := func(format string, a ...any) { out.Warnings = append(out.Warnings, fmt.Sprintf(format, a...)) }
	switch c.Type {
	case "text":
	case "resource_link":
		title := c.Title
		if title == "" {
			title = c.Name
		}
		if title == "" {
			title = c.URI
		}
		if u, err := url.Parse(c.URI); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
			out.Links = append(out.Links, chat.Link{Title: title, URL: c.URI})
			return
		}
		say("The tool refers to %q (%s), which agentd cannot open.", title, c.URI)
	case "resource":
		if c.Resource != nil && c.Resource.Text == nil {
			say("The tool gave the file %s, which is not shown.", c.Resource.URI)
		}
	case "image", "audio":
		say("The tool gave an %s (%s, %d bytes), which is not shown.", c.Type, c.MIMEType, len(c.Data)/4*3)
	default:
		say("The tool gave a part of the kind %.40q, which agentd does not know.", c.Type)
	}
}
