package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"agentd/internal/fault"

	"github.com/go-viper/mapstructure/v2"
	"github.com/knadh/koanf/v2"
	"gopkg.in/yaml.v3"
)

// Options say where the configuration comes from, the weakest first: Demo's defaults, File, Environ, Overrides.
type Options struct {
	File      string            // YAML; "" is none
	Environ   []string          // NAME=value, as os.Environ gives
	Overrides map[string]string // key → value, as SplitFlags gives
	Demo      bool
}

// Load reads and checks everything. Its error is Invalid and names every key that is wrong, with what would be
// right. Secrets are not read.
func Load(o Options) (Config, error) {
	c := defaults()
	if o.Demo {
		c = demo()
	}
	vars := variables(o.Environ)
	c.lookup = func(name string) (string, bool) { v, ok := vars[name]; return v, ok }

	var bad problems
	k := koanf.New(".")
	var layers []map[string]any
	if o.File != "" {
		m, err := readFile(o.File, &bad)
		if err != nil {
			return Config{}, err
		}
		layers = append(layers, m)
	}
	layers = append(layers, readVariables(vars, &bad), readFlags(o.Overrides, &bad))
	for _, m := range layers {
		if err := k.Load(layer(m), nil); err != nil {
			return Config{}, fault.Wrap(fault.Internal, "The configuration cannot be read.", err)
		}
	}
	if err := k.UnmarshalWithConf("", &c, koanf.UnmarshalConf{DecoderConfig: &mapstructure.DecoderConfig{
		TagName: "koanf", Result: &c, ZeroFields: true, ErrorUnused: true,
	}}); err != nil {
		return Config{}, fault.Wrap(fault.Internal, "The configuration cannot be read.", err)
	}
	strangers(vars, c, &bad)
	complete(&c)
	check(&c, k.Exists, o.Demo, &bad)
	if err := bad.err(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// layer is a koanf provider of values that were read already.
type layer map[string]any

func (l layer) Read() (map[string]any, error) { return l, nil }
func (l layer) ReadBytes() ([]byte, error)    { return nil, errors.New("config: values only") }

func readFile(file string, bad *problems) (map[string]any, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, "The configuration file "+file+" cannot be read.", err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, fault.Wrap(fault.Invalid, "The configuration file "+file+" is not YAML: "+err.Error()+".", err)
	}
	r := reading{problems: bad, at: func(n *yaml.Node) string { return fmt.Sprintf("line %d", n.Line) }}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		bad.add("", "", "must be one YAML document")
	}
	if v, ok := r.value(doc.Content[0], reflect.TypeFor[Config](), ""); ok {
		return v.(map[string]any), nil
	}
	return nil, nil
}

// variables splits the environment.
func variables(environ []string) map[string]string {
	out := map[string]string{}
	for _, e := range environ {
		if name, v, ok := strings.Cut(e, "="); ok {
			out[name] = v
		}
	}
	return out
}

func readVariables(vars map[string]string, bad *problems) map[string]any {
	out := map[string]any{}
	for _, l := range leaves {
		if text, ok := vars[variable(l.key)]; ok {
			set(out, l, text, variable(l.key), bad)
		}
	}
	return out
}

func readFlags(overrides map[string]string, bad *problems) map[string]any {
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(overrides)) {
		if l, ok := leafOf(key); ok {
			set(out, l, overrides[key], flagOf(key), bad)
		} else {
			bad.add(key, flagOf(key), "is not known")
		}
	}
	return out
}

// set reads one text as the value of a key. What is no text is written as YAML, and a list of texts also with commas.
func set(out map[string]any, l leaf, text, at string, bad *problems) {
	r := reading{problems: bad, at: func(*yaml.Node) string { return at }}
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	switch l.typ.Kind() {
	case reflect.Slice, reflect.Map:
		var doc yaml.Node
		switch err := yaml.Unmarshal([]byte(text), &doc); {
		case err != nil:
			bad.add(l.key, at, "must be written as YAML")
			return
		case len(doc.Content) == 0:
			n = &yaml.Node{Kind: yaml.SequenceNode}
		case doc.Content[0].Kind == yaml.ScalarNode && l.typ == reflect.TypeFor[[]string]():
			n = &yaml.Node{Kind: yaml.SequenceNode}
			for s := range strings.SplitSeq(text, ",") {
				n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.TrimSpace(s)})
			}
		default:
			n = doc.Content[0]
		}
	}
	v, ok := r.value(n, l.typ, l.key)
	if !ok {
		return
	}
	at2 := out
	parts := strings.Split(l.key, ".")
	for _, p := range parts[:len(parts)-1] {
		next, ok := at2[p].(map[string]any)
		if !ok {
			next = map[string]any{}
			at2[p] = next
		}
		at2 = next
	}
	at2[parts[len(parts)-1]] = v
}

// byKubernetes are variables that a cluster sets for a service named agentd.
var byKubernetes = regexp.MustCompile(`^AGENTD_(PORT|SERVICE_HOST|SERVICE_PORT)(_|$)`)

// strangers refuses variables that look like ours and are no key. Those that hold a secret are no keys.
func strangers(vars map[string]string, c Config, bad *problems) {
	ours := secretNames(c)
	for _, l := range leaves {
		ours[variable(l.key)] = true
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if strings.HasPrefix(name, envPrefix) && !ours[name] && !byKubernetes.MatchString(name) && !byTests.MatchString(name) {
			bad.add(name, "environment", "is not known; variables are AGENTD_ and the key, as AGENTD_LLM_BASE_URL")
		}
	}
}

// byTests are variables of the repository's own test scripts, which may be set beside a server.
var byTests = regexp.MustCompile(`^AGENTD_(TEST|SUPERSET|MODEL)_`)

// secretNames lists the variables that the configuration names for secrets.
func secretNames(c Config) map[string]bool {
	out := map[string]bool{c.Auth.JWT.SecretEnv: true, c.Auth.Handover.SecretEnv: true, c.LLM.APIKeyEnv: true}
	for _, e := range c.Environments {
		out[e.Auth.PasswordEnv], out[e.Auth.APIKeyEnv] = true, true
	}
	for _, m := range c.MCPServers {
		for _, v := range m.HeadersEnv {
			out[v] = true
		}
	}
	return out
}
