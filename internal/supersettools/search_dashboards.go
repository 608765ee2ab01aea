package supersettools

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

type searchDashboardsArgs struct {
	EnvID         string `json:"env_id,omitempty" jsonschema:"description=Environment; default: the current one"`
	Query         string `json:"query,omitempty" jsonschema:"maxLength=200,description=Part of the title or slug"`
	Mine          bool   `json:"mine,omitempty" jsonschema:"description=Only those that the user owns"`
	Published     *bool  `json:"published,omitempty" jsonschema:"description=true: only published; false: only drafts"`
	Certified     *bool  `json:"certified,omitempty" jsonschema:"description=true: only certified"`
	OwnerID       int    `json:"owner_id,omitempty" jsonschema:"minimum=1,description=Superset id of an owner"`
	ChangedBefore int    `json:"changed_before_days,omitempty" jsonschema:"minimum=1,maximum=36500,description=Not changed for so many days"`
	Sort          string `json:"sort,omitempty" jsonschema:"enum=title,enum=changed,enum=-changed,description=-changed (newest first) is the default"`
	Page          int    `json:"page,omitempty" jsonschema:"minimum=0,maximum=100000,description=From 0"`
	PageSize      int    `json:"page_size,omitempty" jsonschema:"minimum=1,maximum=50,description=Default 50"`
}

// oldest is how many dashboards are looked at when Superset cannot filter: two of its pages.
const oldest = 2 * superset.PageCap

func searchDashboards(d Deps) tool.Tool {
	return define(d, "search_dashboards", tool.Read, []string{"can_read on Dashboard"}, nil, func(o op, in searchDashboardsArgs) (tool.Bound, error) {
		if in.Mine && in.OwnerID != 0 {
			return tool.Bound{}, invalid("/owner_id", "cannot be given together with mine")
		}
		if in.PageSize == 0 {
			in.PageSize = 50
		}
		return o.reading(func(ctx context.Context, s *superset.Session) (tool.Result, error) {
			f := superset.DashboardFilter{Text: in.Query, OwnerID: in.OwnerID, Published: in.Published, Certified: in.Certified}
			if in.Mine {
				id, err := o.own(ctx, s)
				if err != nil {
					return tool.Result{}, err
				}
				f.OwnerID = id
			}
			if in.ChangedBefore > 0 {
				return in.stale(ctx, o, s, f, time.Now())
			}
			page, err := s.Dashboards(ctx, f, in.paging())
			if err != nil {
				return tool.Result{}, err
			}
			return in.result(o, page.Rows, page.Total, page.Total > len(page.Rows)), nil
		})
	})
}

// own is the Superset id of the person who asks.
func (o op) own(ctx context.Context, s *superset.Session) (int, error) {
	me, err := s.Me(ctx)
	if err != nil {
		return 0, err
	}
	if !o.env.Client.ActsAsUser() && me.User != o.call.Who.User {
		return 0, &fault.Error{Kind: fault.Invalid, Code: "service_account",
			Msg: "agentd works with the service account " + me.User + " in " + o.env.ID + ", so it does not know which objects are the user's. Use owner_id instead of mine."}
	}
	return me.ID, nil
}

func (in searchDashboardsArgs) paging() superset.Paging {
	p := superset.Paging{Page: in.Page, Size: in.PageSize, By: "changed_on", Desc: in.Sort != "changed"}
	if in.Sort == "title" {
		p.By, p.Desc = "dashboard_title", false
	}
	return p
}

// stale finds what was not changed for a while. Superset cannot filter by date, but it can order by it.
func (in searchDashboardsArgs) stale(ctx context.Context, o op, s *superset.Session, f superset.DashboardFilter, now time.Time) (tool.Result, error) {
	got, err := s.DashboardsUpTo(ctx, f, superset.Paging{By: "changed_on"}, oldest)
	if err != nil {
		return tool.Result{}, err
	}
	limit := now.AddDate(0, 0, -in.ChangedBefore)
	rows := got.Rows
	n := sort.Search(len(rows), func(i int) bool { return !rows[i].ChangedOn.Before(limit) })
	seen := n < len(rows) || len(rows) == got.Total
	rows = rows[:n]
	switch in.Sort {
	case "title":
		sort.SliceStable(rows, func(i, j int) bool { return strings.ToLower(rows[i].Title) < strings.ToLower(rows[j].Title) })
	case "changed":
	default:
		sort.SliceStable(rows, func(i, j int) bool { return rows[i].ChangedOn.After(rows[j].ChangedOn.Time) })
	}
	from := min(in.Page*in.PageSize, n)
	r := in.result(o, rows[from:min(from+in.PageSize, n)], n, n > min(in.PageSize, n-from) || !seen)
	if !seen {
		r.Total = nil
		r.Summary = fmt.Sprintf("More than %d dashboards were not changed for %d days.", n, in.ChangedBefore)
		r.Warnings = append(r.Warnings, fmt.Sprintf("Only the %d that were changed longest ago were looked at.", n))
	}
	return r, nil
}

func (in searchDashboardsArgs) result(o op, rows []superset.DashboardRow, total int, bounded bool) tool.Result {
	t := &tool.Table{Columns: []chat.Column{{Name: "id", Type: "integer"}, {Name: "title"}, {Name: "published", Type: "boolean"}, {Name: "owners"},
		{Name: "changed"}, {Name: "url"}, {Name: "slug"}, {Name: "certified_by"}, {Name: "uuid"}}}
	for _, d := range rows {
		t.Rows = append(t.Rows, object([]any{d.ID, d.Title, d.Published, strings.Join(peopleNames(d.Owners), ", "), d.ChangedOn,
			o.env.Client.PublicURL(superset.DashboardPath(d.ID, d.Slug)), orNull(d.Slug), orNull(d.CertifiedBy), d.UUID}))
	}
	return found(t, "dashboard", in.Page*in.PageSize, total, bounded)
}

// found is the result of a search: rows from a position on, of so many.
func found(t *tool.Table, what string, from, total int, bounded bool) tool.Result {
	n := int64(total)
	r := tool.Result{Rows: t, Total: &n, Bounded: bounded}
	switch {
	case total == 0:
		r.Summary = "No " + what + " was found."
	case len(t.Rows) == 0:
		r.Summary = fmt.Sprintf("Found %s; this page is behind the last one.", count(total, what))
	case len(t.Rows) == total:
		r.Summary = fmt.Sprintf("Found %s.", count(total, what))
	default:
		r.Summary = fmt.Sprintf("Found %s; these are %d to %d.", count(total, what), from+1, from+len(t.Rows))
	}
	return r
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
