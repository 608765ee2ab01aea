package toolfilter

import (
	"slices"

	"agentd/internal/tool"
)

// The operations that are offered whatever role and page are.
const (
	ShowCapabilities = "show_capabilities"
	ReadArtifact     = "read_artifact" // no operation: it reads what operations left
)

// A Page is a kind of page with its own set of operations.
type Page string

// The pages. NoPage offers everything that the role allows.
const (
	NoPage    Page = ""
	Dashboard Page = "dashboard"
	Dataset   Page = "dataset"
	Migration Page = "migration"
)

// An Operation is one of the 22 things that can be done with Superset.
type Operation struct {
	Name string
	Risk tool.Risk
	Page Page // whose set it belongs to; NoPage with the general ones and show_capabilities
}

var operations = []Operation{
	{ShowCapabilities, tool.Read, NoPage},

	{"search_dashboards", tool.Read, Dashboard},
	{"get_dashboard", tool.Read, Dashboard},
	{"check_dashboard", tool.Read, Dashboard},
	{"inspect_chart", tool.Read, Dashboard},
	{"update_chart", tool.Write, Dashboard},
	{"update_dashboard", tool.Write, Dashboard},
	{"refresh_dashboard", tool.Write, Dashboard},
	{"delete_dashboard", tool.Dangerous, Dashboard},

	{"search_datasets", tool.Read, Dataset},
	{"get_dataset", tool.Read, Dataset},
	{"check_dataset", tool.Read, Dataset},
	{"refresh_dataset", tool.Write, Dataset},
	{"update_dataset", tool.Write, Dataset},
	{"create_dataset", tool.Write, Dataset},
	{"delete_dataset", tool.Dangerous, Dataset},

	{"export_assets", tool.Read, Migration},
	{"plan_migration", tool.Read, Migration},
	{"apply_migration", tool.Dangerous, Migration},
	{"rollback_migration", tool.Dangerous, Migration},

	{"environment_status", tool.Read, NoPage},
	{"run_sql", tool.Query, NoPage},
}

// pageOf maps an operation → its page.
var pageOf = func() map[string]Page {
	m := make(map[string]Page, len(operations))
	for _, o := range operations {
		m[o.Name] = o.Page
	}
	return m
}()

// Operations lists the 22 in their fixed order. The slice is the caller's.
func Operations() []Operation { return slices.Clone(operations) }

// pageFor maps an object type → the page that it is. sqllab, database and whatever is not here have none.
var pageFor = map[string]Page{"dashboard": Dashboard, "chart": Dashboard, "dataset": Dataset, "migration": Migration}

// Affinity returns the operations of an object type's page in their fixed order, show_capabilities among them.
// An object type without a page of its own is not known, and every operation is returned.
func Affinity(objectType string) (set []string, known bool) {
	page, known := pageFor[objectType]
	for _, o := range operations {
		if !known || o.Page == page || o.Name == ShowCapabilities {
			set = append(set, o.Name)
		}
	}
	return set, known
}
