package llm

import (
	"bytes"
	"encoding/json"

	"agentd/internal/fault"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"
	"github.com/tmc/langchaingo/llms"
)

// params builds a request. Messages of one role in a row become one, so that all results of a step stand in
// the one message after it, as the API wants.
func (m *anthropic) params(msgs []llms.MessageContent, opts []llms.CallOption) (sdk.MessageNewParams, error) {
	var o llms.CallOptions
	for _, f := range opts {
		f(&o)
	}
	p := sdk.MessageNewParams{Model: m.model, MaxTokens: maxTokens}
	if o.MaxTokens > 0 {
		p.MaxTokens = int64(o.MaxTokens)
	}
	for _, msg := range msgs {
		for _, part := range msg.Parts {
			if t, ok := part.(llms.TextContent); ok && msg.Role == llms.ChatMessageTypeSystem {
				if t.Text != "" {
					p.System = append(p.System, sdk.TextBlockParam{Text: t.Text})
				}
				continue
			}
			block, ok := contentBlock(part)
			if !ok {
				return p, fault.New(fault.Internal, "")
			}
			appendBlock(&p, msg.Role == llms.ChatMessageTypeAI, block)
		}
	}
	for _, t := range o.Tools {
		schema, err := json.Marshal(t.Function.Parameters)
		if err != nil {
			return p, fault.Wrap(fault.Internal, "", err)
		}
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: &sdk.ToolParam{
			Name:        t.Function.Name,
			Description: sdk.String(t.Function.Description),
			InputSchema: param.Override[sdk.ToolInputSchemaParam](json.RawMessage(schema)), // as it is: the SDK's type has no room for all of it
		}})
	}
	return p, nil
}

func contentBlock(part llms.ContentPart) (sdk.ContentBlockParamUnion, bool) {
	switch v := part.(type) {
	case llms.TextContent:
		return sdk.NewTextBlock(v.Text), true
	case llms.ToolCall:
		args := json.RawMessage(v.FunctionCall.Arguments)
		if len(bytes.TrimSpace(args)) == 0 {
			args = json.RawMessage("{}")
		}
		return sdk.NewToolUseBlock(v.ID, args, v.FunctionCall.Name), true
	case llms.ToolCallResponse:
		if v.Content == "" { // an empty text block is refused
			return sdk.ContentBlockParamUnion{OfToolResult: &sdk.ToolResultBlockParam{ToolUseID: v.ToolCallID}}, true
		}
		return sdk.NewToolResultBlock(v.ToolCallID, v.Content, false), true
	}
	return sdk.ContentBlockParamUnion{}, false
}

func appendBlock(p *sdk.MessageNewParams, assistant bool, b sdk.ContentBlockParamUnion) {
	if n := len(p.Messages); n > 0 {
		last := &p.Messages[n-1]
		switch {
		case assistant && last.OfAssistant != nil:
			last.OfAssistant.Content = append(last.OfAssistant.Content, b)
			return
		case !assistant && last.OfUser != nil:
			last.OfUser.Content = append(last.OfUser.Content, b)
			return
		}
	}
	if assistant {
		p.Messages = append(p.Messages, sdk.NewAssistantMessage(b))
		return
	}
	p.Messages = append(p.Messages, sdk.NewUserMessage(b))
}
