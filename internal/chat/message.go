package chat

import (
	"encoding/json"

	uicontext "agentd/internal/context"
)

// A Message is one entry of what the model sees: UserMessage, AssistantMessage or ToolResult.
type Message interface{ isMessage() }

type (
	// UserMessage is what a person wrote, and where.
	UserMessage struct {
		ID   string         `json:"id"`
		Text string         `json:"text"`
		View uicontext.View `json:"ui_context"`
		Env  string         `json:"env_id,omitempty"`
	}
	// AssistantMessage is one model step: text, calls, or both.
	AssistantMessage struct {
		ID    string     `json:"id"`
		Text  string     `json:"text,omitempty"`
		Calls []ToolCall `json:"calls,omitempty"`
	}
	// ToolResult answers exactly one ToolCall. Content is what the model reads.
	ToolResult struct {
		CallID  string `json:"call_id"`
		Tool    string `json:"tool"`
		Content string `json:"content"`
	}
)

func (UserMessage) isMessage()      {}
func (AssistantMessage) isMessage() {}
func (ToolResult) isMessage()       {}

// ToolCall is the model asking for a tool. ID is unique in its conversation.
type ToolCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// ToolSpec is a tool as a model is told of it.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// A Prompt is everything one model step is made from. Tools are in a fixed order.
type Prompt struct {
	System   string
	Messages []Message
	Tools    []ToolSpec
}

// A Delta is a piece of assistant text. A delta at offset n replaces everything from n on; offsets count code points.
type Delta struct {
	Offset int
	Text   string
}

// FinishReason says why a model step ended.
type FinishReason string

// The reasons. Calls of a step that did not end with FinishCalls or FinishStop are never executed.
const (
	FinishStop   FinishReason = "stop"
	FinishCalls  FinishReason = "tool_calls"
	FinishLength FinishReason = "length" // cut by the token limit
	FinishFilter FinishReason = "content_filter"
)

// A Completion is a finished model step.
type Completion struct {
	Text   string
	Calls  []ToolCall // ids as the provider gave them; may be empty or repeated
	Finish FinishReason
	Usage  Usage
}
