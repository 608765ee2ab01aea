package contract

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strings"

	"gopkg.in/yaml.v3"
)

// entry is one file of a bundle; bundles keep their order.
type entry struct{ name, text string }

func entryText(v any) string {
	if s, isText := v.(string); isText {
		return s
	}
	return orderedText(v)
}

// bundleOf reads a bundle given as an object of names.
func bundleOf(v any) []entry {
	if list, ready := v.([]entry); ready {
		return list
	}
	var out []entry
	if o, isObject := v.(*ordered); isObject {
		for _, name := range o.keys {
			out = append(out, entry{name, entryText(o.values[name])})
		}
	}
	return out
}

// edited applies the edits of a step: texts replaced, entries dropped, entries added.
func edited(bundle []entry, edits []any) []entry {
	if len(edits) == 0 {
		return bundle
	}
	root := ""
	if len(bundle) > 0 {
		root, _, _ = strings.Cut(bundle[0].name, "/")
	}
	inner := make([]entry, len(bundle))
	for i, e := range bundle {
		_, name, _ := strings.Cut(e.name, "/")
		inner[i] = entry{name, e.text}
	}
	for _, e := range edits {
		edit, isObject := e.(*ordered)
		if !isObject {
			continue
		}
		pattern, drops := edit.values["drop"].(string)
		if !drops {
			pattern, _ = edit.values["in"].(string)
		}
		if pattern == "" {
			pattern = "*"
		}
		var kept []entry
		for _, e := range inner {
			if glob(pattern, e.name) {
				if drops {
					continue
				}
				if replace, there := edit.values["replace"].(*ordered); there {
					for _, old := range replace.keys {
						e.text = strings.ReplaceAll(e.text, old, plainText(replace.values[old]))
					}
				}
			}
			kept = append(kept, e)
		}
		inner = kept
		if added, there := edit.values["add"].(*ordered); there {
			for _, name := range added.keys {
				inner = put(inner, entry{name, entryText(added.values[name])})
			}
		}
	}
	for i := range inner {
		inner[i].name = root + "/" + inner[i].name
	}
	return inner
}

func put(list []entry, e entry) []entry {
	for i := range list {
		if list[i].name == e.name {
			list[i] = e
			return list
		}
	}
	return append(list, e)
}

// glob is the shell pattern of the edits: * spans / too, ? is one sign.
func glob(pattern, name string) bool {
	quoted := regexp.QuoteMeta(pattern)
	quoted = strings.ReplaceAll(strings.ReplaceAll(quoted, `\*`, `.*`), `\?`, `.`)
	quoted = strings.ReplaceAll(strings.ReplaceAll(quoted, `\[`, `[`), `\]`, `]`)
	ok, err := regexp.MatchString("(?s)^"+quoted+"$", name)
	return err == nil && ok
}

func fileBytes(file *ordered) ([]byte, error) {
	if z, there := file.values["zip"]; there {
		edits, _ := file.values["edit"].([]any)
		var out bytes.Buffer
		w := zip.NewWriter(&out)
		for _, e := range edited(bundleOf(z), edits) {
			f, err := w.Create(e.name)
			if err != nil {
				return nil, err
			}
			if _, err := io.WriteString(f, e.text); err != nil {
				return nil, err
			}
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		return out.Bytes(), nil
	}
	if b, there := file.values["base64"].(string); there {
		return base64.StdEncoding.DecodeString(b)
	}
	t, _ := file.values["text"].(string)
	return []byte(t), nil
}

func unzip(data []byte) ([]entry, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	var out []entry
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(in)
		_ = in.Close()
		if err != nil {
			return nil, err
		}
		out = append(out, entry{f.Name, string(text)})
	}
	return out, nil
}

var (
	fileID   = regexp.MustCompile(`([_/])\d+(\.yaml)$`)
	fileTime = regexp.MustCompile(`_\d{8}T\d{6}/`)
)

// opened is what an exported bundle says: names without times and ids, then the
// entries by kind in the order of their uuids.
func opened(bundle []entry) (map[string]any, error) {
	sorted := append([]entry(nil), bundle...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].name < sorted[j].name })
	names, out := []any{}, map[string]any{}
	for _, e := range sorted {
		_, rest, _ := strings.Cut(e.name, "/")
		kind, inner, _ := strings.Cut(rest, "/")
		var v any
		if strings.HasSuffix(e.name, ".yaml") {
			if err := yaml.Unmarshal([]byte(e.text), &v); err != nil {
				return nil, fmt.Errorf("%s: %w", e.name, err)
			}
			v = fromYAML(v)
		}
		if inner == "" {
			out[strings.TrimSuffix(kind, ".yaml")] = v
			continue
		}
		names = append(names, fileID.ReplaceAllString(fileTime.ReplaceAllString(e.name, "_<time>/"), "${1}<id>${2}"))
		list, _ := out[kind].([]any)
		out[kind] = append(list, v)
	}
	sort.Slice(names, func(i, j int) bool { return names[i].(string) < names[j].(string) })
	for _, v := range out {
		if list, isList := v.([]any); isList {
			sort.SliceStable(list, func(i, j int) bool { return uuidOf(list[i]) < uuidOf(list[j]) })
		}
	}
	out["names"] = names
	return out, nil
}

func uuidOf(v any) string {
	o, _ := v.(map[string]any)
	return plainText(o["uuid"])
}

// fromYAML turns a YAML value into the kinds that JSON has.
func fromYAML(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = fromYAML(v[k])
		}
	case map[any]any:
		out := map[string]any{}
		for k, e := range v {
			out[fmt.Sprint(k)] = fromYAML(e)
		}
		return out
	case []any:
		for i := range v {
			v[i] = fromYAML(v[i])
		}
	case bool, string, nil:
	default:
		if parsed, err := decode([]byte(text(v))); err == nil {
			return parsed
		}
	}
	return v
}
