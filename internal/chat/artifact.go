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

// ArtifactQuota bounds the bytes of staged and committed artifacts. 0 is no limit.
type ArtifactQuota struct {
	Conversation, User, Total int64
}

// ArtifactUsage is how many bytes count against a quota.
type ArtifactUsage struct {
	Conversation, User, Total int64
}

// ArtifactFilter narrows a list of artifacts. The zero filter is the first 1000 of all.
type ArtifactFilter struct {
	States        []ArtifactState
	Conversation  string
	ExpiredBefore time.Time
	Limit         int // 0 is 1000
}

// Decisions about storing a result.
const (
	ArtifactCreated   = "CREATED"
	ArtifactSkipped   = "SKIPPED"
	ArtifactDenied    = "DENIED"
	ArtifactFailed    = "FAILED"
	ArtifactCancelled = "CANCELLED"
)

// Coverages of a stored result.
const (
	CoverageComplete = "COMPLETE"
	CoveragePrefix   = "PREFIX"
	CoverageUnknown  = "UNKNOWN"
)

// Formats of a stored result.
const (
	FormatRows   = "jsonl"
	FormatJSON   = "json"
	FormatText   = "text"
	FormatBinary = "binary"
)

// Artifact is what events and models are told of a stored result.
func (m ArtifactMeta) Artifact() *Artifact {
	expires := m.Expires
	return &Artifact{
		Decision: ArtifactCreated, Coverage: m.Coverage, ID: m.ID, Format: m.Format,
		SizeBytes: m.Size, Rows: m.Rows, ExpiresAt: &expires,
	}
}

// A Reference is a stored result that an argument of a call named, and that was passed on for it.
type Reference struct {
	Argument  string `json:"argument"` // JSON pointer
	URI       string `json:"uri"`
	Tool      string `json:"tool"` // that made it
	Title     string `json:"title,omitempty"`
	Rows      *int64 `json:"rows,omitempty"`
	SizeBytes int64  `json:"size_bytes"`
	SHA256    string `json:"sha256"`
}
