package supersettools

import (
	"context"
	"io"
	"iter"
	"slices"

	pack "agentd/internal/bundle"
	"agentd/internal/superset"
)

// oneRequest reports whether Superset would take the objects in one transaction: only with a permission, and not a
// dashboard without charts, of which that import leaves a broken row.
func oneRequest(me superset.Me, objects iter.Seq[pack.Object]) bool {
	if !me.May("can_import_ on ImportExportRestApi") {
		return false
	}
	for o := range objects {
		if o.Kind == pack.Dashboard && len(o.Charts) == 0 {
			return false
		}
	}
	return true
}

// A sending is a bundle on its way into a Superset.
type sending struct {
	bundle    *pack.Bundle
	keep      func(pack.Object) bool // what is written; the rest are parents
	one       bool                   // in one request
	databases []superset.Database    // of the target
	done      func(pack.Kind)        // a kind was taken
}

// send writes. In one request it is all or nothing; otherwise done was called for what was taken before an error.
func (x sending) send(ctx context.Context, s *superset.Session) error {
	if x.one {
		return onDisk(func(w io.Writer) error {
			return x.bundle.Write(ctx, w, pack.Rewrite{Type: string(superset.ImportAssets), Keep: x.keep})
		}, func(z superset.Zip) error { return s.Import(ctx, superset.ImportAssets, z) })
	}
	for n, e := range endpoints {
		if !slices.ContainsFunc(x.bundle.Objects(), func(o pack.Object) bool { return o.Kind == e.kind && x.keep(o) }) {
			continue
		}
		// Parents stay as they are there, but must be in the bundle.
		keep := func(o pack.Object) bool {
			for _, below := range endpoints[:n] {
				if o.Kind == below.kind {
					return true
				}
			}
			return o.Kind == e.kind && x.keep(o)
		}
		err := onDisk(func(w io.Writer) error {
			return x.bundle.Write(ctx, w, pack.Rewrite{Type: string(e.to), Keep: keep, Stubs: x.stubs()})
		}, func(z superset.Zip) error { return s.Import(ctx, e.to, z) })
		if err != nil {
			return err
		}
		x.done(e.kind)
	}
	return nil
}

// stubs name the target's connections that the datasets stand on.
func (x sending) stubs() []pack.Connection {
	var out []pack.Connection
	for _, d := range x.databases {
		if slices.ContainsFunc(x.bundle.Objects(), func(o pack.Object) bool { return o.Kind == pack.Dataset && o.Database == d.UUID }) {
			out = append(out, pack.Connection{UUID: d.UUID, Name: d.Name, Backend: d.Backend})
		}
	}
	return out
}
