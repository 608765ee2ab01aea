package contract

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
)

var index = regexp.MustCompile(`\[\d+\]`)

// verify gives the differences between the recorded answer of a step and the one that came.
func verify(s *Step, got map[string]any) []string {
	want := s.Response
	var out []string
	if text(want["status"]) != text(got["status"]) {
		out = append(out, fmt.Sprintf("status: want %v, got %v: %.300s", want["status"], got["status"], text(firstOf(got, "body", "text"))))
	}
	if want["type"] != got["type"] {
		out = append(out, fmt.Sprintf("media type: want %v, got %v", want["type"], got["type"]))
	}
	have, _ := got["headers"].(map[string]any)
	wanted, _ := want["headers"].(map[string]any)
	for name, value := range wanted {
		out = append(out, headerDiff(s, name, plainText(value), have[name])...)
	}
	if slices.Contains(s.Exact, "text") && want["text"] != got["text"] {
		out = append(out, fmt.Sprintf("text: want %q, got %q", want["text"], got["text"]))
	}
	for _, part := range [][2]string{{"body", "$"}, {"zip", "zip"}} {
		w, hasWant := want[part[0]]
		g, hasGot := got[part[0]]
		if hasWant && (hasGot || part[0] == "zip") {
			if !hasGot {
				g = map[string]any{}
			}
			compare(w, g, part[1], s, &out)
		}
	}
	return out
}

func firstOf(m map[string]any, names ...string) any {
	for _, n := range names {
		if v, there := m[n]; there {
			return v
		}
	}
	return ""
}

func headerDiff(s *Step, name, want string, got any) []string {
	have, there := got.(string)
	if !there {
		return []string{"header " + name + ": missing"}
	}
	anyOrder := slices.Contains(s.Exact, "header "+name+"*")
	if anyOrder && sortedWords(have) == sortedWords(want) {
		return nil
	}
	if have != want && (anyOrder || slices.Contains(s.Exact, "header "+name)) {
		return []string{fmt.Sprintf("header %s: want %s, got %s", name, want, have)}
	}
	return nil
}

func sortedWords(list string) string {
	words := strings.Split(list, ", ")
	sort.Strings(words)
	return strings.Join(words, ", ")
}

func compare(want, got any, path string, s *Step, out *[]string) {
	plain := index.ReplaceAllString(path, "[]")
	if slices.Contains(s.Loose, plain) {
		return
	}
	want, got, exact := loosened(want, got, plain, s)
	for _, e := range s.Exact {
		head, tail, star := strings.Cut(e, "[*]")
		if star && head == plain {
			compareEach(want, got, head, tail, out)
		}
	}
	if exact || slices.Contains(s.Exact, plain) || slices.Contains(s.Exact, path) {
		if text(want) != text(got) {
			*out = append(*out, fmt.Sprintf("%s: want %.300s, got %.300s", path, text(want), text(got)))
		}
		return
	}
	if want == nil || got == nil {
		return
	}
	if a, b := kind(want), kind(got); a != b {
		*out = append(*out, fmt.Sprintf("%s: want %s, got %s", path, a, b))
		return
	}
	switch want := want.(type) {
	case map[string]any:
		compareObjects(want, got.(map[string]any), path, plain, s, out)
	case []any:
		list := got.([]any)
		for i := range list[:min(len(list), len(want))] {
			compare(want[i], list[i], fmt.Sprintf("%s[%d]", path, i), s, out)
		}
		if len(list) == 0 && len(want) > 0 {
			*out = append(*out, path+": want elements, got none")
		}
	}
}

// loosened applies the two marks at the end of an exact path: * for a list in
// any order, {} for a text that holds JSON.
func loosened(want, got any, plain string, s *Step) (any, any, bool) {
	if slices.Contains(s.Exact, plain+"*") {
		w, isList := want.([]any)
		g, alsoList := got.([]any)
		if isList && alsoList {
			return sortedTexts(w), sortedTexts(g), true
		}
	}
	if slices.Contains(s.Exact, plain+"{}") {
		w, isText := want.(string)
		g, alsoText := got.(string)
		if isText && alsoText {
			return jsonOrText(w), jsonOrText(g), true
		}
	}
	return want, got, false
}

func sortedTexts(list []any) []any {
	out := make([]string, len(list))
	for i := range list {
		out[i] = text(list[i])
	}
	sort.Strings(out)
	back := make([]any, len(out))
	for i := range out {
		back[i] = out[i]
	}
	return back
}

func jsonOrText(s string) any {
	if v, err := decode([]byte(s)); err == nil {
		return v
	}
	return s
}

func compareEach(want, got any, head, tail string, out *[]string) {
	w, isList := want.([]any)
	g, alsoList := got.([]any)
	if !isList || !alsoList {
		return
	}
	names := func(list []any) string {
		each := make([]any, len(list))
		for i := range list {
			each[i], _ = pick(list[i], "$"+tail)
		}
		return text(sortedTexts(each))
	}
	if a, b := names(w), names(g); a != b {
		*out = append(*out, fmt.Sprintf("%s[*]%s: want %.400s, got %.400s", head, tail, a, b))
	}
}

func compareObjects(want, got map[string]any, path, plain string, s *Step, out *[]string) {
	keys := map[string]bool{}
	for k := range want {
		keys[k] = true
	}
	for k := range got {
		keys[k] = true
	}
	sorted := make([]string, 0, len(keys))
	for k := range keys {
		sorted = append(sorted, k)
	}
	sort.Strings(sorted)
	for _, k := range sorted {
		if slices.Contains(s.Loose, plain+"."+k) {
			continue
		}
		w, inWant := want[k]
		g, inGot := got[k]
		switch {
		case !inGot:
			*out = append(*out, path+"."+k+": missing")
		case !inWant:
			*out = append(*out, path+"."+k+": not in the real answer")
		default:
			compare(w, g, path+"."+k, s, out)
		}
	}
}

func kind(v any) string {
	switch v.(type) {
	case bool:
		return "boolean"
	case json.Number, int, float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}
