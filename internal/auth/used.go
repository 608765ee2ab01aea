package auth

import (
	"sync"
	"time"

	"agentd/internal/fault"
)

// maxUsed bounds the ids kept. Only a token that Superset signed comes here, so a full list means that somebody who
// is logged in asks without end.
const maxUsed = 10_000

// used remembers ids until what they belong to has expired. The zero used is empty.
type used struct {
	mu    sync.Mutex
	until map[string]time.Time // id → when it may be forgotten
}

// once notes an id. Its error is Auth when it was there, RateLimited when there is no room: nothing that could still
// be used is ever forgotten.
func (u *used) once(id string, until time.Time) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	if t, ok := u.until[id]; ok && now.Before(t) {
		return refused("The hand-over from Superset was used before.", nil)
	}
	if len(u.until) >= maxUsed {
		for k, t := range u.until {
			if !now.Before(t) {
				delete(u.until, k)
			}
		}
		if len(u.until) >= maxUsed {
			return &fault.Error{Kind: fault.RateLimited, Msg: "There were too many hand-overs. Try again in a minute.", RetryAfter: time.Minute}
		}
	}
	if u.until == nil {
		u.until = map[string]time.Time{}
	}
	u.until[id] = until
	return nil
}
