package eventlog

import "agentd/internal/chat"

// What the log is asked is worded in chat, so that those who ask need not know that it is SQL.
type (
	// Start is everything that begins with a run.
	Start = chat.Start
	// Write is what a run adds at once.
	Write = chat.Write
	// Move brings a confirmation from one of some states to another.
	Move = chat.Move
	// Decision is a person's answer to a confirmation.
	Decision = chat.Decision
	// Quota bounds the bytes of staged and committed artifacts. 0 is no limit.
	Quota = chat.ArtifactQuota
	// Usage is how many bytes count against a quota.
	Usage = chat.ArtifactUsage
	// ArtifactFilter narrows a list of artifacts. The zero filter is the first 1000 of all.
	ArtifactFilter = chat.ArtifactFilter
	// Decided is what became of a decision.
	Decided = chat.Decided
)
