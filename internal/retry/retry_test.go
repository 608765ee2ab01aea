package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"agentd/internal/fault"
	"agentd/internal/retry"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func gateway() error { return &fault.Error{Kind: fault.Transient, Msg: "Bad gateway.", Status: 502} }

// What is tried again, how often, and how it ends. Each row runs with and without an owner of strays.
func TestDo(t *testing.T) {
	for _, tt := range []struct {
		name      string
		retry     bool
		answers   []error // of the first try, the second, …
		tries     int
		kind      fault.Kind
		exhausted bool
		took      time.Duration
	}{
		{"well", true, []error{nil}, 1, "", false, 0},
		{"well the second time", true, []error{gateway(), nil}, 2, "", false, time.Second},
		{"twice bad", true, []error{gateway(), gateway()}, 2, fault.Transient, true, time.Second},
		{"bad, then missing", true, []error{gateway(), fault.New(fault.Missing, "gone")}, 2, fault.Missing, false, time.Second},
		{"a write", false, []error{gateway()}, 1, fault.Transient, false, 0},
		{"internal", true, []error{fault.New(fault.Internal, "")}, 1, fault.Internal, false, 0},
		{"no fault", true, []error{errors.New("plain")}, 1, fault.Internal, false, 0},
		{"invalid", true, []error{fault.New(fault.Invalid, "")}, 1, fault.Invalid, false, 0},
		{"missing", true, []error{fault.New(fault.Missing, "")}, 1, fault.Missing, false, 0},
		{"rate limited", true, []error{fault.New(fault.RateLimited, "")}, 1, fault.RateLimited, false, 0},
		{"timeout", true, []error{fault.New(fault.Timeout, "")}, 1, fault.Timeout, false, 0},
		{"unknown", true, []error{fault.New(fault.Unknown, "")}, 1, fault.Unknown, false, 0},
		{"cancelled", true, []error{fault.New(fault.Canceled, "")}, 1, fault.Canceled, false, 0},
		{"degraded", true, []error{fault.New(fault.Degraded, "")}, 1, fault.Degraded, false, 0},
		{"auth", true, []error{fault.New(fault.Auth, "")}, 1, fault.Auth, false, 0},
		{"wrapped", true, []error{fmt.Errorf("list: %w", gateway()), nil}, 2, "", false, time.Second},
	} {
		for _, owner := range []*retry.Strays{nil, {}} {
			t.Run(fmt.Sprintf("%s, strays %v", tt.name, owner != nil), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					began, tries, told := time.Now(), 0, []retry.Reason(nil)
					v, err := retry.Do(t.Context(), retry.Policy{Timeout: 30 * time.Second, Retry: tt.retry, Strays: owner},
						func(r retry.Reason) {
							if tries != 1 || time.Since(began) != 0 {
								t.Errorf("told after %d tries and %s, want before the pause", tries, time.Since(began))
							}
							told = append(told, r)
						},
						func(context.Context) (int, error) {
							tries++
							return tries, tt.answers[tries-1]
						})
					if tries != tt.tries || fault.KindOf(err) != tt.kind || retry.Exhausted(err) != tt.exhausted || time.Since(began) != tt.took {
						t.Errorf("%d tries, %v, exhausted %v, %s", tries, err, retry.Exhausted(err), time.Since(began))
					}
					if err == nil && v != tt.tries {
						t.Errorf("value %d of try %d", v, tt.tries)
					}
					if len(told) != tt.tries-1 || len(told) == 1 && told[0] != (retry.Reason{Class: fault.Transient, Status: 502}) {
						t.Errorf("told %v", told)
					}
				})
			})
		}
	}
}

// obedient ends with its context, as an HTTP client does.
func obedient(ctx context.Context) (int, error) {
	<-ctx.Done()
	return 0, fault.Wrap(fault.Canceled, "It was cancelled.", ctx.Err())
}

func TestTimeLimit(t *testing.T) {
	for _, owner := range []*retry.Strays{nil, {}} {
		synctest.Test(t, func(t *testing.T) {
			began, tries := time.Now(), 0
			_, err := retry.Do(t.Context(), retry.Policy{Timeout: 3 * time.Second, Retry: true, Strays: owner}, nil, func(ctx context.Context) (int, error) {
				tries++
				return obedient(ctx)
			})
			if fault.KindOf(err) != fault.Timeout || time.Since(began) != 3*time.Second || tries != 1 {
				t.Errorf("%v after %s and %d tries", err, time.Since(began), tries)
			}
		})
	}
}

// What ends just before the limit counts; what ends with it or after it does not.
func TestTimeLimitBorder(t *testing.T) {
	for _, tt := range []struct {
		takes time.Duration
		kind  fault.Kind
	}{{time.Second - time.Millisecond, ""}, {time.Second + 30*time.Millisecond, fault.Timeout}} {
		synctest.Test(t, func(t *testing.T) {
			var owner retry.Strays
			_, err := retry.Do(t.Context(), retry.Policy{Timeout: time.Second, Strays: &owner}, nil, func(context.Context) (int, error) {
				time.Sleep(tt.takes)
				return 0, nil
			})
			if fault.KindOf(err) != tt.kind {
				t.Errorf("%s of 1s: %v", tt.takes, err)
			}
			owner.Wait()
		})
	}
}

// A run that does not look at its context is left, and its answer still arrives, once.
func TestLateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var owner retry.Strays
		began, handed := time.Now(), 0
		_, err := retry.DoLate(t.Context(), retry.Policy{Timeout: time.Second, Strays: &owner}, nil,
			func(context.Context) (string, error) {
				time.Sleep(5 * time.Second)
				return "done after all", nil
			},
			func(v string, err error) {
				handed++
				if v != "done after all" || err != nil || time.Since(began) != 5*time.Second {
					t.Errorf("late: %q, %v after %s", v, err, time.Since(began))
				}
			})
		if took := time.Since(began); fault.KindOf(err) != fault.Timeout || took < time.Second || took > time.Second+100*time.Millisecond {
			t.Errorf("%v after %s", err, took)
		}
		owner.Wait()
		if handed != 1 {
			t.Errorf("handed over %d times", handed)
		}
	})
}

func TestNoLateAnswerInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var owner retry.Strays
		_, err := retry.DoLate(t.Context(), retry.Policy{Timeout: time.Second, Strays: &owner}, nil,
			func(context.Context) (int, error) { return 1, nil }, func(int, error) { t.Error("an answer in time is handed over as late") })
		if err != nil {
			t.Error(err)
		}
		owner.Wait()
	})
}

func TestCancel(t *testing.T) {
	why := errors.New("the user pressed stop")
	for _, tt := range []struct {
		name string
		run  func(context.Context) (int, error)
		want fault.Kind
	}{
		{"obedient", obedient, fault.Canceled},
		{"deaf", func(context.Context) (int, error) { time.Sleep(time.Minute); return 0, nil }, fault.Canceled},
		{"before the second try", func(context.Context) (int, error) { return 0, gateway() }, fault.Canceled},
		{"the run knows that it was sent", func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, fault.Wrap(fault.Unknown, "Sent, no answer.", ctx.Err())
		}, fault.Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var owner retry.Strays
				ctx, cancel := context.WithCancelCause(t.Context())
				began := time.Now()
				time.AfterFunc(500*time.Millisecond, func() { cancel(why) })
				_, err := retry.Do(ctx, retry.Policy{Timeout: 30 * time.Second, Retry: true, Strays: &owner}, nil, tt.run)
				if fault.KindOf(err) != tt.want || time.Since(began) > 600*time.Millisecond {
					t.Errorf("%v after %s", err, time.Since(began))
				}
				if tt.want == fault.Canceled && !errors.Is(err, why) {
					t.Errorf("the cause is lost: %v", err)
				}
				owner.Wait()
			})
		})
	}
}

func TestAlreadyCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := retry.Do(ctx, retry.Policy{}, nil, func(context.Context) (int, error) {
		t.Error("run although the caller gave up")
		return 0, nil
	})
	if fault.KindOf(err) != fault.Canceled {
		t.Error(err)
	}
}

// The second try begins only if the run lasts that long.
func TestNeverOutlivesTheRun(t *testing.T) {
	for _, tt := range []struct {
		left  time.Duration
		tries int
	}{{999 * time.Millisecond, 1}, {time.Second, 1}, {1001 * time.Millisecond, 2}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), tt.left)
			defer cancel()
			began, tries := time.Now(), 0
			_, err := retry.Do(ctx, retry.Policy{Retry: true}, nil, func(context.Context) (int, error) {
				tries++
				return 0, gateway()
			})
			if tries != tt.tries || time.Since(began) > tt.left || fault.KindOf(err) != fault.Transient {
				t.Errorf("%s left: %d tries, %s, %v", tt.left, tries, time.Since(began), err)
			}
		})
	}
}

func TestEndOfTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("run_timeout")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Second, why)
		defer cancel()
		_, err := retry.Do(ctx, retry.Policy{Timeout: time.Minute}, nil, obedient)
		if fault.KindOf(err) != fault.Timeout || !errors.Is(err, why) {
			t.Error(err)
		}
	})
}

func TestPanic(t *testing.T) {
	for _, owner := range []*retry.Strays{nil, {}} {
		_, err := retry.Do(t.Context(), retry.Policy{Retry: true, Strays: owner}, nil, func(context.Context) (int, error) { panic("secret") })
		if fault.KindOf(err) != fault.Internal || fault.Message(err) != "Internal error." {
			t.Error(err)
		}
	}
}
