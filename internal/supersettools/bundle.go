package supersettools

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"

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
