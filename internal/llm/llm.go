// Package llm speaks with models. langchaingo and the vendors' SDKs live only here.
package llm

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/llm/offline"
)

// The providers.
const (
	Offline   = "offline"   // a small deterministic planner: no model, no key, no network
	OpenAI    = "openai"    // OpenAI and every compatible server
	Anthropic = "anthropic" // Anthropic's Messages API
)

// DefaultIdle is how long a stream may be silent before it is given up.
const DefaultIdle = 60 * time.Second

// Options say which model is spoken with. The zero Options are the offline planner.
type Options struct {
	Provider string // Offline, OpenAI or Anthropic; "" is Offline
	BaseURL  string // of the API; "" is the provider's own
	Model    string // required by all but Offline
	APIKey   string // never logged; may be empty where BaseURL is a server of one's own

	IdleTimeout time.Duration // 0 is DefaultIdle
	HTTP        *http.Client  // nil is a client of its own; redirects are not followed, since they would carry the key away
	Logger      *slog.Logger  // hears of repeated attempts; nil is silence
}

// A Client makes model steps. It is safe for several goroutines and holds no state of a conversation.
type Client struct {
	step   func(context.Context, chat.Prompt, func(chat.Delta) error) (chat.Completion, error)
	repeat *repeater // nil for the offline planner
}

// New returns a client. Its error is Invalid and names what is missing; nothing is sent yet.
func New(o Options) (*Client, error) {
	if o.Provider == "" || o.Provider == Offline {
		return &Client{step: offline.Generate}, nil
	}
	m, err := NewModel(o)
	if err != nil {
		return nil, err
	}
	return NewClient(m, o.Logger), nil
}

// NewModel returns the model of a provider that is not Offline. One Stream of it is one attempt. Errors are New's.
func NewModel(o Options) (StreamModel, error) {
	if o.Provider != OpenAI && o.Provider != Anthropic {
		return nil, fault.New(fault.Invalid, "llm.provider must be offline, openai or anthropic.")
	}
	if o.Model == "" {
		return nil, fault.New(fault.Invalid, "llm.model must name a model of the provider "+o.Provider+".")
	}
	if o.BaseURL == "" && o.APIKey == "" {
		return nil, fault.New(fault.Invalid, "llm.api_key_env must name a variable that holds a key, unless llm.base_url names a server of your own.")
	}
	if u, err := url.Parse(o.BaseURL); o.BaseURL != "" && (err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https")) {
		return nil, fault.New(fault.Invalid, "llm.base_url must be an http or https address.")
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = DefaultIdle
	}
	o.HTTP = direct(o.HTTP)
	if o.Provider == Anthropic {
		return newAnthropic(o), nil
	}
	return newOpenAI(o), nil
}

// NewClient returns a client over any model. log may be nil.
func NewClient(m StreamModel, log *slog.Logger) *Client {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	r := &repeater{model: m, log: log, wait: sleep}
	return &Client{step: r.generate, repeat: r}
}

// Generate makes one model step and blocks until it ends. sink gets the text as it comes, from one goroutine
// at a time and never after Generate has returned; its error ends the step and is returned as it is.
//
// A step that fails before its end by a limit, a fault of the server, the connection or a cut is repeated up
// to two times, and its deltas then start again at offset 0. Other errors, and the last of those, are
// *fault.Error: RateLimited (with RetryAfter where the provider named one), Transient, Auth, Invalid, Timeout
// (silence), Canceled. Their codes are the Code constants.
//
// The completion's calls are in the model's order with the ids that the provider gave, which may be empty or
// repeated, and with arguments as they were sent, which need not be JSON where Finish is FinishLength.
func (c *Client) Generate(ctx context.Context, p chat.Prompt, sink func(chat.Delta) error) (chat.Completion, error) {
	return c.step(ctx, p, sink)
}

// direct returns a copy of c that follows no redirect.
func direct(c *http.Client) *http.Client {
	out := http.Client{}
	if c != nil {
		out = *c
	}
	out.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &out
}
