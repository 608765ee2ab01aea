package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"agentd/internal/fault"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

// New completes t with a schema derived from In and a Bind that checks arguments against it, decodes them
// strictly and hands them to bind. It panics on a tool that cannot be built, since tools are made at start.
//
// In is a flat struct; its json tags name the arguments, `jsonschema:"required,description=…"` describes them.
func New[In any](t Tool, bind func(Call, In) (Bound, error)) Tool {
	t.Schema = schemaOf(new(In))
	check := compile(t.Name, t.Schema)
	t.Bind = func(c Call) (Bound, error) {
		args := c.Args
		if len(bytes.TrimSpace(args)) == 0 {
			args = json.RawMessage(`{}`)
		}
		if err := check(args); err != nil {
			return Bound{}, err
		}
		var in In
		dec := json.NewDecoder(bytes.NewReader(args))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&in); err != nil {
			return Bound{}, fault.Wrap(fault.Invalid, "The arguments of "+t.Name+" do not fit: "+err.Error(), err)
		}
		return bind(c, in)
	}
	return t
}

func schemaOf(in any) json.RawMessage {
	r := jsonschema.Reflector{DoNotReference: true, ExpandedStruct: true, Anonymous: true}
	s := r.Reflect(in)
	s.Version, s.ID = "", ""
	b, err := json.Marshal(s)
	if err != nil {
		panic("tool: schema: " + err.Error())
	}
	return b
}

// compile returns a check of arguments that names all misfits at once.
func compile(name string, schema json.RawMessage) func(json.RawMessage) error {
	doc, err := validator.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		panic("tool " + name + ": " + err.Error())
	}
	c := validator.NewCompiler()
	if err := c.AddResource(argsURL, doc); err != nil {
		panic("tool " + name + ": " + err.Error())
	}
	s, err := c.Compile(argsURL)
	if err != nil {
		panic("tool " + name + ": " + err.Error())
	}
	return checker(name, s)
}

// argsURL is the name of the schema within its compiler.
const argsURL = "agentd:///args.json" // with a scheme, so that no path of this machine stands in an error

func checker(name string, s *validator.Schema) func(json.RawMessage) error {
	return func(args json.RawMessage) error {
		v, err := validator.UnmarshalJSON(bytes.NewReader(args))
		if err != nil {
			return fault.Wrap(fault.Invalid, "The arguments of "+name+" are not valid JSON.", err)
		}
		if err := s.Validate(v); err != nil {
			return misfit(name, err)
		}
		return nil
	}
}

func misfit(name string, err error) error {
	out := &fault.Error{Kind: fault.Invalid, Msg: "The arguments of " + name + " do not fit", Err: err}
	ve, ok := errors.AsType[*validator.ValidationError](err)
	if !ok {
		return out
	}
	var walk func(*validator.ValidationError)
	walk = func(e *validator.ValidationError) {
		if len(e.Causes) == 0 {
			p := ""
			for _, s := range e.InstanceLocation {
				p += "/" + s
			}
			out.Fields = append(out.Fields, fault.Field{Pointer: p, Detail: detail(e)})
		}
		for _, c := range e.Causes {
			walk(c)
		}
	}
	walk(ve)
	for i, f := range out.Fields {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		at := f.Pointer
		if at == "" {
			at = "/"
		}
		out.Msg += fmt.Sprintf("%s%s %s", sep, at, f.Detail)
	}
	out.Msg += "."
	return out
}
