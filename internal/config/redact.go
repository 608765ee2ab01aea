package config

import (
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"time"

	"gopkg.in/yaml.v3"
)

// Redacted is the effective configuration as YAML, in the order of the keys, without any secret: of secrets it
// names the place, and passwords inside addresses are left out.
func (c Config) Redacted() ([]byte, error) {
	n, err := node(reflect.ValueOf(c))
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(n)
}

func node(v reflect.Value) (*yaml.Node, error) {
	switch {
	case v.Type() == durationType:
		return text(time.Duration(v.Int()).String()), nil
	case v.Type() == sizeType:
		return text(Size(v.Int()).String()), nil
	}
	switch v.Kind() {
	case reflect.String:
		return text(redact(v.String())), nil
	case reflect.Struct:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for i := range v.NumField() {
			key := v.Type().Field(i).Tag.Get("koanf")
			if key == "" || key == "-" {
				continue
			}
			child, err := node(v.Field(i))
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, text(key), child)
		}
		return n, nil
	case reflect.Slice:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for i := range v.Len() {
			child, err := node(v.Index(i))
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		return n, nil
	}
	n := new(yaml.Node)
	if err := n.Encode(v.Interface()); err != nil {
		return nil, fmt.Errorf("print configuration: %w", err)
	}
	return n, nil
}

func text(s string) *yaml.Node {
	n := new(yaml.Node)
	n.SetString(s)
	return n
}

var secretParam = regexp.MustCompile(`(?i)(pass|secret|token|key|sig|credential)`)

// redact takes the password and parameters that look secret out of an address.
func redact(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.User == nil && u.RawQuery == "" {
		return s
	}
	if _, has := u.User.Password(); has {
		u.User = url.UserPassword(u.User.Username(), "REDACTED")
	}
	q := u.Query()
	for name := range q {
		if secretParam.MatchString(name) {
			q.Set(name, "REDACTED")
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}
