package guardrails

import (
	"encoding/json"
	"slices"
	"strings"

	"agentd/internal/fault"
)

// CodeAskEnvironment is the code of the error that asks which environment is meant.
const CodeAskEnvironment = "environment_required"

// Environment finds the environment of a call: that of its arguments, else of the message, else of the page, else
// the only configured one. needed says that the tool works on one.
//
// Its errors are Invalid. An environment that is named and not configured is one, wherever it is named: going on
// with the next would work on another environment than was meant. None named and several configured is one with
// CodeAskEnvironment, if needed; otherwise "" and no error.
func Environment(args json.RawMessage, message, page string, configured []string, needed bool) (string, error) {
	named, err := argument(args)
	if err != nil {
		return "", err
	}
	for _, id := range []string{named, message, page} {
		if id == "" {
			continue
		}
		if !slices.Contains(configured, id) {
			return "", fault.New(fault.Invalid, "There is no environment "+id+". There is: "+strings.Join(configured, ", ")+".")
		}
		return id, nil
	}
	switch {
	case len(configured) == 1:
		return configured[0], nil
	case !needed:
		return "", nil
	case len(configured) == 0:
		return "", fault.New(fault.Invalid, "No environment is configured.")
	}
	return "", &fault.Error{Kind: fault.Invalid, Code: CodeAskEnvironment,
		Msg: "Which environment is meant? Ask the user, then give env_id as one of: " + strings.Join(configured, ", ") + "."}
}

func argument(args json.RawMessage) (string, error) {
	var in struct {
		Env json.RawMessage `json:"env_id"`
	}
	if len(args) == 0 || json.Unmarshal(args, &in) != nil || len(in.Env) == 0 || string(in.Env) == "null" {
		return "", nil // what is no object is refused by the tool's schema, before this matters
	}
	var id string
	if err := json.Unmarshal(in.Env, &id); err != nil {
		return "", &fault.Error{Kind: fault.Invalid, Msg: "env_id must be a text.", Err: err,
			Fields: []fault.Field{{Pointer: "/env_id", Detail: "must be a text"}}}
	}
	return id, nil
}
