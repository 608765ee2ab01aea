package eventlog

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"

	"agentd/internal/fault"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// FileName is the SQLite file in Options.Dir.
const FileName = "log.db"

// openSQLite opens one writing connection and a small pool of reading ones. Every commit is flushed to disk
// (synchronous=FULL): in WAL mode NORMAL may lose the last commits at a power cut.
func openSQLite(ctx context.Context, dir string) (*database, error) {
	bad := func(err error) error {
		return fault.Wrap(fault.Internal, "The event log's file could not be opened.", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, bad(err)
	}
	path, err := filepath.Abs(filepath.Join(dir, FileName))
	if err != nil {
		return nil, bad(err)
	}
	// Made first, so that it is never readable by others; SQLite gives -wal and -shm the mode of the file.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, bad(err)
	}
	if err := f.Close(); err != nil {
		return nil, bad(err)
	}
	write, err := sql.Open("sqlite", sqliteURL(path, "journal_mode(WAL)", "synchronous(FULL)", "wal_autocheckpoint(4000)"))
	if err != nil {
		return nil, bad(err)
	}
	write.SetMaxOpenConns(1)
	if err := write.PingContext(ctx); err != nil { // creates the WAL before a reader opens
		write.Close()
		return nil, bad(err)
	}
	read, err := sql.Open("sqlite", sqliteURL(path, "query_only(1)"))
	if err != nil {
		write.Close()
		return nil, bad(err)
	}
	read.SetMaxOpenConns(4)
	read.SetMaxIdleConns(4)
	never := func(error) bool { return false }
	return &database{
		write: write, read: read, dialect: goose.DialectSQLite3, begin: "BEGIN IMMEDIATE",
		retryable: never, missingConn: never,
	}, nil
}

func sqliteURL(path string, pragmas ...string) string {
	q := url.Values{"_pragma": append([]string{"busy_timeout(10000)"}, pragmas...)}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}
