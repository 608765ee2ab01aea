package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"agentd/internal/fault"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

// FromSchema completes a tool from outside, whose Schema came with it: Bind checks arguments against the schema and
// hands the call to bind. Nothing that the schema refers to is loaded, neither over the network nor from files.
//
// The error is Invalid for a schema that cannot be used. A pattern that Go cannot read is left to the tool's owner.
func FromSchema(t Tool, bind func(Call) (Bound, error)) (Tool, error) {
	check, err := compileOutside(t.Name, t.Schema)
	if err != nil {
		return Tool{}, fault.Wrap(fault.Invalid, "The schema of "+t.Name+" cannot be used: "+err.Error(), err)
	}
	t.Bind = func(c Call) (Bound, error) {
		if len(bytes.TrimSpace(c.Args)) == 0 {
			c.Args = json.RawMessage(`{}`)
		}
		if err := check(c.Args); err != nil {
			return Bound{}, err
		}
		return bind(c)
	}
	return t, nil
}

func compileOutside(name string, schema json.RawMessage) (func(json.RawMessage) error, error) {
	doc, err := validator.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := validator.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(tolerant)
	if err := c.AddResource(argsURL, doc); err != nil {
		return nil, err
	}
	s, err := c.Compile(argsURL)
	if err != nil {
		return nil, err
	}
	return checker(name, s), nil
}

// noLoader refuses what the library would load by itself, files among it.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%q: %w", url, errLoad)
}

var errLoad = errors.New("a schema may refer to itself only")

// tolerant compiles a pattern as Go does. What Go cannot read, as a look-ahead, matches everything here.
func tolerant(pattern string) (validator.Regexp, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return anything(pattern), nil
	}
	return re, nil
}

type anything string

func (anything) MatchString(string) bool { return true }
func (a anything) String() string        { return string(a) }

// With returns a set of these tools and more ones after them. A tool whose name is taken, or that providers would
// refuse, is left out, so that one bad name does not break every request. The set itself is not changed.
func (s Set) With(more ...Tool) Set {
	if len(more) == 0 {
		return s
	}
	out := Set{all: make([]Tool, 0, len(s.all)+len(more)), byName: make(map[string]int, len(s.all)+len(more))}
	for _, group := range [][]Tool{s.all, more} {
		for _, t := range group {
			if _, taken := out.byName[t.Name]; taken || !namePattern.MatchString(t.Name) {
				continue
			}
			out.byName[t.Name] = len(out.all)
			out.all = append(out.all, t)
		}
	}
	return out
}
