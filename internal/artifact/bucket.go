package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"agentd/internal/fault"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/gcerrors"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// Bucket is a Backend over gocloud.dev/blob.
type Bucket struct {
	b       *blob.Bucket
	dir     string   // of a bucket of files; "" otherwise
	uploads *uploads // of a bucket of S3; nil otherwise
}

// OpenDir returns a backend of files below dir, which is made with mode 0700 and brought to it. Files have 0600.
//
// fileblob leaves three things to us: its files would be readable for others, it syncs nothing, and it follows
// links. Commit syncs the file and its directory, since an index that is durable must not name a payload that a
// power cut took; that costs some milliseconds an artifact. A link in the place of a payload is an error.
func OpenDir(dir string) (*Bucket, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("directory of artifacts: %w", err)
	}
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return nil, fmt.Errorf("directory of artifacts: %w", err)
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("directory of artifacts: %s is no directory", dir)
	}
	if err := os.Chmod(dir, dirMode); err != nil {
		return nil, fmt.Errorf("directory of artifacts: %w", err)
	}
	// NoTempDir: a temporary file elsewhere could not be renamed across a mount. What a crash leaves of it lies
	// beside the payloads and Sweep removes it. MetadataDontWrite: the index has it all, and a second file for
	// each payload would make writing four times slower.
	b, err := fileblob.OpenBucket(dir, &fileblob.Options{DirFileMode: dirMode, NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	if err != nil {
		return nil, fmt.Errorf("directory of artifacts: %w", err)
	}
	return &Bucket{b: b, dir: dir}, nil
}

// NewBucket returns a backend over any bucket of gocloud.dev, which Close closes.
func NewBucket(b *blob.Bucket) *Bucket { return &Bucket{b: b} }

// Capabilities implements Capable. Files are near; elsewhere each page would read the whole artifact over a network.
func (b *Bucket) Capabilities() Capabilities {
	near := b.dir != ""
	return Capabilities{Filter: near, Sort: near, Aggregate: near}
}

// Close frees the bucket.
func (b *Bucket) Close() error { return b.b.Close() }

// Create implements Backend.
func (b *Bucket) Create(ctx context.Context, key string) (Draft, error) {
	ctx, cancel := context.WithCancel(ctx)
	d := &draft{ctx: ctx, cancel: cancel, key: key, dir: b.dir, uploads: b.uploads}
	w, err := b.b.NewWriter(ctx, key, &blob.WriterOptions{
		ContentType: "application/octet-stream", // known, so that the first bytes are not held back
		IfNotExist:  b.dir != "",                // an id is never used twice; not every S3 server knows the condition
		BeforeWrite: func(as func(any) bool) error {
			if b.dir == "" || !as(&d.file) {
				return nil
			}
			return d.file.Chmod(fileMode)
		},
	})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("create payload %s: %w", key, err)
	}
	d.w = w
	return d, nil
}

type draft struct {
	w       *blob.Writer
	ctx     context.Context // of w
	cancel  context.CancelFunc
	key     string
	file    *os.File // of a bucket of files
	dir     string
	uploads *uploads // of a bucket of S3
	closed  bool
}

func (d *draft) Write(p []byte) (int, error) { return d.w.Write(p) }

func (d *draft) Commit() error {
	if d.file != nil {
		if err := d.file.Sync(); err != nil {
			return fmt.Errorf("sync payload: %w", err)
		}
	}
	d.closed = true
	err := d.w.Close()
	d.cancel()
	if err != nil {
		return fmt.Errorf("close payload: %w", err)
	}
	if d.dir != "" {
		return syncDir(d.dir)
	}
	return nil
}

func (d *draft) Abort() {
	d.cancel()
	if !d.closed {
		d.closed = true
		_ = d.w.Close() // always an error, the context has ended: that is how a bucket is told to forget it
	}
	if d.uploads != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), giveUpLimit)
		defer cancel()
		_ = d.uploads.abortAll(ctx, d.key) // what is left of it Sweep finds
	}
}

// syncDir makes a rename durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	return nil
}

// Open implements Backend.
func (b *Bucket) Open(ctx context.Context, key string, offset int64) (io.ReadCloser, error) {
	r, err := b.b.NewRangeReader(ctx, key, offset, -1, &blob.ReaderOptions{BeforeRead: b.noLink})
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, fault.Wrap(fault.Missing, "There is no such stored result.", err)
	}
	if err != nil {
		return nil, fmt.Errorf("open payload %s: %w", key, err)
	}
	return r, nil
}

// noLink refuses a file that was reached over a link.
func (b *Bucket) noLink(as func(any) bool) error {
	var f *os.File
	if b.dir == "" || !as(&f) {
		return nil
	}
	named, err := os.Lstat(f.Name())
	if err != nil {
		return err
	}
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	if !named.Mode().IsRegular() || !os.SameFile(named, opened) {
		return fmt.Errorf("%s is no plain file", filepath.Base(f.Name()))
	}
	return nil
}

// Delete implements Backend.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	if b.uploads != nil {
		if done, err := b.uploads.abort(ctx, key); done {
			return err
		}
	}
	err := b.b.Delete(ctx, key)
	if err != nil && gcerrors.Code(err) != gcerrors.NotFound && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete payload %s: %w", key, err)
	}
	return nil
}

// List implements Backend.
func (b *Bucket) List(ctx context.Context, each func(string, time.Time) error) error {
	it := b.b.List(nil)
	for {
		o, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("list payloads: %w", err)
		}
		if err := each(o.Key, o.ModTime); err != nil {
			return err
		}
	}
	if b.uploads == nil {
		return nil
	}
	return b.uploads.list(ctx, "art_", each)
}
