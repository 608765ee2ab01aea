package eventlog

import (
	"context"
	"database/sql"
	"errors"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

// StartRun stores a run with its first entries, all or nothing, and names the conversation by its first user
// message. When the same user has used the same key in this conversation before, the stored run is returned
// and replayed is true. Errors: Missing without a conversation; Conflict with code run_active while another run
// goes on, with code confirmation_open while a person is asked and Supersede is nil; RateLimited when the user
// has MaxPerUser runs going or waiting. With Queue a run that finds another waits for Next.
func (l *Log) StartRun(ctx context.Context, s chat.Start) (run chat.Run, replayed bool, err error) {
	lines, err := encodeEntries(s.Entries)
	if err != nil {
		return chat.Run{}, false, err
	}
	err = l.apply(ctx, func(t *tx) error {
		run, replayed = s.Run, false
		if err := t.lock("conversation " + run.Conversation); err != nil {
			return err
		}
		if stored, err := t.runOfKey(run, s.Key); stored != nil || err != nil {
			if stored != nil {
				run, replayed = *stored, true
			}
			return err
		}
		if s.MaxPerUser > 0 {
			if err := t.lock("user " + run.Who.User); err != nil {
				return err
			}
		}
		found, err := t.surroundings(run)
		if err != nil {
			return err
		}
		if err := found.allow(s); err != nil {
			return err
		}
		var open []chat.Confirmation
		if found.pending > 0 {
			if open, err = t.pending(run.Conversation); err != nil {
				return err
			}
		}
		for _, c := range open {
			if err := t.resolve(c, chat.ConfirmSuperseded, "", run.Who.User, s.Supersede(c)); err != nil {
				return err
			}
		}
		run.Queued = found.active > 0 // allowed above
		if err := t.insertRun(&run, s.Key); err != nil {
			return err
		}
		if err := t.append(run.Conversation, run.ID, lines); err != nil {
			return err
		}
		t.made.audit = append(t.made.audit, s.Audit...)
		if found.title != "" {
			return nil
		}
		return t.title(run.Conversation, s.Entries)
	})
	if err != nil {
		return chat.Run{}, false, err
	}
	return run, replayed, nil
}

func (t *tx) exists(conversation string) error {
	var one int
	err := t.get(`SELECT 1 FROM conversation WHERE id = ?`, []any{conversation}, &one)
	if errors.Is(err, sql.ErrNoRows) {
		return missingConversation()
	}
	return err
}

// idle refuses while a run goes on.
func (t *tx) idle(conversation string) error {
	run, err := t.active(conversation)
	if err == nil && run != nil {
		return runActive()
	}
	return err
}

func runActive() error {
	return &fault.Error{Kind: fault.Conflict, Code: "run_active", Msg: "This conversation is still being worked on."}
}

// surroundings is what a new run finds.
type surroundings struct {
	title                    string
	active, pending, perUser int
}

// surroundings looks at all of it at once; Missing without a conversation.
func (t *tx) surroundings(run chat.Run) (s surroundings, err error) {
	err = t.get(`SELECT title, (SELECT count(*) FROM run WHERE conversation = c.id AND ended = 0),
		(SELECT count(*) FROM confirmation WHERE conversation = c.id AND state = 'pending'),
		(SELECT count(*) FROM run WHERE user_name = ? AND ended <= 0)
		FROM conversation c WHERE id = ?`, []any{run.Who.User, run.Conversation}, &s.title, &s.active, &s.pending, &s.perUser)
	if errors.Is(err, sql.ErrNoRows) {
		return s, missingConversation()
	}
	return s, err
}

func (s *surroundings) allow(start chat.Start) error {
	switch {
	case s.active > 0 && !start.Queue:
		return runActive()
	case s.active == 0 && s.pending > 0 && start.Supersede == nil:
		return &fault.Error{Kind: fault.Conflict, Code: "confirmation_open", Msg: "A question is still open: answer it first, or interrupt."}
	case start.MaxPerUser > 0 && s.perUser >= start.MaxPerUser:
		return &fault.Error{Kind: fault.RateLimited, Code: "too_many_runs", Msg: "You have as many conversations at work as are allowed at once."}
	}
	return nil
}

func (t *tx) insertRun(run *chat.Run, key string) error {
	run.Ended, run.Cancelled = false, false
	if run.Started.IsZero() {
		run.Started = t.now
	}
	body, err := encode(run)
	if err != nil {
		return err
	}
	ended := int64(0)
	if run.Queued {
		ended = queued
	}
	_, err = t.exec(`INSERT INTO run (id, conversation, user_name, request_key, body, started, ended, epoch, cancelled) VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0)`,
		run.ID, run.Conversation, run.Who.User, clean(key), body, micros(run.Started), ended)
	return err
}

const runColumns = `SELECT body, ended, cancelled FROM run `

// scanRun reads a run; nil when there is none.
func scanRun(scan func(...any) error) (*chat.Run, error) {
	var body string
	var ended, cancelled int64
	if err := scan(&body, &ended, &cancelled); errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var run chat.Run
	if err := decode(body, &run); err != nil {
		return nil, err
	}
	run.Started = run.Started.UTC()
	run.Ended, run.Queued, run.Cancelled = ended > 0, ended == queued, cancelled != 0
	return &run, nil
}

func (t *tx) active(conversation string) (*chat.Run, error) {
	return scanRun(func(dest ...any) error {
		return t.get(runColumns+`WHERE conversation = ? AND ended = 0`, []any{conversation}, dest...)
	})
}

func (t *tx) runOfKey(run chat.Run, key string) (*chat.Run, error) {
	if key == "" {
		return nil, nil
	}
	return scanRun(func(dest ...any) error {
		return t.get(runColumns+`WHERE user_name = ? AND conversation = ? AND request_key = ? AND request_key <> ''`,
			[]any{run.Who.User, run.Conversation, clean(key)}, dest...)
	})
}

// Run returns a run. Missing when there is none.
func (l *Log) Run(ctx context.Context, id string) (chat.Run, error) {
	run, err := scanRun(func(dest ...any) error { return l.get(ctx, runColumns+`WHERE id = ?`, []any{id}, dest...) })
	if err != nil {
		return chat.Run{}, err
	}
	if run == nil {
		return chat.Run{}, missingRun()
	}
	return *run, nil
}

// ActiveRun returns the conversation's run that has not ended, and whether there is one.
func (l *Log) ActiveRun(ctx context.Context, conversation string) (chat.Run, bool, error) {
	run, err := scanRun(func(dest ...any) error {
		return l.get(ctx, runColumns+`WHERE conversation = ? AND ended = 0`, []any{conversation}, dest...)
	})
	if err != nil || run == nil {
		return chat.Run{}, false, err
	}
	return *run, true, nil
}

// ActiveRuns lists all runs that have not ended, on any replica, oldest first.
func (l *Log) ActiveRuns(ctx context.Context) ([]chat.Run, error) {
	rows, err := l.query(ctx, runColumns+`WHERE ended = 0 ORDER BY started, id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []chat.Run
	for rows.Next() {
		run, err := scanRun(rows.Scan)
		if err != nil {
			return nil, failed(ctx, err)
		}
		out = append(out, *run)
	}
	if err := rows.Err(); err != nil {
		return nil, failed(ctx, err)
	}
	return out, nil
}

func missingRun() error { return fault.New(fault.Missing, "There is no such run.") }
