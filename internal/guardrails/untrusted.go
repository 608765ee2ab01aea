package guardrails

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// UntrustedLen is how many characters an argument must have at least to be looked for: shorter ones stand in any text.
const UntrustedLen = 20

var uuidPattern = regexp.MustCompile(`(?i)^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$`)

// Untrusted returns the JSON pointers of the arguments that stand literally in one of texts (descriptions, markdown,
// rows) and not in what the user wrote. Only free text, SQL and addresses count, ids and names never do. Runs of
// white space are one blank, and text inside an argument that is itself JSON is looked at too.
//
// Arguments that are not valid JSON have no pointers; they never get past a schema.
func Untrusted(args json.RawMessage, texts []string, userMessage string) []string {
	var root any
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	if dec.Decode(&root) != nil {
		return nil
	}
	s := search{user: squeeze(userMessage)}
	for _, t := range texts {
		if t = squeeze(t); utf8.RuneCountInString(t) >= UntrustedLen {
			s.texts = append(s.texts, t)
		}
	}
	if len(s.texts) == 0 {
		return nil
	}
	s.walk(root, "", "")
	slices.Sort(s.found)
	return slices.Compact(s.found)
}

type search struct {
	texts []string
	user  string
	found []string
}

// walk looks at every text below v. key is the name of the member that holds it, also through lists.
func (s *search) walk(v any, pointer, key string) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			s.walk(x, pointer+"/"+escape(k), k)
		}
	case []any:
		for i, x := range v {
			s.walk(x, pointer+"/"+strconv.Itoa(i), key)
		}
	case string:
		if !isName(key) && s.stands(v) {
			s.found = append(s.found, pointer)
			return
		}
		if s.inside(v) {
			s.found = append(s.found, pointer)
		}
	}
}

// inside reports whether an argument that is JSON text holds a text that stands.
func (s *search) inside(arg string) bool {
	t := strings.TrimSpace(arg)
	if !strings.HasPrefix(t, "{") && !strings.HasPrefix(t, "[") {
		return false
	}
	var root any
	if json.Unmarshal([]byte(t), &root) != nil {
		return false
	}
	sub := search{texts: s.texts, user: s.user}
	sub.walk(root, "", "")
	return len(sub.found) > 0
}

func (s *search) stands(arg string) bool {
	arg = squeeze(arg)
	if utf8.RuneCountInString(arg) < UntrustedLen || uuidPattern.MatchString(arg) || strings.Contains(s.user, arg) {
		return false
	}
	quoted := inJSON(arg)
	for _, t := range s.texts {
		if strings.Contains(t, arg) || quoted != arg && strings.Contains(t, quoted) {
			return true
		}
	}
	return false
}

// inJSON is s as it stands inside a JSON text, since rows often come as JSON.
func inJSON(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return s
	}
	out := strings.TrimSpace(b.String())
	return out[1 : len(out)-1]
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func escape(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }

// names are the arguments that name a thing, beside those that end with _id, _ids, _name, _names, _by, _col or uuid.
var names = map[string]bool{
	"id": true, "ids": true, "name": true, "title": true, "slug": true, "dashboard": true, "chart": true, "dataset": true,
	"schema": true, "catalog": true, "type": true, "kind": true, "mode": true, "sort": true, "op": true, "include": true,
	"duplicate_of": true, "source_env": true, "target_env": true, "overwrite": true, "expected_changed_on": true, "d3format": true,
	"from": true, "to": true,
}

func isName(key string) bool {
	key = strings.ToLower(key)
	if names[key] {
		return true
	}
	for _, end := range []string{"_id", "_ids", "_name", "_names", "_by", "_col", "uuid", "uuids"} {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return false
}
