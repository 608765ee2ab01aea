package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentd/internal/chat"
	"agentd/internal/confirm"
	"agentd/internal/fault"
	"agentd/internal/guardrails"
	"agentd/internal/tool"
	"agentd/internal/toolfilter"
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

// What ends a call early without being an error of it.
var (
	errLater    = errors.New("a person must answer for it, after the calls that need nobody")
	errAnswered = errors.New("it was answered")
)

// call is the way of every call, in order, to its one answer. A step that fails ends the call with what its error
// becomes. The error of call is the log's and ends the run.
func (r *run) call(ctx context.Context, f *flight) error {
	for _, step := range [...]func(context.Context, *flight) error{
		r.find,      // which tool, by the predicate that also makes the list
		r.resolve,   // references to stored results become their rows
		r.bind,      // do the arguments fit
		r.guard,     // may it, and how risky is it
		r.confirm,   // has a person said yes, where one must
		r.unchanged, // is the object still what the card showed
		r.execute,   // under a time limit; a read once more
		r.shorten,   // what the model and the page get of the result
		r.record,    // the answer, durable before it is announced
	} {
		err := step(ctx, f)
		switch {
		case err == nil:
			continue
		case errors.Is(err, errLater), errors.Is(err, errAnswered):
			return nil
		case errors.As(err, new(*storeError)):
			return err
		}
		return r.refuse(ctx, f, err)
	}
	return nil
}

// calls answers the calls of one step: first those that need nobody, then a card for each of the others.
func (r *run) calls(ctx context.Context, calls []chat.ToolCall) error {
	r.gated, r.held = nil, nil
	r.holding = r.tight(calls)
	for _, c := range calls {
		if ctx.Err() != nil { // what ended well before the stop is still recorded
			return errors.Join(r.release(ctx), context.Cause(ctx))
		}
		f := r.flight(c)
		if done, err := r.interrupted(ctx, f); done || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if err := r.call(ctx, f); err != nil {
			return err
		}
		if r.signedOut { // the others would end the same way
			break
		}
	}
	if err := r.release(ctx); err != nil {
		return err
	}
	for _, f := range r.gated {
		if err := r.ask(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) flight(c chat.ToolCall) *flight {
	f := &flight{Call: tool.Call{ToolCall: c, Who: r.Who, View: r.View, Conversation: r.Conversation, RunID: r.ID}}
	if r.Cause == chat.CauseRetry && c.ID == r.CallID {
		f.retryOf = r.RetryOf
	}
	return f
}

func (r *run) find(_ context.Context, f *flight) error {
	t, ok := r.tools().Find(f.Name)
	env, besides, err := r.environment(f, t)
	f.Env, f.class = env, r.class(env)
	if !ok && slices.Contains(r.offered.Names(), f.Name) { // it came from outside and has gone since
		return &fault.Error{Kind: fault.Missing, Code: codeNotOffered, Msg: f.Name + " is no longer available here."}
	}
	if !ok {
		f.near = toolfilter.Nearest(f.Name, r.offered.Names())
		if len(f.near) == 0 {
			f.near = r.offered.Names()
		}
		return &fault.Error{Kind: fault.Missing, Code: codeUnknownTool, Msg: fmt.Sprintf("There is no tool %q.", f.Name)}
	}
	f.tool, f.timeout = t, r.limit(t, t.Risk)
	classes := []string{f.class}
	if f.Env == "" {
		classes = r.classes()
	}
	switch toolfilter.Judge(t, r.allows(), classes, r.View, r.state(f)) {
	case toolfilter.Visible:
	case toolfilter.HiddenByRole:
		return &fault.Error{Kind: fault.Denied, Code: codeRole, Msg: "Your role may not use " + t.Name + " here."}
	case toolfilter.Unbuilt:
		return &fault.Error{Kind: fault.Missing, Code: codeNotOffered, Msg: t.Name + " is planned and not part of this version."}
	default:
		return &fault.Error{Kind: fault.Missing, Code: codeNotOffered, Msg: t.Name + " is not offered on this page."}
	}
	if err != nil {
		return err
	}
	return r.allowedBesides(t, besides)
}

// resolve leaves f.Call as the model gave it: card, digest and log show the reference and not its rows.
func (r *run) resolve(ctx context.Context, f *flight) error {
	f.resolved = f.Call
	if r.o.References == nil {
		return nil
	}
	c, err := r.o.References.Resolve(ctx, f.Call)
	if err != nil {
		return err
	}
	f.resolved = c
	return nil
}

func (r *run) bind(_ context.Context, f *flight) error {
	if notJSON(f.Args) {
		return fault.New(fault.Invalid, "The arguments of "+f.Name+" are not a JSON object.")
	}
	b, err := f.tool.Bind(f.resolved)
	if err != nil {
		return err
	}
	f.bound = b
	f.timeout = r.limit(f.tool, f.risk())
	return nil
}

func (r *run) guard(ctx context.Context, f *flight) error {
	granted, err := r.granted(ctx, f)
	if err != nil {
		return err
	}
	if f.risk().Writes() {
		f.untrusted = guardrails.Untrusted(f.Args, r.story.texts(), r.story.lastUser().Text)
	}
	f.verdict = r.o.Risk.Decide(guardrails.Question{Tool: f.risk(), Class: f.class, Granted: granted, Untrusted: len(f.untrusted) > 0})
	if r.story.rejected[f.Name+"\x00"+f.Env+"\x00"+confirm.Digest(f.Args)] && f.card == nil {
		return fault.New(fault.Conflict, "A person rejected this very call. It was not executed; do not repeat it.")
	}
	if f.verdict.Action == guardrails.Deny {
		return &fault.Error{Kind: fault.Denied, Code: codePolicy, Msg: f.verdict.Reason}
	}
	return nil
}

func (r *run) confirm(_ context.Context, f *flight) error {
	if f.verdict.Action != guardrails.Confirm || f.card != nil && !r.riskier(f) {
		return nil
	}
	r.gated = append(r.gated, f)
	return errLater
}

func (r *run) shorten(ctx context.Context, f *flight) error {
	f.bounded = r.o.Gate.Bound(ctx, f.Call, f.result)
	return nil
}

// record writes the answer of a call that went well.
func (r *run) record(ctx context.Context, f *flight) error {
	if r.holding {
		r.held = append(r.held, f)
		return nil
	}
	links := f.result.Links
	if links == nil {
		links = []chat.Link{}
	}
	r.watch.note(f.key(), f.bounded.Text, false, false)
	return r.write(ctx, chat.Write{
		Entries: []chat.Entry{{
			Event: &chat.ToolResultEvent{
				CallID: f.ID, Tool: f.Name, DurationMS: r.o.Now().Sub(f.started).Milliseconds(),
				Summary: f.bounded.Summary, Preview: f.bounded.Preview, Artifact: f.bounded.Artifact, Links: links,
			},
			Note: f.note(f.bounded.Text),
		}},
		Move:  f.move(chat.ConfirmDone, chat.ConfirmExecuting),
		Audit: []chat.AuditRow{r.row("ended", f, chat.AuditRow{Outcome: "ok"})},
	})
}

// refuse writes the answer that an error becomes: nothing was changed.
func (r *run) refuse(ctx context.Context, f *flight, err error) error {
	a := f.refusal(err)
	if fault.KindOf(err) == fault.Internal {
		r.log.Error("tool call failed", "tool", f.Name, "env", f.Env, "err", err)
	} else {
		r.log.Info("tool call ended without a result", "tool", f.Name, "env", f.Env, "kind", fault.KindOf(err), "err", err)
	}
	if fault.CodeOf(err) == codeSignIn {
		r.signedOut = true
	}
	r.watch.note(f.key(), a.text, a.denied, a.unknown)
	return r.write(ctx, chat.Write{
		Entries: []chat.Entry{{Event: a.event, Note: f.note(a.text)}},
		Move:    f.move(chat.ConfirmFailed, chat.ConfirmClaimed, chat.ConfirmExecuting),
		Audit:   []chat.AuditRow{r.row("ended", f, chat.AuditRow{Outcome: a.outcome, Reason: fault.Message(err)})},
	})
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
func (f *flight) key() string { return f.Name + "\x00" + f.Env + "\x00" + confirm.Digest(f.Args) }

func (f *flight) required(reason string) string {
	if reason == codeOwnership {
		return "owner of the object"
	}
	return strings.Join(f.tool.Perms, ", ")
}

func notJSON(args json.RawMessage) bool {
	var m map[string]json.RawMessage
	if json.Unmarshal(args, &m) != nil {
		return true
	}
	_, marked := m[invalidArgs]
	return marked
}
