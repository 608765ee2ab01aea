package agent

import (
	"context"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

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
