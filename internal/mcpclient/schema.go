package mcpclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// maxSchema bounds, in bytes, what one tool puts before the model.
const maxSchema = 64 << 10

// argument is what model providers take as the name of an argument.
var argument = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// acceptable returns a schema as it came where model providers take it: an object with named arguments. A schema of
// a tool without arguments gets the properties that providers miss. The error is a clause that says why not: one
// tool that a provider refuses breaks every request.
func acceptable(raw json.RawMessage) (json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("its schema has more than %d bytes", maxSchema)
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(raw, &top); err != nil || top == nil {
		return nil, errors.New("its schema is no JSON object")
	}
	if string(top["type"]) != `"object"` {
		return nil, errors.New("its schema does not ask for an object")
	}
	for _, k := range [...]string{"anyOf", "oneOf", "allOf", "not", "enum"} {
		if _, has := top[k]; has {
			return nil, fmt.Errorf("its schema has %s at the top, which model providers refuse", k)
		}
	}
	props, has := top["properties"]
	if !has {
		return append([]byte(`{"properties":{},`), bytes.TrimSpace(raw[1:])...), nil
	}
	var named map[string]json.RawMessage
	if json.Unmarshal(props, &named) != nil || named == nil {
		return nil, errors.New("its schema has properties that are no JSON object")
	}
	for name := range named {
		if !argument.MatchString(name) {
			return nil, fmt.Errorf("its schema has an argument %.80q, a name that model providers refuse", name)
		}
	}
	return raw, nil
}
