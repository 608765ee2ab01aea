package supersettools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	pack "agentd/internal/bundle"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

type applyArgs struct {
	PlanID string `json:"plan_id" jsonschema:"minLength=1,maxLength=200,description=Of plan_migration"`
}

// migrationPerms is what writing a migration, or undoing it, needs in the target.
var migrationPerms = []string{"can_write on Dashboard", "can_write on Chart", "can_write on Dataset"}

func applyMigration(d Deps) tool.Tool {
	t := define(d, "apply_migration", tool.Dangerous, migrationPerms, nil, func(o op, in applyArgs) (tool.Bound, error) {
		if migrationEnv("plan", in.PlanID) != o.env.ID {
			return tool.Bound{}, invalid("/plan_id", "must be the plan_id that plan_migration gave")
		}
		return o.writing(&applying{o: o, d: d, plan: in.PlanID, id: "mig" + strings.TrimPrefix(in.PlanID, "plan")},
			"Open the dashboards of the migration in "+o.env.ID+" and compare them with their source."), nil
	})
	t.Timeout = migrationTime
	t.Envs = envsOf("plan_id", "plan")
	return t
}

// envsOf reads the target out of the id of a plan or migration.
func envsOf(argument, prefix string) func(tool.Call) []string {
	return func(c tool.Call) []string {
		var in map[string]json.RawMessage
		var id string
		if json.Unmarshal(c.Args, &in) != nil || json.Unmarshal(in[argument], &id) != nil {
			return nil
		}
		if env := migrationEnv(prefix, id); env != "" {
			return []string{env}
		}
		return nil
	}
}

// An applying is one call of apply_migration. The migration's id is made of the plan's: a plan is carried out once.
type applying struct {
	o    op
	d    Deps
	plan string
	id   string
}

// compute makes the plan anew and refuses when either side has moved on since it was shown.
func (x *applying) compute(ctx context.Context) (*plan, error) {
	if x.d.Migrations == nil {
		return nil, fault.New(fault.Internal, "no store of plans is wired")
	}
	m, err := x.d.Migrations.Migration(ctx, x.plan, x.o.call.Who.User)
	if err != nil {
		return nil, err
	}
	if m.Target != x.o.env.ID {
		return nil, fault.New(fault.Missing, "There is no such plan or migration.")
	}
	switch l, err := openLedger(ctx, x.d.Migrations, x.id, x.o.call.Who.User, x.o.env.ID); {
	case err == nil && (l.rec.Sent || l.m.State == chat.MigrationBusy):
		return nil, fault.New(fault.Conflict, "This plan was carried out already, or is being carried out. Make a new one with plan_migration.")
	case err != nil && !isMissing(err):
		return nil, err
	}
	var rec planRecord
	if err := json.Unmarshal(m.Body, &rec); err != nil {
		return nil, fault.Wrap(fault.Internal, "", err)
	}
	p, err := makePlan(ctx, x.o, rec.Args)
	if err != nil {
		return nil, err
	}
	if p.digest != rec.Digest {
		p.close()
		return nil, &fault.Error{Kind: fault.Conflict, Code: "plan_stale", Msg: "The source or the target has changed since the plan was made. Nothing was written; make a new plan with plan_migration."}
	}
	return p, nil
}

func (x *applying) preview(ctx context.Context, s *superset.Session) (tool.Preview, error) {
	p, err := x.compute(ctx)
	if err != nil {
		return tool.Preview{}, err
	}
	defer p.close()
	v := tool.Preview{Fingerprint: p.digest, ConfirmPreview: chat.ConfirmPreview{
		Object: fmt.Sprintf("Migration of %s from %s to %s", p.title(), p.source.ID, p.target.ID), BlastRadius: []chat.Dependent{},
	}}
	updated := 0
	for _, i := range p.items {
		name := fmt.Sprintf("%s “%s”", i.kind, i.title)
		switch i.action {
		case actCreate:
			v.Diff = append(v.Diff, chat.Change{Field: name, After: object("created")})
		case actUpdate:
			updated++
			for _, c := range i.changes {
				v.Diff = append(v.Diff, chat.Change{Field: name + "/" + c.Field, Before: c.Before, After: c.After})
			}
			v.Owners = append(v.Owners, peopleNames(i.there.owners)...)
			if i.kind == pack.Dashboard && v.URL == "" {
				v.URL = s.PublicURL(superset.DashboardPath(i.there.id, i.object.Slug))
				v.ChangedOn = i.there.changed.String()
			}
		}
	}
	slices.Sort(v.Owners)
	v.Owners = slices.Compact(v.Owners)
	v.Diff = removalsFirst(v.Diff)
	for _, a := range p.affected {
		v.BlastRadius = append(v.BlastRadius, chat.Dependent{Kind: "dashboard", ID: fmt.Sprint(a.id), Title: a.title, URL: s.PublicURL(superset.DashboardPath(a.id, "")), Note: a.why})
	}
	if p.oneRequest() {
		v.Notes = append(v.Notes, "All is written in one request: all or nothing.")
	} else {
		v.Notes = append(v.Notes, "It is written in up to three requests: if one fails, those before it stay and can be rolled back.")
	}
	if updated > 0 {
		v.Notes = append(v.Notes, "What is updated is backed up first.")
	}
	v.Notes = append(v.Notes, p.warnings...)
	return v, nil
}

type applyView struct {
	MigrationID string       `json:"migration_id"`
	Backup      string       `json:"backup_artifact,omitempty"`
	Written     bool         `json:"written"`
	Verified    bool         `json:"verified"`
	Wrong       []string     `json:"wrong,omitempty"` // what reading back found
	Objects     []appliedRow `json:"objects"`
	Charts      chartLook    `json:"charts"`
}

type appliedRow struct {
	Kind   pack.Kind `json:"kind"`
	Title  string    `json:"title"`
	Action string    `json:"action"`
	ID     int       `json:"id,omitempty"`
	URL    string    `json:"url,omitempty"`
}

func (x *applying) run(ctx context.Context, s *superset.Session) (tool.Result, error) {
	p, err := x.compute(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	defer p.close()
	l := &ledger{to: x.d.Migrations, m: chat.Migration{ID: x.id, User: x.o.call.Who.User, Target: p.target.ID}, rec: p.record(x.o.call.Conversation)}
	if err := l.begin(ctx); err != nil {
		return tool.Result{}, err
	}
	artifact, err := x.backup(ctx, p, l)
	if err == nil {
		err = p.still(ctx)
	}
	if err == nil {
		l.rec.Sent = true
		err = l.note(ctx)
	}
	if err != nil { // nothing was sent
		if e := l.end(ctx, chat.MigrationFailed); e != nil && fault.KindOf(err) != fault.Internal {
			return tool.Result{}, e
		}
		return tool.Result{}, err
	}
	err = sending{bundle: p.moved, keep: p.keep, one: l.rec.One, databases: p.databases, done: func(k pack.Kind) { l.rec.Taken = append(l.rec.Taken, k) }}.send(ctx, s)
	switch fault.KindOf(err) {
	case "":
	case fault.Unknown, fault.Timeout, fault.Canceled:
		return tool.Result{}, err // the target stays closed until it was read back
	default:
		return x.stopped(ctx, p, l, artifact, err)
	}
	return x.finish(ctx, s, p, l, artifact)
}

// backup keeps what the target has of all that will be updated.
func (x *applying) backup(ctx context.Context, p *plan, l *ledger) (*chat.Artifact, error) {
	if len(p.theirs) == 0 {
		return nil, nil
	}
	a, _, err := x.o.keepBundle(ctx, x.d.Backups, fmt.Sprintf("Backup of %s before the migration of %s", p.target.ID, p.title()), func(w io.Writer) error {
		return pack.Merge(ctx, w, pack.Rewrite{Type: string(superset.ImportAssets)}, p.theirs...)
	})
	if err != nil {
		return nil, &fault.Error{Kind: fault.KindOf(err), Code: "no_backup", Err: err, Msg: "The backup could not be kept, so nothing was written. " + fault.Message(err)}
	}
	l.rec.Backup = a.ID
	return a, nil
}

// still looks once more, right before the request, whether anything has moved on.
func (p *plan) still(ctx context.Context) error {
	now, err := p.record("").inventory(ctx, p.dst)
	if err != nil {
		return err
	}
	for _, i := range p.items {
		at, there := now[i.uuid]
		if !i.sent() || i.there == nil && !there || i.there != nil && there && at.changed.Equal(i.there.changed.Time) {
			continue
		}
		return &fault.Error{Kind: fault.Conflict, Code: "plan_stale", Msg: fmt.Sprintf("The %s “%s” of %s has changed since the plan was made. Nothing was written; make a new plan.", i.kind, i.title, p.target.ID)}
	}
	return nil
}

// stopped ends a migration that the target refused: as a whole, or after some of its requests.
func (x *applying) stopped(ctx context.Context, p *plan, l *ledger, backup *chat.Artifact, cause error) (tool.Result, error) {
	if e := l.end(ctx, chat.MigrationFailed); e != nil {
		return tool.Result{}, e
	}
	why := fault.Message(cause)
	if fault.KindOf(cause) == fault.Internal {
		why = "Superset failed without a reason."
	}
	if len(l.rec.Taken) == 0 {
		return tool.Result{}, &fault.Error{Kind: fault.Conflict, Code: "import_refused", Err: cause, Msg: p.target.ID + " refused the migration, and nothing was written. " + why}
	}
	var taken []string
	for _, k := range l.rec.Taken {
		taken = append(taken, string(k)+"s")
	}
	return tool.Result{
		Summary:  fmt.Sprintf("The migration stopped half way: the %s were written, what comes after was refused. %s", strings.Join(taken, " and "), why),
		Data:     object(applyView{MigrationID: x.id, Backup: l.rec.Backup, Written: true, Objects: []appliedRow{}}),
		Warnings: []string{"rollback_migration with migration_id " + x.id + " takes back what was written."},
		Artifact: backup,
	}, nil
}

// finish puts owners back, reads everything and says what is there.
func (x *applying) finish(ctx context.Context, s *superset.Session, p *plan, l *ledger, backup *chat.Artifact) (tool.Result, error) {
	seen, err := l.rec.inventory(ctx, s)
	if err != nil {
		return tool.Result{}, afterWrite(err)
	}
	r := tool.Result{Artifact: backup}
	if p.args.keepOwners() {
		r.Warnings = l.rec.giveBack(ctx, s, p.me, seen)
	}
	wrong, err := l.rec.wrong(ctx, s, seen)
	if err != nil {
		return tool.Result{}, afterWrite(err)
	}
	if err := l.rec.settle(ctx, s); err != nil {
		return tool.Result{}, afterWrite(err)
	}
	if err := l.end(ctx, chat.MigrationDone); err != nil {
		return tool.Result{}, afterWrite(err)
	}
	v := applyView{MigrationID: x.id, Backup: l.rec.Backup, Written: true, Verified: len(wrong) == 0, Wrong: wrong, Objects: []appliedRow{}}
	created := 0
	for _, i := range l.rec.Items {
		row := appliedRow{Kind: i.Kind, Title: i.Title, Action: "updated", ID: i.ID}
		if i.Created {
			row.Action = "created"
			created++
		}
		if i.ID > 0 {
			row.URL = s.PublicURL(pagePath(i.Kind, i.ID))
			if i.Kind == pack.Dashboard {
				r.Links = append(r.Links, chat.Link{Title: i.Title, URL: row.URL})
			}
		}
		v.Objects = append(v.Objects, row)
	}
	v.Charts = lookAtCharts(ctx, s, p, seen)
	for _, f := range v.Charts.Failed {
		r.Warnings = append(r.Warnings, "The chart “"+f.Title+"” does not work in "+p.target.ID+": "+f.Why)
	}
	r.Summary = fmt.Sprintf("Migrated %s from %s to %s: %d created, %d updated.", p.title(), p.source.ID, p.target.ID, created, len(l.rec.Items)-created)
	if len(wrong) > 0 {
		r.Summary += " Reading back found differences: " + strings.Join(wrong, "; ") + "."
	}
	r.Data = object(v)
	return r, nil
}

func pagePath(k pack.Kind, id int) string {
	switch k {
	case pack.Dashboard:
		return superset.DashboardPath(id, "")
	case pack.Chart:
		return superset.ChartPath(id)
	}
	return superset.DatasetPath(id)
}

// readBack finds out, after an answer was lost, whether the objects are as they were sent.
func (x *applying) readBack(ctx context.Context, s *superset.Session, _ tool.Preview) (tool.Outcome, error) {
	l, err := openLedger(ctx, x.d.Migrations, x.id, x.o.call.Who.User, x.o.env.ID)
	if isMissing(err) || err == nil && !l.rec.Sent {
		if err == nil && l.m.State == chat.MigrationBusy { // died before it sent anything: the target is free
			if err := l.end(ctx, chat.MigrationFailed); err != nil {
				return tool.Outcome{}, err
			}
		}
		return tool.Outcome{Outcome: chat.OutcomeNotApplied, Evidence: "Nothing was sent to " + x.o.env.ID + "."}, nil
	}
	if err != nil {
		return tool.Outcome{}, err
	}
	seen, err := l.rec.inventory(ctx, s)
	if err != nil {
		return tool.Outcome{}, err
	}
	wrong, err := l.rec.wrong(ctx, s, seen)
	if err != nil {
		return tool.Outcome{}, err
	}
	state, out := chat.MigrationFailed, tool.Outcome{Outcome: chat.OutcomeStillUnknown, Evidence: "Some objects are as they were sent and others are not: " + strings.Join(wrong, "; ") + ". rollback_migration with migration_id " + x.id + " takes back what was written."}
	switch {
	case len(wrong) == 0:
		state, out = chat.MigrationDone, tool.Outcome{Outcome: chat.OutcomeApplied, Evidence: "All objects of the migration were read and are as they were sent. Its id is " + x.id + "."}
	case len(wrong) == len(l.rec.Items):
		out = tool.Outcome{Outcome: chat.OutcomeNotApplied, Evidence: "All objects of the migration were read and none is as it was sent."}
	}
	if err := l.rec.settle(ctx, s); err != nil {
		return tool.Outcome{}, err
	}
	if l.m.State == chat.MigrationBusy {
		if err := l.end(ctx, state); err != nil {
			return tool.Outcome{}, err
		}
	}
	return out, nil
}
