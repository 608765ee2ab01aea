package llm

import (
	"context"
	"time"
)

// RecordWaits makes the client wait for nothing and returns the waits that it would have made.
func RecordWaits(c *Client) *[]time.Duration {
	var waits []time.Duration
	c.repeat.wait = func(ctx context.Context, d time.Duration) error {
		waits = append(waits, d)
		if ctx.Err() != nil {
			return canceled(ctx)
		}
		return nil
	}
	return &waits
}
