package agent

import (
	"context"
	"time"

	"agentd/internal/chat"
	"agentd/internal/tool"
)

// What the agent needs of others, each as small as its use of it. All of them are safe for several goroutines.
type (
	// Log keeps conversations. Every method returns once its effect is durable.
	Log interface {
		StartRun(context.Context, chat.Start) (run chat.Run, replayed bool, err error)
		Write(context.Context, chat.Write) (last int64, err error)
		// History reads a conversation whole, without its text deltas.
		History(ctx context.Context, conversation string) ([]chat.Record, error)
	}

	// Runs finds runs.
	Runs interface {
		// Claim makes the caller the one who may write to a run; who claimed it before is refused from then on.
		Claim(ctx context.Context, id string) (epoch int64, err error)
		Run(ctx context.Context, id string) (chat.Run, error)
		ActiveRun(ctx context.Context, conversation string) (run chat.Run, ok bool, err error)
		ActiveRuns(context.Context) ([]chat.Run, error)
		// Next lets the oldest waiting run of a conversation begin, if nothing is in its way, and names it.
		Next(ctx context.Context, conversation string) (runID string, err error)
		// Waiting lists the conversations in which a run waits.
		Waiting(context.Context) ([]string, error)
		// Cancel asks the active run to stop and names it; without one it closes what is pending with reject's entries.
		Cancel(ctx context.Context, conversation string, reject func(chat.Confirmation) []chat.Entry, audit ...chat.AuditRow) (runID string, err error)
		Changed(conversation string) <-chan struct{}
	}

	// Confirmations settles questions to people.
	Confirmations interface {
		Decide(context.Context, chat.Decision) (chat.Decided, error)
		Confirmation(ctx context.Context, id, user string) (chat.Confirmation, error)
		OpenConfirmations(ctx context.Context, conversation string) ([]chat.Confirmation, error)
		ExpireConfirmations(ctx context.Context, entries func(chat.Confirmation) []chat.Entry) (int, error)
	}

	// Store is all of the log's sides.
	Store interface {
		Log
		Runs
		Confirmations
	}

	// Engine makes runs durable: what was started is worked on until it ends, also after a restart.
	Engine interface {
		// Start is idempotent; the run is durable when it returns.
		Start(ctx context.Context, runID string) error
	}

	// Model writes the next step of a conversation. Deltas reach sink in order.
	Model interface {
		Generate(ctx context.Context, p chat.Prompt, sink func(chat.Delta) error) (chat.Completion, error)
	}

	// Policy says what roles may.
	Policy interface {
		Allows(roles []string, class, tool string) bool
		Version() string
	}

	// Gate bounds results. It never fails: what cannot be stored is said in the artifact's decision.
	Gate interface {
		Bound(ctx context.Context, c tool.Call, r tool.Result) Bounded
		// Limit is how many characters the model gets at most of one result of a tool.
		Limit(tool string) int
		// Batch keeps the results of one step together within their budget. calls[i] made raw[i], which was
		// bounded to results[i].
		Batch(ctx context.Context, calls []tool.Call, raw []tool.Result, results []Bounded) []Bounded
		// Words shortens what an error says to limit characters.
		Words(text string, limit int) string
	}

	// References resolves arguments that name stored results before they are bound.
	References interface {
		Resolve(ctx context.Context, c tool.Call) (tool.Call, error)
		// Shown gives tools as the model is told of them: with the arguments that may be references.
		Shown(tools []tool.Tool) ([]tool.Tool, error)
	}

	// Permissions tells what Superset itself lets a user do in an environment.
	// known is false where a service account acts and the policy is the only gate.
	Permissions interface {
		Permissions(ctx context.Context, who chat.Identity, env string) (has func(perm string) bool, known bool, err error)
	}
)

// Bounded is a result as it leaves the gate.
type Bounded struct {
	Text     string // for the model, within the limit
	Summary  string
	Preview  *chat.Preview
	Artifact *chat.Artifact
}

// Limits bound a run. Zero values are the defaults of the configuration's documentation.
type Limits struct {
	ReadTimeout     time.Duration // of one attempt
	WriteTimeout    time.Duration
	RetryDelay      time.Duration
	RunTimeout      time.Duration
	ConfirmationTTL time.Duration
	MaxSteps        int
	MessageChars    int // code points
	RunsPerUser     int
	BatchChars      int // code points of all results of one step
}

func (l Limits) withDefaults() Limits {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	num := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	def(&l.ReadTimeout, 30*time.Second)
	def(&l.WriteTimeout, 60*time.Second)
	def(&l.RetryDelay, time.Second)
	def(&l.RunTimeout, 10*time.Minute)
	def(&l.ConfirmationTTL, time.Hour)
	num(&l.MaxSteps, 12)
	num(&l.MessageChars, 20_000)
	num(&l.RunsPerUser, 4)
	num(&l.BatchChars, 200_000)
	return l
}
