package bundle

import (
	"context"
	"slices"
	"strings"

	"agentd/internal/fault"

	"gopkg.in/yaml.v3"
)

// A Kind of object.
type Kind string

// The kinds.
const (
	Dashboard Kind = "dashboard"
	Chart     Kind = "chart"
	Dataset   Kind = "dataset"
	Database  Kind = "database"
)

// Kinds is the order in which objects need one another, what is needed first.
var Kinds = []Kind{Database, Dataset, Chart, Dashboard}

// folders maps the folder of an entry → its kind.
var folders = map[string]Kind{"dashboards": Dashboard, "charts": Chart, "datasets": Dataset, "databases": Database}

// An Object is one entry, as far as others need to know it.
type Object struct {
	Kind  Kind
	UUID  string // lower case
	Title string
	Slug  string // of a dashboard

	// Of a dataset. Virtual ones have SQL.
	Database string // uuid
	Catalog  string
	Schema   string
	Table    string
	Virtual  bool
	Columns  []string // that the table or the statement gives; without calculated ones
	Names    []string // all names that charts may use: columns and metrics

	Backend string   // of a connection: its dialect
	Charts  []string // uuids that a dashboard's layout names
	Places  []string // of these, the number of each in the source
	Needs   []string // uuids of what it cannot do without: charts and datasets of filters, dataset, connection
	Uses    []string // of a chart: texts of its parameters, in which columns and metrics are named

	entry  string
	faults []Fault
}

// index looks into every entry once.
func (b *Bundle) index(ctx context.Context) error {
	names := make([]string, 0, len(b.entries))
	for n := range b.entries {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		folder, _, deep := strings.Cut(name, "/")
		k, known := folders[folder]
		switch {
		case name == "metadata.yaml":
			if err := b.metadata(); err != nil {
				return err
			}
		case known && deep && strings.HasSuffix(name, ".yaml"):
			o, err := b.describe(k, name)
			if err != nil {
				return err
			}
			b.objects = append(b.objects, o)
		default:
			b.extra = append(b.extra, name)
		}
	}
	if b.kind == "" {
		return fault.New(fault.Mismatch, "The export is not a bundle of Superset: it has no metadata.yaml.")
	}
	return nil
}

func (b *Bundle) metadata() error {
	n, err := b.node("metadata.yaml")
	if err != nil {
		return err
	}
	if v := word(member(n, "version")); v != "1.0.0" {
		return fault.New(fault.Mismatch, "The export has another version than 1.0.0.")
	}
	if b.kind = word(member(n, "type")); b.kind == "" {
		b.kind = "assets"
	}
	return nil
}

func (b *Bundle) node(name string) (*yaml.Node, error) {
	raw, err := b.text(name)
	if err != nil {
		return nil, err
	}
	return parse(raw)
}

func (b *Bundle) describe(k Kind, name string) (Object, error) {
	n, err := b.node(name)
	if err != nil {
		return Object{}, err
	}
	o := Object{Kind: k, entry: name, UUID: strings.ToLower(word(member(n, "uuid")))}
	if !isUUID(o.UUID) {
		return Object{}, fault.New(fault.Mismatch, "An object of the export has no uuid.")
	}
	switch k {
	case Dashboard:
		o.Title, o.Slug = word(member(n, "dashboard_title")), word(member(n, "slug"))
		o.dashboard(n)
	case Chart:
		o.Title = word(member(n, "slice_name"))
		o.need(member(n, "dataset_uuid"), Fault{Code: NoDataset, Text: "The chart has lost its dataset."})
		texts(member(n, "params"), &o.Uses)
	case Dataset:
		o.Title = word(member(n, "table_name"))
		o.dataset(n)
	case Database:
		o.Title = word(member(n, "database_name"))
		scheme, _, _ := strings.Cut(word(member(n, "sqlalchemy_uri")), ":")
		o.Backend, _, _ = strings.Cut(scheme, "+")
	}
	return o, nil
}

func (o *Object) need(n *yaml.Node, otherwise Fault) string {
	uuid := strings.ToLower(word(n))
	if !isUUID(uuid) {
		o.faults = append(o.faults, otherwise)
		return ""
	}
	if !slices.Contains(o.Needs, uuid) {
		o.Needs = append(o.Needs, uuid)
	}
	return uuid
}

func (o *Object) dashboard(n *yaml.Node) {
	each(member(n, "position"), func(_ string, v *yaml.Node) {
		if word(member(v, "type")) != "CHART" {
			return
		}
		meta := member(v, "meta")
		uuid := o.need(member(meta, "uuid"), Fault{Code: NoChart, Text: "The layout names a chart that is gone: " + word(member(meta, "sliceName")) + "."})
		if uuid != "" && !slices.Contains(o.Charts, uuid) {
			o.Charts, o.Places = append(o.Charts, uuid), append(o.Places, word(member(meta, "chartId")))
		}
	})
	meta := member(n, "metadata")
	for _, list := range []string{"native_filter_configuration", "chart_customization_config"} {
		items(member(meta, list), func(f *yaml.Node) {
			items(member(f, "targets"), func(t *yaml.Node) {
				if member(t, "column") == nil && member(t, "datasetId") == nil && member(t, "datasetUuid") == nil {
					return // a filter of time has no dataset
				}
				if list == "native_filter_configuration" || member(t, "datasetUuid") != nil {
					o.need(member(t, "datasetUuid"), Fault{Code: NoTarget, Text: "The filter “" + word(member(f, "name")) + "” has lost its dataset."})
				}
			})
		})
	}
}

func (o *Object) dataset(n *yaml.Node) {
	o.Database = o.need(member(n, "database_uuid"), Fault{Code: NoDatabase, Text: "The dataset has no connection."})
	o.Catalog, o.Schema, o.Table = word(member(n, "catalog")), word(member(n, "schema")), o.Title
	o.Virtual = word(member(n, "sql")) != ""
	if strings.TrimSpace(word(member(n, "data"))) != "" {
		o.faults = append(o.faults, Fault{Code: DataAddress, Text: "The dataset's file names an address (data:) that the target's server would fetch."})
	}
	items(member(n, "columns"), func(c *yaml.Node) {
		name := word(member(c, "column_name"))
		if word(member(c, "expression")) == "" {
			o.Columns = append(o.Columns, name)
		}
		o.Names = append(o.Names, name)
	})
	items(member(n, "metrics"), func(m *yaml.Node) { o.Names = append(o.Names, word(member(m, "metric_name"))) })
}

// each calls f with the members of a mapping.
func each(n *yaml.Node, f func(key string, v *yaml.Node)) {
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		f(n.Content[i].Value, follow(n.Content[i+1]))
	}
}

// items calls f with the elements of a list.
func items(n *yaml.Node, f func(*yaml.Node)) {
	if n == nil || n.Kind != yaml.SequenceNode {
		return
	}
	for _, c := range n.Content {
		f(follow(c))
	}
}

// texts gathers the short texts below a node, each once, up to 500. Aliases are not followed: nothing is lost by that,
// since what they name stands there too.
func texts(n *yaml.Node, out *[]string) {
	if n == nil || len(*out) >= 500 {
		return
	}
	if s, ok := scalar(n).(string); ok && len(s) <= 250 && !slices.Contains(*out, s) {
		*out = append(*out, s)
	}
	for i, c := range n.Content {
		if n.Kind != yaml.MappingNode || i%2 == 1 {
			texts(c, out)
		}
	}
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return false
			}
		}
	}
	return true
}
