package agent

import (
	"sync"
	"time"
	"unicode/utf8"

	"agentd/internal/chat"
)

// Deltas are gathered before they are written, since each write is synced to disk: for this long or this many
// code points, whichever comes first. The first one goes out at once, so that an answer is seen to begin.
const (
	gatherFor   = 80 * time.Millisecond
	gatherChars = 256
)

// gather collects the deltas of one model step and writes them in order. Close ends it; after Close nothing is
// written. Its methods are for one goroutine, beside its own timer.
type gather struct {
	write func(offset int, text string) error

	mu      sync.Mutex
	offset  int
	text    []byte
	chars   int
	last    time.Time
	timer   *time.Timer
	closed  bool
	failure error
}

func newGather(write func(offset int, text string) error) *gather { return &gather{write: write} }

// add takes a delta. A delta that does not follow the last one, as after a repeated attempt, goes out as it is.
func (g *gather) add(d chat.Delta) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failure != nil {
		return g.failure
	}
	if d.Offset != g.offset+g.chars {
		g.flush()
		g.offset = d.Offset
	}
	if d.Text == "" { // what a failed attempt had shown is taken back, although nothing may follow
		g.flush()
		if g.failure == nil {
			g.failure = g.write(d.Offset, "")
		}
		return g.failure
	}
	g.text = append(g.text, d.Text...)
	g.chars += utf8.RuneCountInString(d.Text)
	switch wait := gatherFor - time.Since(g.last); {
	case g.chars >= gatherChars || wait <= 0:
		g.flush()
	case g.timer == nil:
		g.timer = time.AfterFunc(wait, func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			if !g.closed {
				g.flush()
			}
		})
	}
	return g.failure
}

// flush must be called with mu held.
func (g *gather) flush() {
	if g.timer != nil {
		g.timer.Stop()
		g.timer = nil
	}
	if g.chars == 0 || g.failure != nil {
		return
	}
	g.failure = g.write(g.offset, string(g.text))
	g.offset += g.chars
	g.text, g.chars, g.last = g.text[:0], 0, time.Now()
}

// close writes what is left, unless the final text is written at once and makes it pointless.
func (g *gather) close(write bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if write {
		g.flush()
	}
	if g.timer != nil {
		g.timer.Stop()
	}
	g.closed = true
	return g.failure
}

func chatDelta(id string, offset int, text string) chat.Entry {
	return chat.Entry{Event: &chat.TextDelta{MessageID: id, Offset: offset, Text: text}}
}
