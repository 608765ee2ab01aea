package chat

import (
	"encoding/json"
	"time"

	uicontext "agentd/internal/context"
)

// A Conversation is a log with an owner.
type Conversation struct {
	ID                string    `json:"id"`
	Owner             string    `json:"-"`
	Title             string    `json:"title"`
	Created           time.Time `json:"created_at"`
	Updated           time.Time `json:"updated_at"`
	OpenConfirmations int       `json:"open_confirmations"`
}

// A Run is one piece of work: the answer to a message, a decision or a retry. It is stored before it starts.
type Run struct {
	ID             string
	Conversation   string
	Who            Identity // without its credential
	Cause          string   // CauseMessage, CauseDecision, CauseRetry
	MessageID      string   // the user's message that it answers
	EnvID          string
	View           uicontext.View
	ConfirmationID string // with CauseDecision
	RetryOf        string // call id, with CauseRetry
	CallID         string // the new call's id, with CauseRetry
	Started        time.Time
	Ended          bool
	Queued         bool // waits for the run before it
	Cancelled      bool // somebody asked it to stop
}

// ConfirmState is where a confirmation stands.
type ConfirmState string

// The states; the first three are open, the others final.
const (
	ConfirmPending    ConfirmState = "pending"
	ConfirmClaimed    ConfirmState = "claimed"   // approved, its run has not begun to execute
	ConfirmExecuting  ConfirmState = "executing" // found so after a crash, it ends as unknown
	ConfirmDone       ConfirmState = "done"
	ConfirmFailed     ConfirmState = "failed"
	ConfirmUnknown    ConfirmState = "unknown"
	ConfirmRejected   ConfirmState = "rejected"
	ConfirmExpired    ConfirmState = "expired"
	ConfirmSuperseded ConfirmState = "superseded"
)

// A Confirmation is one question to a person about one stored call. What is executed is Args, byte for byte.
type Confirmation struct {
	ID            string // random, never the model's call id
	Conversation  string
	RunID         string // the run that asked
	User          string // who may answer
	CallID        string
	Tool          string
	Args          json.RawMessage // as shown
	ArgsDigest    string          // SHA-256 of the canonical arguments and of the stored results in them, hex
	EnvID         string
	Risk          Risk
	PolicyVersion string
	Fingerprint   string // of the object's state when the card was made
	Preview       ConfirmPreview
	Created       time.Time
	Expires       time.Time

	State       ConfirmState
	Decision    string // approve, edit, reject; "" while pending
	DecidedBy   string
	DecidedAt   time.Time
	Reason      string
	EditedArgs  json.RawMessage // executed instead of Args, with decision edit
	DecisionRun string          // the run that the decision started
}

// An AuditRow is one line of the append-only audit. Seq, At and Hash are the log's.
type AuditRow struct {
	Seq           int64           `json:"seq"`
	At            time.Time       `json:"at"`
	Kind          string          `json:"kind"` // offered, guard, asked, decided, started, ended
	User          string          `json:"user"`
	Conversation  string          `json:"conversation"`
	RunID         string          `json:"run_id"`
	CallID        string          `json:"call_id,omitempty"`
	Tool          string          `json:"tool,omitempty"`
	EnvID         string          `json:"env_id,omitempty"`
	Verdict       string          `json:"verdict,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	PolicyVersion string          `json:"policy_version,omitempty"`
	ArgsShown     json.RawMessage `json:"args_shown,omitempty"`
	ArgsExecuted  json.RawMessage `json:"args_executed,omitempty"`
	ArgsDigest    string          `json:"args_digest,omitempty"`
	Outcome       string          `json:"outcome,omitempty"`
	Tools         []string        `json:"tools,omitempty"`
	Hash          string          `json:"hash"` // SHA-256 over the row and the hash before it
}
