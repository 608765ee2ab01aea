package eventlog

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"unicode"

	"agentd/internal/chat"
	"agentd/internal/fault"

	"github.com/oklog/ulid/v2"
)

const (
	titleRunes = 80 // of a title taken from a message
	maxTitle   = 200
	maxPage    = 100
)

// CreateConversation makes an empty conversation of owner.
func (l *Log) CreateConversation(ctx context.Context, owner string) (chat.Conversation, error) {
	if owner == "" {
		return chat.Conversation{}, fault.New(fault.Internal, "A conversation needs an owner.")
	}
	c := chat.Conversation{ID: "conv_" + ulid.Make().String(), Owner: owner}
	err := l.apply(ctx, func(t *tx) error {
		c.Created, c.Updated = t.now, t.now
		_, err := t.exec(`INSERT INTO conversation (id, owner, title, folded, created, updated, last_seq) VALUES (?, ?, '', '', ?, ?, 0)`,
			c.ID, owner, micros(t.now), micros(t.now))
		return err
	})
	return c, err
}

const conversationColumns = `c.id, c.owner, c.title, c.created, c.updated,
	(SELECT count(*) FROM confirmation f WHERE f.conversation = c.id AND f.state = 'pending')`

func scanConversation(scan func(...any) error) (c chat.Conversation, err error) {
	var created, updated int64
	err = scan(&c.ID, &c.Owner, &c.Title, &created, &updated, &c.OpenConfirmations)
	c.Created, c.Updated = fromMicros(created), fromMicros(updated)
	return c, err
}

// Conversation returns the conversation id of owner. Missing when there is none or it is another's: this is the
// one place where ownership is decided.
func (l *Log) Conversation(ctx context.Context, id, owner string) (chat.Conversation, error) {
	c, err := scanConversation(func(dest ...any) error {
		return l.get(ctx, `SELECT `+conversationColumns+` FROM conversation c WHERE c.id = ? AND c.owner = ?`, []any{id, owner}, dest...)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return chat.Conversation{}, missingConversation()
	}
	return c, err
}

// ListFilter narrows Conversations. The zero filter is the first page of all.
type ListFilter struct {
	Cursor string // as the page before gave it
	Limit  int    // 1 to 100; 0 is 50
	Query  string // part of the title, in any case
}

// Conversations lists the owner's conversations, the one changed last first, and the cursor of the next page,
// "" when there is none. Invalid with code bad_cursor when the cursor is not one of ours.
func (l *Log) Conversations(ctx context.Context, owner string, f ListFilter) ([]chat.Conversation, string, error) {
	updated, id, err := parseCursor(f.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := f.Limit
	if limit <= 0 {
		limit = 50
	}
	limit = min(limit, maxPage)
	rows, err := l.query(ctx, `SELECT `+conversationColumns+` FROM conversation c
		WHERE c.owner = ? AND c.folded LIKE ? ESCAPE '\' AND (c.updated < ? OR (c.updated = ? AND c.id < ?))
		ORDER BY c.updated DESC, c.id DESC LIMIT ?`, owner, pattern(f.Query), updated, updated, id, limit+1)
	if err != nil {
		return nil, "", err
	}
	defer rows.Close()
	var out []chat.Conversation
	for rows.Next() {
		c, err := scanConversation(rows.Scan)
		if err != nil {
			return nil, "", failed(ctx, err)
		}
		out = append(out, c)
	}
	if err := rows.Err(); err != nil {
		return nil, "", failed(ctx, err)
	}
	if len(out) <= limit {
		return out, "", nil
	}
	last := out[limit-1]
	return out[:limit], formatCursor(last), nil
}

func formatCursor(c chat.Conversation) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(micros(c.Updated), 10) + " " + c.ID))
}

func parseCursor(s string) (updated int64, id string, err error) {
	if s == "" {
		return 1<<63 - 1, "", nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err == nil {
		at, rest, ok := strings.Cut(string(b), " ")
		updated, err = strconv.ParseInt(at, 10, 64)
		if ok && err == nil && clean(rest) == rest {
			return updated, rest, nil
		}
	}
	return 0, "", &fault.Error{Kind: fault.Invalid, Code: "bad_cursor", Msg: "The cursor is not one that this server gave out."}
}

// pattern is the LIKE pattern of text that holds q.
func pattern(q string) string {
	q = strings.ToLower(strings.TrimSpace(clean(q)))
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(q) + "%"
}

// RenameConversation sets the title, on one line and at most 200 characters of it. Missing as in Conversation,
// Invalid when nothing is left.
func (l *Log) RenameConversation(ctx context.Context, id, owner, title string) error {
	title = oneLine(title, maxTitle)
	if title == "" {
		return &fault.Error{Kind: fault.Invalid, Msg: "A title needs at least one character.",
			Fields: []fault.Field{{Pointer: "/title", Detail: "must not be empty"}}}
	}
	return l.apply(ctx, func(t *tx) error {
		n, err := t.exec(`UPDATE conversation SET title = ?, folded = ? WHERE id = ? AND owner = ?`, title, strings.ToLower(title), id, owner)
		if err == nil && n == 0 {
			return missingConversation()
		}
		return err
	})
}

// DeleteConversation removes a conversation with its events, runs, confirmations, feedback and what was
// remembered in it. Its artifacts expire at once, for the sweeper to remove; the audit stays. A run that is
// going is cancelled; its next write is Missing. Missing as in Conversation.
func (l *Log) DeleteConversation(ctx context.Context, id, owner string) error {
	return l.apply(ctx, func(t *tx) error {
		n, err := t.exec(`DELETE FROM conversation WHERE id = ? AND owner = ?`, id, owner)
		if err != nil {
			return err
		}
		if n == 0 {
			return missingConversation()
		}
		run, err := t.active(id)
		if err != nil {
			return err
		}
		if run != nil {
			t.made.cancels = append(t.made.cancels, run.ID)
		}
		for _, table := range []string{"event", "run", "confirmation", "feedback", "remembered"} {
			if _, err := t.exec(`DELETE FROM `+table+` WHERE conversation = ?`, id); err != nil {
				return err
			}
		}
		if _, err := t.exec(`UPDATE artifact SET expires = ? WHERE conversation = ? AND expires > ?`, micros(t.now), id, micros(t.now)); err != nil {
			return err
		}
		t.touch(id, 0)
		return nil
	})
}

// title names a conversation that has no title after its first message.
func (t *tx) title(conversation string, entries []chat.Entry) error {
	for _, e := range entries {
		m, ok := e.Event.(*chat.MessageEvent)
		if !ok || m.Role != chat.RoleUser {
			continue
		}
		title := oneLine(m.Text, titleRunes)
		if title == "" {
			continue
		}
		_, err := t.exec(`UPDATE conversation SET title = ?, folded = ? WHERE id = ? AND title = ''`, title, strings.ToLower(title), conversation)
		return err
	}
	return nil
}

// oneLine joins the words of s with single spaces and cuts it to limit code points.
func oneLine(s string, limit int) string {
	s = strings.Join(strings.FieldsFunc(clean(s), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if r := []rune(s); len(r) > limit {
		return strings.TrimRight(string(r[:limit-1]), " ") + "…"
	}
	return s
}
