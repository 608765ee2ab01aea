package mocksuperset

import (
	"context"
	"database/sql"
	"strings"
	"time"
)

// frame is the result of a query: columns with the types that the database
// declares, and rows of nil, int64, float64, string or []byte.
type frame struct {
	names    []string
	declared []string
	rows     [][]any
}

// querier is a database or one connection to it.
type querier interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// query runs one statement and reads at most limit rows; limit below 0 is all.
func query(ctx context.Context, db querier, text string, limit int) (*frame, error) {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := &frame{}
	if out.names, err = rows.Columns(); err != nil {
		return nil, err
	}
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	for _, t := range types {
		out.declared = append(out.declared, t.DatabaseTypeName())
	}
	for rows.Next() {
		if limit >= 0 && len(out.rows) >= limit {
			break
		}
		values, into := make([]any, len(out.names)), make([]any, len(out.names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		for i, v := range values {
			values[i] = asStored(v, out.declared[i])
		}
		out.rows = append(out.rows, values)
	}
	return out, rows.Err()
}

// asStored undoes what the driver makes of texts in columns of times: Superset
// gets them as SQLite keeps them.
func asStored(v any, declared string) any {
	t, isTime := v.(time.Time)
	if !isTime {
		if b, isBool := v.(bool); isBool {
			return int64(asInt(b))
		}
		return v
	}
	if strings.EqualFold(declared, "DATE") && t.Equal(t.Truncate(24*time.Hour)) {
		return t.Format("2006-01-02")
	}
	return t.Format(storedLayout)
}

// sqliteText is the message of an error without the driver's own words.
func sqliteText(err error) string {
	text := strings.TrimPrefix(err.Error(), "SQL logic error: ")
	text = strings.TrimPrefix(text, "constraint failed: ")
	if cut := strings.LastIndex(text, " ("); cut > 0 && strings.HasSuffix(text, ")") {
		text = text[:cut]
	}
	return text
}
