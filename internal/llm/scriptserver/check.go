package scriptserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
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
		return errors.New("[] is too short - 'messages'")
	}
	tools := map[string]bool{}
	for i, t := range r.Tools {
		switch name := t.Function.Name; {
		case !namePattern.MatchString(name):
			return badName(fmt.Sprintf("tools[%d].function.name", i))
		case tools[name]:
			return fmt.Errorf("Tool names must be unique: %s", name) //nolint:staticcheck // the provider's words
		case !json.Valid(t.Function.Parameters):
			return fmt.Errorf("Invalid schema for function '%s'", name) //nolint:staticcheck // the provider's words
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
				return fmt.Errorf("Invalid value for 'content': expected a string, got null. (messages[%d])", i) //nolint:staticcheck // the provider's words
			}
			for j, c := range m.ToolCalls {
				if err := checkCall(fmt.Sprintf("messages[%d].tool_calls[%d]", i, j), c, ids); err != nil {
					return err
				}
				open = append(open, c.ID)
			}
		case "tool":
			if len(open) == 0 || !contains(open, m.ToolCallID) {
				return errors.New("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.") //nolint:staticcheck // the provider's words
			}
			if open[0] != m.ToolCallID {
				return fmt.Errorf("messages[%d]: the answer to %s comes before the answer to %s", i, m.ToolCallID, open[0])
			}
			open = open[1:]
		default:
			return fmt.Errorf("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'tool'.", m.Role) //nolint:staticcheck // the provider's words
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
		return fmt.Errorf("Missing required parameter: '%s.id'.", at) //nolint:staticcheck // the provider's words
	case len(c.ID) > maxID:
		return fmt.Errorf("Invalid '%s.id': string too long. Expected a string with maximum length %d, but got a string with length %d instead.", at, maxID, len(c.ID)) //nolint:staticcheck // the provider's words
	case ids[c.ID]:
		return fmt.Errorf("Duplicate value for 'tool_call_id' of '%s'", c.ID) //nolint:staticcheck // the provider's words
	case c.Type != "function":
		return fmt.Errorf("Invalid value: '%s.type'. Supported values are: 'function'.", at) //nolint:staticcheck // the provider's words
	case !namePattern.MatchString(c.Function.Name):
		return badName(at + ".function.name")
	case !json.Valid([]byte(c.Function.Arguments)):
		return errors.New("Failed to parse tool call arguments as JSON") //nolint:staticcheck // the provider's words
	}
	ids[c.ID] = true
	return nil
}

func badName(at string) error {
	return fmt.Errorf("Invalid '%s': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", at) //nolint:staticcheck // the provider's words
}

func unanswered(ids []string) error {
	return fmt.Errorf("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(ids, ", ")) //nolint:staticcheck // the provider's words
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
