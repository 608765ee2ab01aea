package chat

import "encoding/json"

// Start asks the log to begin a run. All of it is one transaction.
type Start struct {
	Run        Run
	Entries    []Entry // carry the run's id
	Key        string  // idempotency key of the user in the conversation; "" is none
	MaxPerUser int     // unended runs of the user; 0 is no limit

	// Supersede gives the entries that close an open confirmation, under the run that asked. Nil refuses the
	// start while one is open.
	Supersede func(Confirmation) []Entry
	Audit     []AuditRow

	// Queue lets the run wait where another goes on, instead of refusing it. Next begins it.
	Queue bool
}

// Write asks the log to append to a run. All of it is written or nothing.
type Write struct {
	RunID   string
	Entries []Entry
	Confirm []Confirmation // inserted as pending
	Move    []Move
	Audit   []AuditRow
	End     bool // the run ends; true exactly when a terminal event is among the entries
	Late    bool // the run may have ended: an answer that came too late

	// Epoch is what claiming the run gave; once another process has claimed it, the write is refused. 0 is not checked.
	Epoch int64
}

// A Move changes a confirmation's state; another state than one of From refuses the whole write.
type Move struct {
	ID   string
	From []ConfirmState
	To   ConfirmState
}

// A Decision asks the log to settle a confirmation once and to start the run that goes on from it.
type Decision struct {
	ID           string
	Conversation string
	User         string // who answers
	Owner        string // whose confirmation it is; "" is User. The caller has checked that User may answer for another
	Decision     string // approve, edit, reject
	ArgsDigest   string
	EditedArgs   json.RawMessage
	Reason       string
	Key          string
	Run          Run
	Entries      []Entry                    // appended under the run that asked, when this decision wins
	Expired      func(Confirmation) []Entry // appended when the confirmation is found past its time
	Audit        []AuditRow
}

// Decided is what became of a Decision.
type Decided struct {
	Confirmation Confirmation
	RunID        string
	Replayed     bool // the same decision had been made before
}
