package mocksuperset

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Templates in SQL. The mock knows a part of Jinja: values, the filters default,
// upper, lower and int, functions about the user and the filters of a page, + on
// numbers, if/else/endif. It refuses what it does not know and never guesses.

// errUndefined names parameters that have no value.
type errUndefined struct{ names []string }

func (e *errUndefined) Error() string {
	return "The following parameters in your query are undefined: " + strings.Join(quoteAll(e.names), ", ") + "."
}

func quoteAll(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = `"` + n + `"`
	}
	return out
}

// errTemplate is a template that is broken or beyond the mock.
type errTemplate struct{ text string }

func (e *errTemplate) Error() string { return e.text }

type templateScope struct {
	values obj
	c      *call
}

var templateMark = regexp.MustCompile(`(?s)\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}`)

// render fills a template in.
func (c *call) render(text string, values obj) (string, error) {
	if !strings.Contains(text, "{{") && !strings.Contains(text, "{%") && !strings.Contains(text, "{#") {
		return text, nil
	}
	s := templateScope{values, c}
	var out strings.Builder
	var open []bool // for each if: does its part count
	var taken []bool
	undefined := []string{}
	shows := func() bool {
		for _, o := range open {
			if !o {
				return false
			}
		}
		return true
	}
	at := 0
	for _, m := range templateMark.FindAllStringIndex(text, -1) {
		if shows() {
			out.WriteString(text[at:m[0]])
		}
		at = m[1]
		mark := text[m[0]:m[1]]
		inner := strings.Trim(strings.TrimSpace(mark[2:len(mark)-2]), "- ")
		switch {
		case strings.HasPrefix(mark, "{#"):
		case strings.HasPrefix(mark, "{{"):
			if !shows() {
				continue
			}
			v, err := s.value(inner)
			if u, isUndefined := errors.AsType[*errUndefined](err); isUndefined {
				undefined = append(undefined, u.names...)
				continue
			}
			if err != nil {
				return "", err
			}
			out.WriteString(templateText(v))
		case inner == "endif":
			if len(open) == 0 {
				return "", &errTemplate{"Encountered unknown tag 'endif'."}
			}
			open, taken = open[:len(open)-1], taken[:len(taken)-1]
		case inner == "else" && len(open) > 0:
			open[len(open)-1] = !taken[len(taken)-1]
		case strings.HasPrefix(inner, "if "):
			v, err := s.value(strings.TrimPrefix(inner, "if "))
			if _, isUndefined := errors.AsType[*errUndefined](err); err != nil && !isUndefined {
				return "", err
			}
			yes := err == nil && templateTrue(v)
			open, taken = append(open, yes), append(taken, yes)
		default:
			word, _, _ := strings.Cut(inner, " ")
			return "", &errTemplate{"Encountered unknown tag '" + word + "'."}
		}
	}
	if len(open) > 0 {
		return "", &errTemplate{"Unexpected end of template. Jinja was looking for the following tags: 'elif' or 'else' or 'endif'."}
	}
	if rest := text[at:]; strings.Contains(rest, "{{") || strings.Contains(rest, "{%") {
		return "", &errTemplate{"unexpected end of template, expected 'end of print statement'."}
	}
	out.WriteString(text[at:])
	if len(undefined) > 0 {
		return "", &errUndefined{undefined}
	}
	return out.String(), nil
}

var (
	callForm   = regexp.MustCompile(`^(\w+)\((.*)\)$`)
	filterForm = regexp.MustCompile(`^(\w+)(?:\((.*)\))?$`)
)

// value evaluates an expression: parts joined by |, + between simple terms.
func (s templateScope) value(text string) (any, error) {
	parts := splitOutside(text, '|')
	v, err := s.sum(strings.TrimSpace(parts[0]))
	for _, p := range parts[1:] {
		m := filterForm.FindStringSubmatch(strings.TrimSpace(p))
		if m == nil {
			return nil, &errTemplate{"the mock does not know the filter " + p}
		}
		_, undefined := errors.AsType[*errUndefined](err)
		switch {
		case m[1] == "default" || m[1] == "d":
			if undefined {
				v, err = s.value(m[2])
			}
		case err != nil:
			return nil, err
		case m[1] == "upper":
			v = strings.ToUpper(templateText(v))
		case m[1] == "lower":
			v = strings.ToLower(templateText(v))
		case m[1] == "int":
			v, _ = toInt(v)
		case m[1] == "length":
			v = len(asList(v))
		default:
			return nil, &errTemplate{"No filter named '" + m[1] + "'."}
		}
	}
	return v, err
}

func (s templateScope) sum(text string) (any, error) {
	terms := splitOutside(text, '+')
	v, err := s.term(strings.TrimSpace(terms[0]))
	for _, t := range terms[1:] {
		if err != nil {
			return nil, err
		}
		var w any
		if w, err = s.term(strings.TrimSpace(t)); err != nil {
			return nil, err
		}
		a, aInt := v.(int)
		b, bInt := w.(int)
		if aInt && bInt {
			v = a + b
		} else {
			v = templateText(v) + templateText(w)
		}
	}
	return v, err
}

func (s templateScope) term(text string) (any, error) {
	if len(text) >= 2 && (text[0] == '\'' || text[0] == '"') && text[len(text)-1] == text[0] {
		return text[1 : len(text)-1], nil
	}
	if n, err := strconv.Atoi(text); err == nil {
		return n, nil
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return f, nil
	}
	if m := callForm.FindStringSubmatch(text); m != nil {
		return s.function(m[1], m[2])
	}
	if join, arg, found := strings.Cut(text, ".join("); found {
		list, err := s.value(strings.TrimSuffix(arg, ")"))
		if err != nil {
			return nil, err
		}
		glue, err := s.term(join)
		parts := []string{}
		for _, e := range asList(list) {
			parts = append(parts, templateText(e))
		}
		return strings.Join(parts, templateText(glue)), err
	}
	if !regexp.MustCompile(`^\w+$`).MatchString(text) {
		return nil, &errTemplate{fmt.Sprintf("unexpected '%s'", text)}
	}
	switch text {
	case "true", "True":
		return true, nil
	case "false", "False":
		return false, nil
	case "none", "None":
		return nil, nil
	}
	v, there := s.values[text]
	if !there {
		return nil, &errUndefined{[]string{text}}
	}
	return v, nil
}

func (s templateScope) function(name, arguments string) (any, error) {
	switch name {
	case "current_username":
		return s.c.user["username"], nil
	case "current_user_id":
		return s.c.userID(), nil
	case "current_user_email":
		return s.c.user["email"], nil
	case "filter_values":
		return []any{}, nil
	case "url_param":
		args := splitOutside(arguments, ',')
		if len(args) > 1 {
			return s.value(strings.TrimSpace(args[1]))
		}
		return nil, nil
	}
	return nil, &errUndefined{[]string{name}}
}

// splitOutside splits at a sign outside of quotes and parentheses.
func splitOutside(text string, sign byte) []string {
	var out []string
	depth, quote, start := 0, byte(0), 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case c == sign && depth == 0:
			out = append(out, text[start:i])
			start = i + 1
		}
	}
	return append(out, text[start:])
}

func templateText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil:
		return "None"
	}
	return pyRepr(v)
}

func templateTrue(v any) bool {
	if list, isList := v.([]any); isList {
		return len(list) > 0
	}
	return truthy(v)
}
