package superset

import (
	"context"
	"crypto/rand"
	"encoding/json"
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
	Limit    int // rows, 1 to SQLMaxRows
}

// SQLRows is what a statement gave.
type SQLRows struct {
	Columns  []SQLColumn
	Rows     []json.RawMessage // each a JSON array; integers beyond 2^53 are numbers with all their digits
	Limited  bool              // there are more rows
	Executed string            // the statement as Superset rewrote and ran it
	QueryID  int
}

// An SQLColumn is a column of a result; Type is guessed from the rows: INT, FLOAT, STRING, or "" where there are none.
type SQLColumn struct {
	Name string `json:"column_name"`
	Type string `json:"type"`
}

// stopTime is how long Superset is given to stop a statement that nobody waits for any more.
const stopTime = 5 * time.Second

// RunSQL runs a statement and waits for its rows. What the database refuses is Invalid with its words. When ctx ends
// before the rows are there, Superset is asked to stop it, and the Timeout or Canceled error says whether it did.
func (s *Session) RunSQL(ctx context.Context, q Statement) (SQLRows, error) {
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
	}{q.Database, q.SQL, q.Catalog, q.Schema, min(max(q.Limit, 1), SQLMaxRows), id, false, false}
	r, err := newCall(http.MethodPost, "/api/v1/sqllab/execute/", body)
	if err != nil {
		return SQLRows{}, err
	}
	r.write, r.csrf = false, true // it reads, so a lost connection leaves nothing unknown
	var got struct {
		Status  string                       `json:"status"`
		Data    []map[string]json.RawMessage `json:"data"`
		Columns []SQLColumn                  `json:"columns"`
		QueryID int                          `json:"query_id"`
		Query   struct {
			ClientID string `json:"id"`
			State    string `json:"state"`
			Factor   string `json:"limitingFactor"`
			Executed string `json:"executedSql"`
			SQL      string `json:"sql"`
		} `json:"query"`
	}
	if err := s.do(ctx, r, &got); err != nil {
		return SQLRows{}, s.sqlFailed(ctx, id, err)
	}
	switch {
	case got.Query.ClientID != id || got.Query.SQL != q.SQL:
		return SQLRows{}, mismatch("Superset answered with another query than the one that was asked for.")
	case got.Query.State == "pending" || got.Query.State == "running":
		return SQLRows{}, &fault.Error{Kind: fault.Invalid, Code: "async", Msg: "This Superset runs the SQL of this database in the background, which agentd does not wait for. " + s.stop(ctx, id)}
	case got.Status != "success":
		return SQLRows{}, mismatch("Superset's answer does not say that the query succeeded.")
	}
	out := SQLRows{Columns: got.Columns, Limited: got.Query.Factor != "NOT_LIMITED", Executed: got.Query.Executed, QueryID: got.QueryID}
	for _, row := range got.Data {
		out.Rows = append(out.Rows, sqlRow(row, got.Columns))
	}
	return out, nil
}

// sqlRow puts values in the order of the columns. Large integers come as texts in a column of integers.
func sqlRow(row map[string]json.RawMessage, columns []SQLColumn) json.RawMessage {
	out := []byte{'['}
	for i, c := range columns {
		if i > 0 {
			out = append(out, ',')
		}
		v := row[c.Name]
		if len(v) == 0 {
			v = json.RawMessage("null")
		}
		if c.Type == "INT" && len(v) > 2 && v[0] == '"' {
			if n := v[1 : len(v)-1]; isInteger(n) {
				v = n
			}
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

func isInteger(n []byte) bool {
	if len(n) > 0 && n[0] == '-' {
		n = n[1:]
	}
	return len(n) > 0 && (n[0] != '0' || len(n) == 1) && strings.Trim(string(n), "0123456789") == ""
}

// sqlFailed sorts failures of a statement. SQL Lab answers 500 for what the database refuses, with the reason beside it.
func (s *Session) sqlFailed(ctx context.Context, id string, err error) error {
	switch k := fault.KindOf(err); {
	case k == fault.Timeout || k == fault.Canceled:
		return &fault.Error{Kind: k, Msg: fault.Message(err) + " " + s.stop(ctx, id), Err: err}
	case k == fault.Transient && status(err) == 0:
		return &fault.Error{Kind: k, Msg: fault.Message(err) + " " + s.stop(ctx, id), Err: err}
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
