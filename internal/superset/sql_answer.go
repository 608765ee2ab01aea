package superset

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"agentd/internal/fault"

	"github.com/go-json-experiment/json/jsontext"
)

// A sqlAnswer is what SQL Lab says of a statement that it ran. Superset 6.1 sends its members in the order query_id,
// status, data, columns, selected_columns, expanded_columns, query; none of it is relied upon.
type sqlAnswer struct {
	status  string
	queryID int
	query   sqlQuery
	columns []sqlColumn
	kept    *spool
}

type sqlQuery struct {
	ClientID string `json:"id"`
	State    string `json:"state"`
	Factor   string `json:"limitingFactor"`
	Executed string `json:"executedSql"`
	SQL      string `json:"sql"`
	Rows     int64  `json:"rows"` // that the database gave; an answer may have fewer

	ResultsKey string `json:"resultsKey"` // where Superset keeps them, if it does
}

type sqlColumn struct {
	Name    string `json:"column_name"`
	Type    string `json:"type"`
	Generic *int   `json:"type_generic"`
}

// number reports whether the values of the column are numbers, whatever the database calls their type.
func (c sqlColumn) number() bool { return c.Generic != nil && *c.Generic == 0 }

// check refuses the answer to something else, and what is no success. id is the one that was sent.
func (a sqlAnswer) check(id, sql string) error {
	switch {
	case a.query.ClientID != id || a.query.SQL != sql:
		return mismatch("Superset answered with another query than the one that was asked for.")
	case a.status != "success":
		return mismatch("Superset's answer does not say that the query succeeded.")
	case a.kept.count > 0 && len(a.columns) == 0:
		return mismatch("Superset's answer has rows and no columns.")
	}
	return nil
}

// readSQL reads an answer in one pass. On an error nothing of it is left.
func (c *Client) readSQL(ctx context.Context, r call, a answer, caps SQLCaps) (sqlAnswer, error) {
	defer a.body.Close()
	if err := r.wantJSON(a); err != nil {
		return sqlAnswer{}, err
	}
	g := &gauge{r: a.body, most: c.maxBody}
	out := sqlAnswer{kept: newSpool(caps)}
	err := out.read(g)
	if err == nil {
		return out, nil
	}
	out.kept.close()
	switch {
	case fault.KindOf(g.err) == fault.TooLarge:
		err = g.err
	case g.err != nil:
		err = r.broken(ctx, true, g.err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		err = r.broken(ctx, true, err)
	default:
		err = r.strange("Superset's answer could not be read.", err)
	}
	return sqlAnswer{}, err
}

func (a *sqlAnswer) read(g *gauge) error {
	d := jsontext.NewDecoder(g, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	g.mark()
	if err := expect(d, '{'); err != nil {
		return err
	}
	for ; d.PeekKind() != '}'; g.mark() {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		switch name.String() {
		case "data":
			err = a.data(d, g)
		case "status":
			err = value(d, &a.status)
		case "query_id":
			err = value(d, &a.queryID)
		case "columns":
			err = value(d, &a.columns)
		case "query":
			err = value(d, &a.query)
		default:
			err = d.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.Join(errTrailing, err)
	}
	return nil
}

func (a *sqlAnswer) data(d *jsontext.Decoder, g *gauge) error {
	if d.PeekKind() == 'n' { // null: there are no rows
		return d.SkipValue()
	}
	if err := expect(d, '['); err != nil {
		return err
	}
	for g.mark(); d.PeekKind() != ']'; g.mark() {
		if err := a.kept.row(d); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

var (
	errTrailing = errors.New("something follows the answer")
	errShape    = errors.New("the answer has another shape than SQL Lab's")
)

// expect reads the beginning of an object or an array.
func expect(d *jsontext.Decoder, kind jsontext.Kind) error {
	t, err := d.ReadToken()
	if err == nil && t.Kind() != kind {
		err = errShape
	}
	return err
}

func value(d *jsontext.Decoder, out any) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	return json.Unmarshal(v, out)
}

// A gauge bounds what is read between two marks, and with it the memory that a decoder takes for one value.
type gauge struct {
	r    io.Reader
	most int64
	left int64
	err  error // of reading, but for the end
}

func (g *gauge) mark() { g.left = g.most }

// Read fails with TooLarge where too much came since the last mark.
func (g *gauge) Read(p []byte) (int, error) {
	if g.left <= 0 {
		g.err = fault.New(fault.TooLarge, "A row of Superset's answer is larger than agentd reads.")
		return 0, g.err
	}
	n, err := g.r.Read(p[:min(int64(len(p)), g.left)])
	g.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		g.err = err
	}
	return n, err
}
