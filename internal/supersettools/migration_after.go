package supersettools

import (
	"context"
	"fmt"
	"slices"
	"time"

	pack "agentd/internal/bundle"
	"agentd/internal/fault"
	"agentd/internal/superset"
)

// settle notes the number and the date of each object as it is now: a rollback leaves alone what moves on after that.
func (r *migrationRecord) settle(ctx context.Context, s *superset.Session) error {
	seen, err := r.inventory(ctx, s)
	if err != nil {
		return err
	}
	for n := range r.Items {
		i := &r.Items[n]
		i.ID, i.After = 0, superset.Time{}
		if at, ok := seen[i.UUID]; ok {
			i.ID, i.After = at.id, at.changed
		}
	}
	return nil
}

// giveBack makes the owners what they were: an import adds who imports. What does not work is told, not an error, since
// the objects are there.
func (r *migrationRecord) giveBack(ctx context.Context, s *superset.Session, me superset.Me, seen map[string]present) (warnings []string) {
	stays := false
	for _, i := range r.Items {
		at, there := seen[i.UUID]
		if i.Created || !there || slices.Equal(personIDs(at.owners), i.Owners) {
			continue
		}
		if !me.Admin() {
			stays = true
			continue
		}
		var err error
		switch i.Kind {
		case pack.Dashboard:
			err = s.UpdateDashboard(ctx, at.id, superset.DashboardPatch{Owners: &i.Owners})
		case pack.Chart:
			err = s.SetChartOwners(ctx, at.id, i.Owners)
		default:
			err = s.SetDatasetOwners(ctx, at.id, i.Owners)
		}
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("The owners of the %s “%s” could not be put back: %s", i.Kind, i.Title, fault.Message(err)))
		}
	}
	if stays {
		warnings = append(warnings, "Superset made you an owner of what was written; only an Admin can take you off.")
	}
	return warnings
}

// Limits of looking at charts after a migration.
const (
	chartLooks    = 60
	chartLookTime = 90 * time.Second
)

// A chartLook says which charts of a migration give data in the target.
type chartLook struct {
	OK      int           `json:"ok"`
	Failed  []failedChart `json:"failed,omitempty"`
	Skipped int           `json:"not_looked_at,omitempty"`
}

type failedChart struct {
	Title string `json:"title"`
	Why   string `json:"why"`
}

// lookAtCharts runs the charts of the plan. It changes nothing, and what fails is a finding.
func lookAtCharts(ctx context.Context, s *superset.Session, p *plan, seen map[string]present) chartLook {
	type look struct {
		title string
		id    int
		why   string
		done  bool
	}
	var looks []*look
	var out chartLook
	for _, i := range p.items {
		if i.kind != pack.Chart {
			continue
		}
		id := seen[i.uuid].id
		if id == 0 && i.there != nil {
			id = i.there.id
		}
		switch {
		case id == 0:
		case len(looks) == chartLooks:
			out.Skipped++
		default:
			looks = append(looks, &look{title: i.title, id: id})
		}
	}
	ctx, cancel := context.WithTimeout(ctx, chartLookTime)
	defer cancel()
	// The first error would end the others, so none is returned.
	_ = each(ctx, 3, looks, func(ctx context.Context, _ int, v *look) error {
		_, err := s.RunChart(ctx, v.id, false)
		if ctx.Err() == nil {
			v.done = true
			if err != nil {
				v.why = fault.Message(err)
				if fault.KindOf(err) == fault.Internal {
					v.why = "Superset or its database failed."
				}
			}
		}
		return nil
	})
	for _, v := range looks {
		switch {
		case !v.done:
			out.Skipped++
		case v.why != "":
			out.Failed = append(out.Failed, failedChart{v.title, v.why})
		default:
			out.OK++
		}
	}
	return out
}
