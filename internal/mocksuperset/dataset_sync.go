package mocksuperset

import (
	"errors"
	"strings"
)

// errNoTable is a physical dataset whose table is not there.
var errNoTable = errors.New("no such table")

// sourceColumns reads what columns a dataset has in its database now. Of SQL the
// types are guessed from its rows.
func (c *call) sourceColumns(ds row) ([]tableColumn, error) {
	db := c.st.get("dbs", ds.int("database_id"))
	if db == nil {
		return nil, errNoTable
	}
	source, err := c.s.data.database(db.str("sqlalchemy_uri"))
	if err != nil {
		return nil, err
	}
	if ds.str("sql") == "" {
		columns, err := tableColumns(c.r.Context(), source, ds.str("table_name"))
		if err == nil && len(columns) == 0 {
			err = errNoTable
		}
		for i := range columns {
			columns[i].declared = columns[i].long()
		}
		return columns, err
	}
	text, err := c.renderedSQL(ds)
	if err != nil {
		return nil, err
	}
	if !oneQuery(text) {
		return nil, errNoQuery
	}
	if t := ds.str("template_params"); t != "" {
		if _, err := parseJSON([]byte(t)); err != nil {
			return nil, err
		}
	}
	f, err := query(c.r.Context(), source, text, 50)
	if err != nil {
		return nil, err
	}
	var out []tableColumn
	for i, name := range f.names {
		out = append(out, tableColumn{name, guessType(f, i)})
	}
	return out, nil
}

var errNoQuery = errors.New("the SQL of a dataset is one query")

// oneQuery says whether SQL can be a dataset: one statement that reads and is no bare list of values.
func oneQuery(text string) bool {
	list := statements(text)
	if len(list) != 1 {
		return false
	}
	parts := code(tokens(list[0]))
	return !mutates(parts) && firstWord(parts) != "VALUES"
}

// renderedSQL is the SQL of a virtual dataset with its template filled in.
func (c *call) renderedSQL(ds row) (string, error) {
	return c.render(strings.TrimRight(strings.TrimSpace(ds.str("sql")), "; \n"), object(ds.str("template_params")))
}

// guessType is the type of a column by its values: empty when there are none
// to go by.
func guessType(f *frame, column int) string {
	ints, floats, texts, others := 0, 0, 0, 0
	for _, r := range f.rows {
		switch r[column].(type) {
		case nil:
		case int64:
			ints++
		case float64:
			floats++
		case string:
			texts++
		default:
			others++
		}
	}
	switch {
	case texts > 0:
		return "STRING"
	case others > 0:
		return ""
	case floats > 0:
		return "FLOAT"
	case ints > 0:
		return "INT"
	}
	return ""
}

// syncColumns makes the columns of a dataset those of its source. Known ones
// keep their names and descriptions, calculated ones stay unless fresh is true.
func (c *call) syncColumns(ds row, source []tableColumn, fresh bool) {
	st, now := c.write(), c.now()
	old := map[string]row{}
	for _, col := range c.columns(ds) {
		if fresh {
			st.remove("table_columns", col.id())
			continue
		}
		old[col.str("column_name")] = col
	}
	first := ""
	for _, col := range source {
		var declared any = col.declared
		if col.declared == "" {
			declared = nil
		}
		if have := old[col.name]; have != nil {
			st.update("table_columns", have.id(), row{"type": declared, "expression": nil, "groupby": true, "filterable": true})
			delete(old, col.name)
		} else {
			st.insert("table_columns", row{"table_id": ds.id(), "column_name": col.name, "type": declared, "is_dttm": col.isTime(),
				"is_active": true, "groupby": true, "filterable": true, "uuid": c.s.newUUID(), "created_on": now, "changed_on": now,
				"created_by_fk": c.userID(), "changed_by_fk": c.userID()})
		}
		if first == "" && col.isTime() {
			first = col.name
		}
	}
	for _, col := range old {
		if col.str("expression") == "" {
			st.remove("table_columns", col.id())
		}
	}
	if ds.str("main_dttm_col") == "" && first != "" {
		st.update("tables", ds.id(), row{"main_dttm_col": first})
	}
	for _, m := range c.metrics(ds) {
		if m.str("metric_name") == "count" {
			return
		}
	}
	c.addMetric(ds.id(), row{"metric_name": "count", "expression": "COUNT(*)", "verbose_name": "COUNT(*)", "metric_type": "count"})
}

func (c *call) addMetric(dataset int, fields row) row {
	now := c.now()
	return c.write().insert("sql_metrics", row{"table_id": dataset, "uuid": c.s.newUUID(), "created_on": now, "changed_on": now,
		"created_by_fk": c.userID(), "changed_by_fk": c.userID()}.with(fields))
}

func (c *call) refreshDataset() answer {
	ds, a, good := c.datasetToChange()
	if !good {
		return a
	}
	source, err := c.sourceColumns(ds)
	if errors.Is(err, errNoTable) {
		return message(422, "Dataset could not be updated.")
	}
	if err != nil {
		return fatal
	}
	c.syncColumns(ds, source, false)
	return okMessage()
}

// datasetToChange finds what a write is about: 404 when it is not seen, 403 when not owned.
func (c *call) datasetToChange() (row, answer, bool) {
	id, isNumber := c.id("id")
	ds := c.st.get("tables", id)
	if !isNumber || ds == nil || !c.seesDataset(ds) {
		return nil, notFound, false
	}
	if !c.owns("sqlatable_user", "table_id", id) {
		return nil, forbidden, false
	}
	return ds, answer{}, true
}
