package supersettools

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"strings"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

// bundleCap bounds an export that is taken as a backup.
const bundleCap = 100 << 20

// A bundle is an exported zip, whole.
type bundle struct{ raw []byte }

// readBundle reads an export to its end and closes it. What is no zip with metadata is Mismatch.
func readBundle(r io.ReadCloser) (*bundle, error) {
	defer r.Close()
	raw, err := io.ReadAll(io.LimitReader(r, bundleCap+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > bundleCap {
		return nil, fault.New(fault.TooLarge, "The export is larger than 100 MB.")
	}
	b := &bundle{raw}
	if n, err := b.entries("metadata.yaml"); err != nil || n != 1 {
		return nil, fault.Wrap(fault.Mismatch, "The export is not a bundle of Superset.", err)
	}
	return b, nil
}

// entries counts the entries below the bundle's own folder whose names start so.
func (b *bundle) entries(prefix string) (int, error) {
	z, err := zip.NewReader(bytes.NewReader(b.raw), int64(len(b.raw)))
	if err != nil {
		return 0, err
	}
	n := 0
	for _, f := range z.File {
		if _, name, ok := strings.Cut(f.Name, "/"); ok && strings.HasPrefix(name, prefix) {
			n++
		}
	}
	return n, nil
}

func (b *bundle) reader() io.Reader { return bytes.NewReader(b.raw) }

// keep stores a bundle as the backup of something that is about to be deleted. Without it nothing is deleted.
func (o op) keep(ctx context.Context, to Backups, name string, b *bundle) (*chat.Artifact, error) {
	if to == nil {
		return nil, fault.New(fault.Internal, "no store of backups is wired")
	}
	a, err := to.Store(ctx, o.call.Who, o.call.Conversation, "Backup of “"+name+"” from "+o.env.ID, b.reader())
	if err != nil {
		return nil, &fault.Error{Kind: fault.KindOf(err), Code: "no_backup", Err: err,
			Msg: "The backup could not be kept, so nothing was deleted. " + fault.Message(err)}
	}
	return a, nil
}

// unusable tells why an export gives no backup. That Superset did not answer is no reason but an error.
func unusable(err error) (string, error) {
	switch fault.KindOf(err) {
	case "":
		return "", nil
	case fault.Denied:
		return "the user may not export it", nil
	case fault.Internal, fault.Missing, fault.TooLarge:
		return "Superset cannot export it", nil
	}
	return "", err
}

// promised refuses a deletion whose card promised a backup that is no longer possible. told is nil where no card was made.
func promised(told *string, without string) error {
	if told == nil || *told == "" && without == "" || *told != "" {
		return nil
	}
	return &fault.Error{Kind: fault.Conflict, Code: "no_backup", Msg: "The backup that was promised is no longer possible, so nothing was deleted: " + without + "."}
}
