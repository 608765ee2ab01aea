package mocksuperset

import (
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
)

var errRison = errors.New("not rison")

// parseRison reads a rison value: (a:1,b:!(x,'y z'),c:!t).
func parseRison(text string) (any, error) {
	p := risonParser{text: text}
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	if p.at != len(p.text) {
		return nil, errRison
	}
	return v, nil
}

type risonParser struct {
	text string
	at   int
}

func (p *risonParser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *risonParser) value() (any, error) {
	switch p.peek() {
	case 0:
		return nil, errRison
	case '!':
		p.at++
		return p.bang()
	case '(':
		p.at++
		return p.object()
	case '\'':
		p.at++
		return p.quoted()
	}
	return p.word()
}

func (p *risonParser) bang() (any, error) {
	c := p.peek()
	p.at++
	switch c {
	case 't':
		return true, nil
	case 'f':
		return false, nil
	case 'n':
		return nil, nil
	case '(':
		return p.array()
	}
	return nil, errRison
}

func (p *risonParser) array() (any, error) {
	out := []any{}
	for {
		if p.peek() == ')' {
			p.at++
			return out, nil
		}
		if len(out) > 0 {
			if p.peek() != ',' {
				return nil, errRison
			}
			p.at++
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
}

func (p *risonParser) object() (any, error) {
	out := obj{}
	for {
		if p.peek() == ')' {
			p.at++
			return out, nil
		}
		if len(out) > 0 {
			if p.peek() != ',' {
				return nil, errRison
			}
			p.at++
		}
		key, err := p.value()
		if err != nil {
			return nil, err
		}
		if p.peek() != ':' {
			return nil, errRison
		}
		p.at++
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		switch key := key.(type) {
		case string:
			out[key] = v
		case int:
			out[strconv.Itoa(key)] = v
		default:
			return nil, errRison
		}
	}
}

func (p *risonParser) quoted() (any, error) {
	var out strings.Builder
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		switch c {
		case '\'':
			return out.String(), nil
		case '!':
			next := p.peek()
			if next != '!' && next != '\'' {
				return nil, errRison
			}
			p.at++
			out.WriteByte(next)
		default:
			out.WriteByte(c)
		}
	}
	return nil, errRison
}

// word is a number or an unquoted text, which may have no sign that rison uses, and no blank.
func (p *risonParser) word() (any, error) {
	start := p.at
	for p.at < len(p.text) && !strings.ContainsRune(" '!:(),*@$", rune(p.text[p.at])) {
		p.at++
	}
	word := p.text[start:p.at]
	if word == "" {
		return nil, errRison
	}
	if c := word[0]; c == '-' || (c >= '0' && c <= '9') {
		if n, err := strconv.Atoi(word); err == nil {
			return n, nil
		}
		if f, err := strconv.ParseFloat(word, 64); err == nil {
			return f, nil
		}
		return nil, errRison
	}
	return word, nil
}

// argument reads the parameter q of lists and bulk calls: rison, or JSON, which
// is decoded from the address once more. Nothing at all is an empty object.
func (c *call) argument() (any, answer, bool) {
	text := c.query().Get("q")
	if text == "" {
		return obj{}, answer{}, true
	}
	if v, err := parseRison(text); err == nil {
		return v, answer{}, true
	}
	if decoded, err := url.QueryUnescape(text); err == nil && json.Valid([]byte(decoded)) && !strings.Contains(text, "&") {
		if v, err := parseJSON([]byte(decoded)); err == nil {
			return v, answer{}, true
		}
	}
	return nil, message(400, "Not a valid rison/json argument"), false
}

// bulkIDs reads q as a list of ids; the answer is the refusal otherwise.
func (c *call) bulkIDs() ([]int, answer, bool) {
	v, a, good := c.argument()
	if !good {
		return nil, a, false
	}
	list, ok := v.([]any)
	if !ok {
		return nil, badSchema(v, "array"), false
	}
	out := []int{}
	for _, e := range list {
		n, ok := e.(int)
		if !ok {
			return nil, badSchema(e, "integer"), false
		}
		out = append(out, n)
	}
	return out, answer{}, true
}

// badSchema is the refusal of a value of the wrong type.
func badSchema(v any, want string) answer {
	return message(400, "Not a valid rison schema "+pyRepr(v)+" is not of type '"+want+"'")
}

// pyRepr writes a value as Python shows it.
func pyRepr(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case string:
		quote := "'"
		if strings.Contains(v, "'") && !strings.Contains(v, `"`) {
			quote = `"`
		}
		text := strings.ReplaceAll(v, `\`, `\\`)
		if quote == "'" {
			text = strings.ReplaceAll(text, "'", `\'`)
		}
		return quote + strings.ReplaceAll(text, "\n", `\n`) + quote
	case int:
		return strconv.Itoa(v)
	case float64:
		return dumps(pyFloat(v))
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = pyRepr(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case obj:
		parts := make([]string, 0, len(v))
		for _, k := range sortedKeys(v) {
			parts = append(parts, pyRepr(k)+": "+pyRepr(v[k]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return dumps(v)
}
