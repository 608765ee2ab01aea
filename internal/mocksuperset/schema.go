package mocksuperset

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// A schema says which fields a body may have. All faults are told at once, by
// field, in the words of the library that Superset uses.
type schema map[string]field

type fieldKind int

const (
	kindText fieldKind = iota
	kindInt
	kindBool
	kindUUID
	kindAny
	kindDict
	kindList // of elem
	kindNested
	kindDate
)

// field is one field of a schema.
type field struct {
	kind     fieldKind
	required bool
	null     bool // null is taken
	min, max int  // of a text's length; max 0: any
	elem     *field
	fields   schema // of an object
	oneOf    []string
	check    func(any) []any // further faults of a value of the right kind
	loose    bool            // of an object: unknown fields are dropped
}

// load checks a body and gives its values with their kinds put right. The
// second value maps each wrong field to its faults; nil when all is well.
func (s schema) load(body obj) (row, obj) { return s.loadAs(body, false) }

// loadLoose is load for a schema that drops what it does not know.
func (s schema) loadLoose(body obj) (row, obj) { return s.loadAs(body, true) }

func (s schema) loadAs(body obj, loose bool) (row, obj) {
	out, faults := row{}, obj{}
	for name, f := range s {
		v, there := body[name]
		if !there {
			if f.required {
				faults[name] = []any{"Missing data for required field."}
			}
			continue
		}
		got, fault := f.load(v)
		if fault != nil {
			faults[name] = fault
			continue
		}
		out[name] = got
	}
	for name := range body {
		if _, known := s[name]; !known && !loose {
			faults[name] = []any{"Unknown field."}
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return out, nil
}

func (f field) load(v any) (any, any) {
	if v == nil {
		if f.null {
			return nil, nil
		}
		return nil, []any{"Field may not be null."}
	}
	got, fault := f.convert(v)
	if fault != nil {
		return nil, fault
	}
	if text, ok := got.(string); ok {
		if fault := f.length(text); fault != nil {
			return nil, fault
		}
		if len(f.oneOf) > 0 && !contains(f.oneOf, text) {
			return nil, []any{"Must be one of: " + strings.Join(f.oneOf, ", ") + "."}
		}
	}
	if f.check != nil {
		if faults := f.check(got); len(faults) > 0 {
			return nil, faults
		}
	}
	return got, nil
}

func (f field) length(text string) any {
	n := len([]rune(text))
	switch {
	case f.max == 0 && f.min == 0:
		return nil
	case f.max == 0 && n < f.min:
		return []any{fmt.Sprintf("Shorter than minimum length %d.", f.min)}
	case f.max > 0 && (n < f.min || n > f.max):
		return []any{fmt.Sprintf("Length must be between %d and %d.", f.min, f.max)}
	}
	return nil
}

func (f field) convert(v any) (any, any) {
	switch f.kind {
	case kindText:
		if text, ok := v.(string); ok {
			return text, nil
		}
		return nil, []any{"Not a valid string."}
	case kindInt:
		return toInt(v)
	case kindBool:
		return toBool(v)
	case kindUUID:
		if text, ok := v.(string); ok {
			if u, err := uuid.Parse(text); err == nil {
				return u.String(), nil
			}
		}
		return nil, []any{"Not a valid UUID."}
	case kindDict:
		if o, ok := v.(obj); ok {
			return o, nil
		}
		return nil, []any{"Not a valid mapping type."}
	case kindDate:
		if _, ok := v.(string); ok {
			return v, nil
		}
		return nil, []any{"Not a valid datetime."}
	case kindNested:
		o, ok := v.(obj)
		if !ok {
			return nil, obj{"_schema": []any{"Invalid input type."}}
		}
		got, faults := f.fields.loadAs(o, f.loose)
		if faults != nil {
			return nil, faults
		}
		return got, nil
	case kindList:
		return f.convertList(v)
	}
	return v, nil
}

func (f field) convertList(v any) (any, any) {
	list, ok := v.([]any)
	if !ok {
		if f.elem.kind == kindNested {
			return nil, []any{"Invalid type."}
		}
		return nil, []any{"Not a valid list."}
	}
	out, faults := make([]any, 0, len(list)), obj{}
	for i, e := range list {
		got, fault := f.elem.load(e)
		if fault != nil {
			faults[strconv.Itoa(i)] = fault
			continue
		}
		out = append(out, got)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return out, nil
}

func toInt(v any) (any, any) {
	switch v := v.(type) {
	case int:
		return v, nil
	case float64:
		return int(v), nil
	case bool:
		return asInt(v), nil
	case string:
		if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil {
			return n, nil
		}
	}
	return nil, []any{"Not a valid integer."}
}

func toBool(v any) (any, any) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case int:
		if v == 0 || v == 1 {
			return v == 1, nil
		}
	case string:
		switch v {
		case "t", "T", "true", "True", "TRUE", "on", "On", "ON", "y", "Y", "yes", "Yes", "YES", "1":
			return true, nil
		case "f", "F", "false", "False", "FALSE", "off", "Off", "OFF", "n", "N", "no", "No", "NO", "0":
			return false, nil
		}
	}
	return nil, []any{"Not a valid boolean."}
}

func contains(list []string, text string) bool {
	for _, v := range list {
		if v == text {
			return true
		}
	}
	return false
}

func listOf(f field) field { return field{kind: kindList, elem: &f} }

// validJSON is the check of a text that has to hold JSON.
func validJSON(v any) []any {
	text, _ := v.(string)
	if text == "" {
		return nil
	}
	if _, err := parseJSON([]byte(text)); err != nil {
		return []any{"JSON not valid"}
	}
	return nil
}

func intsOf(v any) []int {
	list, _ := v.([]any)
	out := make([]int, 0, len(list))
	for _, e := range list {
		if n, ok := e.(int); ok {
			out = append(out, n)
		}
	}
	return out
}
