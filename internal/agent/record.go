package agent

import (
	"context"
	"errors"
	"unicode/utf8"

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
	a := r.briefly(f, err)
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
		Audit:   []chat.AuditRow{r.row("ended", f, chat.AuditRow{Outcome: a.outcome, Reason: r.said(f, err)})},
	})
}

// briefly is the answer that an error becomes, within what the model may have of a result. What is said of the
// error gives way; its kind and the rest of it stay.
func (r *run) briefly(f *flight, err error) answer {
	a, limit := f.refusal(err), r.o.Gate.Limit(f.Name)
	for n := limit / 2; n > 0 && utf8.RuneCountInString(a.text) > limit; n /= 2 { // quoting makes it longer than n
		e := fault.Error{Kind: fault.KindOf(err)}
		if was, ok := errors.AsType[*fault.Error](err); ok {
			e = *was
		}
		e.Msg, e.Err = r.o.Gate.Words(fault.Message(err), n), err
		a = f.refusal(&e)
	}
	return a
}

// said is what an error says, where it is a part of a sentence.
func (r *run) said(f *flight, err error) string {
	return r.o.Gate.Words(fault.Message(err), r.o.Gate.Limit(f.Name)/4)
}
