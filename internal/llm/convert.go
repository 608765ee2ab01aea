package llm

import (
	"bytes"
	"encoding/json"

	"agentd/internal/chat"

	"github.com/tmc/langchaingo/llms"
)

// toMessages is the only way from our history into langchaingo's. A step that said nothing is left out, since
// providers refuse empty messages.
func toMessages(p chat.Prompt) []llms.MessageContent {
	out := make([]llms.MessageContent, 0, len(p.Messages)+1)
	if p.System != "" {
		out = append(out, llms.TextParts(llms.ChatMessageTypeSystem, p.System))
	}
	for _, m := range p.Messages {
		switch m := m.(type) {
		case chat.UserMessage:
			out = append(out, llms.TextParts(llms.ChatMessageTypeHuman, m.Text))
		case chat.AssistantMessage:
			if parts := stepParts(m); len(parts) > 0 {
				out = append(out, llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: parts})
			}
		case chat.ToolResult:
			out = append(out, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
				llms.ToolCallResponse{ToolCallID: m.CallID, Name: m.Tool, Content: m.Content},
			}})
		}
	}
	return out
}

func stepParts(m chat.AssistantMessage) []llms.ContentPart {
	var parts []llms.ContentPart
	if m.Text != "" {
		parts = append(parts, llms.TextContent{Text: m.Text})
	}
	for _, c := range m.Calls {
		parts = append(parts, llms.ToolCall{ID: c.ID, Type: "function", FunctionCall: &llms.FunctionCall{
			Name: c.Name, Arguments: pastArgs(c.Args),
		}})
	}
	return parts
}

// pastArgs are the arguments of a call in the history. Some servers answer 500 to past arguments that are no
// JSON object; such a call was never executed and its result says why, so nothing is lost by an empty one.
func pastArgs(args json.RawMessage) string {
	if b := bytes.TrimSpace(args); len(b) > 0 && b[0] == '{' && json.Valid(b) {
		return string(args)
	}
	return "{}"
}

// toTools hands schemas on byte by byte, as json.RawMessage.
func toTools(specs []chat.ToolSpec) []llms.Tool {
	var out []llms.Tool
	for _, s := range specs {
		schema := s.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out = append(out, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
			Name: s.Name, Description: s.Description, Parameters: schema,
		}})
	}
	return out
}

// fromResponse is the only way back. Arguments that were never sent are an empty object, as all providers mean it.
func fromResponse(r *llms.ContentResponse, u chat.Usage) (chat.Completion, error) {
	if r == nil || len(r.Choices) == 0 || r.Choices[0] == nil || r.Choices[0].StopReason == "" {
		return chat.Completion{}, cut(errNoFinish)
	}
	c := r.Choices[0]
	out := chat.Completion{Text: c.Content, Finish: finish(c.StopReason), Usage: u}
	for _, k := range c.ToolCalls {
		call := chat.ToolCall{ID: k.ID, Args: json.RawMessage("{}")}
		if f := k.FunctionCall; f != nil {
			call.Name = f.Name
			if f.Arguments != "" {
				call.Args = json.RawMessage(f.Arguments)
			}
		}
		out.Calls = append(out.Calls, call)
	}
	return out, nil
}

// finish translates the reasons that mean one of ours. Any other is handed on as told: its calls are not executed.
func finish(reason string) chat.FinishReason {
	switch reason {
	case "stop", "end_turn", "stop_sequence", "eos":
		return chat.FinishStop
	case "tool_calls", "function_call", "tool_use":
		return chat.FinishCalls
	case "length", "max_tokens", "model_length", "model_context_window_exceeded":
		return chat.FinishLength
	case "content_filter", "refusal", "safety":
		return chat.FinishFilter
	}
	return chat.FinishReason(reason)
}
