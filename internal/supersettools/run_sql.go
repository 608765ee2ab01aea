package supersettools

import (
	"context"
	"fmt"
	"slices"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/sqlguard"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

type runSQLArgs struct {
	EnvID      string `json:"env_id,omitempty" jsonschema:"description=Environment; default: the current one"`
	DatabaseID int    `json:"database_id" jsonschema:"minimum=1,description=Id of the database; environment_status and get_dataset name it"`
	SQL        string `json:"sql" jsonschema:"minLength=1,maxLength=65536,description=One SELECT in the database's own dialect"`
	Catalog    string `json:"catalog,omitempty" jsonschema:"maxLength=250,description=Only where the database has catalogs"`
	Schema     string `json:"schema,omitempty" jsonschema:"maxLength=250,description=Default schema of the statement"`
	Limit      int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=1000,description=Rows; default 100"`
	Whole      bool   `json:"whole,omitempty" jsonschema:"description=All rows instead\\, kept as an artifact"`
	TimeoutS   int    `json:"timeout_s,omitempty" jsonschema:"minimum=1,maximum=60,description=Seconds; default 30"`
}

func runSQL(d Deps) tool.Tool {
	t := define(d, "run_sql", tool.Query, []string{"can_execute_sql_query on SQLLab"}, nil, func(o op, in runSQLArgs) (tool.Bound, error) {
		if in.Limit == 0 {
			in.Limit = 100
		}
		if in.Whole {
			in.Limit = superset.SQLMaxRows
			if d.Rows.Rows > 0 {
				in.Limit = int(d.Rows.Rows)
			}
		}
		if in.TimeoutS == 0 {
			in.TimeoutS = 30
		}
		q := sqlQuery{o, in, d.Rows}
		return tool.Bound{
			Run:     func(ctx context.Context) (tool.Result, error) { return with(o, ctx, q.run) },
			Preview: func(ctx context.Context) (tool.Preview, error) { return with(o, ctx, q.preview) },
		}, nil
	})
	t.Timeout = 75 * time.Second // the statement's own limit and the time to stop it
	return t
}

// A sqlQuery is one call of run_sql.
type sqlQuery struct {
	o    op
	in   runSQLArgs
	caps superset.SQLCaps
}

// judge finds the database's dialect and refuses what is not surely one read-only statement. Nothing was sent to the database then.
func (q sqlQuery) judge(ctx context.Context, s *superset.Session) (superset.Database, sqlguard.Options, string, error) {
	var none sqlguard.Options
	all, err := s.Databases(ctx)
	if err != nil {
		return superset.Database{}, none, "", err
	}
	at := slices.IndexFunc(all, func(d superset.Database) bool { return d.ID == q.in.DatabaseID })
	if at < 0 {
		return superset.Database{}, none, "", invalid("/database_id", fmt.Sprintf("database %d does not exist or is hidden from the user", q.in.DatabaseID))
	}
	db := all[at]
	o := sqlguard.Options{DenyFunctions: q.o.env.DenyFunctions[db.Backend], AllowFunctions: q.o.env.AllowFunctions[db.Backend]}
	v := sqlguard.Judge(db.Backend, q.in.SQL, o)
	if !v.Allow {
		return db, o, "", &fault.Error{Kind: fault.Invalid, Code: v.Rule, Msg: "The statement was not sent: " + v.Reason,
			Fields: []fault.Field{{Pointer: "/sql", Detail: v.Rule}}}
	}
	return db, o, v.SQL, nil
}

// preview is for environments in which a person is asked before a query.
func (q sqlQuery) preview(ctx context.Context, s *superset.Session) (tool.Preview, error) {
	db, _, sql, err := q.judge(ctx, s)
	if err != nil {
		return tool.Preview{}, err
	}
	rows := fmt.Sprintf("At most %d rows are read, for at most %d seconds.", q.in.Limit, q.in.TimeoutS)
	return tool.Preview{
		ConfirmPreview: chat.ConfirmPreview{Object: db.Name, Diff: []chat.Change{}, BlastRadius: []chat.Dependent{}, Notes: []string{
			"It reads and changes nothing: one " + db.Backend + " statement.", rows}},
		Fingerprint: fingerprint([]any{db, sql}),
	}, nil
}

func (q sqlQuery) run(ctx context.Context, s *superset.Session) (tool.Result, error) {
	db, guard, sql, err := q.judge(ctx, s)
	if err != nil {
		return tool.Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(q.in.TimeoutS)*time.Second)
	defer cancel()
	begin := time.Now()
	got, err := s.RunSQL(ctx, superset.Statement{Database: db.ID, Catalog: q.in.Catalog, Schema: q.in.Schema, SQL: sql, Limit: q.in.Limit, Caps: q.caps})
	if err != nil {
		return tool.Result{}, err
	}
	r := tool.Result{Rows: table(got), Bounded: got.Limited || got.Total > got.Count, Keep: q.in.Whole}
	what, more := count(int(got.Count), "row"), ""
	switch {
	case got.Limited:
		what, more = "The first "+what, "; there are more"
	case got.Total > got.Count:
		what = fmt.Sprintf("The first %d of %s", got.Count, count(int(got.Total), "row"))
	}
	if !got.Limited {
		r.Total = new(got.Total)
	}
	if got.Total > got.Count {
		r.Warnings = append(r.Warnings, fmt.Sprintf("Superset shows no more than %s of a result; its administrator may raise DISPLAY_MAX_ROW or give it a RESULTS_BACKEND.", count(int(got.Count), "row")))
	}
	r.Summary = fmt.Sprintf("%s from “%s” in %s%s.", what, db.Name, time.Since(begin).Round(10*time.Millisecond), more)
	// Superset writes the statement anew before it runs it. What it says it ran must be as harmless as what was judged.
	if v := sqlguard.Judge(db.Backend, got.Executed, guard); !v.Allow {
		r.Warnings = append(r.Warnings, "Superset rewrote the statement into one that agentd would not have sent ("+v.Rule+"): "+got.Executed)
	}
	return r, nil
}

// table takes over the rows, to be closed with the result.
func table(got *superset.SQLRows) *tool.Table {
	t := &tool.Table{Rows: got.First}
	for _, c := range got.Columns {
		t.Columns = append(t.Columns, chat.Column{Name: c.Name, Type: c.Type})
	}
	if int64(len(got.First)) == got.Count {
		got.Close()
		return t
	}
	t.Stream = &tool.Stream{Count: got.Count, Size: got.Size, Bound: got.Bound, Each: got.Each, Close: got.Close}
	return t
}
