package eventlog_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/pgtest"
)

var text = strings.Repeat("lorem ipsum ", 20)

func begin(b *testing.B, l *eventlog.Log, id string) (conversation string) {
	b.Helper()
	ctx := context.Background()
	c, err := l.CreateConversation(ctx, "ann")
	if err != nil {
		b.Fatal(err)
	}
	run := chat.Run{ID: id, Conversation: c.ID, Who: chat.Identity{User: "ann"}, Cause: chat.CauseMessage}
	if _, _, err := l.StartRun(ctx, eventlog.Start{Run: run, Entries: []chat.Entry{{Event: &chat.MessageEvent{MessageID: "m", Role: chat.RoleUser, Text: "hello"}}}}); err != nil {
		b.Fatal(err)
	}
	return c.ID
}

// appends measures durable appends of 300 bytes by 16 writers, each in a conversation of its own.
func appends(b *testing.B, l *eventlog.Log) {
	ctx := context.Background()
	var n atomic.Int64
	b.SetParallelism(8) // times 2 processors
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		id := fmt.Sprint("r", n.Add(1))
		begin(b, l, id)
		for pb.Next() {
			if _, err := l.Write(ctx, eventlog.Write{RunID: id, Entries: []chat.Entry{{Event: &chat.TextDelta{MessageID: "m", Text: text}}}}); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
}

// turns measures whole runs: a start, four writes, of which the last ends it, and an audit row in two of them.
func turns(b *testing.B, l *eventlog.Log) {
	ctx := context.Background()
	var n atomic.Int64
	b.SetParallelism(8)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			id := fmt.Sprint("r", n.Add(1))
			begin(b, l, id)
			for i := range 4 {
				w := eventlog.Write{RunID: id, Entries: []chat.Entry{{Event: &chat.TextDelta{MessageID: "m", Text: text}}}}
				if i%2 == 0 {
					w.Audit = []chat.AuditRow{{Kind: "guard", User: "ann", Tool: "t"}}
				}
				if i == 3 {
					w.Entries, w.End = []chat.Entry{{Event: &chat.RunFinished{Outcome: chat.OutcomeAnswered}}}, true
				}
				if _, err := l.Write(ctx, w); err != nil {
					b.Error(err)
					return
				}
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
}

// replay measures reading 500 events.
func replay(b *testing.B, l *eventlog.Log) {
	ctx := context.Background()
	c := begin(b, l, "r")
	for range 500 {
		if _, err := l.Write(ctx, eventlog.Write{RunID: "r", Entries: []chat.Entry{{Event: &chat.TextDelta{MessageID: "m", Text: text}}}}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if got, err := l.Read(ctx, c, 1, 1000); err != nil || len(got) != 500 {
			b.Fatal(len(got), err)
		}
	}
}

func BenchmarkSQLite(b *testing.B) {
	for name, f := range map[string]func(*testing.B, *eventlog.Log){"appends": appends, "turns": turns, "replay": replay} {
		b.Run(name, func(b *testing.B) { f(b, open(b, eventlog.Options{Dir: b.TempDir()})) })
	}
}

func BenchmarkPostgres(b *testing.B) {
	server := pgtest.Start(b, "fsync=on")
	for name, f := range map[string]func(*testing.B, *eventlog.Log){"appends": appends, "turns": turns, "replay": replay} {
		b.Run(name, func(b *testing.B) { f(b, open(b, eventlog.Options{URL: server.Database(b)})) })
	}
}
