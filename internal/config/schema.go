package config

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// A leaf is a key that holds a value and no further keys. Lists and maps are leaves too: as a whole they are set
// by one variable or flag, written as YAML.
type leaf struct {
	key string
	typ reflect.Type
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	sizeType     = reflect.TypeFor[Size]()
	leaves       = leavesOf(reflect.TypeFor[Config](), "")
)

// Keys lists every key that a variable or a flag can set, in the order of the file.
func Keys() []string {
	out := make([]string, len(leaves))
	for i, l := range leaves {
		out[i] = l.key
	}
	return out
}

func leavesOf(t reflect.Type, prefix string) (out []leaf) {
	for _, f := range fieldsOf(t) {
		if f.typ.Kind() == reflect.Struct {
			out = append(out, leavesOf(f.typ, prefix+f.key+".")...)
		} else {
			out = append(out, leaf{prefix + f.key, f.typ})
		}
	}
	return out
}

// fieldsOf lists the keys of a struct.
func fieldsOf(t reflect.Type) (out []leaf) {
	for i := range t.NumField() {
		f := t.Field(i)
		if key := f.Tag.Get("koanf"); key != "" && key != "-" {
			out = append(out, leaf{key, f.Type})
		}
	}
	return out
}

func known(t reflect.Type) string {
	var keys []string
	for _, f := range fieldsOf(t) {
		keys = append(keys, f.key)
	}
	slices.Sort(keys)
	return strings.Join(keys, ", ")
}

func leafOf(key string) (leaf, bool) {
	i := slices.IndexFunc(leaves, func(l leaf) bool { return l.key == key })
	if i < 0 {
		return leaf{}, false
	}
	return leaves[i], true
}

// variable is the environment variable of a key.
func variable(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

const envPrefix = "AGENTD_"
