package chat

import (
	"encoding/json"
	"time"

	uicontext "agentd/internal/context"
)

// An Event is something that happened in a conversation. Its JSON is the payload on the wire, without the
// common fields (type, seq, run_id, at) that the log adds. Type is the name on the wire.
type Event interface{ Type() string }

// An Entry is an event with what only the model's history needs of it.
type Entry struct {
	Event Event
	Note  *Note
}

// A Note is the part of an entry that no client sees: the model's step, or a call's one answer.
type Note struct {
	User   *UserMessage      `json:"user,omitempty"`
	Step   *AssistantMessage `json:"step,omitempty"`
	Result *ToolResult       `json:"result,omitempty"`
}

// A Record is an entry with its place in the log. Seq is gapless from 1 in each conversation.
type Record struct {
	Conversation string
	Seq          int64
	RunID        string
	At           time.Time
	Entry
}

// Risk is a call's three axes as they are shown.
type Risk struct {
	Tool       string `json:"tool"`       // read, query, write, dangerous
	Env        string `json:"env"`        // prod, staging, dev, or "" where the call names no environment
	Permission string `json:"permission"` // granted, denied
}

// The events. Payloads are those of the stream's documentation.
type (
	// RunStarted is the first event of a run.
	RunStarted struct {
		Cause     string          `json:"cause"` // message, decision, retry
		MessageID string          `json:"message_id,omitempty"`
		EnvID     string          `json:"env_id"`
		UIContext *uicontext.View `json:"ui_context"`
		Tools     []string        `json:"tools"`
		Dropped   Dropped         `json:"dropped"`
	}
	// TextDelta is a gathered piece of assistant text.
	TextDelta struct {
		MessageID string `json:"message_id"`
		Offset    int    `json:"offset"` // code points
		Text      string `json:"text"`
	}
	// MessageEvent is a final text; it replaces the deltas of its id.
	MessageEvent struct {
		MessageID string `json:"message_id"`
		Role      string `json:"role"` // user, assistant
		Text      string `json:"text"`
		Replaces  string `json:"replaces,omitempty"` // the own message that this one edits
	}
	// ToolStart says that execution begins.
	ToolStart struct {
		CallID  string          `json:"call_id"`
		Tool    string          `json:"tool"`
		Args    json.RawMessage `json:"args"`
		EnvID   string          `json:"env_id"`
		Risk    Risk            `json:"risk"`
		RetryOf string          `json:"retry_of,omitempty"`
	}
	// ToolRetry says that a read runs once more after a delay.
	ToolRetry struct {
		CallID      string      `json:"call_id"`
		Tool        string      `json:"tool"`
		Attempt     int         `json:"attempt"`
		MaxAttempts int         `json:"max_attempts"`
		DelayMS     int64       `json:"delay_ms"`
		Reason      RetryReason `json:"reason"`
	}
	// ToolResultEvent says that a call ended well.
	ToolResultEvent struct {
		CallID     string    `json:"call_id"`
		Tool       string    `json:"tool"`
		DurationMS int64     `json:"duration_ms"`
		Summary    string    `json:"summary"`
		Preview    *Preview  `json:"preview"`
		Artifact   *Artifact `json:"artifact"`
		Links      []Link    `json:"links"`
	}
	// ToolError says that a call failed and changed nothing.
	ToolError struct {
		CallID         string `json:"call_id"`
		Tool           string `json:"tool"`
		Class          string `json:"class"`
		Message        string `json:"message"`
		Retryable      bool   `json:"retryable"`
		RetryExhausted bool   `json:"retry_exhausted"`
	}
	// ToolTimeout says that no answer came; of a write nobody knows whether it was done.
	ToolTimeout struct {
		CallID      string `json:"call_id"`
		Tool        string `json:"tool"`
		Cause       string `json:"cause"` // timeout, connection_lost, gateway, restart
		TimeoutMS   int64  `json:"timeout_ms"`
		IsWriteTool bool   `json:"is_write_tool"`
		Retryable   bool   `json:"retryable"`
		Outcome     string `json:"outcome"` // none, unknown
		Verify      string `json:"verify,omitempty"`
	}
	// ToolOutcome is what reading back found after an unknown write.
	ToolOutcome struct {
		CallID   string `json:"call_id"`
		Outcome  string `json:"outcome"` // applied, not_applied, still_unknown
		Evidence string `json:"evidence"`
	}
	// PermissionDenied says that a call was refused. It never has a confirmation.
	PermissionDenied struct {
		CallID             string `json:"call_id"`
		Tool               string `json:"tool"`
		EnvID              string `json:"env_id"`
		Reason             string `json:"reason"` // role, policy, ownership, superset
		RequiredPermission string `json:"required_permission,omitempty"`
	}
	// ConfirmRequired asks a person.
	ConfirmRequired struct {
		ConfirmationID   string          `json:"confirmation_id"`
		CallID           string          `json:"call_id"`
		Tool             string          `json:"tool"`
		Args             json.RawMessage `json:"args"`
		ArgsDigest       string          `json:"args_digest"`
		EnvID            string          `json:"env_id"`
		Risk             Risk            `json:"risk"`
		Dangerous        bool            `json:"dangerous"`
		CountdownSeconds int             `json:"countdown_seconds"`
		AllowedDecisions []string        `json:"allowed_decisions"`
		EditSchema       json.RawMessage `json:"edit_schema,omitempty"`
		Preview          ConfirmPreview  `json:"preview"`
		ExpiresAt        time.Time       `json:"expires_at"`
	}
	// ConfirmResolved closes a card.
	ConfirmResolved struct {
		ConfirmationID string `json:"confirmation_id"`
		Decision       string `json:"decision"` // approved, edited, rejected, expired, superseded
		By             string `json:"by"`
		Reason         string `json:"reason,omitempty"`
	}
	// Usage ends a model step. Its note holds the step.
	Usage struct {
		InputTokens  int      `json:"input_tokens"`
		OutputTokens int      `json:"output_tokens"`
		Cost         *float64 `json:"cost,omitempty"`
	}
	// RunFinished is a terminal event.
	RunFinished struct {
		Outcome string `json:"outcome"`
	}
	// RunError is a terminal event.
	RunError struct {
		Code      string `json:"code"`
		Message   string `json:"message"`
		Retryable bool   `json:"retryable"`
	}
)

// Dropped names how many tools each filter left out.
type Dropped struct {
	RBAC     int `json:"rbac"`
	Affinity int `json:"affinity"`
}

// RetryReason is why a read runs again.
type RetryReason struct {
	Class  string `json:"class"`
	Status int    `json:"status"` // 0: no HTTP answer
}

// Outcomes of RunFinished.
const (
	OutcomeAnswered     = "answered"
	OutcomeAwaiting     = "awaiting_confirmation"
	OutcomeCancelled    = "cancelled"
	OutcomeMaxSteps     = "max_steps"
	OutcomeTokenBudget  = "token_budget"
	OutcomeCostBudget   = "cost_budget"
	OutcomeTimeBudget   = "time_budget"
	OutcomeRepetition   = "repetition"
	OutcomeDenied       = "denied"
	RiskPermGranted     = "granted"
	RiskPermDenied      = "denied"
	RoleUser            = "user"
	RoleAssistant       = "assistant"
	CauseMessage        = "message"
	CauseDecision       = "decision"
	CauseRetry          = "retry"
	UnknownOutcome      = "unknown"
	NoOutcome           = "none"
	TimeoutByLimit      = "timeout"
	TimeoutConnection   = "connection_lost"
	TimeoutGateway      = "gateway"
	TimeoutRestart      = "restart"
	OutcomeApplied      = "applied"
	OutcomeNotApplied   = "not_applied"
	OutcomeStillUnknown = "still_unknown"
)

// Type is the event's name on the wire.
func (RunStarted) Type() string       { return "run_started" }
func (TextDelta) Type() string        { return "text_delta" }
func (MessageEvent) Type() string     { return "message" }
func (ToolStart) Type() string        { return "tool_start" }
func (ToolRetry) Type() string        { return "tool_retry" }
func (ToolResultEvent) Type() string  { return "tool_result" }
func (ToolError) Type() string        { return "tool_error" }
func (ToolTimeout) Type() string      { return "tool_timeout" }
func (ToolOutcome) Type() string      { return "tool_outcome" }
func (PermissionDenied) Type() string { return "permission_denied" }
func (ConfirmRequired) Type() string  { return "confirm_required" }
func (ConfirmResolved) Type() string  { return "confirm_resolved" }
func (Usage) Type() string            { return "usage" }
func (RunFinished) Type() string      { return "run_finished" }
func (RunError) Type() string         { return "run_error" }

// Terminal reports whether e ends its run.
func Terminal(e Event) bool {
	switch e.(type) {
	case *RunFinished, *RunError:
		return true
	}
	return false
}

// NewEvent returns a pointer to a zero event of a type, or nil for a type that is not known.
// Events are pointers everywhere.
func NewEvent(typ string) Event {
	if f, ok := makers[typ]; ok {
		return f()
	}
	return nil
}

// EventTypes lists every type, in the order of the documentation.
func EventTypes() []string {
	return []string{
		"run_started", "text_delta", "message", "tool_start", "tool_retry", "tool_result", "tool_error", "tool_timeout",
		"tool_outcome", "permission_denied", "confirm_required", "confirm_resolved", "usage", "run_finished", "run_error",
	}
}

var makers = map[string]func() Event{
	"run_started":       func() Event { return &RunStarted{} },
	"text_delta":        func() Event { return &TextDelta{} },
	"message":           func() Event { return &MessageEvent{} },
	"tool_start":        func() Event { return &ToolStart{} },
	"tool_retry":        func() Event { return &ToolRetry{} },
	"tool_result":       func() Event { return &ToolResultEvent{} },
	"tool_error":        func() Event { return &ToolError{} },
	"tool_timeout":      func() Event { return &ToolTimeout{} },
	"tool_outcome":      func() Event { return &ToolOutcome{} },
	"permission_denied": func() Event { return &PermissionDenied{} },
	"confirm_required":  func() Event { return &ConfirmRequired{} },
	"confirm_resolved":  func() Event { return &ConfirmResolved{} },
	"usage":             func() Event { return &Usage{} },
	"run_finished":      func() Event { return &RunFinished{} },
	"run_error":         func() Event { return &RunError{} },
}
