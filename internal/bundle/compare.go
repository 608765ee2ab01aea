package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"agentd/internal/fault"
)

// A Change is one field that differs; Before or After is nil where there is none.
type Change struct {
	Field  string
	Before json.RawMessage
	After  json.RawMessage
}

// A Content is what an object says, without what differs between two environments by nature: numbers of objects, tags,
// the order of columns and metrics. The zero Content is that of no object.
type Content struct{ fields map[string]any }

// Content reads an object. That of a connection is nobody's business: Denied.
func (b *Bundle) Content(o Object) (Content, error) {
	if o.Kind == Database {
		return Content{}, fault.New(fault.Denied, "What a bundle says of a connection is shown to nobody.")
	}
	n, err := b.node(o.entry)
	if err != nil {
		return Content{}, err
	}
	v, err := plain(n)
	if err != nil {
		return Content{}, err
	}
	m := v.(map[string]any) // a mapping, as parse saw
	for _, k := range []string{"version", "tags", "theme_uuid", "theme_id"} {
		delete(m, k)
	}
	switch o.Kind {
	case Dashboard:
		comparableDashboard(m, o)
	case Chart:
		comparableChart(m)
	case Dataset:
		for list, key := range map[string]string{"columns": "column_name", "metrics": "metric_name"} {
			m[list] = keyed(m[list], key)
		}
	}
	return Content{prune(m)}, nil
}

// Hash is a digest of the content.
func (c Content) Hash() string {
	h := sha256.Sum256(compact(c.fields))
	return hex.EncodeToString(h[:])
}

// Text is a top-level field's text, "" where it is none.
func (c Content) Text(field string) string {
	s, _ := c.fields[field].(string)
	return s
}

// Diff lists what becomes different when before is replaced by after, ordered by field.
func Diff(before, after Content) []Change {
	var out []Change
	walk("", before.fields, after.fields, 0, &out)
	return out
}

// walk goes down as far as a person looks: a field of a field of a field.
func walk(at string, before, after map[string]any, depth int, out *[]Change) {
	keys := map[string]bool{}
	for k := range before {
		keys[k] = true
	}
	for k := range after {
		keys[k] = true
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		b, hasB := before[k]
		a, hasA := after[k]
		field := k
		if at != "" {
			field = at + "/" + k
		}
		bm, isB := b.(map[string]any)
		am, isA := a.(map[string]any)
		if isB && isA && depth < 2 {
			walk(field, bm, am, depth+1, out)
			continue
		}
		c := Change{Field: field}
		if hasB {
			c.Before = compact(b)
		}
		if hasA {
			c.After = compact(a)
		}
		if !bytes.Equal(c.Before, c.After) {
			*out = append(*out, c)
		}
	}
}

// prune drops nulls: a field that is null and one that is left out are the same, here and there.
func prune(m map[string]any) map[string]any {
	for k, v := range m {
		switch v := v.(type) {
		case nil:
			delete(m, k)
		case map[string]any:
			prune(v)
		case []any:
			pruneAll(v)
		}
	}
	return m
}

func pruneAll(list []any) {
	for _, v := range list {
		switch v := v.(type) {
		case map[string]any:
			prune(v)
		case []any:
			pruneAll(v)
		}
	}
}

// compact is v as JSON with sorted keys.
func compact(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("bundle: " + err.Error()) // maps, lists and scalars of our own
	}
	return bytes.TrimSpace(b.Bytes())
}

// keyed turns a list of objects that name themselves into a map, so that their order does not count.
func keyed(v any, key string) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(list))
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			return v
		}
		name, ok := m[key].(string)
		if _, twice := out[name]; !ok || twice {
			return v
		}
		delete(m, "uuid")
		out[name] = m
	}
	return out
}

func comparableDashboard(m map[string]any, o Object) {
	uuids := map[string]string{} // number in the source → uuid
	for i, n := range o.Places {
		uuids[n] = o.Charts[i]
	}
	if p, ok := m["position"].(map[string]any); ok {
		for _, v := range p {
			if c, ok := v.(map[string]any); ok {
				if meta, ok := c["meta"].(map[string]any); ok {
					delete(meta, "chartId")
				}
			}
		}
	}
	meta, ok := m["metadata"].(map[string]any)
	if !ok {
		return
	}
	strip(meta, "chartsInScope", "tabsInScope", "datasetId")
	for _, k := range []string{"expanded_slices", "chart_configuration"} {
		if list, ok := meta[k].(map[string]any); ok {
			meta[k] = renamed(list, uuids)
		}
	}
	rename(meta, uuids)
	if _, ok := meta["native_filter_configuration"]; ok {
		meta["native_filter_configuration"] = keyed(meta["native_filter_configuration"], "id")
	}
	// An import drops what old filter boxes left, and adds an empty list of filters.
	for _, k := range []string{"import_time", "remote_id", "default_filters", "filter_scopes"} {
		delete(meta, k)
	}
	for k, v := range meta {
		switch v := v.(type) {
		case map[string]any:
			if len(v) == 0 {
				delete(meta, k)
			}
		case []any:
			if len(v) == 0 {
				delete(meta, k)
			}
		case []string:
			if len(v) == 0 {
				delete(meta, k)
			}
		case string:
			if v == "" {
				delete(meta, k)
			}
		}
	}
}

// strip deletes keys wherever they stand.
func strip(v any, keys ...string) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range keys {
			delete(v, k)
		}
		for _, e := range v {
			strip(e, keys...)
		}
	case []any:
		for _, e := range v {
			strip(e, keys...)
		}
	}
}

// renamed puts uuids in place of numbers as keys; what the layout does not name goes, as it does at an import.
func renamed(m map[string]any, uuids map[string]string) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		if u, ok := uuids[k]; ok {
			if c, ok := v.(map[string]any); ok {
				delete(c, "id")
			}
			out[u] = v
		}
	}
	return out
}

// rename does the same in the lists of numbers.
func rename(v any, uuids map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if list, ok := e.([]any); ok && (k == "excluded" || k == "timed_refresh_immune_slices") {
				out := []string{}
				for _, n := range list {
					if u, ok := uuids[numeral(n)]; ok {
						out = append(out, u)
					}
				}
				slices.Sort(out)
				v[k] = out
				continue
			}
			rename(e, uuids)
		}
	case []any:
		for _, e := range v {
			rename(e, uuids)
		}
	}
}

func numeral(v any) string {
	switch v := v.(type) {
	case json.Number:
		return string(v)
	case string:
		if _, err := strconv.Atoi(v); err == nil {
			return v
		}
	}
	return ""
}

// comparableChart drops the numbers of chart, dataset and dashboards from the parameters and the saved query.
func comparableChart(m map[string]any) {
	if text, ok := m["query_context"].(string); ok {
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		d.UseNumber()
		var v any
		if d.Decode(&v) == nil {
			m["query_context"] = v
		}
	}
	for _, k := range []string{"params", "query_context"} {
		strip(m[k], "datasource", "slice_id", "dashboards", "dashboardId")
	}
}
