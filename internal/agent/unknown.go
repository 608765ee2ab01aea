package agent

import (
	"context"
	"errors"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/retry"
	"agentd/internal/tool"
)

// unknown answers a write whose outcome nobody knows: it says so at once, then reads back by itself.
func (r *run) unknown(ctx context.Context, f *flight, cause string) error {
	err := r.write(ctx, chat.Write{
		Entries: []chat.Entry{{Event: &chat.ToolTimeout{
			CallID: f.ID, Tool: f.Name, Cause: cause, TimeoutMS: f.timeout.Milliseconds(), IsWriteTool: true,
			Outcome: chat.UnknownOutcome, Verify: f.bound.Verify,
		}}},
		Move:  f.move(chat.ConfirmUnknown, chat.ConfirmClaimed, chat.ConfirmExecuting),
		Audit: []chat.AuditRow{r.row("ended", f, chat.AuditRow{Outcome: "unknown", Reason: cause})},
	})
	if err != nil {
		return err
	}
	return r.verify(ctx, f)
}

// verify reads back what an unknown write did, and gives the call its answer.
func (r *run) verify(ctx context.Context, f *flight) error {
	out := r.readBack(ctx, f)
	text := statusText(status{Status: "unknown_write_" + out.Outcome, Message: words(out)})
	r.watch.note(f.key(), text, false, false)
	err := r.write(ctx, chat.Write{
		Entries: []chat.Entry{{Event: &chat.ToolOutcome{CallID: f.ID, Outcome: out.Outcome, Evidence: out.Evidence}, Note: f.note(text)}},
		Audit:   []chat.AuditRow{r.row("ended", f, chat.AuditRow{Outcome: out.Outcome, Reason: out.Evidence})},
	})
	if err != nil {
		return err
	}
	return errAnswered
}

// readBack never fails: what cannot be found out is still unknown. It is given its time although the run was
// stopped, since a person waits for exactly this answer.
func (r *run) readBack(ctx context.Context, f *flight) tool.Outcome {
	if f.bound.ReadBack == nil {
		return tool.Outcome{Outcome: chat.OutcomeStillUnknown, Evidence: "This operation cannot be checked by reading. " + f.bound.Verify}
	}
	shown := tool.Preview{}
	if f.card != nil {
		shown = tool.Preview{ConfirmPreview: f.card.Preview, Fingerprint: f.card.Fingerprint}
	}
	p := retry.Policy{Timeout: r.o.Limits.ReadTimeout, Retry: true, Delay: r.o.Limits.RetryDelay}
	out, err := retry.Do(context.WithoutCancel(ctx), p, nil, func(ctx context.Context) (tool.Outcome, error) {
		return f.bound.ReadBack(ctx, shown)
	})
	if err != nil {
		r.log.Warn("reading back failed", "tool", f.Name, "env", f.Env, "err", err)
		return tool.Outcome{Outcome: chat.OutcomeStillUnknown, Evidence: "Superset could not be read: " + r.said(f, err)}
	}
	return out
}

func words(o tool.Outcome) string {
	switch o.Outcome {
	case chat.OutcomeApplied:
		return "There was no answer to the change, but reading shows that it was applied. " + o.Evidence
	case chat.OutcomeNotApplied:
		return "There was no answer to the change, and reading shows that it was not applied. " + o.Evidence + " Do not repeat it by yourself; ask the person."
	}
	return "Whether the change was applied is not known. " + o.Evidence + " Do not repeat it; tell the person to check Superset."
}

// tooLate records an answer that came after its call was given up. It changes the card, not the conversation.
func (r *run) tooLate(ctx context.Context, f *flight, err error) {
	if !f.risk().Writes() {
		return
	}
	out := tool.Outcome{Outcome: chat.OutcomeApplied, Evidence: "Superset answered after the time limit: the change was made."}
	if err != nil {
		if _, still := unsure(err); still {
			return
		}
		out = tool.Outcome{Outcome: chat.OutcomeNotApplied, Evidence: "Superset answered after the time limit: " + r.said(f, err)}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	_, werr := r.o.Store.Write(ctx, chat.Write{
		RunID: r.ID, Late: true,
		Entries: []chat.Entry{{Event: &chat.ToolOutcome{CallID: f.ID, Outcome: out.Outcome, Evidence: out.Evidence}}},
		Audit:   []chat.AuditRow{r.row("ended", f, chat.AuditRow{Outcome: out.Outcome, Reason: "late answer"})},
	})
	if werr != nil {
		r.log.Error("record a late answer", "tool", f.Name, "err", werr)
	}
}

// interrupted handles a call that an earlier process had begun: a read simply runs again, a write is unknown.
func (r *run) interrupted(ctx context.Context, f *flight) (done bool, err error) {
	began, timedOut := r.story.started[f.ID], r.story.timeouts[f.ID]
	if began == nil || tool.Risk(began.Risk.Tool) == tool.Read || tool.Risk(began.Risk.Tool) == tool.Query {
		return false, nil
	}
	f.Env, f.class = began.EnvID, r.class(began.EnvID)
	if err := r.again(ctx, f); err != nil {
		// It is no less unknown for that; only nobody can read back.
		r.log.Warn("a call that was interrupted cannot be bound again", "tool", f.Name, "env", f.Env, "err", err)
		f.tool, f.bound = tool.Tool{Name: f.Name, Risk: tool.Risk(began.Risk.Tool)}, tool.Bound{}
	}
	f.timeout = r.limit(f.tool, f.risk())
	if timedOut == nil {
		err = r.unknown(ctx, f, chat.TimeoutRestart)
	} else {
		err = r.verify(ctx, f)
	}
	if errors.Is(err, errAnswered) {
		err = nil
	}
	return true, err
}

// again binds a call that an earlier process had bound. A tool from outside may be away or changed meanwhile.
func (r *run) again(ctx context.Context, f *flight) error {
	t, ok := r.tools().Find(f.Name)
	if !ok || t.Bind == nil {
		return fault.New(fault.Gone, "The tool of this call is no longer available.")
	}
	f.tool = t
	if err := r.resolve(ctx, f); err != nil {
		return err
	}
	b, err := t.Bind(f.resolved)
	f.bound = b
	return err
}
