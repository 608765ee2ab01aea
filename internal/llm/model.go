package llm

import (
	"context"

	"github.com/tmc/langchaingo/llms"
)

// A StreamModel is a langchaingo model that tells what it streams: text, parts of tool calls and usage apart,
// where langchaingo's own StreamingFunc gives bytes of unknown kind. One Stream is one attempt; nobody below
// it repeats anything.
//
// Stream returns one choice with the whole text, the calls in order, and the provider's reason for the end;
// an answer without such a reason is an error. Errors are *fault.Error, or the sink's own. The sink is called
// from one goroutine at a time and not after Stream has returned.
type StreamModel interface {
	llms.Model
	Stream(ctx context.Context, msgs []llms.MessageContent, sink func(Delta) error, opts ...llms.CallOption) (*llms.ContentResponse, error)
}

// A Delta is a piece of a streamed answer: TextDelta, CallDelta or UsageDelta.
type Delta interface{ isDelta() }

type (
	// TextDelta is a piece of the text. It is never empty.
	TextDelta struct{ Text string }
	// CallDelta is a piece of a tool call. Index counts the answer's calls from 0, whatever the provider counts.
	CallDelta struct {
		Index int
		ID    string // once, or repeated
		Name  string // once, or repeated
		Args  string // to be joined
	}
	// UsageDelta is what the answer costs. The last one counts.
	UsageDelta struct{ Input, Output int }
)

func (TextDelta) isDelta()  {}
func (CallDelta) isDelta()  {}
func (UsageDelta) isDelta() {}

// generateContent is llms.Model's GenerateContent for every StreamModel. Its StreamingFunc gets text only.
func generateContent(ctx context.Context, m StreamModel, msgs []llms.MessageContent, opts []llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, f := range opts {
		f(&o)
	}
	return m.Stream(ctx, msgs, func(d Delta) error {
		if t, ok := d.(TextDelta); ok && o.StreamingFunc != nil {
			return o.StreamingFunc(ctx, []byte(t.Text))
		}
		return nil
	}, opts...)
}
