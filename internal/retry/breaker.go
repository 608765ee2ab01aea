package retry

import (
	"sync"
	"time"

	"agentd/internal/fault"
)

// Defaults of a Breaker.
const (
	Threshold = 5
	Cooldown  = 30 * time.Second
)

// A Breaker leaves an environment alone after repeated failures of its transport. Each environment has its own
// count. The zero Breaker has the defaults. It is safe for several goroutines.
type Breaker struct {
	Threshold int           // failures in a row; 0 is Threshold
	Cooldown  time.Duration // 0 is Cooldown

	mu   sync.Mutex
	envs map[string]*circuit // environment → its circuit; one that never failed has none
}

type circuit struct {
	failures int
	until    time.Time // closed to calls before then; zero while it works
	probing  bool      // one call is trying whether it works again
}

// Allow reports nil when a call of env may be made. Otherwise the error is Degraded, with the time that is left.
// After the cooldown one call is let through to try; its Success, Failure or Abandon decides about the others, so
// every Allow that was nil is followed by one of them.
func (b *Breaker) Allow(env string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.envs[env]
	if c == nil || c.until.IsZero() {
		return nil
	}
	wait := time.Until(c.until)
	if wait <= 0 && !c.probing {
		c.probing = true
		return nil
	}
	return &fault.Error{Kind: fault.Degraded, RetryAfter: max(wait, 0),
		Msg: "The environment " + env + " has failed repeatedly and is left alone for a while."}
}

// Success says that env answered; a refusal is an answer too.
func (b *Breaker) Success(env string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.envs, env)
}

// Failure says that env could not be reached or did not answer.
func (b *Breaker) Failure(env string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.envs[env]
	if c == nil {
		c = &circuit{}
		if b.envs == nil {
			b.envs = map[string]*circuit{}
		}
		b.envs[env] = c
	}
	c.failures++
	threshold, cooldown := b.Threshold, b.Cooldown
	if threshold <= 0 {
		threshold = Threshold
	}
	if cooldown <= 0 {
		cooldown = Cooldown
	}
	if c.probing || c.until.IsZero() && c.failures >= threshold {
		c.until, c.probing = time.Now().Add(cooldown), false
	}
}

// Abandon says that a call ended without telling anything about env, as one that was cancelled.
func (b *Breaker) Abandon(env string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.envs[env]; c != nil {
		c.probing = false
	}
}

// Record is Success, Failure or Abandon by the kind of a call's error.
func (b *Breaker) Record(env string, err error) {
	switch fault.KindOf(err) {
	case fault.Transient, fault.Timeout, fault.Unknown:
		b.Failure(env)
	case fault.Canceled, fault.Internal, fault.Degraded:
		b.Abandon(env)
	default:
		b.Success(env)
	}
}

// Degraded reports whether env is being left alone.
func (b *Breaker) Degraded(env string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.envs[env]
	return c != nil && !c.until.IsZero()
}
