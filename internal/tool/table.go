package tool

import (
	"encoding/json"

	"agentd/internal/chat"
)

// Table is rows by position.
type Table struct {
	Columns []chat.Column
	Rows    []json.RawMessage // each a JSON array

	// Stream has the rows where they are too many to be held: Rows are then the first of them.
	Stream *Stream
}

// A Stream is rows that lie elsewhere. It is for one goroutine.
type Stream struct {
	Count int64  // rows that the source gave
	Size  int64  // bytes of those that Each gives, each on a line, at most
	Bound string // chat.BoundBySize or BoundByTime: the cap behind which the source's rows were counted only; "" is none

	// Each hands over the rows from the first on, each a JSON array that is good until yield returns. It ends with
	// yield's error or its own, and may be called again.
	Each func(yield func(json.RawMessage) error) error

	// Close lets go of the rows. It may be called again.
	Close func()
}

// Close lets go of what a result holds outside of memory. The offload gate does it; so does whoever drops a result.
// It may be called again.
func (r Result) Close() {
	if r.Rows != nil && r.Rows.Stream != nil {
		r.Rows.Stream.Close()
	}
}
