package durable

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"

	"agentd/internal/fault"

	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // lets DBOS use SQLite
	"github.com/jackc/pgx/v5/pgxpool"
)

// FileName is the SQLite file in Options.Dir. It is not the event log's: DBOS and the log would wait for each
// other's commits.
const FileName = "runs.db"

// A store is the database that DBOS is given; one of its fields is set.
type store struct {
	lite *sql.DB
	pool *pgxpool.Pool
}

func openStore(ctx context.Context, o *Options) (*store, error) {
	if o.URL == "" {
		if o.Executor == "" {
			o.Executor = "agentd"
		}
		return openFile(ctx, o.Dir)
	}
	if o.Executor == "" {
		o.Executor = rand.Text()
	}
	cfg, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		// The cause may quote the URL with its password.
		return nil, fault.New(fault.Invalid, "The database URL cannot be read: it should look like postgres://user@host/database.")
	}
	cfg.MaxConns = 8
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err == nil {
		err = pool.Ping(ctx)
	}
	if err != nil {
		if pool != nil {
			pool.Close()
		}
		return nil, fault.Wrap(fault.Transient, "The database of durable runs does not answer.", err)
	}
	return &store{pool: pool}, nil
}

// openFile opens the file with full durability: a start that was answered survives a power cut.
func openFile(ctx context.Context, dir string) (*store, error) {
	bad := func(err error) error {
		return fault.Wrap(fault.Internal, "The file of durable runs could not be opened.", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, bad(err)
	}
	path, err := filepath.Abs(filepath.Join(dir, FileName))
	if err != nil {
		return nil, bad(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) // first, so that it is never readable by others
	if err != nil {
		return nil, bad(err)
	}
	if err := f.Close(); err != nil {
		return nil, bad(err)
	}
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, bad(err)
	}
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	if err := db.PingContext(ctx); err != nil {
		db.Close()
		return nil, bad(err)
	}
	return &store{lite: db}, nil
}

func (s *store) close() error {
	if s.pool != nil {
		s.pool.Close()
		return nil
	}
	return s.lite.Close()
}
