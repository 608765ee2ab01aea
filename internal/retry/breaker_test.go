package retry_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agentd/internal/fault"
	"agentd/internal/retry"
)

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := retry.Breaker{Threshold: 3, Cooldown: 10 * time.Second}
		open := func(want bool, when string) {
			t.Helper()
			if got := b.Degraded("prod"); got != want {
				t.Errorf("%s: degraded %v, want %v", when, got, want)
			}
		}
		for n := 1; n <= 3; n++ {
			open(false, "before the threshold")
			if err := b.Allow("prod"); err != nil {
				t.Errorf("failure %d: %v", n, err)
			}
			b.Failure("prod")
		}
		open(true, "at the threshold")
		time.Sleep(4 * time.Second)
		err := b.Allow("prod")
		if e, ok := err.(*fault.Error); !ok || e.Kind != fault.Degraded || e.RetryAfter != 6*time.Second {
			t.Errorf("while it is open: %#v", err)
		}
		if err := b.Allow("dev"); err != nil {
			t.Errorf("another environment: %v", err)
		}
		time.Sleep(6*time.Second - 1)
		if b.Allow("prod") == nil {
			t.Error("let through before the cooldown")
		}
		time.Sleep(time.Nanosecond)
		if err := b.Allow("prod"); err != nil {
			t.Errorf("no probe after the cooldown: %v", err)
		}
		if b.Allow("prod") == nil {
			t.Error("a second probe")
		}
		b.Failure("prod")
		if b.Allow("prod") == nil {
			t.Error("let through right after a failed probe")
		}
		time.Sleep(10 * time.Second)
		if b.Allow("prod") != nil {
			t.Error("no probe after the second cooldown")
		}
		b.Abandon("prod")
		if b.Allow("prod") != nil {
			t.Error("an abandoned probe blocks the next")
		}
		b.Success("prod")
		open(false, "after a probe that went well")
		b.Failure("prod")
		b.Failure("prod")
		b.Success("prod")
		b.Failure("prod")
		open(false, "failures that are not in a row")
	})
}

// Calls that were under way when it opened do not push the cooldown on.
func TestBreakerStragglers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := retry.Breaker{Threshold: 1, Cooldown: 10 * time.Second}
		b.Failure("prod")
		time.Sleep(9 * time.Second)
		b.Failure("prod")
		time.Sleep(time.Second)
		if err := b.Allow("prod"); err != nil {
			t.Error(err)
		}
	})
}

func TestBreakerOneProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := retry.Breaker{Threshold: 1, Cooldown: time.Second}
		b.Failure("prod")
		time.Sleep(time.Second)
		var through atomic.Int32
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if b.Allow("prod") == nil {
					through.Add(1)
				}
			})
		}
		wg.Wait()
		if through.Load() != 1 {
			t.Errorf("%d probes", through.Load())
		}
	})
}

func TestBreakerRecord(t *testing.T) {
	for _, tt := range []struct {
		kind     fault.Kind
		degraded bool
	}{
		{fault.Transient, true}, {fault.Timeout, true}, {fault.Unknown, true},
		{fault.Canceled, false}, {fault.Internal, false}, {fault.Denied, false}, {fault.Missing, false}, {fault.Invalid, false},
		{fault.Auth, false}, {fault.RateLimited, false}, {fault.Conflict, false},
	} {
		b := retry.Breaker{Threshold: 1}
		b.Record("prod", fault.New(tt.kind, ""))
		if b.Degraded("prod") != tt.degraded {
			t.Errorf("%s: degraded %v", tt.kind, b.Degraded("prod"))
		}
	}
	var b retry.Breaker
	for n := 1; n <= retry.Threshold; n++ {
		if b.Degraded("") {
			t.Errorf("the zero Breaker opens after %d", n-1)
		}
		b.Record("", fault.New(fault.Transient, ""))
	}
	if !b.Degraded("") {
		t.Error("the zero Breaker does not open")
	}
	b.Record("", nil)
	if b.Degraded("") {
		t.Error("an answer does not close it")
	}
}
