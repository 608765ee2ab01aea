package supersettools

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// each runs f for every element, at most n at once, and waits for all. It starts no more once the context has ended;
// the first error ends it for the others too.
func each[T any](ctx context.Context, n int, list []T, f func(ctx context.Context, i int, v T) error) error {
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(n)
	for i, v := range list {
		g.Go(func() error {
			if inner.Err() != nil {
				return inner.Err()
			}
			return f(inner, i, v)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}
