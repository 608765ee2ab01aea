// Package tool says what a tool is and keeps the set of them. Tools know nothing of permissions, timing, retry or truncation.
package tool

import (
	"context"
	"encoding/json"
	"time"

	"agentd/internal/chat"
	uicontext "agentd/internal/context"
)

// Risk is what running a tool can do. The zero Risk counts as Dangerous.
type Risk string

// The risks, mildest first.
const (
	Read      Risk = "read"      // runs by itself, retried once
	Query     Risk = "query"     // free SQL: reads, costs, is never retried
	Write     Risk = "write"     // changes data
	Dangerous Risk = "dangerous" // irreversible or wide
)

// Writes reports whether a call of this risk may change something.
func (r Risk) Writes() bool { return r != Read && r != Query }

// Level orders the risks; the zero Risk and unknown ones stand with Dangerous.
func (r Risk) Level() int {
	switch r {
	case Read:
		return 0
	case Query:
		return 1
	case Write:
		return 2
	}
	return 3
}

// Call is one invocation with everything a tool may know about its caller.
type Call struct {
	chat.ToolCall
	Who          chat.Identity
	View         uicontext.View
	Env          string // the environment of the call, already resolved; "" where none is configured or named
	Conversation string
	RunID        string

	Passed []chat.Reference // the stored results that stand in Args, once references were resolved
}

// Tool is a described, typed-at-construction function. A Tool is never changed after New and is safe for several goroutines.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // strict JSON Schema of the arguments, shown to the model
	Risk        Risk
	Perms       []string      // Superset's permissions that a user needs, as "can_read on Dashboard"; all of them
	Timeout     time.Duration // of one attempt; 0 is the configured one of its risk
	MaxChars    int           // characters of a result for the model, where that is less than the configured limit; 0 is that
	NeedsEnv    bool          // works on one environment, so a call without one asks which
	Always      bool          // offered whatever role and page are (show_capabilities, read_artifact)
	Unbuilt     bool          // named in the tables, not offered, and says so

	Affinity []string // object types whose pages offer a tool from outside; the operations' own are toolfilter's table

	// References are the arguments that take a stored result as <name>_uri; of nested ones the names with dots
	// between them. Their schema is an array or an object.
	References []string

	// Envs reads the environments out of the arguments of a tool that names them in its own way; the first is the
	// call's own, and the tool must be allowed in all of them. nil, and no answer, leave it to env_id. It does no I/O.
	Envs func(c Call) []string

	// Bind checks the arguments of c and returns the call ready to run. It does no I/O, so that a call can be
	// refused before anyone is asked. Its error is Invalid and names the arguments.
	Bind func(c Call) (Bound, error)
}

// Bound is a call whose arguments are known to fit. Nothing of it runs before it is allowed.
type Bound struct {
	// Risk of this very call; a dry run of a write is a Read.
	Risk Risk

	// Run executes the call once. Errors are *fault.Error by kind.
	Run func(ctx context.Context) (Result, error)

	// Preview tells what Run would do, without doing it. Only writes have one.
	Preview func(ctx context.Context) (Preview, error)

	// ReadBack finds out after an unknown outcome whether the write is there. p is the preview shown
	// before. Only writes have one.
	ReadBack func(ctx context.Context, p Preview) (Outcome, error)

	// Verify is a sentence: how a person finds out.
	Verify string
}

// Result is what a tool gives back, whole. Nobody but the offload gate shortens it.
type Result struct {
	Summary  string          // one sentence
	Data     json.RawMessage // the payload; null where there is none
	Rows     *Table          // tabular payload, instead of Data
	Total    *int64          // how many there are at the source, when known
	Bounded  bool            // the source stopped at a limit of its own: there is more than Data or Rows hold
	Links    []chat.Link
	Warnings []string
	Hint     string // for the model only, never shortened: the cursor of the next page
	Keep     bool   // the whole was asked for: it is kept as an artifact whatever the preview shows

	// Source is chat.Unsure where the source does not say whether it has more. A page of a stored result, which
	// is Bounded where it is not all that is stored, has here whether that was all of the source.
	Source chat.Completeness

	// Artifact is set by tools that stored their payload themselves, as a backup or an export.
	Artifact *chat.Artifact
}

// Preview is what a confirmation card shows and what must still be true when it is approved.
type Preview struct {
	chat.ConfirmPreview
	Fingerprint string // of the object's state: the fields shown, owners, roles, tags, charts
}

// Outcome is what reading back found: chat.OutcomeApplied, OutcomeNotApplied or OutcomeStillUnknown.
type Outcome struct {
	Outcome  string
	Evidence string // a sentence
	Result   *Result
}
