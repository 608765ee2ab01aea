package agent

import (
	"context"
	"slices"
	"strings"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/tool"
	"agentd/internal/toolfilter"
)

// offer recomputes what the model may choose from. It is asked before each step, since policy, artifacts and
// tools change meanwhile.
func (r *run) offer() {
	r.offered = r.lists.Offer(r.o.Policy.Version(), strings.Join(r.Who.Roles, "\x00"), r.tools(), r.allows(), r.classes(), r.View, r.story.artifact)
}

func (r *run) allows() toolfilter.Allows {
	return func(class, name string) bool { return r.o.Policy.Allows(r.Who.Roles, class, name) }
}

// state keeps the tool of an open or approved card callable although the page changed.
func (r *run) state(f *flight) toolfilter.State {
	s := toolfilter.State{Artifacts: r.story.artifact}
	if f.card != nil {
		s.Held = []string{f.card.Tool}
	}
	return s
}

// granted asks both gates: the policy for the call's own environment, and Superset's permissions where the user
// is the one who acts there.
func (r *run) granted(ctx context.Context, f *flight) (bool, error) {
	if f.tool.Always {
		return true, nil
	}
	if f.Env == "" && !f.tool.NeedsEnv {
		return slices.ContainsFunc(r.classes(), func(c string) bool { return r.allows()(c, f.Name) }), nil
	}
	if !r.allows()(f.class, f.Name) {
		return false, nil
	}
	if r.o.Permissions == nil || len(f.tool.Perms) == 0 {
		return true, nil
	}
	has, known, err := r.o.Permissions.Permissions(ctx, r.Who, f.Env)
	if err != nil || !known {
		return err == nil, err
	}
	for _, p := range f.tool.Perms {
		if !has(p) {
			return false, &fault.Error{Kind: fault.Denied, Code: codeSuperset, Msg: "Superset does not give you the permission " + p + "."}
		}
	}
	return true, nil
}

// class of an environment. What is not configured, or not named while several are, counts as prod: the careful choice.
func (s *Service) class(env string) string {
	if e, ok := s.environment(env); ok {
		return e.Class
	}
	return chat.ClassProd
}

// classes are those of the environments that a call could name.
func (s *Service) classes() []string {
	var out []string
	for _, e := range s.o.Environments {
		if !slices.Contains(out, e.Class) {
			out = append(out, e.Class)
		}
	}
	return out
}

func (s *Service) envIDs() []string {
	out := make([]string, len(s.o.Environments))
	for i, e := range s.o.Environments {
		out[i] = e.ID
	}
	return out
}

// limit is the time that one attempt of a call may take: the tool's own, else that of its risk.
func (s *Service) limit(t tool.Tool, risk tool.Risk) time.Duration {
	switch {
	case t.Timeout > 0:
		return t.Timeout
	case risk.Writes():
		return s.o.Limits.WriteTimeout
	}
	return s.o.Limits.ReadTimeout
}
