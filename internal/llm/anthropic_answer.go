package llm

import (
	"errors"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/tmc/langchaingo/llms"
)

// answer gathers an Anthropic stream. It takes the pieces of arguments as they are: the SDK's own gathering
// makes an empty object of arguments that were cut. Blocks and events that it does not know it leaves out.
type answer struct {
	sink    func(Delta) error
	text    strings.Builder
	calls   []*call
	at      map[int64]int // index of the content block → position in calls
	reason  string
	stopped bool
	size    int
	usage   UsageDelta
}

func (a *answer) take(ev sdk.MessageStreamEventUnion) error {
	switch e := ev.AsAny().(type) {
	case sdk.MessageStartEvent:
		u := e.Message.Usage
		a.usage = UsageDelta{Input: int(u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens), Output: int(u.OutputTokens)}
	case sdk.ContentBlockStartEvent:
		switch b := e.ContentBlock; b.Type {
		case "text":
			return a.addText(b.Text)
		case "tool_use":
			if len(a.calls) == maxCalls {
				return cut(errTooMuch)
			}
			a.at[e.Index] = len(a.calls)
			a.calls = append(a.calls, &call{id: b.ID, name: b.Name})
			return a.emit(CallDelta{Index: len(a.calls) - 1, ID: b.ID, Name: b.Name})
		}
	case sdk.ContentBlockDeltaEvent:
		switch e.Delta.Type {
		case "text_delta":
			return a.addText(e.Delta.Text)
		case "input_json_delta":
			return a.addArgs(e.Index, e.Delta.PartialJSON)
		}
	case sdk.MessageDeltaEvent:
		if e.Delta.StopReason != "" {
			a.reason = string(e.Delta.StopReason)
		}
		if e.Usage.OutputTokens > 0 {
			a.usage.Output = int(e.Usage.OutputTokens)
		}
	case sdk.MessageStopEvent:
		if a.reason == "" {
			return cut(errNoFinish)
		}
		a.stopped = true
		return a.emit(a.usage)
	}
	return nil
}

func (a *answer) addText(s string) error {
	if s == "" {
		return nil
	}
	if a.size += len(s); a.size > maxAnswer {
		return cut(errTooMuch)
	}
	a.text.WriteString(s)
	return a.emit(TextDelta{Text: s})
}

func (a *answer) addArgs(index int64, s string) error {
	at, ok := a.at[index]
	if !ok || s == "" { // of a block that is not ours to answer, as a search of the provider's own
		return nil
	}
	if a.size += len(s); a.size > maxAnswer {
		return cut(errTooMuch)
	}
	a.calls[at].args.WriteString(s)
	return a.emit(CallDelta{Index: at, Args: s})
}

func (a *answer) emit(d Delta) error {
	if a.sink == nil {
		return nil
	}
	return a.sink(d)
}

func (a *answer) response() *llms.ContentResponse {
	c := &llms.ContentChoice{Content: a.text.String(), StopReason: a.reason}
	for _, k := range a.calls {
		c.ToolCalls = append(c.ToolCalls, llms.ToolCall{ID: k.id, Type: "function", FunctionCall: &llms.FunctionCall{
			Name: k.name, Arguments: k.args.String(),
		}})
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{c}}
}

// streamError tells an error that the provider sent inside the stream from one of reading it.
func streamError(err error) error {
	if e, ok := errors.AsType[*sdk.Error](err); ok {
		p, known := parseProblem([]byte(e.RawJSON()))
		if !known {
			p.Message = e.Message
		}
		return midstream(p)
	}
	return cut(err)
}
