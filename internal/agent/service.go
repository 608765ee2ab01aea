// Package agent runs the work: it asks the model, sends the calls that the model asks for through the guarded
// pipeline, and goes on until there is an answer, a question to a person, or a limit.
package agent

import (
	"encoding/json"

	"agentd/internal/chat"
	uicontext "agentd/internal/context"
)

// MessageInput is what a person sends.
type MessageInput struct {
	Text     string
	Env      string // "" leaves it to the view
	View     uicontext.View
	Strategy string // reject (also ""), enqueue, interrupt
	Key      string // idempotency key
	Replaces string // id of the last own message, which this one edits
}

// Accepted says what a message started.
type Accepted struct {
	RunID     string
	MessageID string
	Replayed  bool // the key was seen before
}

// DecisionInput is a person's answer to a card.
type DecisionInput struct {
	Decision   string // approve, edit, reject
	EditedArgs json.RawMessage
	Reason     string
	ArgsDigest string // the card's
	Remember   bool
	Key        string
}

// Decided says what an answer did. A repeated answer has the same reply with Replayed.
type Decided struct {
	RunID    string
	State    chat.ConfirmState
	Replayed bool
}

// Retried says what the Retry button started.
type Retried struct{ RunID, CallID string }

// Environment is one Superset as agentd knows it. Never a credential.
type Environment struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Class string `json:"class"` // prod, staging, dev
}

// EnvironmentStatus is an environment and whether it answers now.
type EnvironmentStatus struct {
	Environment
	Reachable bool `json:"reachable"`
}

// ServerStatus is a source of tools from outside: its name and how it stands, and no more.
type ServerStatus struct {
	Name  string `json:"name"`
	State string `json:"state"` // up, down, starting
}

// Capabilities is what is offered here, what is not, and why.
type Capabilities struct {
	User         string              `json:"user"`
	Roles        []string            `json:"roles"`
	Environments []EnvironmentStatus `json:"environments"`
	Servers      []ServerStatus      `json:"mcp_servers"`
	Offered      []OfferedTool       `json:"offered"`
	Hidden       []HiddenTool        `json:"hidden"`
	Model        string              `json:"model"` // provider; offline is a planner without a model
}

// OfferedTool is a tool that the model is shown.
type OfferedTool struct {
	Name string `json:"name"`
	Risk string `json:"risk"`
}

// HiddenTool is a tool that the model is not shown, and why: role, page, operator, breaker, not_built.
type HiddenTool struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Question asks what the policy would say about a call.
type Question struct {
	Roles []string
	Tool  string
	Args  json.RawMessage
	Env   string
}

// Answer is a verdict and the rule that fired.
type Answer struct {
	Verdict string         `json:"verdict"` // allow, confirm, deny
	Rule    string         `json:"rule"`
	Reason  string         `json:"reason"`
	Risk    chat.Risk      `json:"risk"`
	View    uicontext.View `json:"-"`
}
