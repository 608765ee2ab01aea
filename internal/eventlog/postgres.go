package eventlog

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"

	"agentd/internal/fault"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// channel is what replicas notify each other on.
const channel = "agentd_log"

func openPostgres(ctx context.Context, url string) (*database, error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		// The cause may quote the URL with its password.
		return nil, fault.New(fault.Invalid, "The database URL cannot be read: it should look like postgres://user@host/database.")
	}
	cfg.RuntimeParams["application_name"] = "agentd"
	write := stdlib.OpenDB(*cfg)
	write.SetMaxOpenConns(2)
	write.SetMaxIdleConns(2)
	if err := write.PingContext(ctx); err != nil {
		write.Close()
		return nil, fault.Wrap(fault.Transient, "The event log's database does not answer.", err)
	}
	read := stdlib.OpenDB(*cfg)
	read.SetMaxOpenConns(8)
	read.SetMaxIdleConns(8)
	return &database{
		write: write, read: read, dialect: goose.DialectPostgres, shared: true, begin: "BEGIN", numbered: true,
		batchTime:   batchTime,
		notify:      `SELECT pg_notify('` + channel + `', ?)`,
		lock:        `SELECT pg_advisory_xact_lock(hashtextextended(?, 7))`,
		listen:      func(l *Log) { l.hear(cfg) },
		retryable:   func(err error) bool { return lostRace(err) || lostConnection(err) },
		missingConn: lostConnection,
	}, nil
}

// lostRace reports whether another replica's transaction won.
func lostRace(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == "40P01" || e.Code == "40001")
}

func lostConnection(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return len(e.Code) == 5 && (e.Code[:2] == "08" || e.Code[:3] == "57P")
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err)
}
