package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// noted is a log that takes the notes of streams; every other one fails.
type noted struct {
	Log
	notes []time.Time // until when, in order
	at    []time.Time
}

func (n *noted) Watched(_ context.Context, conversation string, until time.Time) error {
	if conversation != "conv_1" {
		return errors.New("that is not the conversation")
	}
	n.notes, n.at = append(n.notes, until), append(n.at, time.Now())
	if len(n.notes)%2 == 0 {
		return errors.New("the database is away")
	}
	return nil
}

// A conversation counts as watched from the stream's beginning to its end, without a gap, also where every other
// note fails.
func TestAStreamSaysThatItWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &noted{}
		a := &API{o: Options{Log: n, Now: time.Now, Logger: slog.New(slog.DiscardHandler)}}
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Hour)
		defer cancel()
		a.watched(ctx, "conv_1")
		covered := begin
		for i, until := range n.notes {
			if i%2 != 0 {
				continue
			}
			if i > 0 && !n.at[i].Before(covered) {
				t.Fatalf("nobody seemed to watch from %s to %s", covered.Sub(begin), n.at[i].Sub(begin))
			}
			covered = until
		}
		if end := begin.Add(25 * time.Hour); covered.Before(end) || covered.After(end.Add(watchedFor)) {
			t.Errorf("it counts as watched until %s", covered.Sub(begin))
		}
		if len(n.notes) > 25*18+1 {
			t.Errorf("%d notes in 25 hours", len(n.notes))
		}
	})
}
