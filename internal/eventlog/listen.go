package eventlog

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// poll is the net under notifications that were lost with a connection.
	poll = time.Second
	// maxHint keeps a notification below PostgreSQL's limit of 8,000 bytes.
	maxHint = 7000
)

// hints says what a batch changed, for other replicas: "replica conversation:seq … !run …". They read the rows
// themselves, so a hint that is lost costs at most one poll.
func (w *writer) hints(batch []*operation) []string {
	touched := map[string]int64{}
	var words []string
	for _, op := range batch {
		if op.err != nil {
			continue
		}
		for c, seq := range op.made.touched {
			touched[c] = seq
		}
		for _, id := range op.made.cancels {
			words = append(words, "!"+id)
		}
	}
	for c, seq := range touched {
		words = append(words, c+":"+strconv.FormatInt(seq, 10))
	}
	var out []string
	var b strings.Builder
	for _, word := range words {
		if b.Len()+1+len(word) > maxHint {
			out = append(out, b.String())
			b.Reset()
		}
		if b.Len() == 0 {
			b.WriteString(w.l.replica)
		}
		b.WriteByte(' ')
		b.WriteString(word)
	}
	if b.Len() > 0 {
		out = append(out, b.String())
	}
	return out
}

// hear tells this replica's readers what other replicas commit, until the log closes.
func (l *Log) hear(cfg *pgx.ConnConfig) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	l.listening.Go(func() { <-l.closing; cancel() })
	e := &ear{l: l, seen: map[string]int64{}}
	for ctx.Err() == nil {
		err := e.listen(ctx, cfg)
		if ctx.Err() != nil {
			return
		}
		l.logger.Warn("event log: the connection that hears other replicas was lost, trying again", "error", err)
		select {
		case <-time.After(poll):
		case <-ctx.Done():
		}
	}
}

// An ear is one replica's connection for hearing others.
type ear struct {
	l    *Log
	seen map[string]int64 // watched conversation → its last seq at the last poll
}

func (e *ear) listen(ctx context.Context, cfg *pgx.ConnConfig) error {
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	for next := time.Now(); ; {
		if wait := time.Until(next); wait > 0 {
			heard, cancel := context.WithTimeout(ctx, wait)
			n, err := conn.WaitForNotification(heard)
			cancel()
			if err == nil {
				e.hint(n.Payload)
				continue
			}
			if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
				return err
			}
		}
		if err := e.poll(ctx, conn); err != nil {
			return err
		}
		next = time.Now().Add(poll)
	}
}

func (e *ear) hint(payload string) {
	words := strings.Fields(payload)
	if len(words) == 0 || words[0] == e.l.replica {
		return
	}
	for _, word := range words[1:] {
		if run, ok := strings.CutPrefix(word, "!"); ok {
			e.l.cancelled(run)
		} else if i := strings.LastIndexByte(word, ':'); i > 0 {
			e.l.news.tell(word[:i])
		}
	}
}

// poll looks at what is watched here and for runs that somebody asked to stop.
func (e *ear) poll(ctx context.Context, conn *pgx.Conn) error {
	watched := e.l.news.watched()
	now := make(map[string]int64, len(watched))
	if len(watched) > 0 {
		rows, err := conn.Query(ctx, `SELECT id, last_seq FROM conversation WHERE id = ANY($1)`, watched)
		if err != nil {
			return err
		}
		var id string
		var seq int64
		if _, err := pgx.ForEachRow(rows, []any{&id, &seq}, func() error { now[id] = seq; return nil }); err != nil {
			return err
		}
	}
	for _, id := range watched {
		seq, there := now[id]
		if before, known := e.seen[id]; !there || !known || before != seq {
			e.l.news.tell(id)
		}
	}
	e.seen = now
	rows, err := conn.Query(ctx, `SELECT id FROM run WHERE ended = 0 AND cancelled = 1`)
	if err != nil {
		return err
	}
	var run string
	_, err = pgx.ForEachRow(rows, []any{&run}, func() error { e.l.cancelled(run); return nil })
	return err
}
