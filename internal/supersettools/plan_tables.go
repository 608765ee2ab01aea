package supersettools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	pack "agentd/internal/bundle"
	"agentd/internal/fault"
	"agentd/internal/superset"
)

// tables looks whether the target's databases have what the datasets stand for.
func (p *plan) tables(ctx context.Context) error {
	var look []*item
	for _, i := range p.items {
		if i.kind == pack.Dataset && i.action != actConflict && i.action != actTakeover {
			look = append(look, i)
		}
	}
	found := make([]tableLook, len(look))
	err := each(ctx, 4, look, func(ctx context.Context, n int, i *item) error {
		var err error
		found[n], err = p.table(ctx, i)
		return err
	})
	if err != nil {
		return err
	}
	for n, i := range look {
		p.judge(i, found[n])
	}
	return nil
}

// A tableLook is what was found behind a dataset.
type tableLook struct {
	columns []superset.TableColumn
	missing bool
	silent  string // why nothing can be said
}

func (p *plan) table(ctx context.Context, i *item) (tableLook, error) {
	d, known := p.database(func(d superset.Database) bool { return d.UUID == i.object.Database })
	if !known || i.object.Virtual {
		return tableLook{}, nil
	}
	columns, err := p.dst.Table(ctx, d.ID, i.object.Catalog, i.object.Schema, i.object.Table)
	switch k := fault.KindOf(err); k {
	case "":
		return tableLook{columns: columns}, nil
	case fault.Missing:
		return tableLook{missing: true}, nil
	case fault.Canceled, fault.Timeout, fault.Auth:
		return tableLook{}, err
	}
	return tableLook{silent: fault.Message(err)}, nil
}

func (p *plan) judge(i *item, t tableLook) {
	names := i.object.Names
	switch {
	case t.silent != "":
		p.warn(fmt.Sprintf("Whether the table of “%s” exists in %s is not known: %s", i.title, p.target.ID, t.silent))
	case t.missing && i.sent():
		p.block(fmt.Sprintf("The table %s of the dataset “%s” does not exist in %s, or is hidden from the user.", i.object.Table, i.title, p.target.ID))
	case t.missing:
		p.warn(fmt.Sprintf("The table of the dataset “%s” does not exist in %s.", i.title, p.target.ID))
	case i.object.Virtual && i.sent():
		p.warn(fmt.Sprintf("The statement of the dataset “%s” is sent as it is; whether it runs in %s shows only after the migration.", i.title, p.target.ID))
	}
	var gone []string
	if len(t.columns) > 0 && i.sent() {
		for _, c := range i.object.Columns {
			if !slices.ContainsFunc(t.columns, func(v superset.TableColumn) bool { return v.Name == c }) {
				gone = append(gone, c)
			}
		}
		if len(gone) > 0 {
			p.warn(fmt.Sprintf("The table of the dataset “%s” lacks in %s: %s.", i.title, p.target.ID, strings.Join(gone, ", ")))
		}
	}
	if i.action == actKept { // what the charts will find is the target's dataset
		if o, ok := p.theirOwn(i); ok {
			for _, n := range names {
				if !slices.Contains(o.Names, n) {
					gone = append(gone, n)
				}
			}
		}
	}
	for _, c := range p.items {
		if c.kind != pack.Chart || !slices.Contains(c.object.Needs, i.uuid) {
			continue
		}
		var broken []string
		for _, n := range gone {
			if slices.Contains(c.object.Uses, n) {
				broken = append(broken, n)
			}
		}
		if len(broken) > 0 {
			p.warn(fmt.Sprintf("The chart “%s” will not work in %s: it needs %s of “%s”.", c.title, p.target.ID, strings.Join(broken, ", "), i.title))
		}
	}
}

func (p *plan) theirOwn(i *item) (pack.Object, bool) {
	for _, b := range p.theirs {
		if o, ok := b.Find(i.kind, i.uuid); ok {
			return o, true
		}
	}
	return pack.Object{}, false
}
