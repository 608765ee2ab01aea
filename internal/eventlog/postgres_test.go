package eventlog_test

import (
	"database/sql"
	"testing"
	"time"

	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/eventlog/eventlogtest"
	"agentd/internal/pgtest"
)

func postgresPlace(server *pgtest.Server) func(t *testing.T) eventlogtest.Place {
	return func(t *testing.T) eventlogtest.Place {
		url := server.Database(t)
		return eventlogtest.Place{
			Open: func(t *testing.T, o eventlog.Options) *eventlog.Log {
				t.Helper()
				o.URL = url
				return open(t, o)
			},
			Exec: func(t *testing.T, statement string) {
				t.Helper()
				db, err := sql.Open("pgx", url)
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				if _, err := db.Exec(statement); err != nil {
					t.Fatal(err)
				}
			},
		}
	}
}

func TestPostgres(t *testing.T) {
	eventlogtest.Run(t, postgresPlace(pgtest.Start(t)))
}

// Two replicas share one database: each hears what the other commits, and a cancel reaches the one that works.
func TestPostgresReplicas(t *testing.T) {
	place := postgresPlace(pgtest.Start(t))(t)
	ctx := t.Context()
	stopped := make(chan string, 100)
	a := place.Open(t, eventlog.Options{OnCancel: func(id string) { stopped <- id }})
	b := place.Open(t, eventlog.Options{})
	c, err := a.CreateConversation(ctx, "ann")
	if err != nil {
		t.Fatal(err)
	}
	changed := b.Changed(c.ID)
	run := chat.Run{ID: "r1", Conversation: c.ID, Who: chat.Identity{User: "ann"}}
	if _, _, err := a.StartRun(ctx, eventlog.Start{Run: run, Entries: []chat.Entry{{Event: &chat.Usage{InputTokens: 1}}}}); err != nil {
		t.Fatal(err)
	}
	<-changed
	seen := int64(0)
	for seen < 50 { // b follows while a writes
		if _, err := a.Write(ctx, eventlog.Write{RunID: "r1", Entries: []chat.Entry{{Event: &chat.Usage{}}}}); err != nil {
			t.Fatal(err)
		}
		changed := b.Changed(c.ID)
		records, err := b.Read(ctx, c.ID, seen, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if seen++; r.Seq != seen {
				t.Fatalf("seq %d, want %d", r.Seq, seen)
			}
		}
		if len(records) == 0 {
			<-changed
		}
	}
	if _, err := b.Cancel(ctx, c.ID, nil); err != nil {
		t.Fatal(err)
	}
	select {
	case id := <-stopped:
		if id != "r1" {
			t.Errorf("cancelled on the other replica: %q", id)
		}
	case <-time.After(10 * time.Second):
		t.Error("the other replica did not hear the cancel")
	}
}
