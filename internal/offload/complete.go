package offload

import (
	"encoding/json"
	"slices"

	"agentd/internal/chat"
	"agentd/internal/summarise"
	"agentd/internal/tool"
)

// bounds says of a preview whether the result was seen to its end, and what kept it from that. An empty result,
// and one that is no collection and was not cut, says nothing. was is the preview before the budget of the step
// cut it once more, or nil.
func bounds(out *summarise.Out, c tool.Call, r tool.Result, was *chat.Preview) {
	p := &out.Preview
	reading := c.Name == ReadArtifact
	page := reading && r.Bounded // of what is stored
	collection := out.Kind == summarise.List || out.Kind == summarise.Table
	if collection && out.Count == 0 || !collection && !out.Cut && !page {
		p.Returned, p.Total = nil, nil
		return
	}
	source := collection && !reading && (r.Bounded || r.Total != nil && *r.Total > out.Count)
	if reading {
		p.Total = r.Total
		source = r.Source == chat.Incomplete
	}
	if source {
		p.BoundedBy = append(p.BoundedBy, chat.BoundBySource)
	}
	if page || out.Cut && (was == nil || slices.Contains(was.BoundedBy, chat.BoundByPreview)) {
		p.BoundedBy = append(p.BoundedBy, chat.BoundByPreview)
	}
	if was != nil && out.Cut {
		p.BoundedBy = append(p.BoundedBy, chat.BoundByBatch)
	}
	if was != nil { // what bounded the stored result still does
		for _, by := range was.BoundedBy {
			if by == chat.BoundBySize || by == chat.BoundByTime {
				p.BoundedBy = append(p.BoundedBy, by)
			}
		}
	}
	unsure := r.Source == chat.Unsure && collection && (r.Total == nil || reading)
	if unsure && !reading {
		p.Total = nil
	}
	switch {
	case len(p.BoundedBy) > 0:
		p.Completeness = chat.Incomplete
	case unsure:
		p.Completeness = chat.Unsure
	default:
		p.Completeness = chat.Complete
	}
}

// beside reads what stands beside a list in its object: how many there are at the source, and whether there are
// more. It notes in r what the tool itself did not say, and reports whether that was anything.
func beside(out summarise.Out, r *tool.Result) bool {
	var m map[string]json.RawMessage
	if out.Kind != summarise.List || r.Bounded || r.Total != nil || out.Preview.Object == nil || json.Unmarshal(out.Preview.Object, &m) != nil {
		return false
	}
	for _, k := range []string{"total", "total_count", "totalCount", "total_rows", "totalRows", "total_results", "totalResults", "count"} {
		var n int64
		if json.Unmarshal(m[k], &n) != nil || n < out.Count {
			continue
		}
		if n > out.Count {
			r.Total, r.Bounded = &n, true
			return true
		}
		r.Total = &n
	}
	for _, k := range []string{"next", "next_cursor", "nextCursor", "next_page", "nextPage", "next_page_token", "nextPageToken", "next_url", "has_more", "hasMore", "has_next", "truncated", "is_truncated", "incomplete_results"} {
		switch v := string(m[k]); v {
		case "", "null", "false", `""`, "0", "{}", "[]":
		default:
			r.Total, r.Bounded = nil, true
			return true
		}
	}
	return false
}
