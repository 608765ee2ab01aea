package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/toolfilter"
)

// A run is one piece of work in progress. It belongs to one goroutine.
type run struct {
	*Service
	chat.Run
	log       *slog.Logger
	epoch     int64 // of our claim; a write after another's claim is refused
	story     *story
	offered   toolfilter.Offered
	steps     int // model steps so far, those before a crash counted
	watch     repetition
	gated     []*flight // calls of this step that a person must answer for
	held      []*flight // went well and are recorded together, since they share a budget
	holding   bool
	final     []chat.Entry // of the last step; written together with the terminal event
	signedOut bool         // a forwarded credential is gone
}

func newRun(s *Service, r chat.Run) *run {
	return &run{Service: s, Run: r, log: s.o.Logger.With("run", r.ID, "conversation", r.Conversation), story: newStory(), watch: newRepetition()}
}

// work goes on from wherever the log says that the run stands, to its one terminal event. Its error means that
// the log could not be read or written, and the run has not ended.
func (r *run) work(ctx context.Context) error {
	recs, err := r.o.Store.History(ctx, r.Conversation)
	if err != nil {
		return fmt.Errorf("read history of %s: %w", r.ID, err)
	}
	for _, rec := range recs {
		r.story.add(rec.RunID, rec.Entry)
		if rec.RunID == r.ID && rec.Note != nil && rec.Note.Step != nil && rec.Event.Type() == "usage" {
			r.steps++
		}
	}
	outcome, err := r.safely(ctx)
	return r.end(ctx, outcome, err)
}

// safely turns a panic into an error, so that the run still ends.
func (r *run) safely(ctx context.Context) (outcome string, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.log.Error("panic in a run", "panic", p, "stack", string(debug.Stack()))
			err = fault.New(fault.Internal, "Internal error.")
		}
	}()
	return r.loop(ctx)
}

// loop is the run as a whole: begin, finish what was left open, then step after step.
func (r *run) loop(ctx context.Context) (outcome string, err error) {
	if err := r.begin(ctx); err != nil {
		return "", err
	}
	if err := r.carryOn(ctx); err != nil {
		return "", err
	}
	for {
		switch {
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case r.signedOut:
			return "", signIn()
		case r.awaiting():
			return chat.OutcomeAwaiting, nil
		case r.watch.stuck() != "":
			r.say(r.watch.stuck())
			return r.watch.stuck(), nil
		case r.steps >= r.o.Limits.MaxSteps:
			r.say(chat.OutcomeMaxSteps)
			return chat.OutcomeMaxSteps, nil
		}
		outcome, err := r.step(ctx)
		if outcome != "" || err != nil {
			return outcome, err
		}
	}
}

// begin writes the first event, unless a crash came after it.
func (r *run) begin(ctx context.Context) error {
	r.offer()
	if _, begun := r.story.runs[r.ID]; begun {
		return nil
	}
	e := chat.Entry{Event: &chat.RunStarted{
		Cause: r.Cause, MessageID: r.MessageID, EnvID: r.EnvID, UIContext: view(r.View), Tools: names(r.offered.Tools),
		Dropped: chat.Dropped{RBAC: r.offered.RBAC, Affinity: r.offered.Affinity},
	}}
	if r.Cause == chat.CauseRetry {
		old := r.story.calls[r.RetryOf]
		e.Note = &chat.Note{Step: &chat.AssistantMessage{ID: "msg_" + r.ID, Calls: []chat.ToolCall{{ID: r.CallID, Name: old.Name, Args: old.Args}}}}
	}
	return r.write(ctx, chat.Write{Entries: []chat.Entry{e}, Audit: []chat.AuditRow{r.row("offered", nil, chat.AuditRow{Tools: names(r.offered.Tools)})}})
}

// carryOn answers the calls that the last step left open: the one that a person approved, those that a crash
// interrupted, the one that the page's Retry asked for.
func (r *run) carryOn(ctx context.Context) error {
	if r.Cause == chat.CauseDecision {
		if err := r.approved(ctx); err != nil {
			return err
		}
	}
	return r.calls(ctx, r.story.unanswered())
}

// awaiting reports whether a card of the last step is open.
func (r *run) awaiting() bool {
	for _, c := range r.story.lastStep().Calls {
		if r.story.open[c.ID] != "" {
			return true
		}
	}
	return false
}

// end writes the one terminal event, after closing every call that has no answer.
func (r *run) end(ctx context.Context, outcome string, err error) error {
	var failure *storeError
	if errors.As(err, &failure) {
		return failure.err
	}
	w := chat.Write{RunID: r.ID, Epoch: r.epoch, Entries: r.final, End: true}
	open := r.story.unanswered()
	for _, c := range open {
		e, row := r.closing(c)
		w.Entries, w.Audit = append(w.Entries, e), append(w.Audit, row)
	}
	w.Entries = append(w.Entries, chat.Entry{Event: r.terminal(ctx, outcome, err)})
	_, err = r.o.Store.Write(context.WithoutCancel(ctx), w)
	return err
}

func (r *run) terminal(ctx context.Context, outcome string, err error) chat.Event {
	switch cause := context.Cause(ctx); {
	case err == nil:
		return &chat.RunFinished{Outcome: outcome}
	case errors.Is(cause, errCancelled):
		return &chat.RunFinished{Outcome: chat.OutcomeCancelled}
	case errors.Is(cause, errTime):
		return &chat.RunFinished{Outcome: chat.OutcomeTimeBudget}
	case cause != nil:
		r.log.Info("run stopped", "cause", cause)
		return &chat.RunError{Code: "stopped", Message: "The server stopped before the work was done.", Retryable: true}
	}
	r.log.Error("run failed", "err", err, "kind", fault.KindOf(err))
	k := fault.KindOf(err)
	return &chat.RunError{Code: fault.CodeOf(err), Message: fault.Message(err), Retryable: k == fault.Transient || k == fault.RateLimited || k == fault.Timeout || k == fault.Auth}
}

// A storeError is a failure of the log itself: nothing can be written, so the run is left as it stands.
type storeError struct{ err error }

func (e *storeError) Error() string { return e.err.Error() }
func (e *storeError) Unwrap() error { return e.err }

// writeLimit bounds a write of a run that was stopped: it still owes its answers.
const writeLimit = 5 * time.Second

// write appends to the log and to the story. A stopped run writes too.
func (r *run) write(ctx context.Context, w chat.Write) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	w.RunID, w.Epoch = r.ID, r.epoch
	if _, err := r.o.Store.Write(ctx, w); err != nil {
		return &storeError{fmt.Errorf("write to %s: %w", r.Conversation, err)}
	}
	for _, e := range w.Entries {
		r.story.add(r.ID, e)
	}
	return nil
}

// say ends the run with a sentence of our own.
func (r *run) say(outcome string) {
	text := sentence(outcome, r.Who.Language)
	id := fmt.Sprintf("msg_%s_end", r.ID)
	r.final = append(r.final, chat.Entry{
		Event: &chat.MessageEvent{MessageID: id, Role: chat.RoleAssistant, Text: text},
		Note:  &chat.Note{Step: &chat.AssistantMessage{ID: id, Text: text}},
	})
}
