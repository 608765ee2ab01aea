package agent

import (
	"context"
	"encoding/json"

	"agentd/internal/chat"
	uicontext "agentd/internal/context"
	"agentd/internal/guardrails"
	"agentd/internal/toolfilter"
)

// Capabilities tells what a user is offered on a page, what not, and why. Errors: Invalid for an environment that
// is not configured.
func (s *Service) Capabilities(ctx context.Context, who chat.Identity, view uicontext.View, env string) (Capabilities, error) {
	if err := s.validate(MessageInput{Text: "-", Env: env, View: view}); err != nil {
		return Capabilities{}, err
	}
	classes := s.classes()
	if env != "" {
		classes = []string{s.class(env)}
	}
	o := toolfilter.Offer(s.tools(), func(class, name string) bool { return s.o.Policy.Allows(who.Roles, class, name) }, classes, view, toolfilter.State{})
	out := Capabilities{User: who.User, Roles: who.Roles, Environments: s.Environments(ctx), Servers: s.Servers(), Model: s.o.ModelName, Offered: []OfferedTool{}, Hidden: []HiddenTool{}}
	for _, t := range o.Tools {
		out.Offered = append(out.Offered, OfferedTool{Name: t.Name, Risk: string(t.Risk)})
	}
	for _, h := range o.Hidden {
		out.Hidden = append(out.Hidden, HiddenTool{Name: h.Name, Why: h.Why.String()})
	}
	return out, nil
}

// Environments lists the environments and whether each answers now.
func (s *Service) Environments(ctx context.Context) []EnvironmentStatus {
	out := make([]EnvironmentStatus, len(s.o.Environments))
	for i, e := range s.o.Environments {
		out[i] = EnvironmentStatus{Environment: e, Reachable: s.o.Reachable != nil && s.o.Reachable(ctx, e.ID)}
	}
	return out
}

// Servers lists the sources of tools from outside. What one that is down would offer is not known.
func (s *Service) Servers() []ServerStatus {
	if s.o.Servers == nil {
		return []ServerStatus{}
	}
	return s.o.Servers()
}

// Simulate says what the guard would decide about a call, without making it.
func (s *Service) Simulate(_ context.Context, q Question) (Answer, error) {
	t, ok := s.tools().Find(q.Tool)
	class := s.class(q.Env)
	granted := ok && (t.Always || s.o.Policy.Allows(q.Roles, class, q.Tool))
	v := s.o.Risk.Decide(guardrails.Question{Tool: t.Risk, Class: class, Granted: granted})
	perm := chat.RiskPermDenied
	if granted {
		perm = chat.RiskPermGranted
	}
	return Answer{Verdict: v.Action.String(), Rule: v.Rule, Reason: v.Reason, Risk: chat.Risk{Tool: string(t.Risk), Env: class, Permission: perm}}, nil
}

// argsEnv is the environment that arguments name, or "".
func argsEnv(args json.RawMessage) string {
	var a struct {
		Env string `json:"env_id"`
	}
	if json.Unmarshal(args, &a) != nil {
		return ""
	}
	return a.Env
}
