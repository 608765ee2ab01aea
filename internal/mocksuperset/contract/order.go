package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// ordered is a JSON object that keeps the order of its keys: the entries of a
// bundle are sent, and so complained about, in the order of the scenario.
type ordered struct {
	keys   []string
	values map[string]any
}

func (o *ordered) set(key string, v any) {
	if _, there := o.values[key]; !there {
		o.keys = append(o.keys, key)
	}
	o.values[key] = v
}

func newOrdered() *ordered { return &ordered{values: map[string]any{}} }

// decodeOrdered reads a JSON value with objects in their order.
func decodeOrdered(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return orderedValue(dec)
}

func orderedValue(dec *json.Decoder) (any, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		out := newOrdered()
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			v, err := orderedValue(dec)
			if err != nil {
				return nil, err
			}
			out.set(key.(string), v)
		}
		_, err = dec.Token()
		return out, err
	case json.Delim('['):
		out := []any{}
		for dec.More() {
			v, err := orderedValue(dec)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		_, err = dec.Token()
		return out, err
	}
	return t, nil
}

// orderedText writes a value as the reference player does: keys in their order,
// a blank behind comma and colon.
func orderedText(v any) string {
	switch v := v.(type) {
	case *ordered:
		parts := make([]string, len(v.keys))
		for i, k := range v.keys {
			parts[i] = quote(k) + ": " + orderedText(v.values[k])
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = orderedText(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return quote(v)
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

func quote(s string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a text can always be written
	return strings.TrimSuffix(out.String(), "\n")
}

// plain turns ordered objects into maps, all the way down.
func plain(v any) any {
	switch v := v.(type) {
	case *ordered:
		out := make(map[string]any, len(v.keys))
		for _, k := range v.keys {
			out[k] = plain(v.values[k])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	}
	return v
}
