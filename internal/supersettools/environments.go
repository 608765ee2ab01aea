package supersettools

import (
	"fmt"
	"strings"

	"agentd/internal/fault"
	"agentd/internal/superset"
)

// An Environment is one configured Superset.
type Environment struct {
	ID     string
	Title  string
	Class  string // prod, staging, dev
	Client *superset.Client

	// Functions of SQL that this environment refuses or allows beside the guard's own lists: database backend → names.
	DenyFunctions  map[string][]string
	AllowFunctions map[string][]string
}

// Environments is the set of them, in the order of the configuration. It is immutable and safe for several goroutines.
type Environments struct {
	all  []Environment
	byID map[string]int
}

// NewEnvironments keeps the order given. It fails on an id that is empty or used twice.
func NewEnvironments(envs ...Environment) (*Environments, error) {
	e := &Environments{all: envs, byID: make(map[string]int, len(envs))}
	for i, v := range envs {
		if _, dup := e.byID[v.ID]; dup || v.ID == "" {
			return nil, fmt.Errorf("environment id %q is empty or used twice", v.ID)
		}
		e.byID[v.ID] = i
	}
	return e, nil
}

// All returns the environments in order. The slice is not to be changed.
func (e *Environments) All() []Environment { return e.all }

// Find returns the environment of an id.
func (e *Environments) Find(id string) (Environment, bool) {
	i, ok := e.byID[id]
	if !ok {
		return Environment{}, false
	}
	return e.all[i], true
}

// Close lets go of the connections of all clients.
func (e *Environments) Close() {
	for _, v := range e.all {
		v.Client.Close()
	}
}

func (e *Environments) find(id string) (Environment, error) {
	if v, ok := e.Find(id); ok {
		return v, nil
	}
	ids := make([]string, len(e.all))
	for i, v := range e.all {
		ids[i] = v.ID
	}
	return Environment{}, &fault.Error{Kind: fault.Invalid, Code: "environment",
		Msg:    fmt.Sprintf("There is no environment %q. Configured: %s.", id, strings.Join(ids, ", ")),
		Fields: []fault.Field{{Pointer: "/env_id", Detail: "must be one of " + strings.Join(ids, ", ")}}}
}
