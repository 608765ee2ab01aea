package supersettools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	pack "agentd/internal/bundle"
	"agentd/internal/superset"
)

// objects are those of the bundle of one kind.
func (p *plan) objects(k pack.Kind) []pack.Object {
	var out []pack.Object
	for _, o := range p.bundle.Objects() {
		if o.Kind == k {
			out = append(out, o)
		}
	}
	return out
}

func uuidsOf(objects []pack.Object, swap map[string]string) []string {
	out := []string{}
	for _, o := range objects {
		u := o.UUID
		if v, ok := swap[u]; ok {
			u = v
		}
		if !slices.Contains(out, u) {
			out = append(out, u)
		}
	}
	return out
}

func (p *plan) add(o pack.Object) *item {
	i := &item{kind: o.Kind, source: o.UUID, uuid: o.UUID, title: title(o.Title, kind(o.Kind), o.UUID)}
	p.items = append(p.items, i)
	return i
}

// connections finds the target's connection for each of the source's. Superset would find one by its name, and an
// Admin's import would write over it.
func (p *plan) connections(context.Context) error {
	for _, o := range p.objects(pack.Database) {
		if to, ok := lookUp(p.args.DatabaseMap, o.UUID, o.Title); ok {
			d, found := p.database(func(d superset.Database) bool { return strings.EqualFold(d.UUID, to) || d.Name == to })
			if !found {
				return invalid("/database_map", "names "+to+", which is no connection that the user sees in "+p.target.ID)
			}
			if d.Backend != o.Backend {
				p.warn(fmt.Sprintf("“%s” speaks %s and “%s” speaks %s: statements may fail.", o.Title, o.Backend, d.Name, d.Backend))
			}
			p.uuids[o.UUID] = d.UUID
			continue
		}
		if _, same := p.database(func(d superset.Database) bool { return d.UUID == o.UUID }); same {
			continue
		}
		if d, named := p.database(func(d superset.Database) bool { return d.Name == o.Title && d.Backend == o.Backend }); named {
			p.uuids[o.UUID] = d.UUID
			continue
		}
		p.block(fmt.Sprintf("%s has no connection “%s”. Name the one to use in database_map; it has: %s. A new connection, with its password, is made by an Admin in Superset.",
			p.target.ID, o.Title, strings.Join(p.databaseNames(), ", ")))
	}
	return nil
}

func (p *plan) databaseNames() []string {
	var out []string
	for _, d := range p.databases {
		out = append(out, d.Name)
	}
	return out
}

func (p *plan) database(fit func(superset.Database) bool) (superset.Database, bool) {
	i := slices.IndexFunc(p.databases, fit)
	if i < 0 {
		return superset.Database{}, false
	}
	return p.databases[i], true
}

// swapped is the target's uuid for one of the bundle.
func (p *plan) swapped(uuid string) string {
	if v, ok := p.uuids[uuid]; ok {
		return v
	}
	return uuid
}

// decided is the object that a person named in identity_map.
func (p *plan) decided(uuid string) (string, bool) { return lookUp(p.args.IdentityMap, uuid) }

// datasets finds out which dataset of the target each of the bundle is. An import finds one by its uuid, and else
// takes over whatever stands on the same table.
func (p *plan) datasets(ctx context.Context) error {
	all := p.objects(pack.Dataset)
	for _, o := range all {
		if to, ok := p.decided(o.UUID); ok {
			p.uuids[o.UUID] = to
		}
	}
	rows, err := p.dst.DatasetsByUUID(ctx, uuidsOf(all, p.uuids))
	if err != nil {
		return err
	}
	for _, o := range all {
		if err := p.dataset(ctx, p.add(o), o, rows); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) dataset(ctx context.Context, i *item, o pack.Object, rows []superset.DatasetRow) error {
	i.uuid = p.swapped(o.UUID)
	own := slices.IndexFunc(rows, func(d superset.DatasetRow) bool { return d.UUID == i.uuid })
	to, chosen := p.decided(o.UUID)
	if chosen && own < 0 {
		return invalid("/identity_map", "names "+to+", which is no dataset that the user sees in "+p.target.ID)
	}
	db, known := p.database(func(d superset.Database) bool { return d.UUID == p.swapped(o.Database) })
	if !known { // its connection is a blocker already
		if own >= 0 {
			i.is(rows[own])
		}
		return nil
	}
	schema := o.Schema
	if v, ok := lookUp(p.args.SchemaMap, schema); ok {
		schema = v
	}
	there, err := p.dst.DatasetsOn(ctx, db.ID, o.Table)
	if err != nil {
		return err
	}
	there = slices.DeleteFunc(there, func(d superset.DatasetRow) bool {
		return d.UUID == i.uuid || schema != "" && d.Schema != "" && d.Schema != schema || o.Catalog != "" && d.Catalog != "" && d.Catalog != o.Catalog
	})
	where := fmt.Sprintf("“%s” on “%s”", o.Table, db.Name)
	switch {
	case own >= 0:
		i.is(rows[own])
		if d := rows[own]; d.Database.ID != db.ID {
			i.action = actConflict
			p.block(fmt.Sprintf("The dataset “%s” of %s is on the connection “%s” and not on “%s”: an import would fail. Map the connection, or move the dataset there first.", i.title, p.target.ID, d.Database.Name, db.Name))
		} else if len(there) > 0 {
			i.action = actConflict
			p.block(fmt.Sprintf("%s has the dataset “%s” and another one (%s) for the table %s: an import would do nothing. One of them must go first.", p.target.ID, i.title, there[0].UUID, where))
		}
	case len(there) > 1:
		i.action = actConflict
		p.block(fmt.Sprintf("%s has %s for the table %s. Say in identity_map which one is meant: %s.", p.target.ID, count(len(there), "dataset"), where, rowUUIDs(there)))
	case len(there) == 1 && (there[0].Kind == "virtual") != o.Virtual:
		i.action = actTakeover
		p.block(fmt.Sprintf("%s has a %s dataset %s (%s), which an import would turn into another kind. Decide: identity_map {from: %s, to: %s} updates it.", p.target.ID, there[0].Kind, where, there[0].UUID, o.UUID, there[0].UUID))
	case len(there) == 1:
		i.uuid = there[0].UUID
		p.uuids[o.UUID] = i.uuid
		i.mapped = "it stands for the same table"
		i.is(there[0])
		p.warn(fmt.Sprintf("The dataset %s exists in %s under another uuid (%s): that one is used.", where, p.target.ID, i.uuid))
	case p.me.May("can_write on Dataset"):
		taken, err := p.dst.TableTaken(ctx, db.ID, o.Catalog, schema, o.Table)
		if err != nil {
			return err
		}
		if taken {
			i.action = actTakeover
			p.block(fmt.Sprintf("%s has a dataset %s that is hidden from the user, and an import would take it over. Its owner or an Admin must do this.", p.target.ID, where))
		}
	}
	if i.mapped == "" && chosen {
		i.mapped = "decided by identity_map"
	}
	return nil
}

func (i *item) is(d superset.DatasetRow) {
	i.there = &present{id: d.ID, changed: d.ChangedOn, owners: d.Owners}
}

func rowUUIDs(rows []superset.DatasetRow) string {
	var out []string
	for _, r := range rows {
		out = append(out, r.UUID)
	}
	return strings.Join(out, ", ")
}

// dashboards does the same for dashboards, which an import finds by uuid and else takes over by slug.
func (p *plan) dashboards(ctx context.Context) error {
	all := p.objects(pack.Dashboard)
	for _, o := range all {
		if to, ok := p.decided(o.UUID); ok {
			p.uuids[o.UUID] = to
		}
	}
	rows, err := p.dst.DashboardsByUUID(ctx, uuidsOf(all, p.uuids))
	if err != nil {
		return err
	}
	for _, o := range all {
		if err := p.dashboard(ctx, p.add(o), o, rows); err != nil {
			return err
		}
	}
	return p.charts(ctx)
}

func (p *plan) dashboard(ctx context.Context, i *item, o pack.Object, rows []superset.DashboardRow) error {
	i.uuid = p.swapped(o.UUID)
	own := slices.IndexFunc(rows, func(d superset.DashboardRow) bool { return d.UUID == i.uuid })
	held := ""
	if own >= 0 {
		i.there = &present{id: rows[own].ID, changed: rows[own].ChangedOn, owners: rows[own].Owners}
		held = rows[own].Slug
	}
	if to, ok := p.decided(o.UUID); ok {
		if own < 0 {
			return invalid("/identity_map", "names "+to+", which is no dashboard that the user sees in "+p.target.ID)
		}
		i.mapped = "decided by identity_map"
	}
	slug := o.Slug
	if v, ok := lookUp(p.args.SlugMap, o.UUID, o.Slug); ok {
		slug = v
	}
	p.slugs[o.UUID] = slug
	if slug == "" || slug == held {
		return nil
	}
	holders, err := p.dst.DashboardsBySlug(ctx, slug)
	if err != nil {
		return err
	}
	if len(holders) > 0 {
		h := holders[0]
		i.action = actTakeover
		text := fmt.Sprintf("%s has another dashboard “%s” (%s) with the slug “%s”, which an import would take over. Decide: ", p.target.ID, h.Title, h.UUID, slug)
		if own < 0 {
			text += fmt.Sprintf("identity_map {from: %s, to: %s} updates it, or ", o.UUID, h.UUID)
		}
		p.block(text + "slug_map gives the moved one another slug.")
		return nil
	}
	taken, err := p.dst.SlugTaken(ctx, slug)
	if err != nil {
		return err
	}
	if taken {
		i.action = actTakeover
		p.block(fmt.Sprintf("%s has a dashboard with the slug “%s” that is hidden from the user, and an import would take it over. Give the moved one another slug by slug_map.", p.target.ID, slug))
	}
	return nil
}

func (p *plan) charts(ctx context.Context) error {
	all := p.objects(pack.Chart)
	rows, err := p.dst.ChartsByUUID(ctx, uuidsOf(all, nil))
	if err != nil {
		return err
	}
	for _, o := range all {
		i := p.add(o)
		if n := slices.IndexFunc(rows, func(c superset.ChartRow) bool { return c.UUID == o.UUID }); n >= 0 {
			i.there = &present{id: rows[n].ID, changed: rows[n].ChangedOn, owners: rows[n].Owners}
		}
	}
	return nil
}
