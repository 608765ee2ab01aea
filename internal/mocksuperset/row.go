package mocksuperset

import (
	"encoding/json"
	"math"
	"strconv"
)

// A row is one row of a metadata table, by column name. Its values are nil,
// string, int, float64 or bool. Rows are never changed in place: a change makes
// a new one, so that a request that still reads the old state is not disturbed.
type row map[string]any

// obj is one JSON object of an answer. Superset sorts its keys, as Go does.
type obj = map[string]any

func (r row) id() int { return r.int("id") }

func (r row) str(name string) string {
	s, _ := r[name].(string)
	return s
}

func (r row) int(name string) int { return asInt(r[name]) }

func (r row) bool(name string) bool {
	switch v := r[name].(type) {
	case bool:
		return v
	case int:
		return v != 0
	}
	return false
}

// flag is a boolean that an import may have set to null.
func flag(r row, name string) any {
	if v, there := r[name]; there && v == nil {
		return nil
	}
	return r.bool(name)
}

// with gives a copy of r that has the changes.
func (r row) with(changes row) row {
	out := make(row, len(r)+len(changes))
	for k, v := range r {
		out[k] = v
	}
	for k, v := range changes {
		out[k] = v
	}
	return out
}

// pick gives the named values of r as they go into an answer, null where there is none.
func (r row) pick(names ...string) obj {
	out := make(obj, len(names))
	for _, name := range names {
		out[name] = r[name]
	}
	return out
}

func asInt(v any) int {
	switch v := v.(type) {
	case int:
		return v
	case float64:
		return int(v)
	case bool:
		if v {
			return 1
		}
	}
	return 0
}

// parseJSON reads one JSON value with whole numbers as int, like Python does.
// Numbers beyond int stay json.Number, so that no digit is lost.
func parseJSON(text []byte) (any, error) {
	dec := json.NewDecoder(newBytesReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, errTrailing
	}
	return plain(v), nil
}

// plain replaces json.Number by int or float64, all the way down.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.Atoi(v.String()); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil && !isWhole(v.String()) {
			return f
		}
		return v
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	}
	return v
}

func isWhole(digits string) bool {
	for _, c := range digits {
		if c == '.' || c == 'e' || c == 'E' {
			return false
		}
	}
	return true
}

// pyFloat is a float as Python writes it: 12.0, not 12.
func pyFloat(f float64) any {
	if f == math.Trunc(f) && math.Abs(f) < 1e16 {
		return json.Number(strconv.FormatFloat(f, 'f', 1, 64))
	}
	return f
}

// object reads a text that should hold a JSON object; anything else is an empty one.
func object(text string) obj {
	v, err := parseJSON([]byte(text))
	if err != nil {
		return obj{}
	}
	o, ok := v.(obj)
	if !ok {
		return obj{}
	}
	return o
}
