package httpapi

import "agentd/internal/chat"

// delta puts a piece of text in its place: everything from its offset on is replaced. A delta that comes after
// the final text is of a step that was overtaken and changes nothing.
func (t *transcript) delta(r chat.Record, e *chat.TextDelta) {
	i := t.at(itemMessage, e.MessageID, r)
	if i.State == "final" {
		return
	}
	i.MessageID, i.Role, i.State = e.MessageID, chat.RoleAssistant, "partial"
	i.text = append(i.text[:min(max(e.Offset, 0), len(i.text))], []rune(e.Text)...)
}

// message sets the final text. One that replaces another folds that one and everything since.
func (t *transcript) message(r chat.Record, e *chat.MessageEvent) {
	i := t.at(itemMessage, e.MessageID, r)
	i.MessageID, i.Role, i.Text, i.Replaces, i.State = e.MessageID, e.Role, e.Text, e.Replaces, "final"
	i.text = nil
	if e.Replaces == "" {
		return
	}
	old, ok := t.byKey[itemMessage+"\x00"+e.Replaces]
	if !ok {
		return
	}
	for _, other := range t.items {
		// What the new run has begun before its message stands in the log is not folded.
		if other.Seq >= old.Seq && other.Seq < i.Seq && other.FoldedBy == "" && other.RunID != r.RunID {
			other.FoldedBy = e.MessageID
		}
	}
}

// usage adds up what the steps of a run took. The cost is absent as long as no step has one.
func (t *transcript) usage(r chat.Record, e *chat.Usage) {
	i := t.at(itemRun, r.RunID, r)
	if i.Usage == nil {
		i.Usage = &chat.Usage{}
	}
	i.Usage.InputTokens += e.InputTokens
	i.Usage.OutputTokens += e.OutputTokens
	if e.Cost != nil {
		sum := *e.Cost
		if i.Usage.Cost != nil {
			sum += *i.Usage.Cost
		}
		i.Usage.Cost = &sum
	}
}
