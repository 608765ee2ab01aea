// Package contract plays recorded steps against a Superset, real or mock, and
// tells where its answers differ from the recorded ones. A scenario is a JSON
// file: steps that a client may take, each with the answer that a real Apache
// Superset 6.1.0 gave.
//
// Compared are the status, the media type, the presence of telling headers, the
// keys and types of the body in both directions, and the values at the paths
// that a step calls exact. null on either side fits any type.
package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// A Scenario is one file: steps in order, which share cookies, tokens and variables.
type Scenario struct {
	About     string         `json:"about"`
	Tier      string         `json:"tier"` // mock: the mock must agree; reference: it may
	Variables map[string]any `json:"-"`
	Steps     []Step         `json:"steps"`
}

// UnmarshalJSON keeps the order of bundles among the variables.
func (s *Scenario) UnmarshalJSON(text []byte) error {
	type plain Scenario
	own := struct {
		*plain
		Variables map[string]json.RawMessage `json:"variables"`
	}{plain: (*plain)(s)}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&own); err != nil {
		return err
	}
	s.Variables = map[string]any{}
	for name, raw := range own.Variables {
		v, err := decodeOrdered(raw)
		if err != nil {
			return fmt.Errorf("variable %s: %w", name, err)
		}
		s.Variables[name] = v
	}
	return nil
}

// A Step is one request with its recorded answer.
type Step struct {
	ID       string            `json:"id"`
	Why      string            `json:"why"`
	Env      string            `json:"env"` // dev when empty
	As       string            `json:"as"`  // token:NAME, session:NAME or anonymous; token:admin when empty
	Request  Request           `json:"request"`
	Capture  map[string]string `json:"capture"`
	Repeat   int               `json:"repeat"`
	Exact    []string          `json:"exact"`
	Loose    []string          `json:"loose"`
	Response map[string]any    `json:"response"`
}

// A Request is what a step sends; values may hold ${name}.
type Request struct {
	Method  string         `json:"method"`
	Path    string         `json:"path"`
	JSON    *any           `json:"json"`
	Text    *string        `json:"text"`
	Form    map[string]any `json:"form"`
	Files   *ordered       `json:"-"`
	CSRF    string         `json:"csrf"`
	Headers map[string]any `json:"headers"`

	jsonThere bool
}

// UnmarshalJSON tells "json": null from no json at all.
func (r *Request) UnmarshalJSON(text []byte) error {
	type plain Request
	var there map[string]json.RawMessage
	if err := json.Unmarshal(text, &there); err != nil {
		return err
	}
	if err := json.Unmarshal(text, (*plain)(r)); err != nil {
		return err
	}
	if raw, ok := there["files"]; ok {
		v, err := decodeOrdered(raw)
		if err != nil {
			return err
		}
		r.Files, _ = v.(*ordered)
	}
	if raw, ok := there["json"]; ok {
		var v any
		dec := json.NewDecoder(strings.NewReader(string(raw)))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			return err
		}
		r.JSON, r.jsonThere = &v, true
	}
	return nil
}

// Read reads a scenario. Numbers keep all their digits.
func Read(in io.Reader) (*Scenario, error) {
	var s Scenario
	if err := json.NewDecoder(in).Decode(&s); err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	return &s, nil
}
