package supersettools

import (
	"context"
	"io"
	"os"

	pack "agentd/internal/bundle"
	"agentd/internal/fault"
	"agentd/internal/superset"
)

// What a plan does with an object.
const (
	actCreate    = "create"
	actUpdate    = "update"
	actUnchanged = "unchanged"
	actKept      = "kept"     // it differs, and overwrite leaves it alone
	actTakeover  = "takeover" // another object of the target stands in its place: a person decides
	actConflict  = "conflict"
)

// An item is one object of a plan.
type item struct {
	kind    pack.Kind
	source  string // uuid in the source
	uuid    string // in the target
	title   string
	action  string
	mapped  string // how another uuid came about
	changes []pack.Change
	object  pack.Object // of the moved bundle
	after   string      // hash of what it will be
	before  string      // hash of what it is; "" does not exist
	there   *present

	converts bool // the import makes something else of it, so that reading back cannot compare it
}

// A present is an object as the target has it.
type present struct {
	id      int
	changed superset.Time
	owners  []superset.Person
}

// sent reports whether the item's file goes to the target.
func (i item) sent() bool { return i.action == actCreate || i.action == actUpdate }

// A plan is what a migration would do, computed from both sides. The same state of both gives the same digest.
type plan struct {
	args     planArgs
	src, dst *superset.Session
	source   Environment
	target   Environment
	me       superset.Me // in the target

	bundle *pack.Bundle   // as exported
	moved  *pack.Bundle   // with the target's identities
	theirs []*pack.Bundle // what the target has of it

	databases []superset.Database // of the target
	uuids     map[string]string
	slugs     map[string]string
	gone      []string
	items     []*item
	blockers  []string
	warnings  []string
	affected  []affected // what changes although it was not named
	digest    string
}

// An affected is a dashboard of the target that changes along.
type affected struct {
	id    int
	title string
	why   string
}

func (p *plan) block(text string) { p.blockers = append(p.blockers, text) }
func (p *plan) warn(text string)  { p.warnings = append(p.warnings, text) }

// close removes the bundles.
func (p *plan) close() {
	for _, b := range append(p.theirs, p.bundle, p.moved) {
		if b != nil {
			b.Close()
		}
	}
}

// makePlan reads both sides and writes to neither. The caller closes the plan. Its error is about the exchange or the
// arguments; what stands in the way of a migration are the plan's blockers.
func makePlan(ctx context.Context, o op, args planArgs) (_ *plan, err error) {
	p := &plan{args: args, target: o.env, uuids: map[string]string{}, slugs: map[string]string{}}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.source, err = o.envs.find(args.Source); err != nil {
		return p, err
	}
	if p.src, err = p.source.Client.As(o.call.Who); err != nil {
		return p, err
	}
	if p.dst, err = o.session(); err != nil {
		return p, err
	}
	for _, step := range []func(context.Context) error{
		p.export, p.inventory, p.connections, p.datasets, p.dashboards, p.move, p.compare, p.versions, p.tables, p.shared, p.dryRun,
	} {
		if err = step(ctx); err != nil {
			return p, err
		}
	}
	p.seal(o.call.Who.User)
	return p, nil
}

func (p *plan) export(ctx context.Context) (err error) {
	if p.bundle, err = export(ctx, p.src, pack.Kind(p.args.Type), p.args.IDs); err != nil {
		return err
	}
	for _, f := range p.bundle.Check() {
		text := title(f.Title, kind(f.Kind), f.UUID) + ": " + f.Text
		if f.Code == pack.NoChart {
			p.warn(text + " The layout will do without it.")
			continue
		}
		p.block(text)
	}
	for _, o := range p.bundle.Objects() {
		for _, c := range o.Charts {
			if _, ok := p.bundle.Find(pack.Chart, c); !ok {
				p.gone = append(p.gone, c)
			}
		}
	}
	return nil
}

func (p *plan) inventory(ctx context.Context) (err error) {
	if p.me, err = p.dst.Me(ctx); err != nil {
		return err
	}
	p.databases, err = p.dst.Databases(ctx)
	return err
}

func (p *plan) versions(ctx context.Context) error {
	from, err := p.src.Version(ctx)
	if err != nil {
		return err
	}
	to, err := p.dst.Version(ctx)
	if err != nil {
		return err
	}
	if from != to {
		p.warn("The environments run different versions of Superset: " + p.source.ID + " " + from + ", " + p.target.ID + " " + to + ".")
	}
	return nil
}

// move writes the bundle with the target's identities.
func (p *plan) move(ctx context.Context) (err error) {
	schemas := map[string]string{}
	for _, m := range p.args.SchemaMap {
		schemas[m.From] = m.To
	}
	p.moved, err = rewritten(ctx, func(w io.Writer) error {
		return p.bundle.Write(ctx, w, pack.Rewrite{Type: string(superset.ImportAssets), UUIDs: p.uuids, Slugs: p.slugs, Schemas: schemas, Gone: p.gone})
	})
	return err
}

// rewritten reads what write writes. The caller closes it.
func rewritten(ctx context.Context, write func(io.Writer) error) (*pack.Bundle, error) {
	r, w := io.Pipe()
	go func() { w.CloseWithError(write(w)) }()
	b, err := pack.Read(ctx, r, "", pack.Limits{})
	r.Close()
	return b, err
}

// onDisk writes a zip into a file and hands it to use, which may send it twice.
func onDisk(write func(io.Writer) error, use func(superset.Zip) error) error {
	f, err := os.CreateTemp("", "agentd-import-*.zip")
	if err != nil {
		return fault.Wrap(fault.Internal, "", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	_ = os.Remove(f.Name()) // at once where the system allows it, so that a crash leaves nothing
	if err := write(f); err != nil {
		return err
	}
	size, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return fault.Wrap(fault.Internal, "", err)
	}
	return use(superset.Zip{Size: size, Open: func() io.Reader { return io.NewSectionReader(f, 0, size) }})
}
