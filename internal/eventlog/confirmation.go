package eventlog

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

const confirmationColumns = `SELECT body, args, state, decision, decided_by, decided_at, reason, edited_args, decision_run FROM confirmation `

// insertConfirmation stores c. The arguments have a column of their own: JSON would rewrite their bytes.
func (t *tx) insertConfirmation(c chat.Confirmation) error {
	if !utf8.Valid(c.Args) {
		return fault.New(fault.Invalid, "The arguments are not valid text.")
	}
	if c.State == "" {
		c.State = chat.ConfirmPending
	}
	if c.Created.IsZero() {
		c.Created = t.now
	}
	args := string(c.Args)
	state := c.State
	c.Args, c.EditedArgs, c.State = nil, nil, ""
	body, err := encode(c)
	if err != nil {
		return err
	}
	_, err = t.exec(`INSERT INTO confirmation (id, conversation, user_name, state, created, expires, args, body,
		decision, decided_by, decided_at, reason, edited_args, decision_run)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', '', 0, '', '', '')`,
		c.ID, c.Conversation, c.User, string(state), micros(c.Created), micros(c.Expires), args, body)
	return err
}

// scanConfirmation reads a confirmation; nil when there is none.
func scanConfirmation(scan func(...any) error) (*chat.Confirmation, error) {
	var body, args, state, decision, by, reason, edited, run string
	var at int64
	if err := scan(&body, &args, &state, &decision, &by, &at, &reason, &edited, &run); errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var c chat.Confirmation
	if err := decode(body, &c); err != nil {
		return nil, err
	}
	c.Args, c.State = json.RawMessage(args), chat.ConfirmState(state)
	c.Decision, c.DecidedBy, c.DecidedAt, c.Reason, c.DecisionRun = decision, by, fromMicros(at), reason, run
	c.EditedArgs = nil
	if edited != "" {
		c.EditedArgs = json.RawMessage(edited)
	}
	return &c, nil
}

// scanConfirmations reads and closes rows.
func scanConfirmations(rows *sql.Rows) ([]chat.Confirmation, error) {
	defer rows.Close()
	var out []chat.Confirmation
	for rows.Next() {
		c, err := scanConfirmation(rows.Scan)
		if err != nil {
			return nil, err
		}
		out = append(out, *c)
	}
	return out, rows.Err()
}

func (t *tx) confirmation(id string) (*chat.Confirmation, error) {
	return scanConfirmation(func(dest ...any) error { return t.get(confirmationColumns+`WHERE id = ?`, []any{id}, dest...) })
}

func (t *tx) pending(conversation string) ([]chat.Confirmation, error) {
	rows, err := t.query(confirmationColumns+`WHERE conversation = ? AND state = 'pending' ORDER BY created, id`, conversation)
	if err != nil {
		return nil, err
	}
	return scanConfirmations(rows)
}

// resolve closes a pending confirmation without a run of its own, with entries under the run that asked.
func (t *tx) resolve(c chat.Confirmation, to chat.ConfirmState, decision, by string, entries []chat.Entry) error {
	if _, err := t.exec(`UPDATE confirmation SET state = ?, decision = ?, decided_by = ?, decided_at = ? WHERE id = ? AND state = 'pending'`,
		string(to), decision, by, micros(t.now), c.ID); err != nil {
		return err
	}
	lines, err := encodeEntries(entries)
	if err != nil {
		return err
	}
	return t.append(c.Conversation, c.RunID, lines)
}

// Confirmation returns the confirmation that user may answer. Missing when there is none or it is another's.
func (l *Log) Confirmation(ctx context.Context, id, user string) (chat.Confirmation, error) {
	c, err := scanConfirmation(func(dest ...any) error {
		return l.get(ctx, confirmationColumns+`WHERE id = ? AND user_name = ?`, []any{id, user}, dest...)
	})
	if err != nil {
		return chat.Confirmation{}, err
	}
	if c == nil {
		return chat.Confirmation{}, missingConfirmation()
	}
	return *c, nil
}

// Confirmations lists a user's confirmations in any of the states (in all when none is named), oldest first. The
// user "" lists those of all users, for a caller that checks who may see them.
func (l *Log) Confirmations(ctx context.Context, user string, states ...chat.ConfirmState) ([]chat.Confirmation, error) {
	where, args := `WHERE 1 = 1`, []any{}
	if user != "" {
		where, args = where+` AND user_name = ?`, append(args, user)
	}
	if len(states) > 0 {
		where += ` AND state IN (` + marks(len(states)) + `)`
		for _, s := range states {
			args = append(args, string(s))
		}
	}
	return l.confirmations(ctx, where, args...)
}

// OpenConfirmations lists the conversation's pending confirmations, oldest first.
func (l *Log) OpenConfirmations(ctx context.Context, conversation string) ([]chat.Confirmation, error) {
	return l.confirmations(ctx, `WHERE conversation = ? AND state = 'pending'`, conversation)
}

// ConversationConfirmations lists all of the conversation's confirmations, oldest first.
func (l *Log) ConversationConfirmations(ctx context.Context, conversation string) ([]chat.Confirmation, error) {
	return l.confirmations(ctx, `WHERE conversation = ?`, conversation)
}

func (l *Log) confirmations(ctx context.Context, where string, args ...any) ([]chat.Confirmation, error) {
	rows, err := l.query(ctx, confirmationColumns+where+` ORDER BY created, id`, args...)
	if err != nil {
		return nil, err
	}
	out, err := scanConfirmations(rows)
	if err != nil {
		return nil, failed(ctx, err)
	}
	return out, nil
}

// ExpireConfirmations closes every pending confirmation whose time has passed, with entries under the run that
// asked, and returns how many it closed. entries must only compute.
func (l *Log) ExpireConfirmations(ctx context.Context, entries func(chat.Confirmation) []chat.Entry) (int, error) {
	due, err := l.confirmations(ctx, `WHERE state = 'pending' AND expires > 0 AND expires <= ?`, micros(l.stamp()))
	if err != nil {
		return 0, err
	}
	total := 0
	for _, c := range due {
		closed := false
		err := l.apply(ctx, func(t *tx) error {
			closed = false
			if err := t.lock("conversation " + c.Conversation); err != nil {
				return err
			}
			now, err := t.confirmation(c.ID)
			if err != nil || now == nil || now.State != chat.ConfirmPending {
				return err
			}
			closed = true
			return t.resolve(*now, chat.ConfirmExpired, "", "", entries(*now))
		})
		if err != nil {
			return total, err
		}
		if closed {
			total++
		}
	}
	return total, nil
}

func missingConfirmation() error { return fault.New(fault.Missing, "There is no such confirmation.") }
