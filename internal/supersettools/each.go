package supersettools

import (
	"context"
	"sync"
)

// each runs f for every element, at most n at once, and waits for all. It starts no more once the context has ended;
// the first error ends it for the others too.
func each[T any](ctx context.Context, n int, list []T, f func(ctx context.Context, i int, v T) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	slots := make(chan struct{}, n)
	var wg sync.WaitGroup
	var once sync.Once
	var first error
	for i, v := range list {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := f(ctx, i, v); err != nil {
				once.Do(func() { first = err; stop(err) })
			}
		})
	}
	wg.Wait()
	if first == nil {
		first = ctx.Err()
	}
	return first
}
