package agent

import (
	"context"

	"agentd/internal/chat"
)

// next begins the message that waits in a conversation, if nothing is in its way. What it cannot begin now, the
// next look does: it is stored.
func (s *Service) next(ctx context.Context, conversation string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	id, err := s.o.Store.Next(ctx, conversation)
	if err == nil && id != "" {
		err = s.engine.Start(ctx, id)
	}
	if err != nil {
		s.o.Logger.Warn("begin the message that waits", "conversation", conversation, "err", err)
	}
}

// nextEverywhere looks at every conversation in which a message waits.
func (s *Service) nextEverywhere(ctx context.Context) error {
	waiting, err := s.o.Store.Waiting(ctx)
	if err != nil {
		return err
	}
	for _, c := range waiting {
		s.next(ctx, c)
	}
	return nil
}

// keep holds a forwarded credential until its run ends. It is in memory only.
func (s *Service) keep(runID string, cred *chat.Credential) {
	if cred == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.creds[runID] = cred
}
