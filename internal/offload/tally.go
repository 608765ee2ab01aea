package offload

import (
	"unicode/utf8"

	"agentd/internal/chat"
)

// Tally counts the results that are in histories, for diagnostics: numbers, never content. The zero Tally is
// empty. It is for one goroutine.
type Tally struct {
	Count      int `json:"count"`
	Characters int `json:"characters"`
	Largest    int `json:"largest"`
	OverBudget int `json:"over_budget"` // must be 0: the gate lets none through
}

// Add counts one result against the gate's limit for its tool.
func (t *Tally) Add(g *Gate, r chat.ToolResult) {
	n := utf8.RuneCountInString(r.Content)
	t.Count++
	t.Characters += n
	t.Largest = max(t.Largest, n)
	if n > g.Limit(r.Tool) {
		t.OverBudget++
	}
}
