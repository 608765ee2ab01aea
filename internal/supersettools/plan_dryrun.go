package supersettools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	pack "agentd/internal/bundle"
	"agentd/internal/fault"
	"agentd/internal/superset"
)

// endpoints are the imports by kind, in the order in which objects need one another.
var endpoints = []struct {
	kind pack.Kind
	to   superset.ImportKind
}{
	{pack.Dataset, superset.ImportDatasets}, {pack.Chart, superset.ImportCharts}, {pack.Dashboard, superset.ImportDashboards},
}

// dryRun lets the target check the files itself, as a bundle that no Superset ever writes. So it also tells of objects
// that the user does not see.
func (p *plan) dryRun(ctx context.Context) error {
	if !slices.ContainsFunc(p.items, func(i *item) bool { return i.sent() }) {
		return nil
	}
	return onDisk(func(w io.Writer) error {
		return p.moved.Write(ctx, w, pack.Rewrite{Type: superset.DryRun, Keep: p.keep})
	}, func(z superset.Zip) error {
		told := map[string]bool{}
		for _, e := range endpoints {
			if !slices.ContainsFunc(p.items, func(i *item) bool { return i.kind == e.kind && i.sent() }) {
				continue
			}
			refusals, err := p.dst.TryImport(ctx, e.to, z)
			switch fault.KindOf(err) {
			case "":
			case fault.Denied:
				p.block(fmt.Sprintf("Superset does not let the user import %ss into %s.", e.kind, p.target.ID))
				continue
			default:
				return err
			}
			for _, r := range refusals {
				p.refused(r, told)
			}
		}
		return nil
	})
}

func (p *plan) refused(r superset.Refusal, told map[string]bool) {
	k, uuid, ok := pack.ParseEntry(r.Entry)
	n := slices.IndexFunc(p.items, func(i *item) bool { return ok && i.kind == k && i.uuid == uuid })
	if n < 0 {
		p.block(p.target.ID + " would refuse the bundle: " + r.Text)
		return
	}
	i := p.items[n]
	switch {
	case r.Exists && i.there == nil:
		i.action = actConflict
		p.block(fmt.Sprintf("The %s “%s” exists in %s and is hidden from the user.", i.kind, i.title, p.target.ID))
	case r.Exists, told[r.Entry+r.Text]:
	default:
		told[r.Entry+r.Text] = true
		p.block(fmt.Sprintf("%s would refuse the %s “%s”: %s", p.target.ID, i.kind, i.title, r.Text))
	}
}

// keep selects the files that are sent.
func (p *plan) keep(o pack.Object) bool {
	return slices.ContainsFunc(p.items, func(i *item) bool { return i.kind == o.Kind && i.uuid == o.UUID && i.sent() })
}

// seal orders the items and makes the digest that an approval is bound to: who, what, and the state of both sides.
func (p *plan) seal(user string) {
	rank := map[pack.Kind]int{pack.Dashboard: 0, pack.Chart: 1, pack.Dataset: 2}
	slices.SortStableFunc(p.items, func(a, b *item) int {
		if d := rank[a.kind] - rank[b.kind]; d != 0 {
			return d
		}
		return strings.Compare(a.title+a.uuid, b.title+b.uuid)
	})
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%d %s\n", user, object(p.args), p.me.ID, object(p.uuids))
	for _, i := range p.items {
		fmt.Fprintf(h, "%s %s %s %s %s %s", i.kind, i.source, i.uuid, i.action, i.after, i.before)
		if i.there != nil {
			fmt.Fprintf(h, " %d %s %v", i.there.id, i.there.changed, personIDs(i.there.owners))
		}
		fmt.Fprintln(h)
	}
	fmt.Fprintln(h, object(p.blockers))
	p.digest = hex.EncodeToString(h.Sum(nil))
}
