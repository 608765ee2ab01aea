package agent

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"agentd/internal/chat"
	"agentd/internal/confirm"
	uicontext "agentd/internal/context"
	"agentd/internal/fault"

	"github.com/oklog/ulid/v2"
)

// Strategies of a message that comes while a run is going.
const (
	StrategyReject    = "reject"
	StrategyEnqueue   = "enqueue"
	StrategyInterrupt = "interrupt"
)

// interruptWait bounds how long an interrupting message waits for the run that it stops.
const interruptWait = 15 * time.Second

// Message stores what a person wrote and starts the run that answers it, or lets it wait for the one that is going
// (enqueue). Errors: Invalid names each value that
// does not fit; Conflict run_active or confirmation_open; RateLimited for too many runs of the user. On any error
// nothing was stored.
func (s *Service) Message(ctx context.Context, who chat.Identity, conversation string, in MessageInput) (Accepted, error) {
	if err := s.validate(in); err != nil {
		return Accepted{}, err
	}
	if in.Replaces != "" {
		if err := s.replaceable(ctx, conversation, in.Replaces); err != nil {
			return Accepted{}, err
		}
	}
	env := in.Env
	if env == "" {
		env = in.View.EnvID
	}
	id := "msg_" + ulid.Make().String()
	r := chat.Run{
		ID: "run_" + ulid.Make().String(), Conversation: conversation, Who: who, Cause: chat.CauseMessage,
		MessageID: id, EnvID: env, View: in.View, Started: s.o.Now(),
	}
	r.Who.Credential = nil
	st := chat.Start{
		Run: r, Key: in.Key, Queue: in.Strategy == StrategyEnqueue, MaxPerUser: s.o.Limits.RunsPerUser,
		Entries: []chat.Entry{{
			Event: &chat.MessageEvent{MessageID: id, Role: chat.RoleUser, Text: in.Text, Replaces: in.Replaces},
			Note:  &chat.Note{User: &chat.UserMessage{ID: id, Text: in.Text, View: in.View, Env: env}},
		}},
	}
	if in.Strategy == StrategyInterrupt {
		if err := s.interrupt(ctx, who, conversation); err != nil {
			return Accepted{}, err
		}
		st.Supersede = func(c chat.Confirmation) []chat.Entry {
			return []chat.Entry{confirm.Resolve(c, confirm.Superseded, who.User, "")}
		}
	}
	run, replayed, err := s.o.Store.StartRun(ctx, st)
	if err != nil {
		return Accepted{}, err
	}
	out := Accepted{RunID: run.ID, MessageID: run.MessageID, Replayed: replayed}
	if run.Queued { // the run before it begins it
		s.keep(run.ID, who.Credential)
		return out, nil
	}
	if run.Ended {
		return out, nil
	}
	return out, s.start(ctx, run.ID, who.Credential)
}

func (s *Service) validate(in MessageInput) error {
	var f []fault.Field
	bad := func(p, d string) { f = append(f, fault.Field{Pointer: p, Detail: d}) }
	switch n := utf8.RuneCountInString(in.Text); {
	case !utf8.ValidString(in.Text):
		bad("/message", "must be valid UTF-8 text")
	case strings.TrimSpace(in.Text) == "":
		bad("/message", "must not be empty")
	case n > s.o.Limits.MessageChars:
		bad("/message", "must be at most "+strconv.Itoa(s.o.Limits.MessageChars)+" characters, has "+strconv.Itoa(n))
	}
	if in.Env != "" {
		if _, ok := s.environment(in.Env); !ok {
			bad("/env_id", s.envHint())
		}
	}
	if err := in.View.Validate("/ui_context"); err != nil {
		f = append(f, fieldsOf(err)...)
	} else if in.View.EnvID != "" {
		if _, ok := s.environment(in.View.EnvID); !ok {
			bad("/ui_context/envId", s.envHint())
		}
	}
	switch in.Strategy {
	case "", StrategyReject, StrategyEnqueue, StrategyInterrupt:
	default:
		bad("/strategy", "must be reject, enqueue or interrupt")
	}
	if len(f) == 0 {
		return nil
	}
	return &fault.Error{Kind: fault.Invalid, Msg: "The message has values that cannot be used.", Fields: f}
}

func (s *Service) envHint() string {
	ids := make([]string, len(s.o.Environments))
	for i, e := range s.o.Environments {
		ids[i] = e.ID
	}
	if len(ids) == 0 {
		return "no environment is configured"
	}
	return "must be a configured environment: " + strings.Join(ids, ", ")
}

// replaceable refuses an edit of anything but the last message that a person wrote.
func (s *Service) replaceable(ctx context.Context, conversation, id string) error {
	recs, err := s.o.Store.History(ctx, conversation)
	if err != nil {
		return err
	}
	st := newStory()
	for _, rec := range recs {
		st.add(rec.RunID, rec.Entry)
	}
	if st.lastUser().ID != id {
		return &fault.Error{Kind: fault.Invalid, Msg: "Only the last own message can be edited.", Fields: []fault.Field{{Pointer: "/replaces", Detail: "must be the id of the last own message"}}}
	}
	return nil
}

// interrupt stops the active run and waits until it has ended.
func (s *Service) interrupt(ctx context.Context, who chat.Identity, conversation string) error {
	ctx, cancel := context.WithTimeout(ctx, interruptWait)
	defer cancel()
	for {
		changed := s.o.Store.Changed(conversation)
		r, active, err := s.o.Store.ActiveRun(ctx, conversation)
		if err != nil || !active {
			return err
		}
		if !r.Cancelled {
			if err := s.Cancel(ctx, who, conversation); err != nil {
				return err
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return &fault.Error{Kind: fault.Conflict, Code: "run_active", Msg: "The run that is going could not be stopped in time."}
		}
	}
}

// Cancel stops the active run of a conversation; while a question is open it rejects all open ones, without a
// model call. Cancelling twice is the same as once.
func (s *Service) Cancel(ctx context.Context, who chat.Identity, conversation string) error {
	_, err := s.o.Store.Cancel(ctx, conversation, func(c chat.Confirmation) []chat.Entry {
		return []chat.Entry{confirm.Resolve(c, confirm.Rejected, who.User, "")}
	})
	if err == nil {
		s.next(ctx, conversation)
	}
	return err
}

// ExpireLoop closes questions that nobody answered in time, every interval, until ctx ends.
func (s *Service) ExpireLoop(ctx context.Context, every time.Duration) error {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		if _, err := s.o.Store.ExpireConfirmations(ctx, expired); err != nil && ctx.Err() == nil {
			s.o.Logger.Error("expire confirmations", "err", err)
		}
		if err := s.nextEverywhere(ctx); err != nil && ctx.Err() == nil {
			s.o.Logger.Error("look for messages that wait", "err", err)
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func expired(c chat.Confirmation) []chat.Entry {
	return []chat.Entry{confirm.Resolve(c, confirm.Expired, "", "")}
}

func view(v uicontext.View) *uicontext.View {
	if v == (uicontext.View{}) {
		return nil
	}
	return &v
}
