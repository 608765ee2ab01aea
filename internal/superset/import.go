package superset

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"strings"

	"agentd/internal/fault"
)

// An ImportKind is an endpoint that takes bundles.
type ImportKind string

// The endpoints, by the type that they want in metadata.yaml.
const (
	ImportDashboards ImportKind = "Dashboard"
	ImportCharts     ImportKind = "Slice"
	ImportDatasets   ImportKind = "SqlaTable"
	ImportAssets     ImportKind = "assets" // all kinds in one transaction
)

// DryRun is a type that no endpoint takes: with it a bundle is checked and never written.
const DryRun = "dry run"

// A Zip is a bundle to be sent. Open reads it from its start, each time anew; Size is its bytes.
type Zip struct {
	Open func() io.Reader
	Size int64
}

// Import sends a bundle and overwrites what exists. Its answer says nothing of what was written: read it back. For
// ImportAssets, parents that are not in the bundle are looked for in the target. A refusal is Invalid, Denied or
// Internal, and of ImportAssets nothing was written then.
func (s *Session) Import(ctx context.Context, k ImportKind, z Zip) error {
	r, err := importCall(k, z, map[string]string{"overwrite": "true"})
	if err != nil {
		return err
	}
	return s.do(ctx, r, nil)
}

// A Refusal is what an import says of one entry of the bundle.
type Refusal struct {
	Entry  string // name without the bundle's own folder
	Exists bool   // there is an object with its uuid; whether this user sees it is not asked
	Text   string
}

// TryImport lets the target check a bundle whose type is DryRun. It never writes. Of the kind of the endpoint it
// also says what exists already.
func (s *Session) TryImport(ctx context.Context, k ImportKind, z Zip) ([]Refusal, error) {
	r, err := importCall(k, z, nil)
	if err != nil {
		return nil, err
	}
	a, err := s.send(ctx, r)
	if err != nil {
		return nil, err
	}
	if a.body != nil {
		a.body.Close()
		return nil, r.strange("Superset took a bundle that no Superset takes.", nil)
	}
	if a.status != http.StatusUnprocessableEntity {
		return nil, r.failed(a)
	}
	var got struct {
		Errors []struct {
			Extra map[string]json.RawMessage `json:"extra"`
		} `json:"errors"`
	}
	if json.Unmarshal(a.problem, &got) != nil || len(got.Errors) == 0 {
		return nil, r.failed(a)
	}
	out := []Refusal{}
	typed := false
	for name, raw := range got.Errors[0].Extra {
		switch name {
		case "metadata.yaml":
			typed = true
			continue
		case "issue_codes":
			continue
		}
		var p problem
		p.flatten("", raw)
		v := Refusal{Entry: name, Text: p.text}
		for _, f := range p.fields {
			if v.Text != "" {
				v.Text += "; "
			}
			v.Text += strings.TrimPrefix(f.Pointer, "/") + ": " + f.Detail
		}
		v.Exists = strings.Contains(v.Text, "already exists and `overwrite=true`")
		out = append(out, v)
	}
	if !typed {
		return nil, r.failed(a)
	}
	return out, nil
}

// importCall is a form whose file is read while it is sent.
func importCall(k ImportKind, z Zip, fields map[string]string) (call, error) {
	field := "formData"
	var path string
	switch k {
	case ImportDashboards:
		path = "/api/v1/dashboard/import/"
	case ImportCharts:
		path = "/api/v1/chart/import/"
	case ImportDatasets:
		path = "/api/v1/dataset/import/"
	case ImportAssets:
		path, field = "/api/v1/assets/import/", "bundle"
		fields = map[string]string{"sparse": "true"}
	default:
		return call{}, fault.New(fault.Internal, "there is no import of "+string(k))
	}
	var head bytes.Buffer
	w := multipart.NewWriter(&head)
	for name, value := range fields {
		if err := w.WriteField(name, value); err != nil {
			return call{}, fault.Wrap(fault.Internal, "", err)
		}
	}
	if _, err := w.CreateFormFile(field, "bundle.zip"); err != nil {
		return call{}, fault.Wrap(fault.Internal, "", err)
	}
	start := bytes.Clone(head.Bytes())
	head.Reset()
	if err := w.Close(); err != nil {
		return call{}, fault.Wrap(fault.Internal, "", err)
	}
	end := bytes.Clone(head.Bytes())
	return call{
		method: http.MethodPost, path: path, write: true, ctype: w.FormDataContentType(),
		size: int64(len(start)) + z.Size + int64(len(end)),
		open: func() io.Reader { return io.MultiReader(bytes.NewReader(start), z.Open(), bytes.NewReader(end)) },
	}, nil
}

// SlugTaken tells whether a dashboard has the slug, also one that the user does not see. It sends a creation that
// always fails, since nobody has the id 0.
func (s *Session) SlugTaken(ctx context.Context, slug string) (bool, error) {
	return s.refusedFor(ctx, "/api/v1/dashboard/", map[string]any{"dashboard_title": "agentd", "slug": slug, "owners": []int{0}}, "/slug", "Must be unique")
}

// TableTaken tells whether a dataset stands for the table, also one that the user does not see. It sends a creation
// that always fails.
func (s *Session) TableTaken(ctx context.Context, database int, catalog, schema, table string) (bool, error) {
	body := map[string]any{"database": database, "table_name": table, "owners": []int{0}}
	if schema != "" {
		body["schema"] = schema
	}
	if catalog != "" {
		body["catalog"] = catalog
	}
	return s.refusedFor(ctx, "/api/v1/dataset/", body, "/table", "already exists")
}

// refusedFor reports whether a creation, whose owner nobody is, is refused for one more reason.
func (s *Session) refusedFor(ctx context.Context, path string, body any, field, words string) (bool, error) {
	r, err := newCall(http.MethodPost, path, body)
	if err != nil {
		return false, err
	}
	a, err := s.send(ctx, r)
	if err != nil {
		return false, err
	}
	if a.body != nil {
		a.body.Close()
		return false, r.strange("Superset took an object that no Superset takes.", nil)
	}
	taken, sure := false, false
	for _, f := range parse(a.problem).fields {
		taken = taken || f.Pointer == field && strings.Contains(f.Detail, words)
		sure = sure || f.Pointer == "/owners"
	}
	if a.status != http.StatusUnprocessableEntity || !sure && !taken {
		return false, r.failed(a)
	}
	return taken, nil
}
