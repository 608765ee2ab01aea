package chat

import (
	"encoding/json"
	"time"
)

// A Preview is the bounded form of a result for the page. Integers beyond 2^53-1 are strings in it and their column is marked.
type Preview struct {
	Text    string            `json:"text,omitempty"`    // what is no collection
	Columns []Column          `json:"columns,omitempty"` // of tabular data
	Rows    []json.RawMessage `json:"rows,omitempty"`    // positional arrays
	Items   []json.RawMessage `json:"items,omitempty"`   // of a list
	Object  json.RawMessage   `json:"object,omitempty"`  // one object

	Completeness Completeness `json:"completeness,omitempty"`
	Returned     *int64       `json:"returned,omitempty"`
	Total        *int64       `json:"total,omitempty"`
	BoundedBy    []string     `json:"bounded_by,omitempty"` // source_limit, preview_limit, batch_budget, size_cap, time_cap
}

// A Column of tabular data. Exact marks integers that are shown as text because a browser would round them.
type Column struct {
	Name  string `json:"name"`
	Type  string `json:"type,omitempty"`
	Exact bool   `json:"exact,omitempty"`
}

// Completeness says whether a result was seen to its end.
type Completeness string

// The values. Empty results, errors, and results that are no collection and were not cut have none.
const (
	Complete   Completeness = "COMPLETE"
	Incomplete Completeness = "INCOMPLETE"
	Unsure     Completeness = "UNKNOWN"
)

// What can bound a result.
const (
	BoundBySource  = "source_limit"
	BoundByPreview = "preview_limit"
	BoundByBatch   = "batch_budget"
	BoundBySize    = "size_cap"
	BoundByTime    = "time_cap"
)

// An Artifact says what became of the whole result.
type Artifact struct {
	Decision  string     `json:"decision"`           // CREATED, SKIPPED, DENIED, FAILED, CANCELLED
	Coverage  string     `json:"coverage,omitempty"` // COMPLETE, PREFIX, UNKNOWN; only with CREATED
	ID        string     `json:"id,omitempty"`
	Format    string     `json:"format,omitempty"` // jsonl, json, text, binary
	SizeBytes int64      `json:"size_bytes,omitempty"`
	Rows      *int64     `json:"rows,omitempty"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
}

// A Link leads to a page of Superset.
type Link struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

// A ConfirmPreview is what a card shows: what will happen, as far as it is known.
type ConfirmPreview struct {
	Object      string      `json:"object,omitempty"` // title of the object
	URL         string      `json:"url,omitempty"`
	Diff        []Change    `json:"diff"` // removals first
	BlastRadius []Dependent `json:"blast_radius"`
	ChangedOn   string      `json:"changed_on,omitempty"`
	Owners      []string    `json:"owners,omitempty"`
	Notes       []string    `json:"notes,omitempty"`     // said on the card, e.g. that no backup was possible
	Untrusted   []string    `json:"untrusted,omitempty"` // JSON pointers of arguments that stand in text nobody vouches for
	Backup      *Artifact   `json:"backup,omitempty"`
	References  []Reference `json:"references,omitempty"` // the stored results that the arguments stand for
}

// A Change is one field of a diff; Before or After is absent where the field is added or removed.
type Change struct {
	Field  string          `json:"field"`
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

// A Dependent is something that changes or breaks with the object.
type Dependent struct {
	Kind  string `json:"kind"` // chart, dashboard, report, dataset
	ID    string `json:"id,omitempty"`
	Title string `json:"title"`
	URL   string `json:"url,omitempty"`
	Note  string `json:"note,omitempty"`
}
