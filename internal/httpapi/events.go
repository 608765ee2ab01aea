package httpapi

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/sse"
)

// Streams keeps connections open. *sse.Server is one.
type Streams interface {
	Serve(w http.ResponseWriter, r *http.Request, src sse.Source, after int64) error
}

// eventsPath is the stream's route as the framework writes it.
const eventsPath = prefix + "/conversations/:id/events"

// Why a stream ends although its reader is still there.
var errOtherUser = errors.New("the identity of the stream's reader was lost")

// events serves the tail of a conversation's log until the reader leaves, the conversation is deleted, the reader
// is no longer who opened it, or the server stops.
func (a *API) events(c *call) error {
	conv, err := a.own(c)
	if err != nil {
		return err
	}
	after, err := sse.ParseLastEventID(c.Request())
	if err != nil {
		return &fault.Error{Kind: fault.Invalid, Code: codeEventID, Msg: "The last event id must be a number that the stream gave.", Err: err}
	}
	last, err := a.o.Log.Last(c.Request().Context(), conv.ID)
	if err != nil {
		return err
	}
	if after > last {
		return &fault.Error{Kind: fault.Invalid, Code: codeEventID, Msg: "The last event id is greater than that of the last event."}
	}
	defer a.metrics.stream()()
	ctx, cancel := context.WithCancelCause(c.Request().Context())
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel(nil)
	watch.Go(func() { a.stillThe(ctx, cancel, c) })
	watch.Go(func() { a.watched(ctx, conv.ID) })
	return a.o.Streams.Serve(c.Response(), c.Request().WithContext(ctx), &tail{log: a.o.Log, conversation: conv.ID, now: a.o.Now}, after)
}

// watchedFor is how long a stream says ahead that it is there. Where its process dies, the conversation counts as
// watched for so long.
const watchedFor = 10 * time.Minute

// watched notes that there is a reader, as long as there is one.
func (a *API) watched(ctx context.Context, conversation string) {
	t := time.NewTicker(watchedFor / 3) // so that one note may fail
	defer t.Stop()
	for {
		if err := a.o.Log.Watched(ctx, conversation, a.o.Now().Add(watchedFor)); err != nil && ctx.Err() == nil {
			a.o.Logger.WarnContext(ctx, "it was not noted that a conversation is watched", "conversation", conversation, "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// stillThe asks from time to time who reads, and ends the stream when it is somebody else or nobody. While that
// cannot be found out the stream goes on: it shows only what its reader was allowed to see when it was opened.
func (a *API) stillThe(ctx context.Context, end context.CancelCauseFunc, c *call) {
	t := time.NewTicker(a.o.IdentityCheck)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		who, err := a.o.Identity.Identify(ctx, c.Request())
		kind := fault.KindOf(err)
		if err == nil && who.User != c.who.User || kind == fault.Auth || kind == fault.Denied {
			end(errOtherUser)
			return
		}
	}
}

// A tail reads a log as frames of a stream. It serves one stream.
type tail struct {
	log interface {
		Read(ctx context.Context, conversation string, after int64, limit int) ([]chat.Record, error)
		Changed(conversation string) <-chan struct{}
	}
	conversation string
	now          func() time.Time
}

// Changed is taken before a Read, so that nothing between the two is missed.
func (t *tail) Changed() <-chan struct{} { return t.log.Changed(t.conversation) }

// Read gives the frames after a position. Where the log does not go back that far, a reset says so first: it has
// the position before the oldest record, so that a reader goes on from there.
func (t *tail) Read(ctx context.Context, after int64, limit int) ([]sse.Frame, error) {
	records, err := t.log.Read(ctx, t.conversation, after, limit)
	if err != nil {
		return nil, err
	}
	frames := make([]sse.Frame, 0, len(records)+1)
	for _, r := range records {
		if len(frames) == 0 && r.Seq > after+1 {
			b, err := encodeReset(r.Seq-1, t.now())
			if err != nil {
				return nil, err
			}
			frames = append(frames, sse.Frame{ID: r.Seq - 1, Event: resetType, Data: b})
		}
		b, err := encode(r)
		if err != nil {
			return nil, err
		}
		frames = append(frames, sse.Frame{ID: r.Seq, Event: r.Event.Type(), Data: b})
	}
	return frames, nil
}
