package bundle

import (
	"encoding/json"
	"regexp"
	"strings"

	"agentd/internal/fault"

	"gopkg.in/yaml.v3"
)

// maxNodes bounds what one entry becomes when its aliases are followed.
const maxNodes = 1_000_000

// parse reads one entry as a mapping.
func parse(raw []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, fault.Wrap(fault.Mismatch, "An entry of the export is no YAML.", err)
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, fault.New(fault.Mismatch, "An entry of the export is empty or no object.")
	}
	return doc.Content[0], nil
}

// member returns the value of a key of a mapping, or nil.
func member(n *yaml.Node, key string) *yaml.Node {
	if n = follow(n); n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return follow(n.Content[i+1])
		}
	}
	return nil
}

func follow(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// word is the text of a scalar; "" for null and for what is none.
func word(n *yaml.Node) string {
	if s, ok := scalar(n).(string); ok {
		return s
	}
	if n != nil && n.Kind == yaml.ScalarNode && scalar(n) != nil {
		return n.Value
	}
	return ""
}

var (
	plainInt   = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	plainFloat = regexp.MustCompile(`^[-+]?([0-9]+\.[0-9]*([eE][-+]?[0-9]+)?|\.[0-9]+)$`)
)

// scalar is what Superset's YAML reader makes of a scalar. It is one of YAML 1.1, in which 1e3 and 0o7 are texts.
func scalar(n *yaml.Node) any {
	if n == nil || n.Kind != yaml.ScalarNode {
		return nil
	}
	v := n.Value
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return v
	}
	switch strings.ToLower(v) {
	case "", "~", "null":
		return nil
	case "true", "yes", "on":
		return true
	case "false", "no", "off":
		return false
	}
	switch {
	case plainInt.MatchString(v):
		return json.Number(strings.TrimPrefix(v, "+"))
	case plainFloat.MatchString(v):
		return number(v)
	}
	return v
}

// number makes a JSON number of a YAML one: .5 and 1. are none of JSON.
func number(v string) any {
	v = strings.TrimPrefix(v, "+")
	sign := ""
	if strings.HasPrefix(v, "-") {
		sign, v = "-", v[1:]
	}
	if strings.HasPrefix(v, ".") {
		v = "0" + v
	}
	whole, rest, _ := strings.Cut(v, ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if rest == "" || rest[0] == 'e' || rest[0] == 'E' {
		rest = "0" + rest
	}
	return json.Number(sign + whole + "." + rest)
}

// plain turns a node into maps, lists and scalars.
func plain(n *yaml.Node) (any, error) {
	left := maxNodes
	return expand(n, &left, 0)
}

func expand(n *yaml.Node, left *int, depth int) (any, error) {
	*left--
	if *left < 0 || depth > 200 {
		return nil, fault.New(fault.TooLarge, "An entry of the export is nested or repeated more than any export is.")
	}
	n = follow(n)
	switch n.Kind {
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			v, err := expand(n.Content[i+1], left, depth+1)
			if err != nil {
				return nil, err
			}
			m[n.Content[i].Value] = v
		}
		return m, nil
	case yaml.SequenceNode:
		l := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			v, err := expand(c, left, depth+1)
			if err != nil {
				return nil, err
			}
			l = append(l, v)
		}
		return l, nil
	}
	return scalar(n), nil
}
