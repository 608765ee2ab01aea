// Package bundle reads, checks, compares and rewrites the zips that Superset exports and imports. A bundle lies in a
// file while it is worked on: one entry at a time is in memory. What stands in databases/ never leaves this package,
// but for the name and the dialect of a connection.
package bundle

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"agentd/internal/fault"
)

// Limits bound what Read takes. A field that is 0 has its default.
type Limits struct {
	Zip     int64 // bytes of the zip; 100 MiB
	Entry   int64 // bytes of one entry, unpacked; 4 MiB
	Total   int64 // bytes of all entries, unpacked; 1 GiB
	Entries int   // 20,000
	Ratio   int64 // an entry over 64 KiB may not grow more than so many times; 200
}

const mega = 1 << 20

func (l Limits) withDefaults() Limits {
	def := func(n *int64, v int64) {
		if *n <= 0 {
			*n = v
		}
	}
	def(&l.Zip, 100*mega)
	def(&l.Entry, 4*mega)
	def(&l.Total, 1024*mega)
	def(&l.Ratio, 200)
	if l.Entries <= 0 {
		l.Entries = 20_000
	}
	return l
}

// ratioFrom is where the ratio begins to count: small texts of one letter pack well and harm nobody.
const ratioFrom = 64 << 10

// A Bundle is a zip that was checked. It is safe for several goroutines until Close, which removes its file.
type Bundle struct {
	file    *os.File
	size    int64
	sum     string
	limits  Limits
	kind    string
	objects []Object
	entries map[string]*zip.File // by name without the bundle's own folder
	extra   []string             // of these, what is no object and no metadata
}

// Read takes r to its end into a file below dir ("" is the system's) and looks at every entry. The caller closes
// the bundle. Errors: TooLarge over a limit; Mismatch for what is no bundle of Superset; those of r.
func Read(ctx context.Context, r io.Reader, dir string, l Limits) (_ *Bundle, err error) {
	l = l.withDefaults()
	f, err := os.CreateTemp(dir, "agentd-bundle-*.zip")
	if err != nil {
		return nil, fault.Wrap(fault.Internal, "", err)
	}
	// The name goes at once where the system allows it: a process that dies leaves no addresses of connections behind.
	_ = os.Remove(f.Name())
	b := &Bundle{file: f, limits: l, entries: map[string]*zip.File{}}
	defer func() {
		if err != nil {
			b.Close()
		}
	}()
	h := sha256.New()
	if b.size, err = io.Copy(io.MultiWriter(f, h), io.LimitReader(r, l.Zip+1)); err != nil {
		return nil, err
	}
	if b.size > l.Zip {
		return nil, fault.New(fault.TooLarge, "The export is larger than agentd takes.")
	}
	b.sum = hex.EncodeToString(h.Sum(nil))
	if err := b.open(); err != nil {
		return nil, err
	}
	return b, b.index(ctx)
}

// Close removes the file. It may be called again.
func (b *Bundle) Close() error {
	if b.file == nil {
		return nil
	}
	err := b.file.Close()
	if e := os.Remove(b.file.Name()); !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	b.file = nil
	return err
}

// Size is the bytes of the zip.
func (b *Bundle) Size() int64 { return b.size }

// SHA256 is the digest of the zip, in hex.
func (b *Bundle) SHA256() string { return b.sum }

// Reader reads the zip from its start.
func (b *Bundle) Reader() io.Reader { return io.NewSectionReader(b.file, 0, b.size) }

// Type is what metadata.yaml says: Dashboard, Slice, SqlaTable, assets.
func (b *Bundle) Type() string { return b.kind }

// Objects are the dashboards, charts, datasets and connections, in the order of the zip.
func (b *Bundle) Objects() []Object { return b.objects }

// Find returns the object of a kind and uuid.
func (b *Bundle) Find(k Kind, uuid string) (Object, bool) {
	for _, o := range b.objects {
		if o.Kind == k && o.UUID == uuid {
			return o, true
		}
	}
	return Object{}, false
}

// open reads the directory of the zip and refuses what no export of Superset has.
func (b *Bundle) open() error {
	z, err := zip.NewReader(b.file, b.size)
	if err != nil {
		return fault.Wrap(fault.Mismatch, "What came is no zip.", err)
	}
	if len(z.File) > b.limits.Entries {
		return fault.New(fault.TooLarge, "The export has more entries than agentd takes.")
	}
	var total int64
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		name, ok := inside(f.Name)
		if !ok || f.Mode()&os.ModeSymlink != 0 {
			return fault.New(fault.Mismatch, "An entry of the export would lie outside its folder.")
		}
		if _, twice := b.entries[name]; twice {
			return fault.New(fault.Mismatch, "Two entries of the export have one name.")
		}
		size := int64(f.UncompressedSize64)
		packed := int64(f.CompressedSize64)
		total += max(size, 0)
		if size < 0 || size > b.limits.Entry || total > b.limits.Total {
			return fault.New(fault.TooLarge, "An entry of the export, or all together, is larger than agentd takes.")
		}
		if size > ratioFrom && size/max(packed, 1) > b.limits.Ratio {
			return fault.New(fault.TooLarge, "An entry of the export is packed more than any export is.")
		}
		b.entries[name] = f
	}
	return nil
}

// inside cuts the bundle's own folder off and refuses paths that leave it. An empty folder name is none to refuse:
// Superset makes one of a connection whose name has no Latin letter.
func inside(name string) (string, bool) {
	if strings.HasPrefix(name, "/") || strings.ContainsAny(name, "\\\x00:") {
		return "", false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." || part == "." {
			return "", false
		}
	}
	_, rest, ok := strings.Cut(path.Clean(name), "/")
	return rest, ok && rest != ""
}

// text reads one entry whole, whatever size its header claims.
func (b *Bundle) text(name string) ([]byte, error) {
	f, ok := b.entries[name]
	if !ok {
		return nil, fault.New(fault.Missing, "The export has no such entry.")
	}
	r, err := f.Open()
	if err != nil {
		return nil, fault.Wrap(fault.Mismatch, "An entry of the export cannot be read.", err)
	}
	defer r.Close()
	raw, err := io.ReadAll(io.LimitReader(r, b.limits.Entry+1))
	switch {
	case err != nil:
		return nil, fault.Wrap(fault.Mismatch, "An entry of the export cannot be read.", err)
	case int64(len(raw)) > b.limits.Entry:
		return nil, fault.New(fault.TooLarge, "An entry of the export is larger than agentd takes.")
	}
	return raw, nil
}
