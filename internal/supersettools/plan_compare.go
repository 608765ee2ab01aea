package supersettools

import (
	"context"
	"fmt"
	"slices"

	pack "agentd/internal/bundle"
	"agentd/internal/fault"
)

// converted are chart types that an import turns into newer ones: such a chart never equals its source.
var converted = []string{"area", "bar", "bubble", "dist_bar", "dual_line", "filter_box", "heatmap", "histogram", "line", "pivot_table", "sankey", "treemap"}

// compare reads what the target has of the objects, and says of each what would become of it.
func (p *plan) compare(ctx context.Context) error {
	if err := p.readTarget(ctx); err != nil {
		return err
	}
	for _, f := range p.moved.Check() {
		if f.Code == pack.TwiceUUID || f.Code == pack.TwiceSlug {
			p.block(title(f.Title, kind(f.Kind), f.UUID) + ": " + f.Text)
		}
	}
	for _, i := range p.items {
		o, ok := p.moved.Find(i.kind, i.uuid)
		if !ok {
			return fault.New(fault.Internal, "an object was lost while the bundle was rewritten")
		}
		i.object = o
		after, err := p.moved.Content(o)
		if err != nil {
			return err
		}
		i.after = after.Hash()
		if slices.Contains(converted, after.Text("viz_type")) {
			i.converts = true
			p.warn(fmt.Sprintf("The chart “%s” has the old type %s, which Superset converts while it imports; a filter box becomes filters of the dashboard and vanishes.", i.title, after.Text("viz_type")))
		}
		if i.action != "" { // a takeover or a conflict
			continue
		}
		if i.there == nil {
			i.action = actCreate
			i.changes = pack.Diff(pack.Content{}, after)
			continue
		}
		before, found, err := p.content(i)
		if err != nil {
			return err
		}
		if !found {
			p.block(fmt.Sprintf("The %s “%s” exists in %s, but Superset does not export it, so it cannot be compared or backed up.", i.kind, i.title, p.target.ID))
			i.action = actConflict
			continue
		}
		i.before = before.Hash()
		i.changes = pack.Diff(before, after)
		switch {
		case i.before == i.after:
			i.action = actUnchanged
		case !p.args.writes(i.kind):
			i.action = actKept
			p.warn(fmt.Sprintf("The %s “%s” differs in %s and stays as it is there; overwrite: %s would update it.", i.kind, i.title, p.target.ID, p.wider(i.kind)))
		default:
			i.action = actUpdate
			p.cleared(i)
		}
	}
	for _, i := range p.items { // a dashboard with such a chart may get filters in its place
		i.converts = i.converts || slices.ContainsFunc(p.items, func(c *item) bool { return c.converts && slices.Contains(i.object.Charts, c.uuid) })
	}
	p.allowed()
	return nil
}

func (p *plan) wider(k pack.Kind) string {
	if k == pack.Chart {
		return overwriteCharts
	}
	return overwriteAll
}

// readTarget exports what exists of the objects there; that is the backup, too.
func (p *plan) readTarget(ctx context.Context) error {
	for _, k := range []pack.Kind{pack.Dashboard, pack.Chart, pack.Dataset} {
		var ids []int
		for _, i := range p.items {
			if i.kind == k && i.there != nil && !p.exported(i) && !slices.Contains(ids, i.there.id) {
				ids = append(ids, i.there.id)
			}
		}
		if len(ids) == 0 {
			continue
		}
		b, err := export(ctx, p.dst, k, ids)
		switch fault.KindOf(err) {
		case "":
			p.theirs = append(p.theirs, b)
		case fault.Denied:
			p.warn(fmt.Sprintf("The %ss of %s cannot be exported: %s", k, p.target.ID, fault.Message(err)))
		default:
			return err
		}
	}
	return nil
}

func (p *plan) exported(i *item) bool {
	return slices.ContainsFunc(p.theirs, func(b *pack.Bundle) bool { _, ok := b.Find(i.kind, i.uuid); return ok })
}

func (p *plan) content(i *item) (pack.Content, bool, error) {
	for _, b := range p.theirs {
		if o, ok := b.Find(i.kind, i.uuid); ok {
			c, err := b.Content(o)
			return c, true, err
		}
	}
	return pack.Content{}, false, nil
}

// cleared tells which fields of the target the bundle empties, since nobody expects that of a copy.
func (p *plan) cleared(i *item) {
	for _, c := range i.changes {
		switch c.Field {
		case "css", "certified_by", "certification_details", "slug", "description", "published":
			if len(c.Before) > 0 && string(c.Before) != "null" && (len(c.After) == 0 || string(c.After) == "null") {
				p.warn(fmt.Sprintf("The %s “%s” loses its %s in %s.", i.kind, i.title, c.Field, p.target.ID))
			}
		}
	}
}

// allowed blocks what Superset would refuse the user late: objects of others, kinds that the role may not write.
func (p *plan) allowed() {
	views := map[pack.Kind]string{pack.Dashboard: "Dashboard", pack.Chart: "Chart", pack.Dataset: "Dataset"}
	told := map[pack.Kind]bool{}
	for _, i := range p.items {
		if !i.sent() {
			continue
		}
		if !p.me.May("can_write on "+views[i.kind]) && !told[i.kind] {
			told[i.kind] = true
			p.block(fmt.Sprintf("Superset does not let the user write %ss in %s.", i.kind, p.target.ID))
		}
		if i.there != nil {
			if err := mustOwn(p.me, string(i.kind), i.title, i.there.owners); err != nil {
				p.block(fault.Message(err))
			}
		}
	}
}
