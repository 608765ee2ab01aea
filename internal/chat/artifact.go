package chat

import "time"

// ArtifactState is where a stored result stands. Only a committed one can be read.
type ArtifactState string

// The states.
const (
	ArtifactStaged    ArtifactState = "staged"
	ArtifactCommitted ArtifactState = "committed"
	ArtifactExpired   ArtifactState = "expired"
	ArtifactDeleted   ArtifactState = "deleted"
)

// ArtifactMeta is what is known of a stored result. Its owner is User and Conversation together.
type ArtifactMeta struct {
	ID           string // art_ + ULID, made by the store
	User         string
	Conversation string
	CallID       string
	Tool         string
	Title        string
	Format       string // jsonl, json, text, binary
	Coverage     string // COMPLETE, PREFIX, UNKNOWN
	Columns      []Column
	Rows         *int64
	Size         int64
	SHA256       string
	State        ArtifactState
	Created      time.Time
	LastUsed     time.Time
	Expires      time.Time
}
