package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"agentd/internal/chat"
	"agentd/internal/confirm"
	"agentd/internal/fault"
	"agentd/internal/retry"
	"agentd/internal/tool"
)

// ask shows a call to a person and leaves it open. Nothing of the call runs but its preview, which only reads.
// A call that cannot even be previewed is refused without a card.
func (r *run) ask(ctx context.Context, f *flight) error {
	p, err := r.preview(ctx, f)
	if err != nil {
		return r.refuse(ctx, f, err)
	}
	p.Untrusted = f.untrusted
	c, card := confirm.Ask(confirm.Question{
		Call: f.Call, Passed: f.resolved.Passed, Schema: r.shownSchema(f.tool), Risk: f.shownRisk(chat.RiskPermGranted), Dangerous: f.verdict.Dangerous,
		Preview: p, PolicyVersion: r.o.Policy.Version(), TTL: r.o.Limits.ConfirmationTTL, Now: r.o.Now(),
	})
	return r.write(ctx, chat.Write{
		Entries: []chat.Entry{{Event: card}}, Confirm: []chat.Confirmation{c},
		Move:  f.move(chat.ConfirmSuperseded, chat.ConfirmClaimed), // the new card stands in for an outdated one
		Audit: []chat.AuditRow{r.row("asked", f, chat.AuditRow{ArgsShown: f.Args, ArgsDigest: c.ArgsDigest})},
	})
}

func (r *run) preview(ctx context.Context, f *flight) (tool.Preview, error) {
	if f.bound.Preview == nil {
		return tool.Preview{}, nil
	}
	p := retry.Policy{Timeout: max(r.o.Limits.ReadTimeout, f.tool.Timeout), Retry: true, Delay: r.o.Limits.RetryDelay}
	return retry.Do(ctx, p, nil, f.bound.Preview)
}

// approved goes on with the call that a person said yes to. What is executed is what was stored; the model is not
// asked. Everything is checked once more, and an object that has changed since gets a new card.
func (r *run) approved(ctx context.Context) error {
	c, err := r.o.Store.Confirmation(ctx, r.ConfirmationID, r.Who.User)
	if err != nil {
		return &storeError{fmt.Errorf("read confirmation %s: %w", r.ConfirmationID, err)}
	}
	if _, done := r.story.results[c.CallID]; done || c.Decision == confirm.Reject || r.story.open[c.CallID] != "" {
		return nil
	}
	if confirm.Digest(c.Args, c.Preview.References...) != c.ArgsDigest {
		f := r.flight(chat.ToolCall{ID: c.CallID, Name: c.Tool, Args: c.Args})
		f.card, f.Env, f.class = &c, c.EnvID, r.class(c.EnvID)
		return r.refuse(ctx, f, fault.New(fault.Conflict, "The stored call is not the call that was shown. It was not executed."))
	}
	args := c.Args
	if c.Decision == confirm.Edit {
		args = c.EditedArgs
	}
	f := r.flight(chat.ToolCall{ID: c.CallID, Name: c.Tool, Args: args})
	f.card = &c
	if done, err := r.interrupted(ctx, f); done || err != nil {
		return err
	}
	return r.call(ctx, f)
}

// unchanged refuses to execute what no longer matches its card: then a person is asked again with the new diff.
func (r *run) unchanged(ctx context.Context, f *flight) error {
	if f.card == nil {
		return nil
	}
	asShown := *f
	if f.card.Decision == confirm.Edit { // the card is over the call as it was shown
		asShown.Args = f.card.Args
		if err := r.resolve(ctx, &asShown); err != nil {
			return err
		}
		b, err := f.tool.Bind(asShown.resolved)
		if err != nil {
			return err
		}
		asShown.bound = b
	}
	p, err := r.preview(ctx, &asShown)
	if err != nil {
		return err
	}
	if p.Fingerprint == f.card.Fingerprint && asShown.digest() == f.card.ArgsDigest {
		return nil
	}
	if err := r.ask(ctx, f); err != nil {
		return err
	}
	return errLater
}

// shownSchema is the schema of a tool as the model is shown it: an edit may hold references, too.
func (r *run) shownSchema(t tool.Tool) json.RawMessage {
	if r.o.References == nil {
		return t.Schema
	}
	shown, err := r.o.References.Shown([]tool.Tool{t})
	if err != nil {
		return t.Schema
	}
	return shown[0].Schema
}

// riskier reports whether an edit raised the risk above what the person saw.
func (r *run) riskier(f *flight) bool {
	return f.verdict.Risk.Level() > tool.Risk(f.card.Risk.Tool).Level()
}

// signIn ends a run whose forwarded credential is gone: only a new request brings one.
func signIn() error {
	return &fault.Error{Kind: fault.Auth, Code: codeSignIn, Msg: "Superset has to be asked as you, and your session is not at hand any more. Send a message to go on."}
}
