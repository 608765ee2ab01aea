package llmtest

import (
	"fmt"

	"agentd/internal/chat"
	"agentd/internal/llm/scriptserver"
)

// Check judges a prompt as a provider would: see scriptserver.Check. A nil error is a prompt that is accepted.
func Check(p chat.Prompt) error {
	var r scriptserver.Request
	if p.System != "" {
		r.Messages = append(r.Messages, scriptserver.Message{Role: "system", Content: scriptserver.Text(p.System)})
	}
	for _, m := range p.Messages {
		if a, ok := m.(chat.AssistantMessage); ok && a.Text == "" && len(a.Calls) == 0 {
			continue // said nothing: the client leaves it out too
		}
		r.Messages = append(r.Messages, message(m))
	}
	for _, t := range p.Tools {
		tool := scriptserver.Tool{Type: "function"}
		tool.Function.Name, tool.Function.Description, tool.Function.Parameters = t.Name, t.Description, t.Schema
		r.Tools = append(r.Tools, tool)
	}
	return scriptserver.Check(r)
}

func message(m chat.Message) scriptserver.Message {
	switch m := m.(type) {
	case chat.UserMessage:
		return scriptserver.Message{Role: "user", Content: scriptserver.Text(m.Text)}
	case chat.ToolResult:
		return scriptserver.Message{Role: "tool", Content: scriptserver.Text(m.Content), ToolCallID: m.CallID}
	case chat.AssistantMessage:
		out := scriptserver.Message{Role: "assistant", Content: scriptserver.Text(m.Text)}
		for _, c := range m.Calls {
			args := string(c.Args)
			if args == "" {
				args = "{}"
			}
			out.ToolCalls = append(out.ToolCalls, scriptserver.ToolCall{
				ID: c.ID, Type: "function", Function: scriptserver.Function{Name: c.Name, Arguments: args},
			})
		}
		return out
	}
	return scriptserver.Message{Role: fmt.Sprintf("%T", m)}
}

func roundError(n int, err error) error { return fmt.Errorf("round %d: %w", n, err) }
