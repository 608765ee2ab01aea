package contract

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	wholeVariable = regexp.MustCompile(`^\$\{(\w+)\}$`)
	anyVariable   = regexp.MustCompile(`\$\{(\w+)\}`)
	pathPart      = regexp.MustCompile(`\.([^.\[\]]+)|\[(\d+)\]|\[(\w+)=([^\]]*)\]`)
)

// fill replaces ${name} in every text; a text that is one variable takes its type.
func fill(v any, vars map[string]any) (any, error) {
	switch v := v.(type) {
	case string:
		if m := wholeVariable.FindStringSubmatch(v); m != nil {
			got, there := vars[m[1]]
			if !there {
				return nil, fmt.Errorf("variable %s is not set", m[1])
			}
			return got, nil
		}
		var missing error
		out := anyVariable.ReplaceAllStringFunc(v, func(s string) string {
			got, there := vars[s[2:len(s)-1]]
			if !there {
				missing = fmt.Errorf("variable %s is not set", s)
			}
			return plainText(got)
		})
		return out, missing
	case []any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = fill(v[i], vars); err != nil {
				return nil, err
			}
		}
		return out, nil
	case *ordered:
		if v == nil {
			return v, nil
		}
		out := newOrdered()
		for _, k := range v.keys {
			key, err := fill(k, vars)
			if err != nil {
				return nil, err
			}
			e, err := fill(v.values[k], vars)
			if err != nil {
				return nil, err
			}
			out.set(plainText(key), e)
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			key, err := fill(k, vars)
			if err != nil {
				return nil, err
			}
			if out[plainText(key)], err = fill(e, vars); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

func plainText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case int:
		return strconv.Itoa(v)
	case bool:
		if v {
			return "True"
		}
		return "False"
	case nil:
		return "None"
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = plainText(v[i])
		}
		return strings.Join(parts, ",")
	}
	return text(v)
}

// pick reads $.a.b[0].c; [key=value] picks the first element of an array with that field.
func pick(v any, path string) (any, bool) {
	for _, m := range pathPart.FindAllStringSubmatch(path[1:], -1) {
		switch {
		case m[1] != "":
			o, isObject := v.(map[string]any)
			if !isObject {
				return nil, false
			}
			next, there := o[m[1]]
			if !there {
				return nil, false
			}
			v = next
		case m[2] != "":
			list, isList := v.([]any)
			n, _ := strconv.Atoi(m[2])
			if !isList || n >= len(list) {
				return nil, false
			}
			v = list[n]
		default:
			list, _ := v.([]any)
			found := false
			for _, e := range list {
				if o, isObject := e.(map[string]any); isObject && plainText(o[m[3]]) == m[4] {
					v, found = e, true
					break
				}
			}
			if !found {
				return nil, false
			}
		}
	}
	return v, true
}

// text is a value as JSON with sorted keys, equal numbers written alike.
func text(v any) string {
	out, err := json.Marshal(canonical(v))
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(out)
}

func canonical(v any) any {
	switch v := v.(type) {
	case json.Number:
		if _, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return v
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
		return v
	case int:
		return json.Number(strconv.Itoa(v))
	case *ordered:
		return canonical(plain(v))
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = canonical(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = canonical(e)
		}
		return out
	}
	return v
}

func decode(data []byte) (any, error) {
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}
