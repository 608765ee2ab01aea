package superset

import (
	"bytes"
	"encoding/json"
	"slices"
)

// SQLRows is what a statement gave: the first rows in memory and all that are kept to be read from the start. It is for
// one goroutine. The caller closes it.
type SQLRows struct {
	Columns  []SQLColumn
	First    []json.RawMessage // rows as JSON arrays, all of them where there are Count
	Count    int64             // rows that came
	Total    int64             // rows that the database gave; more where Superset shows no more than its DISPLAY_MAX_ROW
	Size     int64             // bytes of those that Each gives, each a line of JSON, at most
	Bound    string            // chat.BoundBySize or chat.BoundByTime: the cap behind which rows were not kept; "" is none
	Limited  bool              // the limit was reached: the database has more than Total
	Executed string            // the statement as Superset rewrote and ran it
	QueryID  int

	kept *spool
	at   []int  // column → place of its cell in a kept row, -1 where rows have none
	big  []bool // column → large integers may stand in it
}

// An SQLColumn is a column of a result. Its type is that of the database, or guessed from the rows by Superset (INT,
// FLOAT, STRING), or "".
type SQLColumn struct {
	Name string
	Type string
}

// rows gives the kept rows the columns that the end of the answer named.
func (a sqlAnswer) rows() (*SQLRows, error) {
	r := &SQLRows{
		Count: a.kept.count, Total: max(a.kept.count, a.query.Rows), Size: a.kept.size, Bound: a.kept.bound, Limited: a.query.Factor != "NOT_LIMITED",
		Executed: a.query.Executed, QueryID: a.queryID, kept: a.kept,
	}
	for _, c := range a.columns {
		at := slices.Index(a.kept.names, c.Name)
		if at < 0 {
			r.Size += a.kept.rows * int64(len(",null"))
		}
		r.Columns = append(r.Columns, SQLColumn{c.Name, c.Type})
		r.at, r.big = append(r.at, at), append(r.big, c.number())
	}
	err := r.kept.first(func(cells [][]byte) error {
		r.First = append(r.First, r.row(nil, cells))
		return nil
	})
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Each hands over the rows that are kept, from the first on, as JSON arrays; a row is good until yield returns. It may
// be called again. It ends with yield's error, or with Internal where the rows could not be kept.
func (r *SQLRows) Each(yield func(json.RawMessage) error) error {
	var line []byte
	return r.kept.each(func(cells [][]byte) error {
		line = r.row(line[:0], cells)
		return yield(line)
	})
}

// Close lets go of the rows. It may be called again.
func (r *SQLRows) Close() { r.kept.close() }

// row appends the cells in the order of the columns.
func (r *SQLRows) row(line []byte, cells [][]byte) []byte {
	line = append(line, '[')
	for i, at := range r.at {
		if i > 0 {
			line = append(line, ',')
		}
		cell := null
		if at >= 0 && at < len(cells) {
			cell = cells[at]
		}
		if r.big[i] {
			cell = exact(cell)
		}
		line = append(line, cell...)
	}
	return append(line, ']')
}

// exact takes the quotes from an integer that browsers would round: Superset sends those as texts. Other texts in a
// column of numbers are the database's own.
func exact(cell []byte) []byte {
	if len(cell) < 2 || cell[0] != '"' {
		return cell
	}
	n := cell[1 : len(cell)-1]
	digits := bytes.TrimPrefix(n, []byte("-"))
	const largest = "9007199254740991" // 2^53 - 1
	if len(digits) == 0 || digits[0] == '0' || len(bytes.Trim(digits, "0123456789")) > 0 {
		return cell
	}
	if len(digits) < len(largest) || len(digits) == len(largest) && string(digits) <= largest {
		return cell
	}
	return n
}
