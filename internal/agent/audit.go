package agent

import (
	"agentd/internal/chat"
)

// row completes an audit row of this run, and of f where there is one.
func (r *run) row(kind string, f *flight, a chat.AuditRow) chat.AuditRow {
	a.Kind, a.User, a.Conversation, a.RunID, a.EnvID, a.PolicyVersion = kind, r.Who.User, r.Conversation, r.ID, r.EnvID, r.o.Policy.Version()
	if f != nil {
		a.CallID, a.Tool, a.EnvID = f.ID, f.Name, f.Env
		if a.ArgsDigest == "" {
			a.ArgsDigest = f.digest()
		}
		if a.Verdict == "" {
			a.Verdict = f.verdict.Action.String()
		}
	}
	return a
}

func decidedRow(c chat.Confirmation, who chat.Identity, in DecisionInput) chat.AuditRow {
	return chat.AuditRow{
		Kind: "decided", User: who.User, Conversation: c.Conversation, RunID: c.RunID, CallID: c.CallID, Tool: c.Tool, EnvID: c.EnvID,
		Verdict: in.Decision, Reason: in.Reason, PolicyVersion: c.PolicyVersion, ArgsShown: c.Args, ArgsExecuted: in.EditedArgs, ArgsDigest: c.ArgsDigest,
	}
}

// closing answers a call that a stopped or failed run leaves open, so that the history stays whole.
func (r *run) closing(c chat.ToolCall) (chat.Entry, chat.AuditRow) {
	f := r.flight(c)
	const msg = "It was not executed: the run had ended."
	e := chat.Entry{
		Event: &chat.ToolError{CallID: c.ID, Tool: c.Name, Class: "transient", Message: msg},
		Note:  f.note(statusText(status{Status: "cancelled", Message: msg})),
	}
	return e, r.row("ended", f, chat.AuditRow{Outcome: "cancelled"})
}
