package config

import (
	"reflect"
	"strings"
)

// flagOf is the flag of a key: --llm.base-url.
func flagOf(key string) string { return "--" + strings.ReplaceAll(key, "_", "-") }

// SplitFlags takes the flags that set a key out of args, as --llm.base-url=URL or --llm.base-url URL, and returns
// the others in their order. A flag of a key with a dot that nobody knows is taken too, so that Load names it. After
// "--" nothing is taken.
func SplitFlags(args []string) (overrides map[string]string, rest []string) {
	overrides = map[string]string{}
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return overrides, append(rest, args[i:]...)
		}
		name, value, has := strings.Cut(args[i], "=")
		key := strings.ReplaceAll(strings.TrimPrefix(name, "--"), "-", "_")
		l, ok := leafOf(key)
		if !strings.HasPrefix(name, "--") || !ok && !strings.Contains(key, ".") {
			rest = append(rest, args[i])
			continue
		}
		next := i+1 < len(args) && !strings.HasPrefix(args[i+1], "--")
		switch {
		case has:
		case ok && l.typ.Kind() == reflect.Bool && !(next && (args[i+1] == "true" || args[i+1] == "false")):
			value = "true"
		case next:
			i++
			value = args[i]
		}
		overrides[key] = value
	}
	return overrides, rest
}
