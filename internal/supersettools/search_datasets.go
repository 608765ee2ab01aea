package supersettools

import (
	"context"
	"strings"

	"agentd/internal/chat"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

type searchDatasetsArgs struct {
	EnvID      string `json:"env_id,omitempty" jsonschema:"description=Environment; default: the current one"`
	Query      string `json:"query,omitempty" jsonschema:"maxLength=200,description=Part of the name"`
	DatabaseID int    `json:"database_id,omitempty" jsonschema:"minimum=1,description=Only of this database"`
	Schema     string `json:"schema,omitempty" jsonschema:"maxLength=255,description=Only of this schema"`
	Kind       string `json:"kind,omitempty" jsonschema:"enum=physical,enum=virtual,description=physical: tables; virtual: SQL"`
	OwnerID    int    `json:"owner_id,omitempty" jsonschema:"minimum=1,description=Superset id of an owner"`
	Page       int    `json:"page,omitempty" jsonschema:"minimum=0,maximum=100000,description=From 0"`
	PageSize   int    `json:"page_size,omitempty" jsonschema:"minimum=1,maximum=50,description=Default 50"`
}

func searchDatasets(d Deps) tool.Tool {
	return define(d, "search_datasets", tool.Read, []string{"can_read on Dataset"}, nil, func(o op, in searchDatasetsArgs) (tool.Bound, error) {
		if in.PageSize == 0 {
			in.PageSize = 50
		}
		return o.reading(func(ctx context.Context, s *superset.Session) (tool.Result, error) {
			f := superset.DatasetFilter{Text: in.Query, Database: in.DatabaseID, Schema: in.Schema, Kind: in.Kind, OwnerID: in.OwnerID}
			page, err := s.Datasets(ctx, f, superset.Paging{Page: in.Page, Size: in.PageSize, By: "table_name"})
			if err != nil {
				return tool.Result{}, err
			}
			t := &tool.Table{Columns: []chat.Column{{Name: "id", Type: "integer"}, {Name: "name"}, {Name: "kind"}, {Name: "database"},
				{Name: "database_id", Type: "integer"}, {Name: "schema"}, {Name: "owners"}, {Name: "changed"}, {Name: "url"}, {Name: "uuid"}}}
			for _, v := range page.Rows {
				t.Rows = append(t.Rows, object([]any{v.ID, v.Name, v.Kind, v.Database.Name, v.Database.ID, orNull(v.Schema),
					strings.Join(peopleNames(v.Owners), ", "), v.ChangedOn, s.PublicURL(superset.DatasetPath(v.ID)), v.UUID}))
			}
			return found(t, "dataset", in.Page*in.PageSize, page.Total, page.Total > len(page.Rows)), nil
		})
	})
}
