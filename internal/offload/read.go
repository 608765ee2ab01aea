package offload

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"unicode/utf8"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/tool"
)

// MaxReadRows is how many rows of an artifact the model gets at once.
const MaxReadRows = 200

//go:embed read_artifact.md
var readDescription string

type readArgs struct {
	ArtifactID string         `json:"artifact_id" jsonschema:"required,description=Id or URI of the stored result"`
	Cursor     string         `json:"cursor,omitempty" jsonschema:"description=next_cursor of the page before; leave out for the first page"`
	Limit      int            `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,description=Rows at most"`
	Columns    []string       `json:"columns,omitempty" jsonschema:"description=Only these columns in this order"`
	Filter     []readFilter   `json:"filter,omitempty" jsonschema:"description=Conditions that must all hold"`
	Sort       []string       `json:"sort,omitempty" jsonschema:"maxItems=3,description=Columns to sort by; a minus before the name sorts downwards"`
	Aggregate  *readAggregate `json:"aggregate,omitempty" jsonschema:"description=Compute values instead of listing rows"`
}

type readFilter struct {
	Column string `json:"column" jsonschema:"required"`
	Op     string `json:"op" jsonschema:"required,enum=eq,enum=ne,enum=lt,enum=le,enum=gt,enum=ge,enum=contains,enum=is_null,enum=not_null"`
	Value  string `json:"value,omitempty" jsonschema:"description=What to compare with as text; numbers are compared as numbers"`
}

type readAggregate struct {
	GroupBy []string    `json:"group_by,omitempty" jsonschema:"description=Columns whose equal cells make a group"`
	Values  []readValue `json:"values" jsonschema:"required,minItems=1"`
}

type readValue struct {
	Fn     string `json:"fn" jsonschema:"required,enum=count,enum=count_distinct,enum=sum,enum=avg,enum=min,enum=max"`
	Column string `json:"column,omitempty" jsonschema:"description=Needed for all but count"`
}

// Tool is read_artifact. Its pages are below the gate's limit by construction. A stranger's artifact and an
// unknown one are the same to it.
func (g *Gate) Tool() tool.Tool {
	return tool.New(tool.Tool{
		Name: ReadArtifact, Description: strings.TrimSpace(readDescription), Risk: tool.Read, Always: true,
	}, func(c tool.Call, in readArgs) (tool.Bound, error) {
		id, err := named(c, in.ArtifactID)
		if err != nil {
			return tool.Bound{}, err
		}
		q := in.query()
		return tool.Bound{Risk: tool.Read, Run: func(ctx context.Context) (tool.Result, error) {
			return g.read(ctx, owner(c), id, q)
		}}, nil
	})
}

// named takes an id or a URI; a URI that names another conversation names nothing.
func named(c tool.Call, s string) (string, error) {
	u, ok := parseURI(s)
	switch {
	case !ok:
		return s, nil
	case u.pointer != "":
		return "", &fault.Error{Kind: fault.Invalid, Msg: "read_artifact reads a stored result as a whole; leave out what stands behind #.",
			Fields: []fault.Field{{Pointer: "/artifact_id", Detail: "must have no fragment"}}}
	case u.conversation != "" && u.conversation != c.Conversation:
		return "", fault.New(fault.Missing, "There is no such stored result.")
	}
	return u.id, nil
}

func (in readArgs) query() artifact.Query {
	q := artifact.Query{Request: artifact.Request{Cursor: in.Cursor, Limit: in.Limit, Columns: in.Columns}}
	if q.Limit == 0 {
		q.Limit = MaxReadRows
	}
	for _, f := range in.Filter {
		q.Filter = append(q.Filter, artifact.Condition(f))
	}
	for _, s := range in.Sort {
		name, desc := strings.CutPrefix(s, "-")
		q.Sort = append(q.Sort, artifact.Order{Column: name, Desc: desc})
	}
	if in.Aggregate != nil {
		q.Aggregate = &artifact.Aggregate{GroupBy: in.Aggregate.GroupBy}
		for _, v := range in.Aggregate.Values {
			q.Aggregate.Values = append(q.Aggregate.Values, artifact.Value(v))
		}
	}
	return q
}

// pageWords is what stands around a page at most: the summary, the header and the cursor.
const pageWords = 400

// read fetches a page that fits the limit with its columns and words around it.
func (g *Gate) read(ctx context.Context, who artifact.Owner, id string, q artifact.Query) (tool.Result, error) {
	if g.store == nil {
		return tool.Result{}, fault.New(fault.Missing, "There is no such stored result.")
	}
	m, err := g.store.Stat(ctx, who, id)
	if err != nil {
		return tool.Result{}, err
	}
	room := g.Limit(ReadArtifact) - pageWords
	if m.Format == chat.FormatRows && q.Aggregate == nil {
		cols := m.Columns
		if len(q.Columns) > 0 {
			cols = nil
			for _, n := range q.Columns {
				cols = append(cols, chat.Column{Name: n})
			}
		}
		for _, c := range cols {
			room -= utf8.RuneCount(quote(nil, c.Name)) + 1
		}
	}
	q.Chars = max(room, 1)
	p, err := g.store.Query(ctx, who, id, q)
	if err != nil {
		return tool.Result{}, err
	}
	if m.Format != chat.FormatRows {
		return pieceOf(p, q), nil
	}
	return pageOf(p, q), nil
}

func pieceOf(p artifact.Page, q artifact.Query) tool.Result {
	r := tool.Result{Data: quote(nil, p.Text), Summary: "A piece of the stored " + p.Meta.Format + "."}
	r.Bounded, r.Hint = goOn(p)
	r.Bounded = r.Bounded || q.Cursor != ""
	covers(&r, p)
	return r
}

func pageOf(p artifact.Page, q artifact.Query) tool.Result {
	r := tool.Result{Rows: &tool.Table{Columns: p.Columns, Rows: p.Rows}}
	what := "Row"
	if q.Aggregate != nil {
		what = "Group"
	} else if len(q.Filter) == 0 {
		r.Total = p.Meta.Rows
	}
	n := int64(len(p.Rows))
	switch {
	case n == 0:
		r.Summary = "No more rows."
		if p.Start == 0 {
			r.Summary = "No row matches."
		}
	case len(q.Filter) > 0 && q.Aggregate == nil && len(q.Sort) == 0: // its places are those of the artifact
		r.Summary = fmt.Sprintf("%d rows that match.", n)
	default:
		r.Summary = fmt.Sprintf("%ss %d to %d", what, p.Start+1, p.Start+n)
		if r.Total != nil {
			r.Summary += fmt.Sprintf(" of %d", *r.Total)
		}
		r.Summary += "."
	}
	r.Bounded, r.Hint = goOn(p)
	r.Bounded = r.Bounded || p.Start > 0
	covers(&r, p)
	return r
}

// covers says of a page that what is stored is not, or may not be, all that the source had.
func covers(r *tool.Result, p artifact.Page) {
	switch p.Meta.Coverage {
	case chat.CoveragePrefix:
		r.Source = chat.Incomplete
		r.Warnings = append(r.Warnings, "The source had more than what was stored.")
	case chat.CoverageUnknown:
		r.Source = chat.Unsure
	}
}

// goOn says how to get the next page.
func goOn(p artifact.Page) (more bool, hint string) {
	if p.EOF {
		return false, "This is the end."
	}
	return true, "next_cursor: " + p.Next
}
