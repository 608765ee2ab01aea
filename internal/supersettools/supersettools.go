// Package supersettools holds the operations on Superset that a model may choose from, one file each.
package supersettools

import (
	"context"
	"embed"
	"encoding/json"
	"io"
	"strings"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

// Backups keeps the export that is taken before something is deleted.
type Backups interface {
	// Store reads r to its end and keeps it as an artifact of the conversation. An artifact that was not
	// created is an error.
	Store(ctx context.Context, who chat.Identity, conversation, title string, r io.Reader) (*chat.Artifact, error)
}

// Deps are what the operations work with.
type Deps struct {
	Environments *Environments
	Capabilities Capabilities
	Backups      Backups
	Migrations   Migrations
	Rows         superset.SQLCaps // of what is kept of a statement's rows, those of a stored result

	// Kept opens what Backups stored. Missing for another's, Gone for what has expired.
	Kept func(ctx context.Context, who chat.Identity, conversation, id string) (io.ReadCloser, error)
}

//go:embed *.md
var texts embed.FS

// New returns the operations in their fixed order.
func New(d Deps) []tool.Tool {
	return []tool.Tool{
		showCapabilities(d),

		searchDashboards(d),
		getDashboard(d),
		checkDashboard(d),
		inspectChart(d),
		updateChart(d),
		updateDashboard(d),
		refreshDashboard(d),
		deleteDashboard(d),

		searchDatasets(d),
		getDataset(d),
		checkDataset(d),
		refreshDataset(d),
		updateDataset(d),
		createDataset(d),
		deleteDataset(d),

		exportAssets(d),
		planMigration(d),
		applyMigration(d),
		rollbackMigration(d),

		environmentStatus(d),
		runSQL(d),
	}
}

// text is what the model reads about an operation. One without a text is a mistake of ours.
func text(name string) string {
	b, err := texts.ReadFile(name + ".md")
	if err != nil {
		panic("supersettools: " + err.Error())
	}
	return strings.TrimSpace(string(b))
}

// define makes an operation on one environment. refs names the arguments that are references to objects: they are shown
// as texts, and a number is taken as well.
func define[In any](d Deps, name string, risk tool.Risk, perms, refs []string, bind func(op, In) (tool.Bound, error)) tool.Tool {
	t := tool.New(tool.Tool{Name: name, Description: text(name), Risk: risk, Perms: perms, NeedsEnv: true}, func(c tool.Call, in In) (tool.Bound, error) {
		env, err := d.Environments.find(c.Env)
		if err != nil {
			return tool.Bound{}, err
		}
		b, err := bind(op{env: env, envs: d.Environments, call: c}, in)
		if b.Risk == "" {
			b.Risk = risk
		}
		return b, err
	})
	strict := t.Bind
	t.Bind = func(c tool.Call) (tool.Bound, error) {
		c.Args = numbersAsText(c.Args, refs)
		return strict(c)
	}
	return t
}

// numbersAsText quotes the named arguments where they are numbers, as models often write ids.
func numbersAsText(args json.RawMessage, names []string) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(args, &m) != nil {
		return args
	}
	changed := false
	for _, n := range names {
		if v := m[n]; len(v) > 0 && v[0] >= '0' && v[0] <= '9' {
			m[n], changed = json.RawMessage(`"`+string(v)+`"`), true
		}
	}
	if !changed {
		return args
	}
	b, err := json.Marshal(m)
	if err != nil {
		return args
	}
	return b
}

// An op is one call of an operation on one environment.
type op struct {
	env  Environment
	envs *Environments
	call tool.Call
}

func (o op) session() (*superset.Session, error) { return o.env.Client.As(o.call.Who) }

// reading is a Bound that only reads.
func (o op) reading(run func(context.Context, *superset.Session) (tool.Result, error)) (tool.Bound, error) {
	return tool.Bound{Risk: tool.Read, Run: func(ctx context.Context) (tool.Result, error) {
		s, err := o.session()
		if err != nil {
			return tool.Result{}, err
		}
		return run(ctx, s)
	}}, nil
}

// object is v as compact JSON in the order of its fields.
func object(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("supersettools: " + err.Error()) // our own structs always marshal
	}
	return b
}

func invalid(pointer, detail string) error {
	return &fault.Error{Kind: fault.Invalid, Msg: strings.TrimPrefix(pointer, "/") + ": " + detail,
		Fields: []fault.Field{{Pointer: pointer, Detail: detail}}}
}
