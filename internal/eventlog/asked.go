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
	// Decided is what became of a decision.
	Decided = chat.Decided
)
