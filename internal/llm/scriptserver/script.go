// Package scriptserver is a model for tests that says what a script tells it to: an OpenAI-compatible HTTP
// server whose failures are as bad as real ones and whose checks of a request are as strict.
package scriptserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// A Script is what the model will say, round by round.
type Script struct {
	Rounds []Round `json:"rounds"`
}

// A Round answers one request. The first round that is left and whose When fits is taken. The zero Round is
// an empty answer.
type Round struct {
	When   *When `json:"when,omitempty"`
	Repeat bool  `json:"repeat,omitempty"` // stays, and need not be used

	// The answer: text in as many deltas, then calls, then the reason for the end.
	Text      []string `json:"text,omitempty"`
	Calls     []Call   `json:"calls,omitempty"`
	Mix       bool     `json:"mix,omitempty"`        // the pieces of parallel calls come in turns
	SameIndex bool     `json:"same_index,omitempty"` // every call has index 0, as at some servers
	Finish    string   `json:"finish,omitempty"`     // "" is tool_calls or stop
	Usage     *Usage   `json:"usage,omitempty"`      // nil is 11 and 7

	Raw []string `json:"raw,omitempty"` // data lines to send as they are, instead of the answer

	// Time and failure. Positions count the chunks sent before.
	DelayMS    int    `json:"delay_ms,omitempty"`    // before each chunk
	Status     int    `json:"status,omitempty"`      // not 200: an error instead of an answer
	Error      *Error `json:"error,omitempty"`       // its body, or, with Status 0, a chunk at the place of the end
	RetryAfter string `json:"retry_after,omitempty"` // header
	Cut        string `json:"cut,omitempty"`         // abort: the connection breaks; clean: the stream just ends
	CutAt      *int   `json:"cut_at,omitempty"`      // nil is before the reason for the end
	Malformed  *int   `json:"malformed,omitempty"`   // a damaged chunk at this position
	Silence    *int   `json:"silence,omitempty"`     // nothing more from this position on, until the client leaves

	// Respond makes the round from the request.
	Respond func(Request) Round `json:"-"`
}

// When says which requests a round is for. Empty fields fit everything.
type When struct {
	User    string   `json:"user,omitempty"`    // part of the last message of the user
	Last    string   `json:"last,omitempty"`    // role of the last message
	Result  string   `json:"result,omitempty"`  // part of the last tool result
	System  string   `json:"system,omitempty"`  // part of the system message
	Tools   []string `json:"tools,omitempty"`   // all of them are offered
	Without []string `json:"without,omitempty"` // none of them is offered
}

// A Call is a tool call to make. In its arguments, as in a text, ${find:PATTERN} is the first match of a
// regular expression in the request's messages, the last message first; a group in it is the part that counts.
type Call struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Args  json.RawMessage `json:"args,omitempty"`      // JSON; sent as its text
	Text  string          `json:"args_text,omitempty"` // instead of Args: text that need not be JSON
	Parts int             `json:"parts,omitempty"`     // deltas of the arguments; 0 is 2
}

// Usage is what the answer is said to cost.
type Usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
}

// An Error is a provider's.
type Error struct {
	Message string `json:"message"`
	Type    string `json:"type,omitempty"`
	Code    any    `json:"code,omitempty"` // a word or a number
}

// Load reads a script. Fields that it does not know are errors.
func Load(r io.Reader) (Script, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return Script{}, fmt.Errorf("read the script: %w", err)
	}
	var s Script
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return Script{}, fmt.Errorf("the script: %w", err)
	}
	for i, r := range s.Rounds {
		switch r.Cut {
		case "", "abort", "clean":
		default:
			return Script{}, fmt.Errorf("the script: round %d: cut must be abort or clean", i+1)
		}
	}
	return s, nil
}
