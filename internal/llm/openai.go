package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
)

const (
	openAIBase = "https://api.openai.com/v1"
	noKey      = "none" // langchaingo refuses to be made without a key; edit takes the header away again
)

// openAI speaks with OpenAI and compatible servers through langchaingo's client over a doer, because that
// client by itself mixes up parallel calls, drops damaged pieces and takes cut and cancelled streams for answers.
type openAI struct {
	base, model, key string
	http             *http.Client
	idle             time.Duration
}

func newOpenAI(o Options) *openAI {
	m := &openAI{base: strings.TrimSuffix(o.BaseURL, "/"), model: o.Model, key: o.APIKey, http: o.HTTP, idle: o.IdleTimeout}
	if m.base == "" {
		m.base = openAIBase
	}
	return m
}

// Stream is one attempt.
func (m *openAI) Stream(ctx context.Context, msgs []llms.MessageContent, sink func(Delta) error, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	ctx, w := newWatch(ctx, m.idle)
	defer w.end()
	var n *normaliser
	d := &doer{http: m.http, watch: w, edit: m.edit}
	d.open = func(res *http.Response, body io.Reader) {
		n = newNormaliser(body, !streams(res.Header), sink)
		res.Body = normalised{n, res.Body}
	}
	// A client for each attempt: that is how the attempt's sink reaches the doer without hiding in the context.
	// Every option is given, or langchaingo takes it from the environment.
	client, err := openai.New(openai.WithModel(m.model), openai.WithBaseURL(m.base), openai.WithToken(cmp.Or(m.key, noKey)),
		openai.WithOrganization(""), openai.WithHTTPClient(d))
	if err != nil {
		return nil, unavailable(err)
	}
	opts = append(opts[:len(opts):len(opts)], llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
	r, err := client.GenerateContent(ctx, splitResults(msgs), opts...)
	switch {
	case n == nil, ctx.Err() != nil: // langchaingo drops pieces when its context ends, so r is no answer then
		return nil, d.failure(ctx, err)
	case n.complete() && err == nil:
		return r, nil
	case !n.complete() && n.err != nil:
		return nil, n.err
	}
	return nil, cut(err)
}

// GenerateContent makes it an llms.Model.
func (m *openAI) GenerateContent(ctx context.Context, msgs []llms.MessageContent, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	return generateContent(ctx, m, msgs, opts)
}

// Call makes it an llms.Model.
func (m *openAI) Call(ctx context.Context, prompt string, opts ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, opts...)
}

// edit takes out of the request what langchaingo puts there unasked: a temperature of 0, which several models
// refuse, and the header of a key that there is none of.
func (m *openAI) edit(req *http.Request) error {
	if m.key == "" {
		req.Header.Del("Authorization")
	}
	b, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(b, &body); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if t, ok := body["temperature"]; ok && string(t) == "0" {
		delete(body, "temperature")
	}
	if b, err = json.Marshal(body); err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	req.Body = io.NopCloser(bytes.NewReader(b))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
	req.ContentLength = int64(len(b))
	return nil
}

// splitResults gives each tool result a message of its own, as langchaingo wants it.
func splitResults(msgs []llms.MessageContent) []llms.MessageContent {
	var out []llms.MessageContent
	for _, m := range msgs {
		if m.Role != llms.ChatMessageTypeTool {
			out = append(out, m)
			continue
		}
		for _, p := range m.Parts {
			out = append(out, llms.MessageContent{Role: m.Role, Parts: []llms.ContentPart{p}})
		}
	}
	return out
}

// normalised is a body whose bytes are the normaliser's.
type normalised struct {
	*normaliser
	body io.Closer
}

func (b normalised) Read(p []byte) (int, error) {
	n, err := b.normaliser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = hidden{err}
	}
	return n, err
}

func (b normalised) Close() error { return b.body.Close() }
