package eventlog

import "sync"

// maxWatched bounds the conversations that somebody watched and that did not change since.
const maxWatched = 16384

// news wakes those who wait for a conversation to change. It promises that a channel taken before a read is
// closed after every later commit; it may be closed without one.
type news struct {
	mu      sync.Mutex
	waiting map[string]chan struct{} // conversation → closed at its next change
}

// Changed returns a channel that is closed after the next commit that touches the conversation, on any replica.
// Take it before reading, or a change between the two is missed. It may be closed although nothing changed.
func (l *Log) Changed(conversation string) <-chan struct{} { return l.news.of(conversation) }

func (n *news) of(conversation string) <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	c, ok := n.waiting[conversation]
	if ok {
		return c
	}
	if n.waiting == nil {
		n.waiting = map[string]chan struct{}{}
	}
	if len(n.waiting) >= maxWatched { // most of them are streams that have left
		for id, c := range n.waiting {
			close(c)
			delete(n.waiting, id)
		}
	}
	c = make(chan struct{})
	n.waiting[conversation] = c
	return c
}

func (n *news) tell(conversation string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if c, ok := n.waiting[conversation]; ok {
		close(c)
		delete(n.waiting, conversation)
	}
}

// watched lists the conversations that somebody waits for.
func (n *news) watched() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	ids := make([]string, 0, len(n.waiting))
	for id := range n.waiting {
		ids = append(ids, id)
	}
	return ids
}
