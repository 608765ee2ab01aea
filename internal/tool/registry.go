package tool

import (
	"fmt"
	"regexp"
)

// namePattern is what every model provider accepts as a tool's name.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Set is an ordered, immutable set of tools. The zero Set is empty. It is safe for several goroutines.
type Set struct {
	all    []Tool
	byName map[string]int
}

// NewSet keeps the order given. It fails on a name that is used twice or that a provider would refuse.
func NewSet(tools ...Tool) (Set, error) {
	s := Set{all: tools, byName: make(map[string]int, len(tools))}
	for i, t := range tools {
		if !namePattern.MatchString(t.Name) {
			return Set{}, fmt.Errorf("tool name %q must match %s", t.Name, namePattern)
		}
		if _, dup := s.byName[t.Name]; dup {
			return Set{}, fmt.Errorf("two tools are named %s", t.Name)
		}
		s.byName[t.Name] = i
	}
	return s, nil
}

// All returns the tools in order. The slice is not to be changed.
func (s Set) All() []Tool { return s.all }

// Find returns the tool of a name.
func (s Set) Find(name string) (Tool, bool) {
	i, ok := s.byName[name]
	if !ok {
		return Tool{}, false
	}
	return s.all[i], true
}
