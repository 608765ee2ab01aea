package httpapi

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"agentd/internal/agent"
	"agentd/internal/chat"
	uicontext "agentd/internal/context"
	"agentd/internal/eventlog"
	"agentd/internal/fault"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
)

// What the edge needs of others. All of them are safe for several goroutines; their errors are of package fault.
type (
	// Identifier says who asks. Auth when that cannot be established: there is no default user.
	Identifier interface {
		Identify(context.Context, *http.Request) (chat.Identity, error)
	}

	// Work takes what people send. Nothing was stored or started when it returns an error.
	Work interface {
		Message(ctx context.Context, who chat.Identity, conversation string, in agent.MessageInput) (agent.Accepted, error)
		Decide(ctx context.Context, who chat.Identity, conversation, confirmation string, in agent.DecisionInput) (agent.Decided, error)
		Retry(ctx context.Context, who chat.Identity, conversation, call string) (agent.Retried, error)
		Cancel(ctx context.Context, who chat.Identity, conversation string) error
	}

	// Surroundings says what there is to work with.
	Surroundings interface {
		Capabilities(ctx context.Context, who chat.Identity, view uicontext.View, env string) (agent.Capabilities, error)
		Environments(context.Context) []agent.EnvironmentStatus
	}

	// Conversations keeps the list. Missing for what is not there or is not the owner's.
	Conversations interface {
		CreateConversation(ctx context.Context, owner string) (chat.Conversation, error)
		Conversation(ctx context.Context, id, owner string) (chat.Conversation, error)
		Conversations(ctx context.Context, owner string, f eventlog.ListFilter) ([]chat.Conversation, string, error)
		RenameConversation(ctx context.Context, id, owner, title string) error
		DeleteConversation(ctx context.Context, id, owner string) error
	}

	// Records reads logs. Missing for a conversation that is not there any more.
	Records interface {
		Read(ctx context.Context, conversation string, after int64, limit int) ([]chat.Record, error)
		Last(ctx context.Context, conversation string) (int64, error)
		Changed(conversation string) <-chan struct{}
		ActiveRun(ctx context.Context, conversation string) (chat.Run, bool, error)
		// Watched notes that somebody watches until then, at least: nothing of the conversation expires meanwhile.
		Watched(ctx context.Context, conversation string, until time.Time) error
	}

	// Questions lists what people are asked.
	Questions interface {
		OpenConfirmations(ctx context.Context, conversation string) ([]chat.Confirmation, error)
		Confirmations(ctx context.Context, user string, states ...chat.ConfirmState) ([]chat.Confirmation, error)
	}

	// Log is all of the log's sides.
	Log interface {
		Conversations
		Records
		Questions
	}
)

// ModelInfo is what is shown of the model.
type ModelInfo struct {
	Provider string `json:"provider"`
	Name     string `json:"name"`
	Offline  bool   `json:"offline"` // a planner without a model
}

// Options are what an API is made of. The first five are required; a route whose backing is nil is not there.
type Options struct {
	Identity     Identifier
	Log          Log
	Work         Work
	Surroundings Surroundings
	Streams      Streams

	Simulator Simulator
	Audit     Audit
	Feedback  Feedback
	Memories  Memories
	Artifacts Artifacts
	Handover  Handover   // of an own-origin page
	Memory    func() any // GET /diagnostics/memory
	Servers   func() any // GET /diagnostics/mcp

	Environments   []agent.Environment // configured ones; a request that names another is refused
	Model          ModelInfo
	MessageChars   int            // code points; 0 is 20,000
	BasePath       string         // of links, as /agentd/; routes answer with and without it
	TrustedProxies []netip.Prefix // whose X-Forwarded-* count
	FrameAncestors []string       // origins that may embed the page, beside its own
	LoginURL       string         // where people sign in; empty: no such page is known
	Web            fs.FS          // the built page; nil: there is none
	Ready          func(context.Context) error
	Metrics        *prometheus.Registry // nil: no /metrics
	ActiveRuns     func() int           // for the metrics; may be nil
	IdentityCheck  time.Duration        // how often a stream asks again who reads it; 0 is 30 s
	Logger         *slog.Logger
	Now            func() time.Time
}

// API serves HTTP. It is safe for several goroutines.
type API struct {
	o       Options
	echo    *echo.Echo
	guard   *http.CrossOriginProtection
	metrics *metrics
	health  health
	routes  []route
	openapi []byte
	envs    map[string]bool // configured ids
	paths   map[string]bool // of the framework's routes
}

// New makes an API. Its error names an option that is missing or cannot be used. Nothing is started.
func New(o Options) (*API, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	a := &API{o: o, echo: echo.New(), guard: http.NewCrossOriginProtection(), envs: map[string]bool{}, paths: map[string]bool{}}
	for _, e := range o.Environments {
		a.envs[e.ID] = true
	}
	a.metrics = newMetrics(o.Metrics, o.ActiveRuns)
	a.routes = a.table()
	var err error
	if a.openapi, err = describe(a.routes); err != nil {
		return nil, err
	}
	a.echo.HideBanner, a.echo.HidePort = true, true
	a.echo.HTTPErrorHandler = func(err error, c echo.Context) { a.fail(c, ours(err)) }
	a.echo.Use(a.edge, a.sameOrigin)
	for _, r := range a.routes {
		a.echo.Add(r.method, r.echoPath(), a.serve(r))
	}
	if err := a.pages(); err != nil {
		return nil, err
	}
	for _, r := range a.echo.Routes() {
		a.paths[r.Path] = true
	}
	return a, nil
}

// Handler serves every route, with and without the base path.
func (a *API) Handler() http.Handler {
	return forwarded(a.o.TrustedProxies, withoutBase(a.o.BasePath, a.echo))
}

// Drain makes the API say that it is not ready and refuse what would start a run. Everything else is still answered.
func (a *API) Drain() { a.health.draining.Store(true) }

func (o *Options) complete() error {
	for name, missing := range map[string]bool{
		"Identity": o.Identity == nil, "Log": o.Log == nil, "Work": o.Work == nil,
		"Surroundings": o.Surroundings == nil, "Streams": o.Streams == nil,
	} {
		if missing {
			return fault.New(fault.Internal, "httpapi: Options."+name+" is required.")
		}
	}
	if o.MessageChars == 0 {
		o.MessageChars = 20_000
	}
	if o.IdentityCheck == 0 {
		o.IdentityCheck = 30 * time.Second // with what an identity is remembered, a minute
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.BasePath = cleanBase(o.BasePath)
	return checkOrigins(o.FrameAncestors)
}
