package eventlog

import (
	"context"
	"embed"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// One set of migrations for both databases: it keeps to TEXT and BIGINT, which both understand alike.
//
//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the schema to its newest version. Replicas that start at once wait for each other.
func migrate(ctx context.Context, db *database) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	opts := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true)}
	if db.dialect == goose.DialectPostgres {
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return err
		}
		opts = append(opts, goose.WithSessionLocker(locker))
	}
	p, err := goose.NewProvider(db.dialect, db.write, files, opts...)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}
