package supersettools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	pack "agentd/internal/bundle"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

type rollbackArgs struct {
	MigrationID string `json:"migration_id" jsonschema:"minLength=1,maxLength=200,description=Of apply_migration"`
}

func rollbackMigration(d Deps) tool.Tool {
	t := define(d, "rollback_migration", tool.Dangerous, migrationPerms, nil, func(o op, in rollbackArgs) (tool.Bound, error) {
		if migrationEnv("mig", in.MigrationID) != o.env.ID {
			return tool.Bound{}, invalid("/migration_id", "must be the migration_id that apply_migration gave")
		}
		return o.writing(&undoing{o: o, d: d, id: in.MigrationID},
			"Open the objects of the migration in "+o.env.ID+" and look whether they are as before."), nil
	})
	t.Timeout = migrationTime
	t.Envs = envsOf("migration_id", "mig")
	return t
}

// An undoing is one call of rollback_migration.
type undoing struct {
	o  op
	d  Deps
	id string
}

// What becomes of an object.
const (
	fateRestore = "restored"
	fateDelete  = "deleted"
	fateNone    = "nothing to do" // it was not written, or is gone
	fateLeft    = "left alone"
)

// A fate is what a rollback does with one object of a migration.
type fate struct {
	item recordItem
	what string
	why  string
	at   present
}

// A retreat is a rollback that was thought through.
type retreat struct {
	l      *ledger
	me     superset.Me
	fates  []fate
	backup *pack.Bundle // nil where nothing is restored
}

func (v *retreat) close() {
	if v.backup != nil {
		v.backup.Close()
	}
}

func (v *retreat) count(what string) int {
	n := 0
	for _, f := range v.fates {
		if f.what == what {
			n++
		}
	}
	return n
}

// look compares what the migration left with what is there now. The caller closes it.
func (x *undoing) look(ctx context.Context, s *superset.Session) (_ *retreat, err error) {
	v := &retreat{}
	defer func() {
		if err != nil {
			v.close()
		}
	}()
	if v.l, err = openLedger(ctx, x.d.Migrations, x.id, x.o.call.Who.User, x.o.env.ID); err != nil {
		return v, err
	}
	if v.l.m.State == chat.MigrationUndone {
		return v, fault.New(fault.Conflict, "This migration was rolled back already.")
	}
	rec := v.l.rec
	if !rec.Sent {
		return v, fault.New(fault.Conflict, "This migration wrote nothing, so there is nothing to roll back.")
	}
	if v.me, err = s.Me(ctx); err != nil {
		return v, err
	}
	seen, err := rec.inventory(ctx, s)
	if err != nil {
		return v, err
	}
	var differs []string
	if slices.ContainsFunc(rec.Items, func(i recordItem) bool { return i.After.IsZero() }) {
		// Its end was never seen, so no date tells what is the migration's and what is somebody's.
		if differs, err = rec.differ(ctx, s, seen); err != nil {
			return v, err
		}
	}
	for n, i := range rec.Items {
		f := fate{item: i, what: fateRestore}
		at, there := seen[i.UUID]
		f.at = at
		if i.Created {
			f.what = fateDelete
		}
		switch {
		case !there:
			f.what, f.why = fateNone, "it is not there"
		case i.After.IsZero() && differs[n] != "":
			f.what, f.why = fateLeft, "it is not as the migration would have left it"
		case !i.After.IsZero() && (at.id != i.ID || !at.changed.Equal(i.After.Time)):
			f.what, f.why = fateLeft, "it was changed after the migration, at "+at.changed.String()
		default:
			if e := mustOwn(v.me, string(i.Kind), i.Title, at.owners); e != nil {
				f.what, f.why = fateLeft, fault.Message(e)
			}
		}
		v.fates = append(v.fates, f)
	}
	if v.count(fateRestore) > 0 {
		err = x.openBackup(ctx, v)
	}
	return v, err
}

func (x *undoing) openBackup(ctx context.Context, v *retreat) error {
	if x.d.Kept == nil || v.l.rec.Backup == "" {
		return fault.New(fault.Gone, "There is no backup of this migration.")
	}
	r, err := x.d.Kept(ctx, x.o.call.Who, v.l.rec.Conversation, v.l.rec.Backup)
	if err != nil {
		return err
	}
	defer r.Close()
	if v.backup, err = pack.Read(ctx, r, "", pack.Limits{}); err != nil {
		return err
	}
	for n := range v.fates {
		f := &v.fates[n]
		if _, ok := v.backup.Find(f.item.Kind, f.item.UUID); f.what == fateRestore && !ok {
			f.what, f.why = fateLeft, "the backup does not have it"
		}
	}
	return nil
}

func (x *undoing) preview(ctx context.Context, s *superset.Session) (tool.Preview, error) {
	v, err := x.look(ctx, s)
	if err != nil {
		return tool.Preview{}, err
	}
	defer v.close()
	p := tool.Preview{ConfirmPreview: chat.ConfirmPreview{
		Object: fmt.Sprintf("Rollback of the migration of %s from %s to %s", v.l.rec.Title, v.l.rec.Source, x.o.env.ID), BlastRadius: []chat.Dependent{}, Diff: []chat.Change{},
	}}
	print := []string{x.id, v.l.rec.Backup}
	for _, f := range v.fates {
		name := fmt.Sprintf("%s “%s”", f.item.Kind, f.item.Title)
		print = append(print, fmt.Sprint(f.item.UUID, f.what, f.at.id, f.at.changed, personIDs(f.at.owners)))
		switch f.what {
		case fateDelete:
			p.Diff = append(p.Diff, chat.Change{Field: name, Before: object("created by the migration")})
		case fateRestore:
			p.Diff = append(p.Diff, chat.Change{Field: name, Before: object("as migrated"), After: object("as before the migration")})
		case fateLeft:
			p.Notes = append(p.Notes, "The "+name+" is left alone: "+f.why+".")
		}
	}
	p.Diff = removalsFirst(p.Diff)
	p.Notes = append(p.Notes, "What is used by something else by now is not deleted.", neverBack)
	p.Fingerprint = fingerprint(print)
	return p, nil
}

const neverBack = "The dates and names of the last change, and the numbers of columns and metrics that had been deleted, do not come back."

type rollbackView struct {
	MigrationID string      `json:"migration_id"`
	Verified    bool        `json:"verified"`
	Wrong       []string    `json:"wrong,omitempty"`
	Objects     []undoneRow `json:"objects"`
	NotRestored string      `json:"not_restored"`
}

type undoneRow struct {
	Kind  pack.Kind `json:"kind"`
	Title string    `json:"title"`
	Fate  string    `json:"fate"`
	Why   string    `json:"why,omitempty"`
}

func (x *undoing) run(ctx context.Context, s *superset.Session) (tool.Result, error) {
	v, err := x.look(ctx, s)
	if err != nil {
		return tool.Result{}, err
	}
	defer v.close()
	before := v.l.m.State
	if err := v.l.begin(ctx); err != nil {
		return tool.Result{}, err
	}
	if v.count(fateRestore) > 0 {
		if err := x.restore(ctx, s, v); err != nil {
			return tool.Result{}, x.broken(ctx, v, before, err)
		}
	}
	r := tool.Result{}
	r.Warnings = v.owners(ctx, s)
	for _, k := range []pack.Kind{pack.Dashboard, pack.Chart, pack.Dataset} {
		for n := range v.fates {
			if f := &v.fates[n]; f.what == fateDelete && f.item.Kind == k {
				if err := f.delete(ctx, s); err != nil {
					return tool.Result{}, x.broken(ctx, v, before, err)
				}
			}
		}
	}
	return x.finish(ctx, s, v, r)
}

// broken ends a rollback that could not go on. What was restored stays restored, and it may be called again.
func (x *undoing) broken(ctx context.Context, v *retreat, before chat.MigrationState, cause error) error {
	switch fault.KindOf(cause) {
	case fault.Unknown, fault.Timeout, fault.Canceled:
		return cause // the target stays closed until it was read back
	}
	if err := v.l.end(ctx, before); err != nil {
		return err
	}
	return cause
}

func (x *undoing) restore(ctx context.Context, s *superset.Session, v *retreat) error {
	databases, err := s.Databases(ctx)
	if err != nil {
		return err
	}
	keep := func(o pack.Object) bool {
		return slices.ContainsFunc(v.fates, func(f fate) bool { return f.what == fateRestore && f.item.UUID == o.UUID && f.item.Kind == o.Kind })
	}
	one := oneRequest(v.me, func(yield func(pack.Object) bool) {
		for _, o := range v.backup.Objects() {
			if keep(o) && !yield(o) {
				return
			}
		}
	})
	err = sending{bundle: v.backup, keep: keep, one: one, databases: databases, done: func(pack.Kind) {}}.send(ctx, s)
	if k := fault.KindOf(err); k == fault.Internal || k == fault.Invalid {
		return &fault.Error{Kind: fault.Conflict, Code: "import_refused", Err: err, Msg: x.o.env.ID + " refused the backup, and nothing more was done. The file of the backup can be imported by hand."}
	}
	return err
}

// owners puts back those of what was restored.
func (v *retreat) owners(ctx context.Context, s *superset.Session) []string {
	rec := v.restored()
	seen, err := rec.inventory(ctx, s)
	if err != nil {
		return []string{"The owners could not be put back: " + fault.Message(err)}
	}
	return rec.giveBack(ctx, s, v.me, seen)
}

// restored is a record of what the backup has, as if that were a migration.
func (v *retreat) restored() *migrationRecord {
	rec := &migrationRecord{}
	for _, f := range v.fates {
		if f.what != fateRestore {
			continue
		}
		i := f.item
		o, ok := v.backup.Find(i.Kind, i.UUID)
		if !ok {
			continue
		}
		if c, err := v.backup.Content(o); err == nil {
			i.Hash = c.Hash()
		}
		i.Charts, i.Convert = o.Charts, false
		rec.Items = append(rec.Items, i)
	}
	return rec
}

// delete removes what the migration had made, unless something else uses it by now. A refusal is a fate, no error.
func (f *fate) delete(ctx context.Context, s *superset.Session) error {
	used, err := f.used(ctx, s)
	if err == nil && used != "" {
		f.what, f.why = fateLeft, used
		return nil
	}
	if err != nil {
		return err
	}
	switch f.item.Kind {
	case pack.Dashboard:
		err = s.DeleteDashboard(ctx, f.at.id)
	case pack.Chart:
		err = s.DeleteChart(ctx, f.at.id)
	default:
		err = s.DeleteDataset(ctx, f.at.id)
	}
	switch fault.KindOf(err) {
	case fault.Conflict, fault.Denied, fault.Invalid, fault.Internal:
		f.what, f.why = fateLeft, "Superset refused: "+fault.Message(err)
		return nil
	case fault.Missing:
		return nil
	}
	return err
}

func (f *fate) used(ctx context.Context, s *superset.Session) (string, error) {
	switch f.item.Kind {
	case pack.Chart:
		page, err := s.Charts(ctx, superset.ChartFilter{IDs: []int{f.at.id}}, 1)
		if err != nil || len(page.Rows) == 0 {
			return "", err
		}
		if n := len(page.Rows[0].Dashboards); n > 0 {
			return "it is on " + count(n, "dashboard") + " by now", nil
		}
	case pack.Dataset:
		page, err := s.Charts(ctx, superset.ChartFilter{Dataset: f.at.id}, 1)
		if err != nil {
			return "", err
		}
		if page.Total > 0 {
			return count(page.Total, "chart") + " use it by now", nil
		}
		filters, _, err := filterUses(ctx, s, f.at.id)
		if err != nil || len(filters) == 0 {
			return "", err
		}
		return "a filter of “" + filters[0].Title + "” uses it by now", nil
	}
	return "", nil
}

func (x *undoing) finish(ctx context.Context, s *superset.Session, v *retreat, r tool.Result) (tool.Result, error) {
	wrong, err := x.check(ctx, s, v)
	if err != nil {
		return r, afterWrite(err)
	}
	state := chat.MigrationUndone
	if v.count(fateLeft) > 0 || len(wrong) > 0 {
		state = chat.MigrationDone // what is left may be taken back later
		v.l.rec.forget(v.fates)
	}
	if err := v.l.end(ctx, state); err != nil {
		return r, afterWrite(err)
	}
	view := rollbackView{MigrationID: x.id, Verified: len(wrong) == 0, Wrong: wrong, Objects: []undoneRow{}, NotRestored: neverBack}
	var left []string
	for _, f := range v.fates {
		view.Objects = append(view.Objects, undoneRow{f.item.Kind, f.item.Title, f.what, f.why})
		if f.what == fateLeft {
			left = append(left, fmt.Sprintf("the %s “%s” (%s)", f.item.Kind, f.item.Title, f.why))
		}
	}
	r.Summary = fmt.Sprintf("Rolled back the migration of %s in %s: %d restored, %d deleted.", v.l.rec.Title, x.o.env.ID, v.count(fateRestore), v.count(fateDelete))
	if len(left) > 0 {
		r.Summary += " Left alone: " + strings.Join(left, "; ") + "."
	}
	if len(wrong) > 0 {
		r.Summary += " Reading back found differences: " + strings.Join(wrong, "; ") + "."
	}
	r.Data = object(view)
	return r, nil
}

// forget drops what is done, so that a second rollback only looks at the rest.
func (r *migrationRecord) forget(fates []fate) {
	r.Items = slices.DeleteFunc(r.Items, func(i recordItem) bool {
		return slices.ContainsFunc(fates, func(f fate) bool { return f.what != fateLeft && f.item.UUID == i.UUID && f.item.Kind == i.Kind })
	})
}

// check reads back: what was restored is as in the backup, what was deleted is gone.
func (x *undoing) check(ctx context.Context, s *superset.Session, v *retreat) ([]string, error) {
	rec := v.restored()
	seen, err := rec.inventory(ctx, s)
	if err != nil {
		return nil, err
	}
	wrong, err := rec.wrong(ctx, s, seen)
	if err != nil {
		return nil, err
	}
	all, err := v.l.rec.inventory(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, f := range v.fates {
		if _, there := all[f.item.UUID]; f.what == fateDelete && there {
			wrong = append(wrong, fmt.Sprintf("the %s “%s” is still there", f.item.Kind, f.item.Title))
		}
	}
	return wrong, nil
}

// readBack finds out, after an answer was lost, whether what was there before is there again.
func (x *undoing) readBack(ctx context.Context, s *superset.Session, _ tool.Preview) (tool.Outcome, error) {
	l, err := openLedger(ctx, x.d.Migrations, x.id, x.o.call.Who.User, x.o.env.ID)
	if err != nil {
		return tool.Outcome{}, err
	}
	if l.m.State == chat.MigrationUndone {
		return tool.Outcome{Outcome: chat.OutcomeApplied, Evidence: "The rollback came to its end."}, nil
	}
	v := &retreat{l: l}
	defer v.close()
	for _, i := range l.rec.Items {
		what := fateRestore
		if i.Created {
			what = fateDelete
		}
		v.fates = append(v.fates, fate{item: i, what: what})
	}
	if v.count(fateRestore) > 0 {
		if err := x.openBackup(ctx, v); err != nil {
			return tool.Outcome{}, err
		}
	}
	wrong, err := x.check(ctx, s, v)
	if err != nil {
		return tool.Outcome{}, err
	}
	state, out := chat.MigrationDone, tool.Outcome{Outcome: chat.OutcomeStillUnknown, Evidence: "A part is as before the migration, another is not: " + strings.Join(wrong, "; ") + ". rollback_migration may be called again."}
	switch len(wrong) {
	case 0:
		state, out = chat.MigrationUndone, tool.Outcome{Outcome: chat.OutcomeApplied, Evidence: "All objects were read and are as before the migration."}
	case len(l.rec.Items):
		out = tool.Outcome{Outcome: chat.OutcomeNotApplied, Evidence: "All objects were read and none is as before the migration."}
	}
	if l.m.State == chat.MigrationBusy {
		if err := l.end(ctx, state); err != nil {
			return tool.Outcome{}, err
		}
	}
	return out, nil
}
