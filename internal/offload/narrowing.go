package offload

import (
	"slices"

	"agentd/internal/tool"
)

// narrows are the names of arguments that make results smaller.
var narrows = []string{
	"limit", "page_size", "rows", "columns", "include", "query", "filter", "filters", "sql", "chart_ids", "schema", "published", "mine", "owner_id",
	"first", "last", "top", "max_results", "fields", "since", "until", "where",
}

// maxNarrowing bounds the advice: the first ones of a schema say enough.
const maxNarrowing = 5

// NarrowingOf finds for each tool which of its arguments make a result smaller, so that advice names arguments
// that are there.
func NarrowingOf(tools []tool.Tool) map[string][]string {
	out := map[string][]string{}
	for _, t := range tools {
		schema, err := parseObject(t.Schema)
		if err != nil {
			continue
		}
		i := schema.find("properties")
		if i < 0 {
			continue
		}
		props, err := parseObject(schema[i].value)
		if err != nil {
			continue
		}
		for _, p := range props {
			if slices.Contains(narrows, p.name) && len(out[t.Name]) < maxNarrowing {
				out[t.Name] = append(out[t.Name], p.name)
			}
		}
	}
	return out
}

// LimitsOf finds the limits that tools declare for their own results.
func LimitsOf(tools []tool.Tool) map[string]int {
	out := map[string]int{}
	for _, t := range tools {
		if t.MaxChars > 0 {
			out[t.Name] = t.MaxChars
		}
	}
	return out
}
