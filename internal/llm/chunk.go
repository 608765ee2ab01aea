package llm

import (
	"bytes"
	"encoding/json"
	"errors"
)

// chunk is one piece of an OpenAI-compatible stream, or a whole answer that was not streamed. What servers
// do differently is understood here: null and absent are the same everywhere.
type chunk struct {
	Error   json.RawMessage `json:"error"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
}

type choice struct {
	Index   int     `json:"index"`
	Delta   message `json:"delta"`
	Message message `json:"message"` // instead of delta, where the server does not stream
	Finish  string  `json:"finish_reason"`
}

type message struct {
	Content content    `json:"content"`
	Refusal string     `json:"refusal"` // words of the model, as content is
	Calls   []callPart `json:"tool_calls"`
}

type callPart struct {
	Index    int    `json:"index"` // absent at some servers, 0 for all calls at others
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
}

// content is a text, or a list of parts of which the texts count.
type content string

func (c *content) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		return json.Unmarshal(b, (*string)(c))
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		*c += content(p.Text)
	}
	return nil
}

// arguments are a text that holds JSON. Servers that send the JSON itself are taken by its bytes, so that no
// number changes.
type arguments string

func (a *arguments) UnmarshalJSON(b []byte) error {
	if b[0] == '{' {
		*a = arguments(b)
		return nil
	}
	return json.Unmarshal(b, (*string)(a))
}

// scalar is a word or a number, as text.
type scalar string

func (s *scalar) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return json.Unmarshal(b, (*string)(s))
	}
	if !bytes.Equal(b, []byte("null")) {
		*s = scalar(b)
	}
	return nil
}

var errNotObject = errors.New("not a JSON object")

func parseChunk(b []byte) (chunk, error) {
	var c chunk
	if len(b) == 0 || b[0] != '{' {
		return c, errNotObject
	}
	err := json.Unmarshal(b, &c)
	return c, err
}

// problem returns what the chunk says went wrong.
func (c chunk) problem() (problem, bool) {
	e := bytes.TrimSpace(c.Error)
	if len(e) == 0 || bytes.Equal(e, []byte("null")) {
		return problem{}, false
	}
	var p problem
	if e[0] == '{' && json.Unmarshal(e, &p) == nil {
		return p, true
	}
	var s scalar
	if json.Unmarshal(e, &s) != nil {
		s = scalar(e)
	}
	return problem{Message: string(s)}, true
}

// parseProblem reads an error's body: {"error": {…}}, {"error": "…"}, and {"message": "…"}.
func parseProblem(b []byte) (problem, bool) {
	b = bytes.TrimSpace(b)
	c, err := parseChunk(b)
	if err != nil {
		return problem{}, false
	}
	if p, ok := c.problem(); ok {
		return p, true
	}
	var p problem
	return p, json.Unmarshal(b, &p) == nil && p.Message != ""
}
