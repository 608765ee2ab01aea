package sse

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"agentd/internal/fault"

	r3 "github.com/r3labs/sse/v2"
)

// ErrReset is what a Source's Read returns when it no longer has what follows the position. The client gets one
// reset event and the stream ends.
var ErrReset = errors.New("the position is older than what is kept")

// batch is how many frames are read at once.
const batch = 64

// A pump moves frames from a source to a connection. It keeps the cursor: what was read once is sent once.
type pump struct {
	s      *Server
	stream string
	src    Source
	after  int64
	out    *writer
	err    error // of the source
}

func (p *pump) run(ctx context.Context) {
	beat := time.NewTicker(p.s.o.Heartbeat)
	defer beat.Stop()
	for ctx.Err() == nil {
		changed := p.src.Changed()
		frames, err := p.src.Read(ctx, p.after, batch)
		if err == nil {
			err = p.send(ctx, frames)
		}
		if err != nil {
			p.finish(ctx, err)
			return
		}
		if len(frames) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-beat.C:
			p.publish(&r3.Event{Comment: heartbeat})
		case <-ctx.Done():
		}
	}
}

var heartbeat = []byte("hb")

func (p *pump) send(ctx context.Context, frames []Frame) error {
	for _, f := range frames {
		if f.ID <= p.after || len(f.Data) == 0 || f.Data[0] == ':' || bytes.ContainsAny(f.Data, "\r\n") || strings.ContainsAny(f.Event, "\r\n") {
			return fault.New(fault.Internal, "A frame of an event stream is out of order or not on one line.")
		}
		p.after = f.ID
		p.publish(&r3.Event{ID: strconv.AppendInt(nil, f.ID, 10), Event: []byte(f.Event), Data: f.Data})
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// publish hands an event to r3labs. It blocks while the client is slow, at most until its write times out.
func (p *pump) publish(e *r3.Event) {
	p.out.expect()
	p.s.frames.Publish(p.stream, e)
}

// finish ends the stream because of the source's error, after everything that was published has been written:
// r3labs drops what waits when a subscriber leaves.
func (p *pump) finish(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	switch kind := fault.KindOf(err); {
	case errors.Is(err, ErrReset):
		p.publish(&r3.Event{Event: []byte("reset"), Data: []byte(`{"type":"reset"}`)})
	case kind != fault.Missing && kind != fault.Gone:
		p.err = err
	}
	select {
	case <-p.out.drained():
	case <-ctx.Done():
	}
}
