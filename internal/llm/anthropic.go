package llm

import (
	"context"
	"net/http"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/tmc/langchaingo/llms"
)

const anthropicBase = "https://api.anthropic.com"

// maxTokens of one answer. The API wants a number; every current model allows this one.
const maxTokens = 8192

// anthropic speaks with Anthropic through its own SDK, because langchaingo's client sends one part of each
// message, rounds integers beyond 2^53 and fails on kinds of content that it does not know.
type anthropic struct {
	base, model, key string
	http             *http.Client
	idle             time.Duration
}

func newAnthropic(o Options) *anthropic {
	m := &anthropic{base: o.BaseURL, model: o.Model, key: o.APIKey, http: o.HTTP, idle: o.IdleTimeout}
	if m.base == "" {
		m.base = anthropicBase
	}
	return m
}

// Stream is one attempt.
func (m *anthropic) Stream(ctx context.Context, msgs []llms.MessageContent, sink func(Delta) error, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	ctx, w := newWatch(ctx, m.idle)
	defer w.end()
	d := &doer{http: m.http, watch: w, edit: m.edit}
	client := sdk.NewClient(option.WithoutEnvironmentDefaults(), option.WithBaseURL(m.base), option.WithAPIKey(m.key),
		option.WithHTTPClient(d), option.WithMaxRetries(0)) // repeating is the repeater's
	params, err := m.params(msgs, opts)
	if err != nil {
		return nil, err
	}
	s := client.Messages.NewStreaming(ctx, params)
	defer func() { _ = s.Close() }() // it was read to its end or given up
	a := answer{sink: sink, at: map[int64]int{}}
	for s.Next() {
		if err := a.take(s.Current()); err != nil {
			return nil, err
		}
	}
	switch err := s.Err(); {
	case a.stopped: // whatever comes after the end changes nothing
		return a.response(), nil
	case err != nil:
		return nil, d.failure(ctx, streamError(err))
	}
	return nil, d.failure(ctx, errNoFinish)
}

// edit takes away the header of a key that there is none of.
func (m *anthropic) edit(req *http.Request) error {
	if m.key == "" {
		req.Header.Del("Authorization")
	}
	return nil
}

// GenerateContent makes it an llms.Model.
func (m *anthropic) GenerateContent(ctx context.Context, msgs []llms.MessageContent, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	return generateContent(ctx, m, msgs, opts)
}

// Call makes it an llms.Model.
func (m *anthropic) Call(ctx context.Context, prompt string, opts ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, opts...)
}
