package superset

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"agentd/internal/fault"
)

// A DashboardRow is a dashboard as lists show it.
type DashboardRow struct {
	ID          int      `json:"id"`
	UUID        string   `json:"uuid"`
	Title       string   `json:"dashboard_title"`
	Slug        string   `json:"slug"`
	URL         string   `json:"url"`
	Published   bool     `json:"published"`
	CertifiedBy string   `json:"certified_by"`
	ChangedOn   Time     `json:"changed_on_utc"`
	ChangedBy   *Person  `json:"changed_by"`
	Owners      []Person `json:"owners"`
}

var dashboardColumns = names{"id", "uuid", "dashboard_title", "slug", "url", "published", "certified_by", "changed_on_utc",
	"changed_by.first_name", "changed_by.last_name", "owners.id", "owners.first_name", "owners.last_name"}

// DashboardFilter selects dashboards; what is not set does not filter.
type DashboardFilter struct {
	Text      string // part of the title or slug; % and _ are wildcards
	IDs       []int
	Slug      string
	OwnerID   int
	Published *bool
	Certified *bool
}

func (f DashboardFilter) query(p Paging) query[DashboardRow] {
	q := query[DashboardRow]{class: dashboards, columns: dashboardColumns, paging: p, id: func(d DashboardRow) int { return d.ID }}
	add := func(o object, fit func(DashboardRow) bool) {
		q.filters, q.fits = append(q.filters, o), append(q.fits, fit)
	}
	if f.Text != "" {
		add(filter("dashboard_title", "title_or_slug", f.Text), func(d DashboardRow) bool { return contains(d.Title, f.Text) || contains(d.Slug, f.Text) })
	}
	if f.IDs != nil {
		add(filter("id", "in", f.IDs), func(d DashboardRow) bool { return hasID(f.IDs, d.ID) })
	}
	if f.Slug != "" {
		add(filter("slug", "eq", f.Slug), func(d DashboardRow) bool { return d.Slug == f.Slug })
	}
	if f.OwnerID != 0 {
		add(filter("owners", "rel_m_m", f.OwnerID), func(d DashboardRow) bool { return owned(d.Owners, f.OwnerID) })
	}
	if f.Published != nil {
		add(filter("published", "eq", *f.Published), func(d DashboardRow) bool { return d.Published == *f.Published })
	}
	if f.Certified != nil {
		add(filter("id", "dashboard_is_certified", *f.Certified), func(d DashboardRow) bool { return (d.CertifiedBy != "") == *f.Certified })
	}
	return q
}

// Dashboards reads one page.
func (s *Session) Dashboards(ctx context.Context, f DashboardFilter, p Paging) (Page[DashboardRow], error) {
	return list(ctx, s, f.query(p))
}

// DashboardsUpTo reads up to limit dashboards in the order of p, page after page.
func (s *Session) DashboardsUpTo(ctx context.Context, f DashboardFilter, p Paging, limit int) (Page[DashboardRow], error) {
	return all(ctx, s, f.query(p), limit)
}

// A Dashboard is one dashboard, whole. Metadata and Layout are JSON texts as Superset keeps them; "" is none.
type Dashboard struct {
	ID                   int      `json:"id"`
	UUID                 string   `json:"uuid"`
	Title                string   `json:"dashboard_title"`
	Slug                 string   `json:"slug"`
	URL                  string   `json:"url"`
	Published            bool     `json:"published"`
	CSS                  string   `json:"css"`
	CertifiedBy          string   `json:"certified_by"`
	CertificationDetails string   `json:"certification_details"`
	ChangedOn            Time     `json:"changed_on"`
	ChangedBy            *Person  `json:"changed_by"`
	Owners               []Person `json:"owners"`
	Roles                []Label  `json:"roles"`
	Tags                 []Label  `json:"tags"`
	Charts               []string `json:"charts"` // names only
	ManagedExternally    bool     `json:"is_managed_externally"`
	Metadata             string   `json:"json_metadata"`
	Layout               string   `json:"position_json"`
}

// Dashboard reads one dashboard. A hidden one is Missing.
func (s *Session) Dashboard(ctx context.Context, ref Ref) (Dashboard, error) {
	ref, err := s.resolve(ctx, dashboards, ref)
	if err != nil {
		return Dashboard{}, err
	}
	var got struct {
		Result Dashboard `json:"result"`
	}
	if err := s.get(ctx, "/api/v1/dashboard/"+escape(ref.String()), "", &got); err != nil {
		return Dashboard{}, err
	}
	if d := got.Result; !ref.is(d.ID, d.UUID, d.Slug) {
		return Dashboard{}, mismatch("Superset answered with another dashboard than the one that was asked for.")
	}
	return got.Result, nil
}

// escape makes a path element of an id, a uuid or a slug of any script. The address is encoded again when it is sent.
func escape(ref string) string { return strings.ReplaceAll(ref, "/", "") }

// DashboardPatch is what a PUT of a dashboard sends; what is nil is kept.
type DashboardPatch struct {
	Title                *string `json:"dashboard_title,omitempty"`
	Slug                 *string `json:"slug,omitempty"`
	Published            *bool   `json:"published,omitempty"`
	Owners               *[]int  `json:"owners,omitempty"`
	Roles                *[]int  `json:"roles,omitempty"`
	CertifiedBy          *string `json:"certified_by,omitempty"`
	CertificationDetails *string `json:"certification_details,omitempty"`
	CSS                  *string `json:"css,omitempty"`
	// Metadata replaces json_metadata as a whole: what it leaves out is lost. Its member positions moves charts.
	Metadata *string `json:"json_metadata,omitempty"`
}

// UpdateDashboard changes a dashboard. That it answers without an error is not yet proof: read the dashboard back.
func (s *Session) UpdateDashboard(ctx context.Context, id int, p DashboardPatch) error {
	// An empty slug is a slug of its own to Superset; null is none.
	body := struct {
		DashboardPatch
		Slug any `json:"slug,omitempty"`
	}{DashboardPatch: p}
	if p.Slug != nil {
		body.Slug = json.RawMessage("null")
		if *p.Slug != "" {
			body.Slug = *p.Slug
		}
	}
	return s.write(ctx, http.MethodPut, "/api/v1/dashboard/"+strconv.Itoa(id), body, nil)
}

// DeleteDashboard removes a dashboard for ever; its charts stay. Reports that hang on it are Conflict.
func (s *Session) DeleteDashboard(ctx context.Context, id int) error {
	return blocked(s.write(ctx, http.MethodDelete, "/api/v1/dashboard/"+strconv.Itoa(id), nil, nil))
}

// blocked turns the refusal to delete what reports hang on into a Conflict that names them.
func blocked(err error) error {
	if status(err) == http.StatusUnprocessableEntity && fault.KindOf(err) == fault.Invalid {
		return &fault.Error{Kind: fault.Conflict, Msg: fault.Message(err), Status: http.StatusUnprocessableEntity, Err: err}
	}
	return err
}

// ExportDashboards streams the zip of the dashboards with everything that they need. The caller closes it.
func (s *Session) ExportDashboards(ctx context.Context, ids ...int) (io.ReadCloser, error) {
	return s.export(ctx, dashboards, ids)
}

func (s *Session) export(ctx context.Context, k class, ids []int) (io.ReadCloser, error) {
	r := call{method: http.MethodGet, path: "/api/v1/" + string(k) + "/export/", query: "q=" + rison(ids), accept: "zip"}
	a, err := s.send(ctx, r)
	if err != nil {
		return nil, err
	}
	if a.body == nil {
		return nil, r.failed(a)
	}
	if t := a.header.Get("Content-Type"); !strings.HasPrefix(t, "application/zip") {
		a.body.Close()
		return nil, mismatch("What came is not the zip of an export.")
	}
	return &stream{ctx: ctx, r: r, body: a.body}, nil
}

// A stream classifies what breaks while it is read.
type stream struct {
	ctx  context.Context
	r    call
	body io.ReadCloser
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.body.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = s.r.broken(s.ctx, true, err)
	}
	return n, err
}

func (s *stream) Close() error { return s.body.Close() }

// PublicURL is the address of a page of this Superset.
func (s *Session) PublicURL(path string) string { return s.c.PublicURL(path) }

// DashboardPath is the page of a dashboard.
func DashboardPath(id int, slug string) string {
	if slug == "" || digits(slug) {
		return "/superset/dashboard/" + strconv.Itoa(id) + "/"
	}
	return "/superset/dashboard/" + url.PathEscape(slug) + "/"
}

// digits reports whether a slug would be taken for an id.
func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

func hasID(ids []int, id int) bool {
	for _, v := range ids {
		if v == id {
			return true
		}
	}
	return false
}

func owned(owners []Person, id int) bool {
	for _, o := range owners {
		if o.ID == id {
			return true
		}
	}
	return false
}

// DashboardMetadata reads only the json_metadata of a dashboard; "" is none.
func (s *Session) DashboardMetadata(ctx context.Context, id int) (string, error) {
	var got struct {
		Result struct {
			ID       int    `json:"id"`
			Metadata string `json:"json_metadata"`
		} `json:"result"`
	}
	q := "q=" + rison(object{{"columns", names{"id", "json_metadata"}}})
	if err := s.get(ctx, "/api/v1/dashboard/"+strconv.Itoa(id), q, &got); err != nil {
		return "", err
	}
	if got.Result.ID != id {
		return "", mismatch("Superset answered with another dashboard than the one that was asked for.")
	}
	return got.Result.Metadata, nil
}
