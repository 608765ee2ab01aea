package supersettools

import (
	"context"
	"io"

	pack "agentd/internal/bundle"
	"agentd/internal/chat"
	"agentd/internal/fault"
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

// promised refuses a deletion whose card promised a backup that is no longer possible. told is nil where no card was made.
func promised(told *string, without string) error {
	if told == nil || *told != "" || without == "" {
		return nil
	}
	return &fault.Error{Kind: fault.Conflict, Code: "no_backup", Msg: "The backup that was promised is no longer possible, so nothing was deleted: " + without + "."}
}
