// Package offline plans without a model.
package offline

import (
	"context"

	"agentd/internal/chat"
)

func Generate(ctx context.Context, p chat.Prompt, sink func(chat.Delta) error) (chat.Completion, error) {
	return chat.Completion{}, nil
}
