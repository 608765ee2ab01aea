package supersettools

import (
	"slices"
	"strings"

	pack "agentd/internal/bundle"
)

// A mapPair is one entry of a map that a model can write down.
type mapPair struct {
	From string `json:"from" jsonschema:"minLength=1,maxLength=250,description=In the source"`
	To   string `json:"to" jsonschema:"minLength=1,maxLength=250,description=In the target"`
}

// What of existing objects of the target is overwritten.
const (
	overwriteDashboards = "dashboard_only"
	overwriteCharts     = "charts"
	overwriteAll        = "all"
)

type planArgs struct {
	Source      string    `json:"source_env" jsonschema:"description=Environment to copy from"`
	Target      string    `json:"target_env" jsonschema:"description=Environment to copy to"`
	Type        string    `json:"type" jsonschema:"enum=dashboard,enum=dataset,description=Kind of the objects"`
	IDs         []int     `json:"ids" jsonschema:"minItems=1,maxItems=20,uniqueItems=true,description=Numbers in the source"`
	DatabaseMap []mapPair `json:"database_map,omitempty" jsonschema:"maxItems=20,description=Connections of the source to those of the target\\, by uuid or name"`
	SchemaMap   []mapPair `json:"schema_map,omitempty" jsonschema:"maxItems=20,description=Schemas of tables"`
	IdentityMap []mapPair `json:"identity_map,omitempty" jsonschema:"maxItems=20,description=A takeover decided: uuid of the source's dashboard or dataset to that of the target's one to update"`
	SlugMap     []mapPair `json:"slug_map,omitempty" jsonschema:"maxItems=20,description=A takeover avoided: slug or uuid of the source's dashboard to another slug"`
	Overwrite   string    `json:"overwrite,omitempty" jsonschema:"enum=dashboard_only,enum=charts,enum=all,description=Which existing objects are updated; default charts (and dashboards)\\, all: datasets too"`
	KeepOwners  *bool     `json:"keep_target_owners,omitempty" jsonschema:"description=Default true"`
}

func (a *planArgs) check() error {
	if a.Source == a.Target {
		return invalid("/target_env", "must be another environment than source_env")
	}
	if a.Overwrite == "" {
		a.Overwrite = overwriteCharts
	}
	for name, list := range map[string][]mapPair{"database_map": a.DatabaseMap, "schema_map": a.SchemaMap, "identity_map": a.IdentityMap, "slug_map": a.SlugMap} {
		for i, p := range list {
			if slices.ContainsFunc(list[:i], func(q mapPair) bool { return q.From == p.From }) {
				return invalid("/"+name, "names "+p.From+" twice")
			}
		}
	}
	for i, p := range a.IdentityMap {
		if !uuidPattern.MatchString(p.From) || !uuidPattern.MatchString(p.To) {
			return invalid("/identity_map", "must have uuids")
		}
		a.IdentityMap[i] = mapPair{strings.ToLower(p.From), strings.ToLower(p.To)}
	}
	for _, p := range a.SlugMap {
		if !slugPattern.MatchString(p.To) {
			return invalid("/slug_map", "has a slug with other signs than letters, digits, _ and -")
		}
	}
	return nil
}

// writes tells whether existing objects of a kind are updated.
func (a *planArgs) writes(k pack.Kind) bool {
	switch k {
	case pack.Dashboard:
		return true
	case pack.Chart:
		return a.Overwrite != overwriteDashboards
	}
	return a.Overwrite == overwriteAll || a.Type == "dataset"
}

func (a *planArgs) keepOwners() bool { return a.KeepOwners == nil || *a.KeepOwners }

// lookUp finds what one of the names is mapped to.
func lookUp(list []mapPair, names ...string) (string, bool) {
	for _, p := range list {
		for _, n := range names {
			if n != "" && strings.EqualFold(p.From, n) {
				return p.To, true
			}
		}
	}
	return "", false
}
