package supersettools

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// At most n at once: Superset's workers are few, and a check must not take them all.
func TestEachBounds(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		synctest.Test(t, func(t *testing.T) {
			var now, most, done atomic.Int32
			err := each(t.Context(), n, make([]struct{}, 9), func(context.Context, int, struct{}) error {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
				done.Add(1)
				return nil
			})
			if err != nil || most.Load() != int32(n) || done.Load() != 9 {
				t.Errorf("limit %d: %d at once, %d done, %v", n, most.Load(), done.Load(), err)
			}
		})
	}
}

func TestEachEnds(t *testing.T) {
	boom := errors.New("boom")
	gone := errors.New("gone")
	for _, tt := range []struct {
		name   string
		fails  int // the element that fails; -1: none
		cancel int // the element that ends the context; -1: none
		want   error
		most   int32 // calls at the most
	}{
		{"all well", -1, -1, nil, 9},
		{"an error ends it for the others", 2, -1, boom, 3},
		{"an ended context ends it", -1, 2, context.Canceled, 3},
		{"the last one fails", 8, -1, boom, 9},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var calls atomic.Int32
			err := each(ctx, 1, make([]int, 9), func(_ context.Context, i, _ int) error {
				calls.Add(1)
				switch i {
				case tt.fails:
					return boom
				case tt.cancel:
					cancel(gone)
				}
				return nil
			})
			if !errors.Is(err, tt.want) || tt.want == nil && err != nil {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if n := calls.Load(); n > tt.most {
				t.Errorf("%d calls, want at most %d", n, tt.most)
			}
		})
	}
	if err := each(t.Context(), 1, nil, func(context.Context, int, int) error { return boom }); err != nil {
		t.Errorf("nothing to do: %v", err)
	}
}
