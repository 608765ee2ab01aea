package supersettools

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	pack "agentd/internal/bundle"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
	"agentd/internal/tool"

	"github.com/oklog/ulid/v2"
)

// planTTL is how long a plan may be carried out.
const planTTL = 30 * time.Minute

func planMigration(d Deps) tool.Tool {
	t := define(d, "plan_migration", tool.Read, []string{"can_export on Dashboard"}, nil, func(o op, in planArgs) (tool.Bound, error) {
		if err := in.check(); err != nil {
			return tool.Bound{}, err
		}
		if in.Target != o.env.ID {
			return tool.Bound{}, invalid("/target_env", "must be the environment that the call is judged by")
		}
		if _, err := o.envs.find(in.Source); err != nil {
			return tool.Bound{}, err
		}
		return o.reading(func(ctx context.Context, _ *superset.Session) (tool.Result, error) {
			p, err := makePlan(ctx, o, in)
			if err != nil {
				return tool.Result{}, err
			}
			defer p.close()
			return p.result(ctx, o, d.Migrations)
		})
	})
	t.Timeout = migrationTime
	t.Envs = func(c tool.Call) []string {
		var in struct {
			Source string `json:"source_env"`
			Target string `json:"target_env"`
		}
		if json.Unmarshal(c.Args, &in) != nil || in.Source == "" || in.Target == "" {
			return nil
		}
		return []string{in.Target, in.Source}
	}
	return t
}

// A planRecord is what is kept of a plan: it is computed anew before it is carried out, and must have the same digest.
type planRecord struct {
	Args   planArgs `json:"args"`
	Digest string   `json:"digest"`
}

// newMigrationID names the target in the id, so that a call can be judged by it before anything is read. The id alone
// opens nothing: the record behind it has the target, too.
func newMigrationID(prefix, env string) string {
	return prefix + "_" + ulid.MustNew(ulid.Now(), rand.Reader).String() + "_" + env
}

// migrationEnv is the environment that an id names, or "".
func migrationEnv(prefix, id string) string {
	rest, ok := strings.CutPrefix(id, prefix+"_")
	if !ok || len(rest) < ulid.EncodedSize+2 || rest[ulid.EncodedSize] != '_' {
		return ""
	}
	return rest[ulid.EncodedSize+1:]
}

type planView struct {
	PlanID   string         `json:"plan_id,omitempty"`
	Expires  string         `json:"expires,omitempty"`
	Ready    bool           `json:"ready"`
	Blockers []string       `json:"blockers"`
	Warnings []string       `json:"warnings"`
	Counts   map[string]int `json:"counts"`
	Affected []string       `json:"also_changes,omitempty"` // dashboards of the target
	Objects  []planRow      `json:"objects"`
	OneStep  bool           `json:"all_or_nothing"`
	Source   string         `json:"source_env"`
	Target   string         `json:"target_env"`
}

type planRow struct {
	Kind    pack.Kind   `json:"kind"`
	Title   string      `json:"title"`
	Action  string      `json:"action"`
	UUID    string      `json:"uuid"`
	Mapped  string      `json:"mapped,omitempty"`
	From    string      `json:"source_uuid,omitempty"`
	Changes []planField `json:"changes,omitempty"`
}

type planField struct {
	Field  string          `json:"field"`
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

func (p *plan) result(ctx context.Context, o op, to Migrations) (tool.Result, error) {
	v := planView{Blockers: list(p.blockers), Warnings: list(p.warnings), Counts: map[string]int{}, Objects: []planRow{}, OneStep: p.oneRequest(), Source: p.source.ID, Target: p.target.ID}
	n := 0
	for _, i := range p.items {
		v.Counts[i.action]++
		row := planRow{Kind: i.kind, Title: i.title, Action: i.action, UUID: i.uuid, Mapped: i.mapped}
		if i.source != i.uuid {
			row.From = i.source
		}
		if i.there != nil && i.action != actUnchanged {
			for _, c := range i.changes {
				row.Changes = append(row.Changes, planField(c))
			}
		}
		if i.sent() {
			n++
		}
		v.Objects = append(v.Objects, row)
	}
	for _, a := range p.affected {
		v.Affected = append(v.Affected, a.title+" ("+a.why+")")
	}
	var r tool.Result
	what := fmt.Sprintf("%d to create, %d to update, %d unchanged, %d kept", v.Counts[actCreate], v.Counts[actUpdate], v.Counts[actUnchanged], v.Counts[actKept])
	switch {
	case len(p.blockers) > 0:
		r.Summary = fmt.Sprintf("The migration from %s to %s cannot be done yet: %s. %s", p.source.ID, p.target.ID, count(len(p.blockers), "obstacle"), p.blockers[0])
	case n == 0:
		r.Summary = fmt.Sprintf("There is nothing to migrate from %s to %s: %s.", p.source.ID, p.target.ID, what)
	default:
		if to == nil {
			return r, fault.New(fault.Internal, "no store of plans is wired")
		}
		m := chat.Migration{ID: newMigrationID("plan", p.target.ID), User: o.call.Who.User, Target: p.target.ID, State: chat.MigrationPlanned,
			Expires: time.Now().Add(planTTL), Body: object(planRecord{p.args, p.digest})}
		if err := to.PutMigration(ctx, m); err != nil {
			return r, err
		}
		v.Ready, v.PlanID, v.Expires = true, m.ID, m.Expires.UTC().Format(time.RFC3339)
		r.Summary = fmt.Sprintf("Planned the migration from %s to %s: %s.", p.source.ID, p.target.ID, what)
	}
	r.Data = object(v)
	return r, nil
}

func list(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}

// oneRequest reports whether the target takes all in one transaction.
func (p *plan) oneRequest() bool {
	return oneRequest(p.me, func(yield func(pack.Object) bool) {
		for _, i := range p.items {
			if i.sent() && !yield(i.object) {
				return
			}
		}
	})
}
