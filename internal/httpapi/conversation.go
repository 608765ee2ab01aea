package httpapi

import (
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/fault"
)

const (
	maxTitle = 200 // code points
	maxQuery = 200
	readPage = 500 // records of a log that are read at once
)

func (a *API) createConversation(c *call) error {
	if err := c.noBody(); err != nil {
		return err
	}
	conv, err := a.o.Log.CreateConversation(c.Request().Context(), c.who.User)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Location", strings.TrimSuffix(a.o.BasePath, "/")+prefix+"/conversations/"+conv.ID)
	return c.reply(http.StatusCreated, struct {
		ID string `json:"id"`
	}{conv.ID})
}

func (a *API) listConversations(c *call) error {
	f := eventlog.ListFilter{Cursor: c.QueryParam("cursor"), Query: c.QueryParam("q")}
	var bad []fault.Field
	if f.Limit, bad = limitOf(c, 100); !utf8.ValidString(f.Query) || utf8.RuneCountInString(f.Query) > maxQuery || strings.ContainsRune(f.Query, 0) {
		bad = append(bad, fault.Field{Pointer: "/q", Detail: "must be text of at most 200 characters"})
	}
	if err := refused(bad); err != nil {
		return err
	}
	list, next, err := a.o.Log.Conversations(c.Request().Context(), c.who.User, f)
	if err != nil {
		return err
	}
	if list == nil {
		list = []chat.Conversation{}
	}
	return c.reply(http.StatusOK, struct {
		Conversations []chat.Conversation `json:"conversations"`
		Next          string              `json:"next_cursor,omitempty"`
	}{list, next})
}

// limitOf reads the query's limit; 0 where there is none.
func limitOf(c *call, most int) (int, []fault.Field) {
	s := c.QueryParam("limit")
	if s == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > most {
		return 0, []fault.Field{{Pointer: "/limit", Detail: "must be a number from 1 to " + strconv.Itoa(most)}}
	}
	return n, nil
}

// A snapshot is a conversation up to a position: what the stream says after it goes on from it.
type snapshot struct {
	ID        string  `json:"id"`
	Title     string  `json:"title"`
	Items     []*item `json:"items"`
	Open      []card  `json:"open_confirmations"`
	ActiveRun string  `json:"active_run,omitempty"`
	LastEvent int64   `json:"last_event_id"`
}

func (a *API) showConversation(c *call) error {
	conv, err := a.own(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	var t transcript
	for {
		page, err := a.o.Log.Read(ctx, conv.ID, t.Last, readPage)
		if err != nil {
			return err
		}
		for _, r := range page {
			if err := t.apply(r); err != nil {
				return err
			}
		}
		if len(page) < readPage {
			break
		}
	}
	// Read after the log: a card or a run that the log tells the end of later is told so by the stream.
	open, err := a.o.Log.OpenConfirmations(ctx, conv.ID)
	if err != nil {
		return err
	}
	run, active, err := a.o.Log.ActiveRun(ctx, conv.ID)
	if err != nil {
		return err
	}
	s := snapshot{ID: conv.ID, Title: conv.Title, Items: t.list(), Open: cards(open, c.who.User), LastEvent: t.Last}
	if active {
		s.ActiveRun = run.ID
	}
	return c.reply(http.StatusOK, s)
}

func (a *API) renameConversation(c *call) error {
	conv, err := a.own(c)
	if err != nil {
		return err
	}
	o, err := c.body()
	if err != nil {
		return err
	}
	title := o.text("title", maxTitle)
	o.must("title", "the new title")
	if o.has("title") && !o.refusedAt("title") && strings.TrimSpace(title) == "" {
		o.refuse("title", "must not be empty")
	}
	o.done()
	if err := o.err(); err != nil {
		return err
	}
	if err := a.o.Log.RenameConversation(c.Request().Context(), conv.ID, c.who.User, title); err != nil {
		return err
	}
	return c.none()
}

func (a *API) deleteConversation(c *call) error {
	conv, err := a.own(c)
	if err != nil {
		return err
	}
	if err := c.noBody(); err != nil {
		return err
	}
	if err := a.o.Log.DeleteConversation(c.Request().Context(), conv.ID, c.who.User); err != nil {
		return err
	}
	return c.none()
}
