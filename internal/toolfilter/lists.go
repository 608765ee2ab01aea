package toolfilter

import (
	"sync"

	uicontext "agentd/internal/context"
	"agentd/internal/tool"
)

// Lists remembers the lists that were made: people of the same roles on the same kind of page are offered the same,
// until the policy or the tools change. The zero Lists is empty. It is safe for several goroutines.
type Lists struct {
	mu   sync.RWMutex
	made map[listKey]Offered
}

// maxLists bounds what is remembered. Object types come from outside, so their number has no end.
const maxLists = 1000

// listKey is everything that a list depends on; the classes of the environments are the configuration's.
type listKey struct {
	policy    string // version of the rules
	roles     string
	page      string
	artifacts bool
	tools     *tool.Tool // the set, by its first tool
	n         int
}

// Offer is Offer for somebody whose roles are given as one text, under a version of the policy. What comes back is
// shared and not to be changed.
func (l *Lists) Offer(policy, roles string, tools tool.Set, allows Allows, classes []string, view uicontext.View, artifacts bool) Offered {
	all := tools.All()
	if len(all) == 0 {
		return Offered{}
	}
	k := listKey{policy, roles, view.ObjectType, artifacts, &all[0], len(all)}
	l.mu.RLock()
	o, ok := l.made[k]
	l.mu.RUnlock()
	if ok {
		return o
	}
	o = Offer(tools, allows, classes, view, State{Artifacts: artifacts})
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made == nil || len(l.made) >= maxLists {
		l.made = map[listKey]Offered{}
	}
	l.made[k] = o
	return o
}
