package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"agentd/internal/fault"
	"agentd/internal/guardrails"
	"agentd/internal/toolfilter"
)

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
		f.untrusted = slices.DeleteFunc(guardrails.Untrusted(f.Args, r.story.texts(), r.story.lastUser().Text), f.isReference)
	}
	f.verdict = r.o.Risk.Decide(guardrails.Question{Tool: f.risk(), Class: f.class, Granted: granted, Untrusted: len(f.untrusted) > 0})
	if r.story.rejected[f.key()] && f.card == nil {
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

func notJSON(args json.RawMessage) bool {
	var m map[string]json.RawMessage
	if json.Unmarshal(args, &m) != nil {
		return true
	}
	_, marked := m[invalidArgs]
	return marked
}
