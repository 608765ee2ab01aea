package agent

import (
	"encoding/json"
	"errors"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/retry"
)

// An answer is what a call came to: the event that is shown and the text that the model reads.
type answer struct {
	event   chat.Event
	text    string
	outcome string // for the audit
	denied  bool
	unknown bool // there is no such tool
}

// The ends of a call that no library of ours has a kind for.
const (
	codeNotOffered  = "not_offered"
	codeUnknownTool = "unknown_tool"
	codeOwnership   = "ownership"
	codeRole        = "role"
	codePolicy      = "policy"
	codeSuperset    = "superset"
	codeSignIn      = "sign_in_again"
)

// status is the shape of every answer to the model that is no result.
type status struct {
	Status   string   `json:"status"`
	Message  string   `json:"message"`
	Tools    []string `json:"available,omitempty"`
	Executed *bool    `json:"executed,omitempty"`
}

func statusText(s status) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("agent: " + err.Error()) // texts always marshal
	}
	return string(b)
}

// refusal is the answer that an error becomes, when nothing was changed. It is the only place that maps kinds of
// errors to events of a call.
func (f *flight) refusal(err error) answer {
	kind, code, msg := fault.KindOf(err), fault.CodeOf(err), fault.Message(err)
	reads := f.bound.Run == nil || !f.risk().Writes()
	switch kind {
	case fault.Denied:
		reason := codeSuperset
		switch code {
		case codeRole, codePolicy, codeOwnership:
			reason = code
		}
		return answer{
			event:   &chat.PermissionDenied{CallID: f.ID, Tool: f.Name, EnvID: f.Env, Reason: reason, RequiredPermission: f.required(reason)},
			text:    statusText(status{Status: "denied", Message: msg + " It was not executed. Do not repeat it."}),
			outcome: "denied", denied: true,
		}
	case fault.Timeout:
		return answer{
			event: &chat.ToolTimeout{CallID: f.ID, Tool: f.Name, Cause: chat.TimeoutByLimit, TimeoutMS: f.timeout.Milliseconds(), Retryable: f.risk() == "read", Outcome: chat.NoOutcome},
			text:  statusText(status{Status: "timeout", Message: msg + " Nothing was changed."}), outcome: "timeout",
		}
	}
	class := classOf(kind, code)
	exhausted := retry.Exhausted(err)
	retryable := reads && f.risk() == "read" && (class == "transient" || class == "degraded" || class == "rate_limited")
	if kind == fault.Canceled {
		msg, retryable = "It was stopped before it ended.", reads && f.risk() == "read"
	}
	text := statusText(status{Status: class, Message: msg, Tools: f.near})
	if e, ok := errors.AsType[*fault.Error](err); ok && len(e.Answer) > 0 { // it has words of its own for the model
		text = e.Answer
	}
	return answer{
		event:   &chat.ToolError{CallID: f.ID, Tool: f.Name, Class: class, Message: msg, Retryable: retryable, RetryExhausted: exhausted},
		text:    text,
		outcome: class, unknown: class == codeUnknownTool,
	}
}

// classOf is the class that tool_error names.
func classOf(k fault.Kind, code string) string {
	switch code {
	case codeNotOffered, codeUnknownTool:
		return code
	}
	switch k {
	case fault.Transient, fault.Canceled:
		return "transient"
	case fault.Auth:
		return "auth"
	case fault.Missing, fault.Gone:
		return "missing"
	case fault.Invalid, fault.TooLarge:
		return "invalid"
	case fault.Conflict:
		return "conflict"
	case fault.Mismatch:
		return "mismatch"
	case fault.RateLimited:
		return "rate_limited"
	case fault.Degraded:
		return "degraded"
	}
	return "internal"
}

// unsure reports whether an error of a write leaves open whether it was executed, and why.
func unsure(err error) (cause string, ok bool) {
	switch fault.KindOf(err) {
	case fault.Timeout:
		return chat.TimeoutByLimit, true
	case fault.Canceled: // the request may have been on its way
		return chat.TimeoutConnection, true
	case fault.Unknown:
		if e, ok := errors.AsType[*fault.Error](err); ok && (e.Status == 502 || e.Status == 504) {
			return chat.TimeoutGateway, true
		}
		return chat.TimeoutConnection, true
	}
	return "", false
}
