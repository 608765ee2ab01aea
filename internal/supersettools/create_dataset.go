package supersettools

import (
	"context"
	"fmt"
	"slices"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

type createDatasetArgs struct {
	EnvID      string `json:"env_id,omitempty" jsonschema:"description=Environment; default: the current one"`
	Kind       string `json:"kind" jsonschema:"enum=table,enum=sql,enum=copy,description=table: needs database_id\\, schema\\, name. sql: needs database_id\\, name\\, sql. copy: needs copy_of\\, name"`
	Name       string `json:"name" jsonschema:"minLength=1,maxLength=250,description=Name of the table\\, or of the new dataset"`
	DatabaseID int    `json:"database_id,omitempty" jsonschema:"minimum=1,description=Database of the table or SQL"`
	Catalog    string `json:"catalog,omitempty" jsonschema:"maxLength=250,description=Only where the database has catalogs"`
	Schema     string `json:"schema,omitempty" jsonschema:"maxLength=250,description=Schema of the table; for sql the default schema"`
	SQL        string `json:"sql,omitempty" jsonschema:"maxLength=100000,description=One SELECT"`
	CopyOf     string `json:"copy_of,omitempty" jsonschema:"maxLength=2000,description=Virtual dataset: id\\, uuid or address"`
}

func createDataset(d Deps) tool.Tool {
	t := define(d, "create_dataset", tool.Write, []string{"can_read on Dataset", "can_write on Dataset"}, []string{"copy_of"},
		func(o op, in createDatasetArgs) (tool.Bound, error) {
			x := datasetCreation{in: in}
			switch {
			case in.Kind == "copy" && in.CopyOf == "":
				return tool.Bound{}, invalid("/copy_of", "is needed for a copy")
			case in.Kind == "copy" && (in.DatabaseID != 0 || in.SQL != "" || in.Schema != "" || in.Catalog != ""):
				return tool.Bound{}, invalid("/kind", "copy takes copy_of and name only")
			case in.Kind != "copy" && in.CopyOf != "":
				return tool.Bound{}, invalid("/copy_of", "belongs to kind copy only")
			case in.Kind != "copy" && in.DatabaseID == 0:
				return tool.Bound{}, invalid("/database_id", "is needed")
			case in.Kind == "sql" && in.SQL == "":
				return tool.Bound{}, invalid("/sql", "is needed")
			case in.Kind == "table" && in.SQL != "":
				return tool.Bound{}, invalid("/sql", "belongs to kind sql only")
			case in.Kind == "table" && in.Schema == "":
				return tool.Bound{}, invalid("/schema", "is needed: without it Superset makes a second dataset of a table that has one")
			}
			if in.Kind == "copy" {
				ref, err := o.ref("/copy_of", datasetKind, in.CopyOf)
				if err != nil {
					return tool.Bound{}, err
				}
				x.from = ref
			}
			return o.writing(x, "Open the list of datasets in Superset and look for its name."), nil
		})
	t.Timeout = 2 * time.Minute
	return t
}

// A datasetCreation is one call of create_dataset.
type datasetCreation struct {
	in   createDatasetArgs
	from superset.Ref
}

// A creationPlan is what a creation finds before it begins.
type creationPlan struct {
	database string
	base     superset.Dataset    // that is copied
	columns  int                 // of the table
	exists   superset.DatasetRow // ID 0: none
}

func (x datasetCreation) plan(ctx context.Context, s *superset.Session) (creationPlan, error) {
	var p creationPlan
	var err error
	databaseID, schema := x.in.DatabaseID, x.in.Schema
	if x.in.Kind == "copy" {
		if p.base, err = s.Dataset(ctx, x.from); err != nil {
			return p, err
		}
		if p.base.Kind != "virtual" {
			return p, invalid("/copy_of", "must be a virtual dataset; “"+p.base.Name+"” is a table")
		}
		databaseID, schema = p.base.Database.ID, p.base.Schema
	}
	all, err := s.Databases(ctx)
	if err != nil {
		return p, err
	}
	at := slices.IndexFunc(all, func(d superset.Database) bool { return d.ID == databaseID })
	if at < 0 {
		return p, invalid("/database_id", fmt.Sprintf("database %d does not exist or is hidden from the user", databaseID))
	}
	p.database = all[at].Name
	if p.exists, err = named(ctx, s, databaseID, schema, x.in.Name); err != nil || p.exists.ID != 0 {
		return p, err
	}
	if x.in.Kind == "table" {
		columns, err := s.Table(ctx, databaseID, x.in.Catalog, x.in.Schema, x.in.Name)
		if isMissing(err) {
			return p, invalid("/name", "is no table in schema "+x.in.Schema+" of “"+p.database+"”, or it is hidden from the user")
		} else if err != nil {
			return p, err
		}
		p.columns = len(columns)
	}
	return p, nil
}

// named finds the dataset of a name in a database and schema. Superset takes one name a schema, tables and SQL alike.
func named(ctx context.Context, s *superset.Session, database int, schema, name string) (superset.DatasetRow, error) {
	page, err := s.Datasets(ctx, superset.DatasetFilter{Name: name, Database: database}, superset.Paging{})
	if err != nil {
		return superset.DatasetRow{}, err
	}
	for _, d := range page.Rows {
		if d.Schema == schema {
			return d, nil
		}
	}
	return superset.DatasetRow{}, nil
}

func (x datasetCreation) preview(ctx context.Context, s *superset.Session) (tool.Preview, error) {
	p, err := x.plan(ctx, s)
	if err != nil {
		return tool.Preview{}, err
	}
	v := tool.Preview{
		ConfirmPreview: chat.ConfirmPreview{Object: x.in.Name, BlastRadius: []chat.Dependent{}, Diff: []chat.Change{}},
		Fingerprint:    fingerprint([]any{p.exists.ID, p.base}),
	}
	note := func(text string) { v.Notes = append(v.Notes, text) }
	if p.exists.ID != 0 {
		note(fmt.Sprintf("The dataset exists already (id %d); nothing will be made.", p.exists.ID))
		v.URL = s.PublicURL(superset.DatasetPath(p.exists.ID))
		return v, nil
	}
	v.Diff = append(v.Diff, chat.Change{Field: "dataset", After: object(x.in.Name)}, chat.Change{Field: "database", After: object(p.database)})
	switch x.in.Kind {
	case "table":
		note(fmt.Sprintf("The table has %s.", count(p.columns, "column")))
	case "sql":
		v.Diff = append(v.Diff, chat.Change{Field: "sql", After: object(x.in.SQL)})
		note("Superset runs the SQL once to learn its columns.")
	default:
		v.Diff = append(v.Diff, chat.Change{Field: "copy_of", After: object(p.base.Name)}, chat.Change{Field: "sql", After: object(p.base.SQL)})
	}
	note("Row-level rules of other datasets do not hold for a new one.")
	return v, nil
}

func (x datasetCreation) run(ctx context.Context, s *superset.Session) (tool.Result, error) {
	p, err := x.plan(ctx, s)
	if err != nil {
		return tool.Result{}, err
	}
	if p.exists.ID != 0 {
		return x.result(ctx, s, p.exists.ID, "exists already; nothing was made")
	}
	var id int
	if x.in.Kind == "copy" {
		id, err = s.DuplicateDataset(ctx, p.base.ID, x.in.Name)
	} else {
		n := superset.NewDataset{Database: x.in.DatabaseID, Name: x.in.Name}
		for _, part := range []struct {
			text string
			to   **string
		}{{x.in.Catalog, &n.Catalog}, {x.in.Schema, &n.Schema}, {x.in.SQL, &n.SQL}} {
			if part.text != "" {
				*part.to = &part.text
			}
		}
		id, err = s.CreateDataset(ctx, n)
	}
	if fault.KindOf(err) == fault.Internal && x.in.Kind == "sql" {
		return tool.Result{}, &fault.Error{Kind: fault.Invalid, Code: "sql", Err: err,
			Msg: "Superset could not make the dataset and gives no reason; as a rule its SQL fails or its database is out of reach."}
	}
	if err != nil {
		return tool.Result{}, err
	}
	r, err := x.result(ctx, s, id, "was made")
	if err != nil {
		return r, afterWrite(err)
	}
	return r, nil
}

// result reads the dataset back.
func (x datasetCreation) result(ctx context.Context, s *superset.Session, id int, what string) (tool.Result, error) {
	d, err := s.Dataset(ctx, superset.Ref{ID: id})
	if err != nil {
		return tool.Result{}, err
	}
	if d.Name != x.in.Name {
		return tool.Result{}, notTaken([]string{"name"})
	}
	v := datasetHeader(s, d)
	return tool.Result{
		Summary: fmt.Sprintf("The dataset “%s” (id %d) %s. It has %s.", d.Name, d.ID, what, count(len(d.Columns), "column")),
		Data: object(struct {
			Created bool        `json:"created"`
			Dataset datasetView `json:"dataset"`
		}{what == "was made", v}),
		Links: []chat.Link{{Title: d.Name, URL: v.URL}},
	}, nil
}

func (x datasetCreation) readBack(ctx context.Context, s *superset.Session, _ tool.Preview) (tool.Outcome, error) {
	p, err := x.plan(ctx, s)
	switch {
	case err != nil:
		return tool.Outcome{}, err
	case p.exists.ID == 0:
		return tool.Outcome{Outcome: chat.OutcomeNotApplied, Evidence: "There is no dataset of this name."}, nil
	}
	r, err := x.result(ctx, s, p.exists.ID, "is there")
	if err != nil {
		return tool.Outcome{}, err
	}
	return tool.Outcome{Outcome: chat.OutcomeApplied, Evidence: "A dataset of this name is there.", Result: &r}, nil
}
