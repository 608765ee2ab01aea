package superset

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"time"

	"agentd/internal/fault"
)

// SQLMaxRows is the most rows that Superset gives for one statement, unless it is configured otherwise.
const SQLMaxRows = 100_000

// A Statement is what SQL Lab is asked to run. Its text goes as it is: judge it before.
type Statement struct {
	Database int
	Catalog  string
	Schema   string
	SQL      string
	Limit    int     // rows, at least 1; above its own cap Superset gives the cap
	Caps     SQLCaps // of what is kept
}

// stopTime is how long Superset is given to stop a statement that nobody waits for any more.
const stopTime = 5 * time.Second

// RunSQL runs a statement and reads its rows to their end; the caller closes them. What the database refuses is
// Invalid with its words. When ctx ends before the rows are there, Superset is asked to stop, nothing is kept, and the
// Timeout or Canceled error says what became of the statement.
//
// Memory does not grow with the answer; one row of it is as large as Options.MaxBody at most, else TooLarge.
func (s *Session) RunSQL(ctx context.Context, q Statement) (*SQLRows, error) {
	id := strings.ToLower(rand.Text()[:11]) // Superset's column takes 11 characters and wants them new
	body := struct {
		Database int    `json:"database_id"`
		SQL      string `json:"sql"`
		Catalog  string `json:"catalog,omitempty"`
		Schema   string `json:"schema,omitempty"`
		Limit    int    `json:"queryLimit"` // left out it would be 100,000
		ClientID string `json:"client_id"`
		Async    bool   `json:"runAsync"`
		CTA      bool   `json:"select_as_cta"`
	}{q.Database, q.SQL, q.Catalog, q.Schema, max(q.Limit, 1), id, false, false}
	r, err := newCall(http.MethodPost, "/api/v1/sqllab/execute/", body)
	if err != nil {
		return nil, err
	}
	r.write, r.csrf = false, true // it reads, so a lost connection leaves nothing unknown
	a, err := s.send(ctx, r)
	if err == nil && a.body == nil {
		err = r.failed(a)
	}
	if err != nil {
		return nil, sqlFailed(err, func() string { return s.stop(ctx, id) })
	}
	got, err := s.c.readSQL(ctx, r, a, q.Caps)
	if err != nil {
		// The whole answer stands ready when its first byte comes. A Superset that sends while it works is stopped.
		return nil, sqlFailed(err, func() string {
			s.stop(ctx, id)
			return "The query had been answered; nothing of the answer was kept."
		})
	}
	if got.query.ClientID == id && (got.query.State == "pending" || got.query.State == "running") {
		got.kept.close()
		return nil, &fault.Error{Kind: fault.Invalid, Code: "async", Msg: "This Superset runs the SQL of this database in the background, which agentd does not wait for. " + s.stop(ctx, id)}
	}
	if err := got.check(id, q.SQL); err != nil {
		got.kept.close()
		return nil, err
	}
	if got.query.Rows > got.kept.count && got.query.ResultsKey != "" {
		got = s.stored(ctx, got, id, q)
	}
	if fault.KindOf(ctx.Err()) == fault.Canceled {
		got.kept.close()
		return nil, lost(ctx, nil)
	}
	return got.rows()
}

// stored reads the rows from where Superset keeps them: of a large result the answer has only the first
// DISPLAY_MAX_ROW, 10,000 unless it is configured otherwise. Nothing runs again. Where they cannot be had, because
// they were lost or the time is over, the first ones stand.
func (s *Session) stored(ctx context.Context, first sqlAnswer, id string, q Statement) sqlAnswer {
	r := call{method: http.MethodGet, path: "/api/v1/sqllab/results/", query: "q=" + rison(object{{"key", first.query.ResultsKey}})}
	a, err := s.send(ctx, r)
	if err != nil || a.body == nil {
		return first
	}
	all, err := s.c.readSQL(ctx, r, a, q.Caps)
	if err != nil {
		return first
	}
	if all.check(id, q.SQL) != nil || all.kept.count < first.kept.count {
		all.kept.close()
		return first
	}
	first.kept.close()
	all.queryID = first.queryID
	return all
}

// sqlFailed sorts failures of a statement. SQL Lab answers 500 for what the database refuses, with the reason beside it.
// Where nobody waits for the statement any more, stop ends it and says what became of it.
func sqlFailed(err error, stop func() string) error {
	switch k := fault.KindOf(err); {
	case k == fault.Timeout, k == fault.Canceled, k == fault.Transient && status(err) == 0:
		return &fault.Error{Kind: k, Msg: fault.Message(err) + " " + stop(), Err: err}
	case k == fault.Internal && status(err) == http.StatusInternalServerError:
		if e, ok := errors.AsType[*fault.Error](err); ok && strings.HasPrefix(e.Msg, "Superset: ") && e.Msg != "Superset: Fatal error" {
			return &fault.Error{Kind: fault.Invalid, Code: "sql", Msg: e.Msg, Status: e.Status, Err: err}
		}
	}
	return err
}

// stop asks Superset to end a statement and tells what became of it.
func (s *Session) stop(ctx context.Context, id string) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	r, err := newCall(http.MethodPost, "/api/v1/query/stop", struct {
		ClientID string `json:"client_id"`
	}{id})
	if err == nil {
		r.write, r.csrf = false, true
		err = s.do(ctx, r, nil)
	}
	switch {
	case err == nil:
		return "The query was stopped."
	case status(err) == http.StatusNotFound:
		return "The query had not begun."
	}
	return "The database could not be told to stop the query: it may still be running."
}
