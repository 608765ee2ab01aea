package agent

import (
	"sync/atomic"

	"agentd/internal/tool"
)

// merged is our own tools with those from outside, as they were put together last. Each step asks for them, and the
// lists that were made of a set are remembered by it: so it is the same one until the tools outside change.
type merged struct{ last atomic.Pointer[mergedSet] }

type mergedSet struct {
	more []tool.Tool
	set  tool.Set
}

func (m *merged) with(own tool.Set, more []tool.Tool) tool.Set {
	if last := m.last.Load(); last != nil && sameSlice(last.more, more) {
		return last.set
	}
	made := &mergedSet{more, own.With(more...)}
	m.last.Store(made)
	return made.set
}

func sameSlice(a, b []tool.Tool) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// tools are all that there are at this moment. Each step and each call asks anew, so that roles and page are judged
// over what came meanwhile too, and what has gone is not called.
func (s *Service) tools() tool.Set {
	if s.o.More == nil {
		return s.o.Tools
	}
	return s.merged.with(s.o.Tools, s.o.More())
}
