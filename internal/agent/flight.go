package agent

import (
	"slices"
	"strings"
	"time"

	"agentd/internal/chat"
	"agentd/internal/confirm"
	"agentd/internal/guardrails"
	"agentd/internal/tool"
)

// A flight is one call on its way through the pipeline.
type flight struct {
	tool.Call           // as the model gave it
	resolved  tool.Call // with references replaced by what they name
	tool      tool.Tool
	bound     tool.Bound
	class     string // of the environment
	verdict   guardrails.Verdict
	card      *chat.Confirmation // what a person approved; nil while nobody was asked
	retryOf   string
	untrusted []string // pointers of arguments that stand in text that nobody vouches for
	near      []string // names that a made-up one may have meant
	timeout   time.Duration
	started   time.Time
	result    tool.Result
	bounded   Bounded
}

func (r *run) flight(c chat.ToolCall) *flight {
	f := &flight{Call: tool.Call{ToolCall: c, Who: r.Who, View: r.View, Conversation: r.Conversation, RunID: r.ID}}
	if r.Cause == chat.CauseRetry && c.ID == r.CallID {
		f.retryOf = r.RetryOf
	}
	return f
}

func (f *flight) note(text string) *chat.Note {
	return &chat.Note{Result: &chat.ToolResult{CallID: f.ID, Tool: f.Name, Content: text}}
}

// move is the step of the approved card, if there is one.
func (f *flight) move(to chat.ConfirmState, from ...chat.ConfirmState) []chat.Move {
	if f.card == nil {
		return nil
	}
	return []chat.Move{{ID: f.card.ID, From: from, To: to}}
}

// risk is that of this very call; what does not say counts as dangerous.
func (f *flight) risk() tool.Risk {
	switch {
	case f.bound.Risk != "":
		return f.bound.Risk
	case f.tool.Risk != "":
		return f.tool.Risk
	}
	return tool.Dangerous
}

func (f *flight) shownRisk(permission string) chat.Risk {
	risk := f.risk()
	if f.verdict.Risk != "" { // untrusted text may have raised it
		risk = f.verdict.Risk
	}
	return chat.Risk{Tool: string(risk), Env: f.class, Permission: permission}
}

// key names a call for the watch over repetitions.
func (f *flight) key() string { return f.Name + "\x00" + f.Env + "\x00" + f.digest() }

// isReference reports whether a stored result stands at a place in the arguments. Its URI is an id, which says nothing
// by itself; the card says what is behind it.
func (f *flight) isReference(pointer string) bool {
	return slices.ContainsFunc(f.resolved.Passed, func(r chat.Reference) bool {
		return pointer == r.Argument || strings.HasPrefix(pointer, r.Argument+"/")
	})
}

// digest is that of the arguments as they are shown, and of the stored results that they name.
func (f *flight) digest() string { return confirm.Digest(f.Args, f.resolved.Passed...) }

func (f *flight) required(reason string) string {
	if reason == codeOwnership {
		return "owner of the object"
	}
	return strings.Join(f.tool.Perms, ", ")
}
