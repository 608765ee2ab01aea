package supersettools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	pack "agentd/internal/bundle"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
)

const (
	// migrationBusy is how long a target stays closed to others when the process that writes dies.
	migrationBusy = 2 * migrationTime
	// migrationTTL is how long a migration may be rolled back; its backup lives as long as stored results do.
	migrationTTL = 7 * 24 * time.Hour
)

// A migrationRecord is what is known of a migration: enough to undo it, also after a crash in its middle.
type migrationRecord struct {
	Title        string       `json:"title"`
	Source       string       `json:"source"`
	Conversation string       `json:"conversation"` // that the backup belongs to
	Backup       string       `json:"backup,omitempty"`
	One          bool         `json:"one_request"`
	Sent         bool         `json:"sent"`            // the first request may have been sent
	Taken        []pack.Kind  `json:"taken,omitempty"` // of several requests, those that were taken
	Items        []recordItem `json:"items"`           // what is created or updated
}

// A recordItem is one object that a migration writes.
type recordItem struct {
	Kind    pack.Kind     `json:"kind"`
	UUID    string        `json:"uuid"`
	Title   string        `json:"title"`
	Created bool          `json:"created"`
	Hash    string        `json:"hash"`             // of what it becomes
	Charts  []string      `json:"charts,omitempty"` // of a dashboard: its layout's
	Owners  []int         `json:"owners,omitempty"` // that it had
	ID      int           `json:"id,omitempty"`
	After   superset.Time `json:"after"` // changed_on after the migration
	Convert bool          `json:"convert,omitempty"`
}

func (p *plan) record(conversation string) *migrationRecord {
	r := &migrationRecord{Title: p.title(), Source: p.source.ID, Conversation: conversation, One: p.oneRequest()}
	for _, i := range p.items {
		if !i.sent() {
			continue
		}
		v := recordItem{Kind: i.kind, UUID: i.uuid, Title: i.title, Created: i.there == nil, Hash: i.after, Charts: i.object.Charts}
		if i.there != nil {
			v.ID, v.Owners = i.there.id, personIDs(i.there.owners)
		}
		v.Convert = i.converts
		r.Items = append(r.Items, v)
	}
	return r
}

// title is what the migration is called: its first dashboard or dataset, and how many more.
func (p *plan) title() string {
	var names []string
	for _, i := range p.items {
		if string(i.kind) == p.args.Type {
			names = append(names, i.title)
		}
	}
	if len(names) == 0 {
		return "nothing"
	}
	if len(names) > 1 {
		return fmt.Sprintf("“%s” and %d more", names[0], len(names)-1)
	}
	return "“" + names[0] + "”"
}

// A ledger is a record under its id, as it is kept.
type ledger struct {
	to  Migrations
	m   chat.Migration
	rec *migrationRecord
}

// openLedger reads the record of a migration.
func openLedger(ctx context.Context, to Migrations, id, user, target string) (*ledger, error) {
	if to == nil {
		return nil, fault.New(fault.Internal, "no store of migrations is wired")
	}
	m, err := to.Migration(ctx, id, user)
	if err != nil {
		return nil, err
	}
	l := &ledger{to: to, m: m, rec: &migrationRecord{}}
	if m.Target != target {
		return nil, fault.New(fault.Missing, "There is no such plan or migration.")
	}
	if err := json.Unmarshal(m.Body, l.rec); err != nil {
		return nil, fault.Wrap(fault.Internal, "", err)
	}
	return l, nil
}

func (l *ledger) begin(ctx context.Context) error {
	l.m.Expires, l.m.Body = time.Now().Add(migrationTTL), object(l.rec)
	return l.to.BeginMigration(ctx, l.m, time.Now().Add(migrationBusy))
}

func (l *ledger) note(ctx context.Context) error {
	l.m.Body = object(l.rec)
	return l.to.NoteMigration(ctx, l.m)
}

// end keeps what was done, also when the caller gave up meanwhile.
func (l *ledger) end(ctx context.Context, state chat.MigrationState) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	l.m.State, l.m.Body, l.m.Expires = state, object(l.rec), time.Now().Add(migrationTTL)
	return l.to.EndMigration(ctx, l.m)
}

// uuids of the record's items of a kind.
func (r *migrationRecord) uuids(k pack.Kind) []string {
	var out []string
	for _, i := range r.Items {
		if i.Kind == k {
			out = append(out, i.UUID)
		}
	}
	return out
}

// inventory finds the record's objects in a Superset, by uuid.
func (r *migrationRecord) inventory(ctx context.Context, s *superset.Session) (map[string]present, error) {
	out := map[string]present{}
	dashboards, err := s.DashboardsByUUID(ctx, r.uuids(pack.Dashboard))
	if err != nil {
		return nil, err
	}
	for _, d := range dashboards {
		out[d.UUID] = present{d.ID, d.ChangedOn, d.Owners}
	}
	charts, err := s.ChartsByUUID(ctx, r.uuids(pack.Chart))
	if err != nil {
		return nil, err
	}
	for _, c := range charts {
		out[c.UUID] = present{c.ID, c.ChangedOn, c.Owners}
	}
	datasets, err := s.DatasetsByUUID(ctx, r.uuids(pack.Dataset))
	if err != nil {
		return nil, err
	}
	for _, d := range datasets {
		out[d.UUID] = present{d.ID, d.ChangedOn, d.Owners}
	}
	return out, nil
}

// wrong reads the record's objects back and names those that are not as they were sent. seen says where each is.
func (r *migrationRecord) wrong(ctx context.Context, s *superset.Session, seen map[string]present) (left []string, err error) {
	why, err := r.differ(ctx, s, seen)
	for n, i := range r.Items {
		if err == nil && why[n] != "" {
			left = append(left, fmt.Sprintf("the %s “%s” %s", i.Kind, i.Title, why[n]))
		}
	}
	return left, err
}

// differ says of each item how it is not what it was meant to be, or "".
func (r *migrationRecord) differ(ctx context.Context, s *superset.Session, seen map[string]present) ([]string, error) {
	var bundles []*pack.Bundle
	defer func() {
		for _, b := range bundles {
			b.Close()
		}
	}()
	for _, k := range []pack.Kind{pack.Dashboard, pack.Chart, pack.Dataset} {
		var ids []int
		for _, i := range r.Items {
			at, there := seen[i.UUID]
			if i.Kind == k && there && !slices.ContainsFunc(bundles, func(b *pack.Bundle) bool { _, ok := b.Find(k, i.UUID); return ok }) {
				ids = append(ids, at.id)
			}
		}
		if len(ids) == 0 {
			continue
		}
		b, err := export(ctx, s, k, ids)
		if err != nil {
			return nil, err
		}
		bundles = append(bundles, b)
	}
	out := make([]string, len(r.Items))
	for n, i := range r.Items {
		var err error
		if out[n], err = i.wrong(ctx, s, bundles, seen); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (i recordItem) wrong(ctx context.Context, s *superset.Session, bundles []*pack.Bundle, seen map[string]present) (string, error) {
	at, there := seen[i.UUID]
	if !there {
		return "is not there", nil
	}
	for _, b := range bundles {
		o, ok := b.Find(i.Kind, i.UUID)
		if !ok {
			continue
		}
		c, err := b.Content(o)
		if err != nil {
			return "", err
		}
		if c.Hash() != i.Hash && !i.Convert {
			return "has other values than were sent", nil
		}
		if i.Kind != pack.Dashboard {
			return "", nil
		}
		page, err := s.Charts(ctx, superset.ChartFilter{Dashboard: at.id}, sharedCap)
		if err != nil {
			return "", err
		}
		var on []string
		for _, c := range page.Rows {
			on = append(on, c.UUID)
		}
		want := slices.Clone(i.Charts)
		slices.Sort(on)
		slices.Sort(want)
		if !slices.Equal(on, want) && !i.Convert {
			return fmt.Sprintf("shows %s instead of %d", count(len(on), "chart"), len(want)), nil
		}
		return "", nil
	}
	return "is not exported", nil
}
