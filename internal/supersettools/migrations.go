package supersettools

import (
	"context"
	"time"

	"agentd/internal/chat"
)

// Migrations keeps plans and what became of them. Its methods return once their effect is durable.
type Migrations interface {
	PutMigration(context.Context, chat.Migration) error
	// Migration is Missing for what is not the user's, and Gone once it has expired.
	Migration(ctx context.Context, id, user string) (chat.Migration, error)
	// BeginMigration is Conflict while another one writes to the same target.
	BeginMigration(ctx context.Context, m chat.Migration, until time.Time) error
	// NoteMigration says how far the one that was begun has come.
	NoteMigration(context.Context, chat.Migration) error
	EndMigration(context.Context, chat.Migration) error
}
