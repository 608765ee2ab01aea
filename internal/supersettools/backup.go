package supersettools

import (
	"context"
	"io"
	"strings"
	"sync/atomic"

	pack "agentd/internal/bundle"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/tool"
)

// A backup is the export of something that is about to be deleted, or the reason why there is none.
type backup struct {
	b       *pack.Bundle
	without string
}

// takeBackup reads an export and looks whether it could be imported again. That it cannot be had, or could not be
// imported, is a reason; that Superset did not answer is an error. The caller closes the backup.
func takeBackup(ctx context.Context, k pack.Kind, body io.ReadCloser, err error) (backup, error) {
	var b *pack.Bundle
	if err == nil {
		defer body.Close()
		b, err = pack.Read(ctx, body, "", pack.Limits{})
	}
	switch fault.KindOf(err) {
	case "":
	case fault.Denied:
		return backup{without: "the user may not export it"}, nil
	case fault.Internal, fault.Missing, fault.TooLarge, fault.Mismatch:
		return backup{without: "Superset cannot export it"}, nil
	default:
		return backup{}, err
	}
	n := 0
	for _, o := range b.Objects() {
		if o.Kind == k {
			n++
		}
	}
	why := ""
	if n != 1 {
		why = "the export does not hold it"
	}
	for _, f := range b.Check() {
		// What the layout alone names is dropped when the backup is put back.
		if f.Code != pack.NoChart {
			why = "its export could not be imported again: “" + f.Title + "”: " + f.Text
			break
		}
	}
	if why != "" {
		b.Close()
		return backup{without: why}, nil
	}
	return backup{b: b}, nil
}

func (b backup) close() {
	if b.b != nil {
		b.b.Close()
	}
}

// keep stores the backup. Without it nothing is deleted. It is nil where there is none.
func (o op) keep(ctx context.Context, to Backups, name string, b backup) (*chat.Artifact, error) {
	if b.b == nil {
		return nil, nil
	}
	a, _, err := o.keepBundle(ctx, to, "Backup of “"+name+"” from "+o.env.ID, func(w io.Writer) error {
		return b.b.Write(ctx, w, pack.Rewrite{Type: b.b.Type(), Stubs: connections(b.b)})
	})
	if err != nil {
		return nil, &fault.Error{Kind: fault.KindOf(err), Code: "no_backup", Err: err,
			Msg: "The backup could not be kept, so nothing was deleted. " + fault.Message(err)}
	}
	return a, nil
}

// A deletion is what every operation that deletes does about the backup.
type deletion struct {
	o    op
	to   Backups
	told atomic.Pointer[string] // why there is no backup, as the last card said it; nil where there was no card
}

// promise tells on the card what is kept; more is what an export of this kind does not hold.
func (x *deletion) promise(b backup, more string) string {
	x.told.Store(&b.without)
	if b.without != "" {
		return "There is no backup: " + b.without + "."
	}
	return strings.TrimSpace("An export is kept as a backup before the deletion. " + more)
}

// secure keeps the backup and begins the result with it. It refuses where the card promised one that is no longer
// possible, and where it cannot be stored.
func (x *deletion) secure(ctx context.Context, name string, b backup) (tool.Result, error) {
	if told := x.told.Load(); told != nil && *told == "" && b.without != "" {
		return tool.Result{}, &fault.Error{Kind: fault.Conflict, Code: "no_backup",
			Msg: "The backup that was promised is no longer possible, so nothing was deleted: " + b.without + "."}
	}
	a, err := x.o.keep(ctx, x.to, name, b)
	if err != nil {
		return tool.Result{}, err
	}
	r := tool.Result{Artifact: a}
	if a == nil {
		r.Warnings = append(r.Warnings, "There is no backup: "+b.without+".")
	}
	return r, nil
}

// gone judges the read that follows a deletion of what; only that it is missing is success.
func gone(what string, read error) error {
	switch {
	case read == nil:
		return notTaken([]string{what})
	case isMissing(read):
		return nil
	}
	return afterWrite(read)
}

// vanished judges what reading back found after a deletion of unknown outcome.
func vanished(what string, read error) (tool.Outcome, error) {
	switch {
	case read == nil:
		return tool.Outcome{Outcome: chat.OutcomeNotApplied, Evidence: "The " + what + " is still there."}, nil
	case isMissing(read):
		return tool.Outcome{Outcome: chat.OutcomeApplied, Evidence: "The " + what + " is gone."}, nil
	}
	return tool.Outcome{}, read
}
