package retry

import "sync"

// Strays owns calls that go on after their caller has left. The zero Strays is ready. It is safe for several goroutines.
type Strays struct{ calls sync.WaitGroup }

// Wait blocks until every call has ended and its late answer was handed over. Whoever owns the Strays calls it
// before it closes what late answers are written to. No call may begin meanwhile.
func (s *Strays) Wait() { s.calls.Wait() }
