package agent

import (
	"slices"
	"strings"

	"agentd/internal/fault"
	"agentd/internal/guardrails"
	"agentd/internal/tool"
)

// environment finds the environment that the call is judged by, and those that it works on besides. A tool that names
// environments in its own way, as a migration does, decides for itself; none of them may be unknown.
func (r *run) environment(f *flight, t tool.Tool) (own string, besides []string, err error) {
	if t.Envs != nil {
		if named := t.Envs(f.Call); len(named) > 0 {
			for _, env := range named {
				if !slices.Contains(r.envIDs(), env) {
					return "", nil, fault.New(fault.Invalid, "There is no environment "+env+". There is: "+strings.Join(r.envIDs(), ", ")+".")
				}
			}
			return named[0], named[1:], nil
		}
	}
	own, err = guardrails.Environment(f.Args, r.EnvID, r.View.EnvID, r.envIDs(), t.NeedsEnv)
	return own, nil, err
}

// allowedBesides refuses a call that also works on an environment in which the role may not use the tool.
func (r *run) allowedBesides(t tool.Tool, besides []string) error {
	for _, env := range besides {
		if !r.allows()(r.class(env), t.Name) {
			return &fault.Error{Kind: fault.Denied, Code: codeRole, Msg: "Your role may not use " + t.Name + " in " + env + "."}
		}
	}
	return nil
}
