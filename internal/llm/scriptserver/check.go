package scriptserver

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var namePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// maxID is the longest call id that OpenAI takes back.
const maxID = 40

// Check judges a request as a provider does: every call is answered exactly once, in order, right after it; no
// answer without a call; ids are unique in the conversation; names are well-formed and tools are there once.
// The error has the provider's words.
func Check(r Request) error {
	if len(r.Messages) == 0 {
		return refused("[] is too short - 'messages'")
	}
	tools := map[string]bool{}
	for i, t := range r.Tools {
		switch name := t.Function.Name; {
		case !namePattern.MatchString(name):
			return badName(fmt.Sprintf("tools[%d].function.name", i))
		case tools[name]:
			return refused("Tool names must be unique: %s", name)
		case !json.Valid(t.Function.Parameters):
			return refused("Invalid schema for function '%s'", name)
		default:
			tools[name] = true
		}
	}
	ids := map[string]bool{}
	var open []string // ids of calls that wait for their answers, in order
	for i, m := range r.Messages {
		if m.Role != "tool" && len(open) > 0 {
			return unanswered(open)
		}
		switch m.Role {
		case "system", "developer", "user":
		case "assistant":
			if m.Content == "" && len(m.ToolCalls) == 0 {
				return refused("Invalid value for 'content': expected a string, got null. (messages[%d])", i)
			}
			for j, c := range m.ToolCalls {
				if err := checkCall(fmt.Sprintf("messages[%d].tool_calls[%d]", i, j), c, ids); err != nil {
					return err
				}
				open = append(open, c.ID)
			}
		case "tool":
			if len(open) == 0 || !slices.Contains(open, m.ToolCallID) {
				return refused("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
			}
			if open[0] != m.ToolCallID {
				return refused("messages[%d]: the answer to %s comes before the answer to %s", i, m.ToolCallID, open[0])
			}
			open = open[1:]
		default:
			return refused("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'tool'.", m.Role)
		}
	}
	if len(open) > 0 {
		return unanswered(open)
	}
	return nil
}

func checkCall(at string, c ToolCall, ids map[string]bool) error {
	switch {
	case c.ID == "":
		return refused("Missing required parameter: '%s.id'.", at)
	case len(c.ID) > maxID:
		return refused("Invalid '%s.id': string too long. Expected a string with maximum length %d, but got a string with length %d instead.", at, maxID, len(c.ID))
	case ids[c.ID]:
		return refused("Duplicate value for 'tool_call_id' of '%s'", c.ID)
	case c.Type != "function":
		return refused("Invalid value: '%s.type'. Supported values are: 'function'.", at)
	case !namePattern.MatchString(c.Function.Name):
		return badName(at + ".function.name")
	case !json.Valid([]byte(c.Function.Arguments)):
		return refused("Failed to parse tool call arguments as JSON")
	}
	ids[c.ID] = true
	return nil
}

// words are a provider's, with its capitals and full stops.
type words string

func (w words) Error() string { return string(w) }

func refused(format string, args ...any) error { return words(fmt.Sprintf(format, args...)) }

func badName(at string) error {
	return refused("Invalid '%s': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", at)
}

func unanswered(ids []string) error {
	return refused("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(ids, ", "))
}
