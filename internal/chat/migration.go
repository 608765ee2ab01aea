package chat

import (
	"encoding/json"
	"time"
)

// MigrationState is where a migration stands.
type MigrationState string

// The states of a migration.
const (
	MigrationPlanned MigrationState = "planned" // nothing was written
	MigrationBusy    MigrationState = "busy"    // somebody writes to the target, or died while doing so
	MigrationDone    MigrationState = "done"
	MigrationFailed  MigrationState = "failed" // the target refused, or a part was written: its body says what
	MigrationUndone  MigrationState = "undone" // rolled back
)

// A Migration is a plan, or what became of one. Its body is that of the operations, which alone read it.
type Migration struct {
	ID      string
	User    string
	Target  string // environment that is written to
	State   MigrationState
	Expires time.Time // from then on it is good for nothing
	Body    json.RawMessage
}
